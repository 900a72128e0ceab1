"""Traffic: what a sample client sends, for `sendbox play` and for tests. A world that is served never looks at it.

Values may be references, `$name.path.to.field`: a field of the answer to an earlier entry. They are resolved by
what plays the traffic; nothing in it computes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct

from sendbox.engine.answer import JsonObject
from sendbox.engine.rules.conditions import choices, fits, quoted
from sendbox.engine.texts import regex

#: The word of `expect.status` for a call that gets no answer.
NONE: Final = "none"
#: The world in which traffic is played, also its key; rules may ask for it.
WORLD: Final = "test-play"

_REFERENCE: Final = regex(r"\$([A-Za-z_][A-Za-z0-9_-]*)((?:\.[A-Za-z0-9_-]+)+)")


class Traffic(msgspec.Struct, frozen=True):
    """One call of the sample client, or one thing that a tester does.

    `at` in milliseconds, from the start of the epoch when `relative`, else an instant. `operation` is, by `form`, one
    of `CALLS`, a method and a path as they stand, or an operation of control. `value` is what it carries
    (`CALLS[operation].part` says how; control has its arguments), `content` a body as it stands, with its `type`.
    `key` None = the account's own, else a suffix, or a reference to a whole key.
    `statuses` are those of which one is expected, 0 = no answer at all, empty = any; `expected_values` are values at
    paths of the answer's body. It is sent so many `times`, with `every` milliseconds between.
    """

    at: int
    relative: bool
    operation: str
    value: Any = None
    params: tuple[tuple[str, object], ...] = ()
    key: str | None = None
    name: str | None = None
    statuses: tuple[int, ...] = ()
    place: str | None = None
    form: Literal["operation", "call", "control"] = "operation"
    content: bytes | None = None
    type: str | None = None
    expected_values: tuple[tuple[tuple[str, ...], object], ...] = ()
    every: int = 0
    times: int = 1

    def instants(self, start: int) -> Iterator[int]:
        """The instants at which it is sent, where the epoch began at `start`."""
        first = self.at + start if self.relative else self.at
        return (first + number * self.every for number in range(self.times))

    @property
    def expected(self) -> str:
        """The statuses that are expected, in words; empty for any."""
        return " or ".join(str(status or "no answer") for status in self.statuses)

    def differences(self, answer: object) -> list[str]:
        """Each value of an answer's body that is not as expected."""
        differing = []
        for path, expected in self.expected_values:
            legal = " or ".join(map(quoted, choices(expected)))
            try:
                value = field(answer, path)
            except LookupError:
                differing.append(f"{'.'.join(path)} is not there, wanted {legal}")
                continue
            if not fits(value, expected):
                differing.append(f"{'.'.join(path)} is {quoted(value)}, wanted {legal}")
        return differing


class ReceiverBehavior(Struct, frozen=True):
    """The outcomes of the tries of a webhook by its number; None = of every webhook without an entry of its own."""

    webhook: int | None
    outcomes: tuple[int | str, ...]


class Counterexample(Struct, frozen=True):
    """A client that must not pass: its `traffic`, how its `receiver` answers, and the names of the expectations that it
    `fails`, all of them and no other."""

    name: str
    fails: tuple[str, ...]
    traffic: tuple[Traffic, ...]
    receiver: tuple[ReceiverBehavior, ...]


def parse_reference(value: object) -> tuple[str, tuple[str, ...]] | None:
    """The name and the path of a reference, None for any other value."""
    match = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
    return None if match is None else (match[1], tuple(match[2][1:].split(".")))


def field(answer: object, path: tuple[str, ...]) -> object:
    """The value at a path in an answer, by keys and indexes. Raises LookupError, which says where the path ends."""
    value = answer
    for step, word in enumerate(path):
        if isinstance(value, dict) and word in value:
            value = value[word]
        elif isinstance(value, list) and word.isdecimal() and int(word) < len(value):
            value = value[int(word)]
        else:
            where = ".".join(path[:step]) or "the answer"
            legal = (
                ", ".join(value)
                if isinstance(value, dict)
                else f"{len(value)} items"
                if isinstance(value, list)
                else "nothing"
            )
            raise LookupError(f'"{word}" is not in {where}, which has {legal}')
    return value


def resolve(value: object, answers: JsonObject) -> Any:
    """The value with every reference replaced. LookupError where one does not lead to a value."""
    if isinstance(value, dict):
        return {key: resolve(item, answers) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [resolve(item, answers) for item in value]
    target = parse_reference(value)
    if target is None:
        return value
    name, path = target
    if name not in answers:
        raise LookupError(f'"{value}" refers to "{name}", which got no answer')
    return field(answers[name], path)
