"""The script of a world: its calls, acts of testers and moves of the clock as steps that can be repeated.

The steps are read from the record, their results from the journal. Calls that came while the world advanced,
such as those of a receiver, are repeated once their instant has settled.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec
import orjson

from sendbox.control.export.rows import ActStep
from sendbox.engine.commands.command import Act, Call, Move, Tune
from sendbox.engine.commands.record import Record, RequestRecord
from sendbox.engine.delivery.injection import FakedTry
from sendbox.engine.journal import CODE
from sendbox.engine.world import World

#: Operations in `control` entries that did not change the world.
_IDLE: Final = frozenset({"hook", "clock"})
#: Commands that have an entry in the journal each.
_JOURNALED: Final = (Call, Act, Tune)
#: The shortest text of an answer that counts as a name which later requests quote.
SHORTEST_NAME: Final = 20


class CallStep(msgspec.Struct, frozen=True):
    """A call of an emulated interface, with its record in the journal and its command.

    `names` are the texts of its answer that later steps quote: (text, path of keys).
    """

    number: int
    at: int
    record: RequestRecord
    call: Call
    names: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def body(self) -> bytes:
        """The body of the request, also of an upload; empty if it was too long to be read."""
        body = self.call.body
        return body if isinstance(body, bytes) else bytes(body or b"")

    @property
    def address(self) -> str:
        """The address of the call, in the form that addresses in answers have."""
        return f"{self.call.origin}{self.call.path}"

    @property
    def moves(self) -> bool:
        """True if the clock was moved before the answer."""
        fault = self.record.fault
        return fault is not None and fault.rule.fault.moves

    @property
    def broken(self) -> bool:
        """True if the client got no whole answer: no HTTP, nothing at all, or the first half of an answer."""
        fault = self.record.fault
        return fault is not None and fault.rule.fault.broken


class MoveStep(msgspec.Struct, frozen=True):
    """A move of the clock to `at`, after which all that was due has settled; `idle` = nothing was due."""

    at: int
    idle: bool = False


Step = CallStep | ActStep | MoveStep


class Script(msgspec.Struct):
    """All steps in their order, the outcomes of tries by delivery, and notes about steps that cannot be repeated."""

    steps: list[Step] = msgspec.field(default_factory=list)
    outcomes: dict[str, list[int | str]] = msgspec.field(default_factory=dict)
    #: True if webhooks left the world
    delivers: bool = False
    left_out: list[str] = msgspec.field(default_factory=list)


def build_script(world: World) -> Script:
    """The steps that were done to a world since its epoch began. Raises `RecordIncomplete`."""
    result = Script()
    world.record.check_complete()
    journal, record = world.journal, world.record
    numbers = journal.numbers(frozenset({"request", "control"}))
    during_move = _during_moves(record)
    now = world.start
    overlapping = ticks = 0
    ran_by_itself = False
    for position, (stamp, command) in enumerate(record.commands()):
        if isinstance(command, Move):
            ran_by_itself = ran_by_itself or not command.by_hand
            result.steps.append(MoveStep(stamp.at, stamp.at == now and stamp.ticks == ticks))
            now = stamp.at
        if isinstance(command, Move) or not during_move[position]:
            ticks = stamp.ticks
        if not isinstance(command, _JOURNALED):
            continue
        if isinstance(command, Act) and command.refused:
            result.steps.append(ActStep(0, stamp.at, command.name, dict(command.arguments), command))
            continue
        number = next(numbers)
        if stamp.at > now or during_move[position]:
            overlapping += during_move[position] and not _is_last_of_instant(world, number)
            now = max(now, stamp.at)
            result.steps.append(MoveStep(now))
        _, code, about = journal.entry(number)
        if isinstance(command, Call) and code == CODE["request"]:
            result.steps.append(CallStep(number, stamp.at, about, command))
        elif about["what"] not in _IDLE:
            detail = {name: value for name, value in about.items() if name != "what"}
            act = command if isinstance(command, Act) else None
            result.steps.append(ActStep(number, stamp.at, str(about["what"]), detail, act))
    if world.now > now:
        result.steps.append(MoveStep(world.now))
    if overlapping:
        result.left_out.append(
            f"{overlapping} calls or acts came while the world advanced; "
            "they are repeated once their instant has settled"
        )
    if ran_by_itself:
        result.left_out.append("the clock ran on its own for a time; here it is moved from instant to instant")
    result.outcomes = _outcomes(world)
    result.delivers = bool(result.outcomes) or any(not delivery.outlet.builtin for delivery in world.outlets.deliveries)
    result.steps = _with_quoted_names(result.steps)
    return result


def _during_moves(record: Record) -> list[bool]:
    """A list with True for each command that came while the clock was being moved."""
    during_move = [False] * len(record)
    for position, (_, command) in enumerate(record.commands()):
        if isinstance(command, Move):
            during_move[command.first : position] = [True] * (position - command.first)
    return during_move


def _is_last_of_instant(world: World, number: int) -> bool:
    """True if only deliveries, other calls and its own messages follow a call or an act at its instant."""
    at, _, called = world.journal.entry(number)
    answer = getattr(called, "answer", b"")  # an act has no messages of its own
    for later in range(number + 1, len(world.journal)):
        instant, code, about = world.journal.entry(later)
        if instant > at:
            break
        if code not in (CODE["try"], CODE["delivery"], CODE["request"]):
            message = getattr(about, "message", None)
            if message is None or message.id.encode() not in answer:
                return False
    return True


def is_complete(script: Script) -> bool:
    """True if the script has everything that the digest depends on."""
    return not any(line.startswith(("entry ", "the first ")) for line in script.left_out)


def _outcomes(world: World) -> dict[str, list[int | str]]:
    """The ends of tries, a status or a word for each, of deliveries with a try that did not end in 200.

    Copies with the same id share a list, in the order of their tries. Tries that a rule answered are left out: the
    rule answers again.
    """
    outcomes: dict[str, list[int | str]] = {}
    journal = world.journal
    for number in journal.numbers(frozenset({"try"})):
        delivery, index = journal.entry(number)[2]
        attempt = delivery.tries[index]
        ending = attempt.error if attempt.status is None else attempt.status
        if ending is not None and not isinstance(attempt, FakedTry):
            outcomes.setdefault(world.outlets.id_of(delivery), []).append(ending)
    return {name: ending for name, ending in outcomes.items() if any(status != 200 for status in ending)}


def _with_quoted_names(steps: list[Step]) -> list[Step]:
    """The steps, each call with the texts of its answer that later steps quote."""
    later = b""
    named: list[Step] = []
    for step in reversed(steps):
        if isinstance(step, CallStep):
            names = [] if step.broken or step.record.status >= 400 else list(_long_texts(_json(step.record.answer), ()))
            quoted = dict.fromkeys((text, path) for text, path in names if text.encode() in later)
            named.append(CallStep(step.number, step.at, step.record, step.call, tuple(quoted)))
            record = step.record
            key = b"" if record.bare else record.key.encode()
            later += b"\0".join((b"", step.address.encode(), record.query, step.body, key))
        else:
            named.append(step)
            if isinstance(step, ActStep):
                later += b"\0" + orjson.dumps(step.detail, default=str)
    return named[::-1]


def _json(raw: bytes) -> object:
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        return None


def _long_texts(value: object, path: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The texts of an answer that are long enough to be names, with their paths."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _long_texts(item, (*path, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _long_texts(item, (*path, f"#{index}"))
    elif isinstance(value, str) and len(value) >= SHORTEST_NAME:
        yield value, path


def file_stem(world_id: str) -> str:
    """The name of a file for a world, without its ending."""
    return re.sub(r"[^0-9A-Za-z]+", "_", world_id).strip("_").lower() or "world"
