"""The generators of clients and the linter, in versions that are tested, installed once in a cache outside the tree."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest

#: What pip installs. The package of openapi-generator carries its jar.
PYTHON: Final = ("openapi-generator-cli==7.26.0", "openapi-python-client==0.29.1")
LINTER: Final = "@redocly/cli@2.77.0"
#: What npm installs.
NODE: Final = ("typescript@7.0.2", "@types/node@20.9.5", "axios@1.21.1", LINTER)
CACHE: Final = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sendbox-tests"
#: Seconds that a step may take; packages may have to be fetched.
LONGEST: Final = 600


def python_tools() -> Path:
    """The folder of an environment with `PYTHON`. Skips where they cannot be installed."""
    return _installed(
        "python", PYTHON, [[sys.executable, "-m", "venv", "."], ["bin/python", "-m", "pip", "install", "-q", *PYTHON]]
    )


def node_tools() -> Path:
    """The folder of the programs of `NODE`. Skips where they cannot be installed."""
    need_program("npm")
    folder = _installed(
        "node", NODE, [["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", ".", *NODE]]
    )
    return folder / "node_modules" / ".bin"


def need_program(*names: str) -> None:
    """Skips on a machine that lacks a program, or a file."""
    for name in names:
        if not (Path(name).exists() if name.startswith("/") else shutil.which(name)):
            pytest.skip(f"{name} is not installed")


def _installed(name: str, packages: Sequence[str], lines: Sequence[Sequence[str]]) -> Path:
    """The folder in which these lines installed the packages, in this run or in one before it."""
    versions = "_".join(package.replace("/", "-") for package in packages)
    folder = CACHE / f"{name}-{versions}"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for line in lines if not (folder / "complete").exists() else ():
            done = subprocess.run(line, cwd=folder, capture_output=True, text=True, timeout=LONGEST)
            if done.returncode != 0:
                pytest.skip(f"{', '.join(packages)} cannot be installed: {done.stderr[-300:]}")
        (folder / "complete").touch()
    return folder
