"""One server of PostgreSQL for the tests of a worker."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.durable import files
from tests.durable.databases import Database, serving_databases


@pytest.fixture(scope="session")
def database() -> Iterator[Database]:
    """A server of PostgreSQL."""
    with serving_databases() as server:
        yield server


@pytest.fixture
def in_database(request: pytest.FixtureRequest) -> Iterator[None]:
    """With the parameter `postgresql` the stores of a test are databases, and files else."""
    if request.param != "postgresql":
        yield
        return
    files.SERVER.append(request.getfixturevalue("database"))
    yield
    files.SERVER.clear()
    files.DATABASES.clear()
