"""The command line inside a test; and a sandbox as `sendbox serve` runs it, on a free port."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from click.testing import CliRunner, Result

from sendbox.cli import main as cli
from sendbox.cli.serve import Options, RunningServer, serving
from sendbox.runtime.interface import LogLine
from sendbox.settings import Settings


def sendbox(*args: str, env: dict[str, str] | None = None) -> Result:
    """What a command printed, and its exit code."""
    return CliRunner().invoke(cli.sendbox, args, env=env)


def options(**given: Any) -> Options:
    """Options of a server on a free port; the fields of `Options` and of `Settings` by name."""
    names = ("mode", "start", "tls", "tls_self", "ca_port", "grace", "log_format", "quiet")
    own = {name: given.pop(name) for name in names if name in given}
    return Options(Settings(**{"port": 0, "public_url": None, **given}), **own)


@asynccontextmanager
async def sandbox(log: Callable[[LogLine], None] = lambda line: None, **given: Any) -> AsyncIterator[RunningServer]:
    async with serving(options(**given), log) as served:
        yield served
