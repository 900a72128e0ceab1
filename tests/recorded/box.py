"""The sandbox under record: a server of this process with nothing in it that differs from run to run.

The only module here that imports Sendbox: its public fixture, its settings, and its command line.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from sendbox.cli.main import main
from sendbox.fixture import Sandbox, SandboxServer
from sendbox.settings import Settings

#: What stands in all addresses that are given out, in place of host and port.
ORIGIN: Final = "http://sandbox.test"
#: Real seconds before a receiver is given up: none ever is.
PATIENCE: Final = 60.0

__all__ = ["ORIGIN", "Sandbox", "SandboxServer", "command", "served"]


@contextlib.contextmanager
def served() -> Iterator[SandboxServer]:
    """A server of its own."""
    settings = Settings(port=0, mode="manual", patience=PATIENCE, public_url=ORIGIN, start=1_772_355_600_000)
    server = SandboxServer(settings).start()
    try:
        yield server
    finally:
        server.stop()


def command(*arguments: str, folder: Path | None = None) -> str:
    """What `sendbox` prints with these arguments, both streams, and how it ends."""
    out, err = io.StringIO(), io.StringIO()
    before = {name: os.environ.get(name) for name in ("COLUMNS", "NO_COLOR")}
    os.environ.update(COLUMNS="100", NO_COLOR="1")
    code: object = 0
    argv, sys.argv = sys.argv, ["sendbox", *arguments]
    try:
        with contextlib.ExitStack() as stack:
            if folder is not None:
                stack.enter_context(contextlib.chdir(folder))
            stack.enter_context(contextlib.redirect_stdout(out))
            stack.enter_context(contextlib.redirect_stderr(err))
            try:
                main()
            except SystemExit as ended:
                code = ended.code
    finally:
        sys.argv = argv
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
    said = f"$ sendbox {' '.join(arguments)}\n{out.getvalue()}"
    if err.getvalue():
        said += f"--- stderr\n{err.getvalue()}"
    return f"{said}--- exit code {code}\n"
