"""What runs the blocks of the documents: a folder with the command line in it, and the sandboxes that it serves."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

import sendbox
from sendbox.settings import PORT
from tests.documentation.markdown import Block
from tests.fixture.support import LEAN
from tests.tiers import DEEP

#: The address of a sandbox in the documents.
DOCUMENTED: Final = f"http://127.0.0.1:{PORT}"
#: Seconds within which anything here must have ended; reached only when something is broken.
LIMIT: Final = 150
#: Languages whose compiler takes longer than the tests of all others: a deep run tests them.
COMPILED: Final = ("java", "go")


class Folder:
    """An empty folder of a user's, in which `sendbox` and `pytest` can be called."""

    def __init__(self, path: Path) -> None:
        self.path = path / "here"
        self.path.mkdir()
        self._bin = path / "bin"
        self._bin.mkdir()
        self._program("sendbox", "-c", "from sendbox.cli.main import main; main()")
        self._program("pytest", "-m", "pytest", *LEAN, *plugin())
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("SENDBOX_", "PYTEST_"))}
        self.environment = kept | {
            "PATH": f"{self._bin}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(Path(sendbox.__file__).parents[1]),
        }

    def _program(self, name: str, *arguments: str) -> None:
        quoted = " ".join(f"'{argument}'" for argument in (sys.executable, *arguments))
        file = self._bin / name
        file.write_text(f'#!/bin/sh\nexec {quoted} "$@"\n', "utf-8")
        file.chmod(0o755)

    def run(self, text: str, *, code: int = 0, **environment: str) -> str:
        """What the lines print, which end with this exit code."""
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", text],
            cwd=self.path,
            env=self.environment | environment,
            capture_output=True,
            text=True,
            timeout=LIMIT,
        )
        assert done.returncode == code, f"{text}\nended with {done.returncode}:\n{done.stdout}{done.stderr}"
        return done.stdout

    @contextmanager
    def serving(self, line: str, *, port: int = 0, **environment: str) -> Iterator[Served]:
        """What a line serves, on a port (0: any that is free), until Ctrl-C."""
        with self.started(f"{line} --port {port}", **environment) as process:
            assert process.stdout is not None
            banner = process.stdout.readline()
            found = re.search(r" at (\S+), scenario ", banner)
            assert found is not None, f"{line} said: {banner}"
            yield Served(found[1], banner)

    @contextmanager
    def started(self, line: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
        """A program that runs until Ctrl-C, which ends it well."""
        process = subprocess.Popen(
            ["bash", "-c", f"exec {line}"],
            cwd=self.path,
            env=self.environment | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        try:
            yield process
            process.send_signal(signal.SIGINT)
            assert process.wait(LIMIT) == 0, line
        finally:
            process.kill()
            process.wait()
            assert process.stdout is not None
            process.stdout.close()


class Served:
    """A sandbox that listens at `origin`; `banner` is what it said."""

    def __init__(self, origin: str, banner: str) -> None:
        self.origin = origin
        self.banner = banner


def plugin() -> list[str]:
    """What makes pytest load the plugin where the package is not installed, but only on the path."""
    installed = importlib.metadata.entry_points(group="pytest11", name="sendbox")
    return [] if installed else ["-p", "sendbox.pytest_plugin"]


def need(program: str, file: Path | None = None) -> None:
    """Skips on a machine without a program, or its file; continuous integration and a deep run must have it."""
    if shutil.which(program) is None if file is None else not file.exists():
        if DEEP or os.environ.get("CI"):
            pytest.fail(f"{program} is not installed: the examples of the documentation run with it")
        pytest.skip(f"{program} is not installed")


def tell(folder: Folder, blocks: list[Block], origin: str) -> None:
    """Runs bash blocks in order; one that a json block follows prints it last, as far as that shows."""
    for block, following in zip(blocks, [*blocks[1:], None], strict=True):
        if block.language != "bash":
            continue
        printed = folder.run(block.text.replace(DOCUMENTED, origin))
        if following is not None and following.language == "json":
            values = list(documents(printed))
            assert values, f"{block.place} printed nothing"
            difference = missing(json.loads(following.text.replace(DOCUMENTED, origin)), values[-1])
            assert difference is None, f"{following.place} shows what is not so: {difference}"


def documents(text: str) -> Iterator[Any]:
    """The JSON values that stand one after the other in a text."""
    decoder = json.JSONDecoder()
    text = text.strip()
    while text:
        value, end = decoder.raw_decode(text)
        yield value
        text = text[end:].strip()


def missing(shown: Any, real: Any, path: str = "$") -> str | None:
    """Where `real` is not what is `shown`. Objects may have more; "…" is anything; at the end of a list, the rest."""
    if shown == "…":
        return None
    if isinstance(shown, Mapping) and isinstance(real, Mapping):
        for key, value in shown.items():
            if key not in real:
                return f"{path}.{key} is not there"
            if found := missing(value, real[key], f"{path}.{key}"):
                return found
        return None
    if isinstance(shown, list) and isinstance(real, list):
        rest = shown[-1:] == ["…"]
        wanted = shown[:-1] if rest else shown
        if len(real) < len(wanted) or (len(real) > len(wanted) and not rest):
            return f"{path} has {len(real)} items"
        for index, value in enumerate(wanted):
            if found := missing(value, real[index], f"{path}[{index}]"):
                return found
        return None
    return None if shown == real else f"{path} is {real!r}"
