"""A record as data, and back: the form from which a world can be made again in another process.

`{sendbox_record, version, engine, world, commands, ends, journal, digest}`. A command is an object of its word, its
place and its fields; `journal` has the instant, the kind and a hash of each entry, so that a replay can say which one
differs first.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import suppress
from functools import cache, lru_cache
from hashlib import blake2b
from sys import intern
from typing import Any, Final, NamedTuple, Protocol, get_type_hints

import msgspec
import orjson

from sendbox import __version__
from sendbox.control.export.scenario import source_of
from sendbox.engine import ENGINE, bounds
from sendbox.engine.answer import JsonMapping, JsonObject
from sendbox.engine.blueprint import Blueprint
from sendbox.engine.commands.command import COMMANDS, Body, Command, Open, Stamp
from sendbox.engine.digest import digest
from sendbox.engine.durations import excerpt, instant, iso
from sendbox.engine.kinds.rows import KindTable, Observer
from sendbox.engine.timeline import Mode
from sendbox.engine.world import World
from sendbox.scenario.model import ScenarioError
from sendbox.scenario.write import dump
from sendbox.services.http.requests import BoundedCache

#: The version of this form.
FORM: Final = 1
_WORD: Final = {command: word for word, command in COMMANDS.items()}


#: So many scenarios are remembered: each is kept in memory with all that was made of it.
MAX_SCENARIOS: Final = 16
#: Scenarios with their texts, by identity: many worlds have the same one, and to write one takes 10 ms.
_SCENARIOS: Final[BoundedCache[int, tuple[Blueprint, str]]] = BoundedCache(MAX_SCENARIOS)


class Unreadable(Exception):
    """Data that is not a record that can be read; the text says what is wrong, and what is legal."""


class Scenarios(Protocol):
    """The language of scenarios, or scenarios that were read before."""

    def load(self, source: str, *, name: str, paths: bool) -> Blueprint:
        """A scenario from its text. Raises `ScenarioError`."""


class Entry(NamedTuple):
    """An entry of a journal, in short: instant, kind, and a hash of all that is shown of it."""

    at: str
    kind: str
    hash: str


class Recorded(NamedTuple):
    """A record that was read: its commands, where the world stood when it was build_record, and how it looked."""

    version: str
    engine: int
    world: str
    commands: list[tuple[Stamp, Command]]
    ends: Stamp
    journal: list[Entry]
    digest: str


# -- build_record


def build_record(world: World, kinds: KindTable, proof: str) -> Generator[None, None, JsonObject]:
    """Makes the record of a world as data, with pauses. Raises `RecordIncomplete`."""
    commands: list[JsonObject] = []
    for stamp, command in world.record.commands():
        commands.append(write_command(stamp, command))
        yield
    journal = []
    on = Observer(world, kinds)
    for number in range(len(world.journal)):
        journal.append(list(entry(on, number)))
        yield
    return {
        "sendbox_record": FORM,
        "version": __version__,
        "engine": ENGINE,
        "world": world.id,
        "commands": commands,
        "ends": _place(Stamp(world.epoch, world.now, world.ticks)),
        "journal": journal,
        "digest": proof,
    }


def write_command(stamp: Stamp, command: Command) -> JsonObject:
    """A command as data, with its place."""
    return {"command": _WORD[type(command)], **_place(stamp), **_fields(command)}


def entry(on: Observer, number: int) -> Entry:
    """An entry of a journal, in short."""
    view = on.entry(number)
    raw = orjson.dumps(view, option=orjson.OPT_SORT_KEYS)
    return Entry(view["at"], view["kind"], blake2b(raw, digest_size=8).hexdigest())


def _place(stamp: Stamp) -> JsonObject:
    return {"epoch": stamp.epoch, "at": _at(stamp.at), "ticks": stamp.ticks}


#: While a clock stands still, all commands come at one instant.
_at = lru_cache(64)(iso)


def _fields(command: Command) -> JsonObject:
    kind: Any = type(command)
    fields: JsonObject = {
        key: command[place] if write is None else write(command[place]) for place, key, write in _columns(kind)
    }
    arguments: JsonMapping | None = getattr(command, "arguments", None)
    if arguments and (compiled := [name for name, value in arguments.items() if isinstance(value, Blueprint)]):
        fields["scenarios"] = compiled
    return fields


@cache
def _columns(kind: Any) -> tuple[tuple[int, str, Callable[[Any], Any] | None], ...]:
    """Place, key and writer of each field of a kind of commands, in the order in which they are written."""
    names = sorted(kind._fields, key=_LAST.__contains__)
    return tuple(
        (kind._fields.index(name), _KEYS.get(name, name), _FORMS[name].write if name in _FORMS else None)
        for name in names
    )


@lru_cache(256)
def _write_headers(headers: tuple[tuple[bytes, bytes], ...]) -> list[list[str]]:
    """Headers as data: most calls of a client have the same."""
    return [[text.decode("latin-1") for text in header] for header in headers]


def write_blueprint(blueprint: Blueprint) -> JsonObject:
    """A scenario with what it builds on, and what it is called: its text may leave that to its file."""
    known = _SCENARIOS.get(id(blueprint))
    if known is None or known[0] is not blueprint:
        known = _SCENARIOS.store(id(blueprint), (blueprint, dump(source_of(blueprint))))
    return {"name": blueprint.name, "text": known[1]}


def write_original(blueprint: Blueprint) -> JsonObject:
    """The `original` text of a scenario, and the name of its places; empty unless it was sent as text."""
    written = blueprint.written
    return {} if written is None or written.is_file else {"original": {"name": written.file, "text": written.text}}


def _text(body: Body) -> str | dict[str, str] | None:
    """A body as text, or in base64 where it is not UTF-8."""
    raw = None if body is None else bytes(body)
    try:
        return raw if raw is None else raw.decode()
    except UnicodeDecodeError:
        return {"base64": b64encode(raw or b"").decode()}


# -- read


def read(text: bytes, scenarios: Scenarios) -> Recorded:
    """The record that a text holds. Raises `Unreadable`."""
    try:
        data = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise Unreadable(f"it is not JSON: {error}") from None
    outside = bounds.in_json(text, data)
    if outside is not None:
        raise Unreadable(f"it is damaged: {outside.message}")
    if not isinstance(data, dict) or "sendbox_record" not in data:
        raise Unreadable("it is not a record: `sendbox export --as record` writes one")
    if data["sendbox_record"] != FORM:
        raise Unreadable(f"it is of form {excerpt(data['sendbox_record'])}; this version reads form {FORM}")
    missing = [name for name in _PARTS if name not in data]
    if missing:
        raise Unreadable(f'it is damaged: "{missing[0]}" is missing')
    try:
        for name, kind in _PARTS.items():
            _check(data[name], kind, name)
        _check_fields(data["ends"], _PLACE)
        ends = _stamp(data["ends"])
    except _DAMAGED as error:
        raise Unreadable(f"it is damaged: {_error_text(error)}") from None
    commands = read_commands(map(_checked, data["commands"]), scenarios)
    journal = [Entry(*entry) for entry in data["journal"]]
    return Recorded(data["version"], data["engine"], data["world"], commands, ends, journal, data["digest"])


#: What a record has, and a place in it.
_PARTS: Final[Mapping[str, object]] = {
    "version": str,
    "engine": int,
    "world": str,
    "commands": list,
    "ends": dict,
    "journal": list[tuple[str, str, str]],
    "digest": str,
}
_PLACE: Final[Mapping[str, object]] = {"epoch": int, "at": str, "ticks": int}
#: What comes of reading fields that are not as they were written.
_DAMAGED: Final = (KeyError, TypeError, ValueError, AttributeError)


def _check(value: object, kind: object, name: str) -> None:
    """Raises ValueError for a value of JSON that is not of a type."""
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        raise ValueError(f'"{name}" is {excerpt(value)}, which no record has there') from None


def _check_fields(line: JsonMapping, fields: Mapping[str, object]) -> None:
    for name, kind in fields.items():
        if name in line:
            _check(line[name], kind, name)


def _checked(line: object) -> JsonMapping:
    """A command as data, whose fields have the types that they are written with. Raises ValueError."""
    if not isinstance(line, dict):
        raise ValueError(f"{excerpt(line)} is not an object")
    _check_fields(line, {"command": str, "scenarios": list[str], **_PLACE})
    kind: Any = COMMANDS.get(line.get("command", ""))
    _check_fields(line, {} if kind is None else _types(kind))
    return line


@cache
def _types(kind: Any) -> Mapping[str, object]:
    """The fields of a kind of commands, with their types in JSON."""
    hints = get_type_hints(kind, localns={"Mode": Mode, "Blueprint": Blueprint})
    return {_KEYS.get(name, name): _FORMS[name].type if name in _FORMS else hint for name, hint in hints.items()}


def read_commands(lines: Iterable[JsonMapping], scenarios: Scenarios) -> list[tuple[Stamp, Command]]:
    """The commands that such data are, the first of which opens a world. Raises `Unreadable`."""
    commands: list[tuple[Stamp, Command]] = []
    try:
        commands.extend((_stamp(line), _command(line, scenarios)) for line in lines)
    except _DAMAGED as error:
        raise Unreadable(f"it is damaged: command {len(commands)}: {_error_text(error)}") from None
    if not commands or not isinstance(commands[0][1], Open):
        raise Unreadable("its first command does not open a world")
    return commands


def _error_text(error: Exception) -> str:
    return f'"{error.args[0]}" is missing' if isinstance(error, KeyError) else str(error)


def _stamp(line: JsonMapping) -> Stamp:
    return Stamp(int(line["epoch"]), instant(line["at"]), int(line["ticks"]))


def _command(line: JsonMapping, scenarios: Scenarios) -> Command:
    word = line["command"]
    kind = COMMANDS.get(word)
    if kind is None:
        raise Unreadable(f"{excerpt(word)} is not a command; legal: {', '.join(COMMANDS)}")
    fields: JsonObject = {}
    for name in kind._fields:
        key = _KEYS.get(name, name)
        if key in line:
            fields[name] = _FORMS[name].read(line[key], scenarios) if name in _FORMS else line[key]
        elif name not in kind._field_defaults:
            raise KeyError(key)
    for name in line.get("scenarios", ()):
        fields["arguments"][name] = _scenario(fields["arguments"][name], scenarios)
    command: Command = kind(**fields)
    return command


class _Form(NamedTuple):
    """The form that a field of a command has in a record: its type in JSON, what writes it, and what reads it."""

    type: object
    write: Callable[[Any], Any]
    read: Callable[[Any, Scenarios], Any]


def _scenario(source: JsonMapping, scenarios: Scenarios) -> Blueprint:
    original = source.get("original")
    if original is not None:
        with suppress(ScenarioError):  # what it builds on may be another one here
            blueprint = scenarios.load(original["text"], name=original["name"], paths=False)
            if write_blueprint(blueprint) | {"original": original} == source:
                return blueprint
    try:
        return scenarios.load(source["text"], name=source["name"], paths=False)
    except ScenarioError as error:
        problems = "; ".join(str(error).split("\n"))
        raise Unreadable(f"its scenario is no longer legal: {problems}") from None


@lru_cache(maxsize=1_024)
def _read_headers(headers: tuple[tuple[str, str], ...]) -> tuple[tuple[bytes, bytes], ...]:
    """The headers of a call; those of nearly all calls are the same."""
    return tuple((name.encode("latin-1"), value.encode("latin-1")) for name, value in headers)


_TIME: Final = _Form(str, iso, lambda text, _: instant(text))
#: The fields of commands that are not values of JSON.
_FORMS: Final[Mapping[str, _Form]] = {
    "start": _TIME,
    "now": _TIME,
    "blueprint": _Form(dict[str, str], write_blueprint, _scenario),
    "arguments": _Form(
        dict,
        lambda values: {
            name: write_blueprint(value) if isinstance(value, Blueprint) else value for name, value in values.items()
        },
        lambda values, _: values,
    ),
    "query": _Form(str, lambda raw: raw.decode("latin-1"), lambda text, _: text.encode("latin-1")),
    "headers": _Form(
        list[tuple[str, str]],
        _write_headers,
        lambda headers, _: _read_headers(tuple((name, value) for name, value in headers)),
    ),
    "body": _Form(
        str | dict[str, str] | None,
        _text,
        lambda body, _: body if body is None else body.encode() if isinstance(body, str) else b64decode(body["base64"]),
    ),
    # one text for all calls, not one for each
    **dict.fromkeys(("method", "path", "origin", "key"), _Form(str, str, lambda text, _: intern(text))),
    "requests": _Form(list[str], tuple, lambda requests, _: tuple(requests)),
}
#: Fields that have another name in a record, and those that stand last there.
_KEYS: Final = {"blueprint": "scenario"}
_LAST: Final = frozenset({"arguments", "now"})


# -- compared


class Comparison(NamedTuple):
    """A record and the result of its replay: `first` is the number of the first entry that differs, None = none."""

    first: int | None
    recorded: Entry | None
    replayed: JsonMapping | None
    digest: str


def compare(recorded: Recorded, world: World, kinds: KindTable) -> Comparison:
    """Compares a replayed world with its record, entry by entry."""
    on = Observer(world, kinds)
    replayed_digest = digest(world, kinds)
    for number in range(max(len(recorded.journal), len(world.journal))):
        recorded_entry = recorded.journal[number] if number < len(recorded.journal) else None
        if number >= len(world.journal) or entry(on, number) != recorded_entry:
            return Comparison(
                number, recorded_entry, on.entry(number) if number < len(world.journal) else None, replayed_digest
            )
    return Comparison(None, None, None, replayed_digest)
