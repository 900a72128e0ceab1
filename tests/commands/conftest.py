"""What the tests of commands share."""

from __future__ import annotations

import signal
from collections.abc import Generator

import pytest


@pytest.fixture(autouse=True)
def _signals_as_before() -> Generator[None, None, None]:
    """A command that a signal ended ignores further ones, as its process ends then; here the process goes on."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
