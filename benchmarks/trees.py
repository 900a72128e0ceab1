"""Revisions that are measured: this checkout, and with `--against` another one in a worktree of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from benchmarks.processes import Process, output_of

ROOT: Final = Path(__file__).resolve().parent.parent
#: The name of this checkout in a run.
HERE: Final = "here"


@dataclass(frozen=True)
class Tree:
    """A checkout. `name` tells it apart in a run; `revision` is its commit, with a `+` when it has changes."""

    name: str
    path: Path
    revision: str
    python: str = sys.executable

    @cached_property
    def env(self) -> dict[str, str]:
        """The environment of its processes: its own sources first, and the benchmarks of this checkout."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("SENDBOX_", "PYTHON"))}
        return {**kept, "PYTHONPATH": os.pathsep.join([str(self.path / "src"), str(ROOT)])}

    @cached_property
    def project(self) -> dict[str, Any]:
        """Its pyproject.toml."""
        return tomllib.loads((self.path / "pyproject.toml").read_text("utf-8"))

    def command(self, *arguments: str, script: str = "sendbox") -> list[str]:
        """A command line of this tree, as its console script would run it."""
        module, _, function = self.project["project"]["scripts"][script].partition(":")
        code = f"import sys; from {module} import {function}; sys.exit({function}())"
        return [self.python, "-c", code, *arguments]

    def serve(self, *arguments: str) -> Process:
        """`sendbox serve` on a free port; the clock stands still unless told otherwise."""
        given = arguments if "--clock" in arguments else ("--clock", "manual", *arguments)
        return Process(self.command("serve", "--port", "0", "--start", START, *given), env=self.env)

    def probe(self, name: str, given: str = "") -> str:
        """What a module of `benchmarks.probes` prints, run with the sources of this tree."""
        return output_of([self.python, "-m", f"benchmarks.probes.{name}"], env=self.env, given=given)


#: The instant at which worlds begin.
START: Final = "2026-03-01T09:00:00Z"


def bare(tree: Tree) -> Process:
    """The bare app on the interpreter of a tree."""
    return Process([tree.python, "-m", "benchmarks.bare"], env=tree.env)


def git(*arguments: str, cwd: Path = ROOT) -> str:
    """What git prints."""
    return subprocess.run(["git", *arguments], cwd=cwd, check=True, capture_output=True, text=True).stdout.strip()


def here() -> Tree:
    """This checkout."""
    try:
        revision = git("rev-parse", "--short", "HEAD") + ("+" if git("status", "--porcelain") else "")
    except (OSError, subprocess.CalledProcessError):  # the sources without their history
        revision = "unknown"
    return Tree(HERE, ROOT, revision)


@contextmanager
def revision(name: str) -> Iterator[Tree]:
    """Another revision, in a worktree that is removed again. Raises CalledProcessError for one that git does not know.

    It runs on the packages of this environment. What it does need beside them, its processes say.
    """
    commit = git("rev-parse", "--short", f"{name}^{{commit}}")
    with tempfile.TemporaryDirectory(prefix="sendbox-against-") as folder:
        path = Path(folder) / "tree"
        git("worktree", "add", "--detach", str(path), commit)
        try:
            yield Tree(name, path, commit)
        finally:
            git("worktree", "remove", "--force", str(path))
