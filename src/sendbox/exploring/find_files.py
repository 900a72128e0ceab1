"""Files of finds in `.sendbox/found`: one scenario for each world of a plan, named by the test and the misfortune.

A find is an ordinary scenario, which `sendbox check` and `sendbox play` accept. Its rules are the plan; its traffic are
the requests of the client in the run that failed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Final

from sendbox.engine.answer import JsonMapping, JsonObject
from sendbox.engine.texts import shorten
from sendbox.exploring.exploration import FIND_KINDS, Find, FindKind
from sendbox.exploring.misfortune import scenarios
from sendbox.language import LANGUAGE
from sendbox.scenario.model import ScenarioError, Source, plain
from sendbox.scenario.parse import parse
from sendbox.scenario.write import dump

#: Where finds are kept, below the folder from which the tests are run.
FOLDER: Final = Path(".sendbox") / "found"
#: The keys that a find takes from the run, so that it can be played by itself.
_RUN_KEYS: Final = ("extends", "include", "traffic", "receiver")
_NOT_ALPHANUMERIC: Final = re.compile(r"[^A-Za-z0-9]+")
#: The longest readable part of a name that is about the test, and of one about the misfortune.
_LONGEST_NAME: Final = 60
#: The longest name of a scenario.
_LONGEST_TITLE: Final = 200


@dataclass(frozen=True, slots=True)
class StoredFind:
    """A find: its files by the ordinals of their worlds, the test that it breaks, and the plan as scenarios.

    `kind` is `bug` or `question`; `command` runs the test, if `sendbox explore` found it.
    """

    files: Mapping[int, Path]
    test: str
    plan: Mapping[int, JsonMapping]
    command: tuple[str, ...] = ()
    kind: FindKind = "bug"

    @property
    def file(self) -> Path:
        """Its first file."""
        return self.files[min(self.files)]


def write(
    folder: Path,
    test: str,
    find: Find,
    command: Sequence[str] = (),
) -> list[Path]:
    """Writes a find; the same test, plan and assertion have the same files. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {folder / name: text for name, text in texts(test, find, command).items()}
    for file, text in files.items():
        file.write_text(text, encoding="utf-8")
    return list(files)


def texts(test: str, find: Find, command: Sequence[str] = ()) -> dict[str, str]:
    """The texts of the files of a find, by their names."""
    broken = find.run.worlds
    kinds = "-".join(dict.fromkeys(item.spot.kind.name for item in find.plan))
    name = f"{test}\0{find.summary}\0{find.run.assertion}".encode()
    digest = blake2b(name, digest_size=4).hexdigest()
    stem = f"{_readable(test.partition('::')[2] or test)}-{_readable(kinds)}-{digest}"
    title = f"{test}: {find.summary}"
    by_world = scenarios(find.plan)
    files = {}
    for world, rules in by_world.items():
        observed = next((item for item in broken if item.census.ordinal == world), None)
        run = {} if observed is None else {key: observed.scenario[key] for key in _RUN_KEYS if key in observed.scenario}
        clock = {} if observed is None else {"clock": {"mode": "manual", "start": observed.start}}
        content = {
            "sendbox": 1,
            "name": shorten(title, _LONGEST_TITLE),
            "found": {
                "test": test,
                "kind": find.kind,
                **({"command": list(command)} if command else {}),
                "world": world,
                **({"start": True} if "start" in rules.get("clock", {}) else {}),
                **rules.get("found", {}),
            },
            **clock,
            **run,
            **{key: value for key, value in rules.items() if key not in ("sendbox", "clock", "found")},
        }
        if "clock" in rules:
            content["clock"] = {**clock.get("clock", {}), **rules["clock"]}
        file = f"{stem}.yaml" if world == min(by_world) else f"{stem}.world-{world}.yaml"
        head = "".join(f"# {line}".rstrip() + "\n" for line in find.story)
        files[file] = head + dump(content)
    return files


def _readable(text: str) -> str:
    return _NOT_ALPHANUMERIC.sub("-", text).strip("-")[:_LONGEST_NAME].strip("-")


def read(folder: Path) -> list[StoredFind]:
    """The finds of a folder. Raises ValueError for a file that is not a find, or has a problem."""
    grouped: dict[str, dict[int, tuple[Path, JsonObject]]] = {}
    for file in sorted(folder.glob("*.yaml")):
        content = _content(file)
        if content is None:
            raise ValueError(f'{file} is not a find: it has no "found" with the name of a test')
        grouped.setdefault(file.stem.partition(".world-")[0], {})[_world(content)] = (file, content)
    return [_stored_find(worlds) for worlds in grouped.values()]


def read_plan(file: Path) -> dict[int, JsonObject] | None:
    """The plan of one file, by the ordinal of its world; None if the file is not a find. Raises ValueError."""
    content = _content(file) if file.is_file() else None
    return None if content is None else {_world(content): _plan(content)}


def _content(file: Path) -> JsonObject | None:
    """The scenario in a file, None if it is not a find. Raises ValueError if it is one, and has a problem."""
    node, _ = parse(file.read_text(encoding="utf-8"), Source(str(file), file.parent))
    content = None if node is None else plain(node)
    if not isinstance(content, dict) or not isinstance(about := content.get("found"), dict) or "test" not in about:
        return None
    try:
        LANGUAGE.load(str(file))
    except ScenarioError as error:
        raise ValueError(str(error)) from None
    return content


def _world(content: JsonMapping) -> int:
    return int(content["found"].get("world", 1))


def _stored_find(worlds: Mapping[int, tuple[Path, JsonObject]]) -> StoredFind:
    about = next(iter(worlds.values()))[1]["found"]
    return StoredFind(
        {world: file for world, (file, _) in worlds.items()},
        str(about["test"]),
        {world: _plan(content) for world, (_, content) in worlds.items()},
        tuple(map(str, about.get("command", ()))),
        about.get("kind", FIND_KINDS[0]),
    )


def _plan(content: JsonMapping) -> JsonObject:
    """The scenario without the keys that it took from its run."""
    plan = {key: value for key, value in content.items() if key not in (*_RUN_KEYS, "name", "found")}
    clock = {key: value for key, value in plan.pop("clock", {}).items() if key not in ("mode", "start")}
    if content["found"].get("start"):
        clock["start"] = content["clock"]["start"]
    advances = {key: value for key, value in content["found"].items() if key == "advances"}
    return {**plan, **({"clock": clock} if clock else {}), **({"found": advances} if advances else {})}
