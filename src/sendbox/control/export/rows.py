"""The form of a row that says how an export repeats an act of a tester, the rows of control itself, and Python values.

A phone of a timeline acts on the newest message with which it can; a tester may have named another one. So what an act
was about is looked up in the journal, and compared with what the timeline would find.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from sendbox.engine.answer import JsonMapping, JsonObject
from sendbox.engine.commands.command import Act
from sendbox.engine.journal import CODE
from sendbox.engine.world import World
from sendbox.scenario.environment import escape_texts


class NoEntry(Exception):
    """No entry of a timeline does what was done; the text says why."""


class ActStep(msgspec.Struct, frozen=True):
    """Something that a tester did through control: the operation's name, or a word, and its arguments.

    `act` is the command; None for what came as a call. A refused act has no entry in the journal.
    """

    number: int
    at: int
    what: str
    detail: JsonObject
    act: Act | None = None

    @property
    def refused(self) -> bool:
        """True if it was refused although it changed something."""
        return self.act is not None and self.act.refused


class NameLookup(NamedTuple):
    """An operation whose answer shows names of one kind: `find` says where a name stands in it, None for others."""

    operation: str
    find: Callable[[World, str], str | None]


class Exported(msgspec.Struct, frozen=True):
    """The ways to repeat an act.

    `entry` makes the entry of a timeline, without its instant, or raises `NoEntry`; None if no entry can repeat the
    act. An entry comes before everything that is due at its instant, so it repeats the act wrongly if an attempt
    reached a state of `sooner` first; with `by_phone` only an attempt to the phone of the act counts. `line` writes the
    act in Python; None stands for the operation of that name. `look` finds names that the act may have and that no
    answer gave.
    """

    entry: Callable[[World, ActStep], JsonObject] | None = None
    sooner: frozenset[str] = frozenset()
    by_phone: bool = False
    line: Callable[[Literals, JsonObject], str] | None = None
    look: NameLookup | None = None


def entries_before(world: World, step: ActStep) -> Iterator[tuple[int, int, Any]]:
    """The entries before an act, newest first, as far as they are kept."""
    for earlier in range(step.number - 1, world.journal.first - 1, -1):
        yield world.journal.entry(earlier)


def made_entry(world: World, step: ActStep, kind: str) -> Any:
    """The entry of a kind that an act made: the newest before its own. Raises `NoEntry` when it is forgotten."""
    for _, code, about in entries_before(world, step):
        if code == CODE[kind]:
            return about
    raise NoEntry(f"the journal forgot what it did ({world.record.cut_by})")


def select_arguments(detail: JsonObject, *names: str) -> JsonObject:
    """The arguments of these names, as far as the call has them."""
    return {name: detail[name] for name in names if name in detail}


def _rule(literals: Literals, detail: JsonObject) -> str:
    raw = {**detail["rule"], **({} if detail["in"] == "attempts" else {"in": detail["in"]})}
    return literals.call("sendbox.perform", ["put_rule"], {"raw": raw})


def _delivery(world: World, name: str) -> str | None:
    delivery = world.outlets.find(name)
    return None if delivery is None else f"deliveries.{delivery.number}.id"


OWN: Final[Mapping[str, Exported]] = {
    "rule": Exported(line=_rule),
    "replay_delivery": Exported(look=NameLookup("deliveries", _delivery)),
    "drop_rule": Exported(line=lambda literals, detail: literals.call("sendbox.drop_rule", [detail["rule"]], {})),
    "scenario": Exported(
        line=lambda literals, detail: literals.call(
            "sendbox.perform", ["load_scenario"], {"raw": escape_texts(detail["source"])}
        )
    ),
}

# --- values of Python

WIDTH: Final = 110


class Literals:
    """Writes values. `names` maps texts to the expressions that stand for them, in whole or inside of longer texts."""

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def text(self, value: str) -> str:
        """A text: a plain literal, a name, or an f-string in which names stand."""
        if value in self.names:
            return self.names[value]
        known = self.names
        pieces = [value]
        for name in sorted(known, key=len, reverse=True):
            pieces = [part for piece in pieces for part in ([piece] if piece in known else _split(piece, name))]
        if len(pieces) == 1:
            return f'"{_escaped(value)}"'
        parts = (f"{{{known[piece]}}}" if piece in known else _escaped(piece, braces=True) for piece in pieces)
        return f'f"{"".join(parts)}"'

    def value(self, value: object, indent: int = 0, used: int = 0) -> str:
        """A JSON value; one that does not fit on its line is broken after each item. `used` columns are taken."""
        short = self._short(value)
        if len(short) + indent + used <= WIDTH or not isinstance(value, dict | list) or not value:
            return short
        pad = " " * (indent + 4)
        if isinstance(value, dict):
            lines = [f"{self.text(key)}: {self.value(item, indent + 4, len(key) + 4)}," for key, item in value.items()]
            left, right = "{}"
        else:
            lines = [f"{self.value(item, indent + 4, 1)}," for item in value]
            left, right = "[]"
        return "\n".join([left, *(pad + line for line in lines), " " * indent + right])

    def _short(self, value: object) -> str:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return "{" + ", ".join(f"{self.text(key)}: {self._short(item)}" for key, item in value.items()) + "}"
        if isinstance(value, list):
            return "[" + ", ".join(map(self._short, value)) + "]"
        return repr(value)

    def call(self, function: str, positional: list[object], named: JsonMapping, indent: int = 4) -> str:
        """A call; arguments whose names are not identifiers of Python are given as a mapping."""
        odd = {name: value for name, value in named.items() if not name.isidentifier() or keyword.iskeyword(name)}
        arguments = [self.value(item, indent) for item in positional]
        arguments += [
            f"{name}={self.value(item, indent, len(name) + 40)}" for name, item in named.items() if name not in odd
        ]
        if odd:
            arguments.append(f"**{self.value(odd, indent, 40)}")
        return broken(function, arguments, indent)


def broken(function: str, arguments: Sequence[str], indent: int = 4, room: int = WIDTH) -> str:
    """A call of written arguments: on one line, with the last of them broken open, or each on its own line."""
    line = f"{function}({', '.join(arguments)})"
    first = line.partition("\n")[0]
    if len(first) + indent <= room and ("\n" not in line or "\n" not in "".join(arguments[:-1])):
        return line
    pad = " " * (indent + 4)
    deeper = (argument.replace("\n", "\n    ") for argument in arguments)
    return "\n".join([f"{function}(", *(f"{pad}{argument}," for argument in deeper), " " * indent + ")"])


def _split(piece: str, name: str) -> list[str]:
    parts = piece.split(name)
    return [part for pair in ((part, name) for part in parts) for part in pair][:-1]


def _escaped(text: str, *, braces: bool = False) -> str:
    escaped = "".join(
        char if char.isprintable() else char.encode("unicode_escape", "surrogatepass").decode()
        for char in text.replace("\\", "\\\\").replace('"', '\\"')
    )
    return escaped.replace("{", "{{").replace("}", "}}") if braces else escaped
