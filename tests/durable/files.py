"""Stores of tests, and sandboxes with one. A store is a file, or a database that stands for the name of one."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from sendbox.runtime.store import open_store
from sendbox.runtime.store.store import Store
from tests.box import KEY, Box, boxed
from tests.durable.databases import Database, copied, dumped

_COPIES = itertools.count(1)
#: The server whose databases stand for files, if a test has one, and their addresses.
SERVER: list[Database] = []
DATABASES: dict[Path, str] = {}


def store_at(file: Path) -> Store:
    """The store of a file, or of the database in its place."""
    for server in SERVER:
        if file not in DATABASES:
            DATABASES[file] = server.make()
    return open_store(DATABASES.get(file, str(file)), flush=False)


def killed(file: Path) -> Path:
    """A copy of the file of a running server, as a kill at this instant would leave it."""
    copy = file.with_name(f"{next(_COPIES)}.db")
    if file in DATABASES:
        store_at(copy).close()
        copied(DATABASES[file], DATABASES[copy])
    for name, other in ((file, copy), (_log(file), _log(copy))):
        if name.exists():
            shutil.copy(name, other)
    return copy


def has(file: Path, text: bytes) -> bool:
    """True if a store has a text anywhere."""
    if file in DATABASES:
        return text in dumped(DATABASES[file])
    return any(part.exists() and text in part.read_bytes() for part in (file, _log(file)))


def _log(file: Path) -> Path:
    return file.with_name(f"{file.name}-wal")


@asynccontextmanager
async def stored(file: Path, scenario: Any = "default", **settings: Any) -> AsyncIterator[Box]:
    """A sandbox with a store until the context is left."""
    async with boxed(scenario, store=store_at(file), **settings) as box:
        yield box


async def digest(box: Box, key: str = KEY) -> str:
    """The digest of a world."""
    answer = (await box.get(f"/_sandbox/worlds/{key}/digest")).json
    return str(answer["digest"])


async def listed(box: Box, query: str = "") -> list[Any]:
    """The worlds that control lists."""
    worlds: list[Any] = (await box.get(f"/_sandbox/worlds{query}")).json["worlds"]
    return worlds
