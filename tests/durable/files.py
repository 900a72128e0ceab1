"""Files of stores, and sandboxes with one."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from sendbox.runtime.store.sqlite import SqliteStore
from tests.box import KEY, Box, boxed

_COPIES = itertools.count(1)


def killed(file: Path) -> Path:
    """A copy of the file of a running server, as a kill at this instant would leave it."""
    copy = file.with_name(f"{next(_COPIES)}.db")
    for name, other in ((file, copy), (_log(file), _log(copy))):
        if name.exists():
            shutil.copy(name, other)
    return copy


def _log(file: Path) -> Path:
    return file.with_name(f"{file.name}-wal")


@asynccontextmanager
async def stored(file: Path, scenario: Any = "default", **settings: Any) -> AsyncIterator[Box]:
    """A sandbox with a store until the context is left."""
    async with boxed(scenario, store=SqliteStore(str(file), flush=False), **settings) as box:
        yield box


async def digest(box: Box, key: str = KEY) -> str:
    """The digest of a world."""
    answer = (await box.get(f"/_sandbox/worlds/{key}/digest")).json
    return str(answer["digest"])


async def listed(box: Box, query: str = "") -> list[Any]:
    """The worlds that control lists."""
    worlds: list[Any] = (await box.get(f"/_sandbox/worlds{query}")).json["worlds"]
    return worlds
