"""`pytest -p tests.plain …`: the tests run as on a machine without uvloop, on asyncio's own event loop.

Tests that ask for uvloop are left out. Programs that the tests start are not affected.
"""

from __future__ import annotations

import sys
from typing import Any, cast

import pytest

cast(dict[str, Any], sys.modules)["uvloop"] = None  # every import of it raises ImportError


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out each test that has uvloop as a parameter."""
    wanting = [item for item in items if "uvloop" in getattr(getattr(item, "callspec", None), "params", {}).values()]
    if wanting:
        config.hook.pytest_deselected(items=wanting)
        items[:] = [item for item in items if item not in wanting]
