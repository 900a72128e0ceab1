"""Tables that are data: files of JSON, one entry a line, each beside the module that reads it.

This is the one place of the services that opens a file. What it reads is part of the package and never changes while
it runs.
"""

from __future__ import annotations

from pkgutil import get_data
from typing import Any

import orjson


def table(module: str, name: str) -> Any:
    """The content of a file beside a module."""
    return orjson.loads(get_data(module, name) or b"")
