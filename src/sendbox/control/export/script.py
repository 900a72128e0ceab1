"""What was done to a world, step by step, so that it can be done again: calls, acts of testers, and moves of the clock.

It is read off the journal. Every call of an emulated interface is an entry, every act of control too (`control`), and
`World.moves` has the advances between them. What came while the world advanced, as a receiver's own calls do, is done
again once its instant has settled.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import orjson

from sendbox.control.export.rows import Act
from sendbox.engine.delivery.detours import FakedTry
from sendbox.engine.journal import CODE

if TYPE_CHECKING:
    from sendbox.engine.requests import RequestRecord
    from sendbox.engine.world import World

#: Entries of `control` that did nothing to the world.
_IDLE: Final = frozenset({"hook"})
#: Calls whose body is not kept.
_UPLOAD: Final = "uploadBulk"
#: A shorter text of an answer is not taken for a name that a later request quotes.
SHORTEST: Final = 20


@dataclass(frozen=True, slots=True)
class Call:
    """A call of an emulated interface. `names` are what later steps quote of its answer: (text, path of keys)."""

    number: int
    at: int
    record: RequestRecord
    names: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def broken(self) -> bool:
        """Whether the client got no whole answer: nothing of HTTP, nothing at all, or the first half of one."""
        fault = self.record.fault
        return fault is not None and fault.rule.fault.broken


@dataclass(frozen=True, slots=True)
class Move:
    """The clock goes to `at` and all that is due has settled."""

    at: int


Step = Call | Act | Move


@dataclass(slots=True)
class Script:
    """All steps in their order, the outcomes of tries by delivery, and what cannot be done again, in words."""

    steps: list[Step] = field(default_factory=list)
    outcomes: dict[str, list[int | str]] = field(default_factory=dict)
    #: whether webhooks left the world
    delivers: bool = False
    left_out: list[str] = field(default_factory=list)


def script(world: World) -> Script:
    """What was done to a world since its epoch began."""
    made = Script()
    journal = world.journal
    moves = list(world.moves)
    now = world.start
    inside = 0
    modes = False
    if journal.first:
        made.left_out.append(f"the first {journal.first} entries; the journal forgot them (--max-journal)")
    for number in journal.numbers(frozenset({"request", "control"})):
        at, code, what = journal.entry(number)
        while moves and moves[0][1] <= number:
            now = moves.pop(0)[2]
            made.steps.append(Move(now))
        if at > now or (moves and moves[0][0] <= number):
            inside += bool(moves and moves[0][0] <= number)
            now = max(now, at)
            made.steps.append(Move(now))
        if code == CODE["request"]:
            if _lost(what):
                made.left_out.append(f"entry {number}: {what.operation} at {what.path}; its body was not kept")
            else:
                made.steps.append(Call(number, at, what))
        elif what["what"] == "clock":
            modes = True
        elif what["what"] not in _IDLE:
            detail = {name: value for name, value in what.items() if name != "what"}
            made.steps.append(Act(number, at, str(what["what"]), detail))
    made.steps += [Move(at) for _, _, at in moves]
    if world.now > (moves[-1][2] if moves else now):
        made.steps.append(Move(world.now))
    if inside:
        made.left_out.append(
            f"{inside} calls or acts came while the world advanced; they are done once their instant has settled"
        )
    if modes:
        made.left_out.append("the clock ran by itself for a time; here it goes by hand from instant to instant")
    made.outcomes = _outcomes(world)
    made.delivers = bool(made.outcomes) or any(not delivery.outlet.builtin for delivery in world.outlets.deliveries)
    made.steps = _named(made.steps)
    return made


def whole(made: Script) -> bool:
    """Whether nothing is missing of which the digest would tell."""
    return not any(line.startswith(("entry ", "the first ")) for line in made.left_out)


def _lost(record: RequestRecord) -> bool:
    return record.operation == _UPLOAD or record.status == 413


def _outcomes(world: World) -> dict[str, list[int | str]]:
    """How tries ended, a status or a word for each, of deliveries with one that did not end in 200.

    Copies that have one id share a list, in the order of their tries. What a rule answered reaches no receiver: the
    rule answers again.
    """
    found: dict[str, list[int | str]] = {}
    journal = world.journal
    for number in journal.numbers(frozenset({"try"})):
        delivery, index = journal.entry(number)[2]
        done = delivery.tries[index]
        ended = done.error if done.status is None else done.status
        if ended is not None and not isinstance(done, FakedTry):
            found.setdefault(world.outlets.id_of(delivery), []).append(ended)
    return {name: ended for name, ended in found.items() if any(each != 200 for each in ended)}


def _named(steps: list[Step]) -> list[Step]:
    """The calls with what later steps quote of their answers."""
    later = b""
    found: list[Step] = []
    for step in reversed(steps):
        if isinstance(step, Call):
            names = [] if step.broken or step.record.status >= 400 else list(_texts(_json(step.record.answer), ()))
            quoted = dict.fromkeys((text, path) for text, path in names if text.encode() in later)
            found.append(Call(step.number, step.at, step.record, tuple(quoted)))
            record = step.record
            key = b"" if record.bare else record.key.encode()
            later += b"\0".join((b"", record.path.encode(), record.query, record.body, key))
        else:
            found.append(step)
            if isinstance(step, Act):
                later += b"\0" + orjson.dumps(step.detail, default=str)
    return found[::-1]


def _json(raw: bytes) -> Any:
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        return None


def _texts(value: Any, path: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Texts of an answer that are long enough to be names, and where they stand."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _texts(item, (*path, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts(item, (*path, f"#{index}"))
    elif isinstance(value, str) and len(value) >= SHORTEST:
        yield value, path
