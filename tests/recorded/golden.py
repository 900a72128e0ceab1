"""Golden texts: what the command line, the contracts and a failed test say, and what wrong input is answered with."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from tests.fixture.support import LEAN
from tests.recorded import library, requests
from tests.recorded.box import command, served
from tests.recorded.masks import MASK, ROOT, masked
from tests.recorded.messages import Step
from tests.recorded.player import Player
from tests.recorded.text import hashed, pretty

HERE: Final = Path(__file__).parent
#: Where one of these is set, pytest does not cut its summary.
_LONGER: Final = ("CI", "BUILD_NUMBER")
COMMANDS: Final = "assumptions check coverage diff explain export forward init numbers play ready serve".split()
#: Uses of the command line that are wrong, or rarely made.
USES: Final = (
    (),
    ("--help",),
    *((each, "--help") for each in COMMANDS),
    ("nothing",),
    ("numbers",),
    ("assumptions",),
    ("check",),
    ("check", "otp-fallback", "default"),
    ("check", "no-such-file.yaml"),
    ("play", "no-such-name"),
    ("play", "default", "--until", "soon"),
    ("play", "otp-fallback", "--seed", "9", "--until", "33s"),
    ("explain", "default", "--to", "420777000103", "--body", "Hello?"),
    ("explain", "default", "--channel", "chatapp_text"),
    ("explain", "default", "--template", "otp", "--tag", "promo"),
    ("explain", "default", "--verify", "420777000113"),
    ("explain", "default", "--to", ""),
    ("explain", "default", "--channel", "pigeon"),
    ("serve", "--clock", "fast"),
    ("serve", "--port", "x"),
    ("diff", "a.json", "b.json"),
    ("coverage", "none.json"),
)
#: A longer body of an answer is kept as a hash.
LONGEST: Final = 12000
_CASE: Final = re.compile(r"^### (\S+)\n(.*?)(?=^### |\Z)", re.DOTALL | re.MULTILINE)
#: Where nothing pins its start, a world begins now.
_BEGINS: Final = re.compile(r"(world begins at) \S+")
#: Parts of pytest's report that differ from run to run, and what stands in their place.
_REPORT: Final = (
    (re.compile(r"^platform .*$", re.MULTILINE), "platform (masked: of this machine)"),
    (re.compile(r"^(rootdir|plugins|cachedir|asyncio|configfile): .*\n", re.MULTILINE), ""),
    (re.compile(r"in \d+\.\d+s"), "in (time)"),
    (re.compile(r"=+ ([^=\n]+?) =+"), r"== \1 =="),
    (re.compile(r"_+ (test_\w+) _+"), r"__ \1 __"),
    (re.compile(r"object at 0x[0-9a-f]+"), "object at (address)"),
    (re.compile(r"http://127\.0\.0\.1:\d+"), "http://127.0.0.1:(port)"),
)


def wrong_scenarios() -> str:
    """Every wrong scenario of `wrong-scenarios.txt`, and what `sendbox check` prints."""
    said: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, text in _CASE.findall((HERE / "wrong-scenarios.txt").read_text("utf-8")):
            (Path(folder) / "a.yaml").write_text(f"sendbox: 1\n{text}", "utf-8")
            said.append(f"### {name}\n{text}{command('check', 'a.yaml', folder=Path(folder))}")
        forms = ("json", "github")
        said += [
            f"### as {each}\n{command('check', '--format', each, 'a.yaml', folder=Path(folder))}" for each in forms
        ]
    return "\n".join(said)


def uses() -> str:
    """What the command line prints for every command and some wrong uses."""
    with tempfile.TemporaryDirectory() as folder:
        return _BEGINS.sub(r"\1 (masked)", "\n".join(command(*each, folder=Path(folder)) for each in USES))


def _document(path: str) -> Callable[[], str]:
    def read() -> str:
        with served() as server:
            player = _player(server, ())
            document = player.client.get(path).json()
        document["info"]["version"] = MASK
        return pretty(document)

    return read


def _player(server: Any, steps: tuple[Step, ...]) -> Player:
    clock = {"mode": "manual", "start": "2026-03-01T09:00:00Z"}
    opened = {"clock": clock, "seed": 7}
    return Player(
        server, {"name": "golden", "open": opened, "receiver": "hook", "answers": [200], "steps": list(steps)}
    )


def _answered(steps: tuple[Step, ...]) -> tuple[str, dict[str, Counter[int]]]:
    """Steps with their answers as text, and how often each address was called with which status."""
    with served() as server:
        player = _player(server, steps)
        player.play()
        calls = dict(player.calls)
    said: list[str] = []
    for step, answer in zip(steps, player.answers, strict=True):
        came = {name: masked(value) for name, value in answer.items() if name != "did"}
        if len(text := pretty(came.get("body"))) > LONGEST:
            came["body"] = f"{len(text)} characters, {hashed(text)}"
        below = came.pop("body") if "\n" in str(came.get("body", "")) else ""
        said.append(f"### {json.dumps(step, ensure_ascii=False)}\n{pretty(came)}\n{below}")
    return "\n".join(said), calls


def wrong_requests() -> str:
    """What wrong requests of every interface are answered with."""
    return _answered(requests.WRONG)[0]


def server() -> str:
    """What the server says of itself and of its worlds."""
    return _answered(requests.SERVER)[0]


def calls() -> dict[str, Counter[int]]:
    """How often the golden requests call each address with which status."""
    found: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for steps in (requests.WRONG, requests.SERVER):
        for call, statuses in _answered(steps)[1].items():
            found[call].update(statuses)
    return dict(found)


def failed_test() -> str:
    """The report of tests that fail, as pytest prints it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "test_failing.py"
        path.write_text((HERE / "failing.txt").read_text("utf-8"), "utf-8")
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("PYTEST", "COV", "SENDBOX")) and name not in _LONGER
        }
        environment |= {"COLUMNS": "100", "NO_COLOR": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        arguments = [
            sys.executable,
            "-m",
            "pytest",
            *LEAN,
            "-p",
            "sendbox",
            "-p",
            "no:cacheprovider",
            "test_failing.py",
        ]
        ran = subprocess.run(arguments, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    said = ran.stdout + (f"--- stderr\n{ran.stderr}" if ran.stderr else "")
    for pattern, instead in _REPORT:
        said = pattern.sub(instead, said)
    return said


def hashes() -> str:
    """Hashes of what is too long to be kept, or is kept elsewhere."""
    schemas = sorted((ROOT / "schemas").glob("*.json"))
    lines = [f"schemas/{path.name} {hashed(_canonical(path.read_text('utf-8')))}" for path in schemas]
    with served() as server:
        known = _player(server, ()).client.get("/_sandbox/coverage").json()["items"]
    lines += [f"coverage {name} {hashed(json.dumps(sorted(items)))}" for name, items in sorted(known.items())]
    lines.append(f"assumptions --json {hashed(command('assumptions', '--json'))}")
    return "\n".join(lines) + "\n"


def _canonical(text: str) -> str:
    return json.dumps(json.loads(text), sort_keys=True)


def _play(name: str) -> Callable[[], str]:
    return lambda: command("play", name)


def _explained() -> str:
    return _BEGINS.sub(r"\1 (masked)", "\n".join(command("explain", name) for name in library.names()))


#: Every golden text by its name.
TEXTS: Final[dict[str, Callable[[], str]]] = {
    "openapi": _document("/openapi.json"),
    "control-openapi": _document("/_sandbox/openapi.json"),
    "commands": uses,
    "explained": _explained,
    "failed-test": failed_test,
    "hashes": hashes,
    "server": server,
    "wrong-requests": wrong_requests,
    "wrong-scenarios": wrong_scenarios,
    **{f"play-{name}": _play(name) for name in library.names()},
}
