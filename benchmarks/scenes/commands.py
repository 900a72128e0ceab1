"""What commands cost: a pytest session that does not use the fixture, and the health check of the container."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.bench import Bench
from benchmarks.goals import Samples
from benchmarks.processes import Broken, output_of
from benchmarks.trees import ROOT, Tree

#: A test that uses nothing.
TEST = "def test_nothing():\n    assert True\n"
#: What an environment without the package has.
PLAIN = ("starlette", "httpx", "pytest")


def spent(command: Sequence[str], env: Mapping[str, str], cwd: Path | None = None) -> float:
    """Seconds of processor time that a command takes, its own children included. Raises `Broken` when it fails."""
    import resource  # not on Windows, where the table can be read all the same

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, env=dict(env), cwd=cwd, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise Broken(f"{command!r} ended with {done.returncode}: {(done.stdout + done.stderr)[-1000:]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def environment(folder: Path, *requirements: str, known_by: str = "") -> Path:
    """The interpreter of an environment with these packages, made unless it is there; `known_by` tells it apart."""
    made = hashlib.sha256("\0".join([sys.version, known_by, *requirements]).encode()).hexdigest()[:16]
    place = folder / "build" / "benchmarks" / made
    python = place / "bin" / "python"
    if not (place / "made").exists():
        print(f"  making an environment with {' '.join(requirements)}", file=sys.stderr, flush=True)
        output_of([sys.executable, "-m", "venv", "--clear", str(place)], env=os.environ)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        output_of([*pip, *requirements], env=os.environ)
        (place / "made").touch()
    return python


def installed(tree: Tree) -> Path:
    """The interpreter of an environment with the tree and pytest."""
    needed = hashlib.sha256((tree.path / "pyproject.toml").read_bytes()).hexdigest()
    return environment(tree.path, "pytest", "--editable", str(tree.path), known_by=needed)


def session(bench: Bench) -> Samples:
    """`pytest --collect-only` of one test that uses nothing, with the package and without."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST"))}
    plain = environment(ROOT, *PLAIN)
    pythons = {}
    for tree in bench.trees:
        with bench.trying(tree):
            pythons[tree] = installed(tree)
    with TemporaryDirectory(prefix="sendbox-bench-") as name:
        folder = Path(name)
        (folder / "test_nothing.py").write_text(TEST, "utf-8")
        arguments = ["-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider"]
        for number in range(len(bench.rounds(11)) + 1):
            base = spent([str(plain), *arguments], env, folder)
            for tree, python in pythons.items():
                ours = spent([str(python), *arguments], env, folder)
                if number:  # the first compiles
                    yield tree.name, {"session": ours - base, "session:without, s": base, "session:with, s": ours}


def health_command(tree: Tree, port: int) -> tuple[list[str], dict[str, str]]:
    """The health check of the image, as a command and its environment, for a server on another port."""
    text = (tree.path / "Dockerfile").read_text("utf-8")
    found = re.search(r"^HEALTHCHECK\b.*?\bCMD\s+(.+?)$", text.replace("\\\n", " "), re.MULTILINE)
    if found is None:
        raise Broken("the Dockerfile has no health check")
    env = {**tree.env, "SENDBOX_PORT": str(port)}
    given = found[1].replace("7357", str(port))
    if not given.startswith("["):
        return ["/bin/sh", "-c", given], env
    command: list[str] = json.loads(given)
    script, *arguments = command
    copied = {into: path for path, into in re.findall(r"^COPY (\S+) (\S+)$", text, re.MULTILINE)}
    if script in copied:
        return [str(tree.path / copied[script]), *arguments], env
    return (tree.command(*arguments, script=script) if script in tree.project["project"]["scripts"] else command), env


def health(bench: Bench) -> Samples:
    """The health check, and what the server does for it."""
    with bench.served() as servers:
        for number in range(len(bench.rounds(11)) + 1):
            for tree, server in bench.turn(servers):
                with bench.trying(tree):
                    command, env = health_command(tree, server.port)
                    before = server.cpu
                    took = spent(command, env)
                    if number:
                        took += server.cpu - before
                        yield tree.name, {"health": took * 1e3}
