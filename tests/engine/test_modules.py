"""Modules that hold nothing but types are modules too."""

from __future__ import annotations

from importlib import import_module

import pytest


@pytest.mark.parametrize("name", ["runtime.interface"])
def test_a_module_of_protocols_can_be_imported(name: str) -> None:
    """No other module imports it when it runs, only the checker of types."""
    assert import_module(f"sendbox.{name}").__doc__
