"""The sample client, and its runs without misfortune, once for a process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.explore.rich import Ran, Rich


@pytest.fixture(scope="package")
def rich() -> Iterator[Rich]:
    """The sample client on a server of its own."""
    sample = Rich()
    yield sample
    sample.close()


@pytest.fixture(scope="package")
def base(rich: Rich) -> Ran:
    """A run without misfortune."""
    return rich.run()


@pytest.fixture(scope="package")
def again(rich: Rich, base: Ran) -> Ran:
    """Another one."""
    return rich.run()
