"""The steps that were done to a world, so that they can be repeated: calls, acts of testers, and moves of the clock.

The steps are read from the record, their results from the journal. Calls that came while the world advanced,
such as those of a receiver, are repeated once their instant has settled.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import msgspec
import orjson

from sendbox.control.export.rows import Done
from sendbox.engine.commands.command import Act, Call, Move, Tune
from sendbox.engine.delivery.injection import FakedTry
from sendbox.engine.journal import CODE

if TYPE_CHECKING:
    from sendbox.engine.commands.record import Record, RequestRecord
    from sendbox.engine.world import World

#: Entries of `control` that did nothing to the world.
_IDLE: Final = frozenset({"hook", "clock"})
#: Commands of which the journal has an entry each.
_JOURNALED: Final = (Call, Act, Tune)
#: A shorter text of an answer is not taken for a name that a later request quotes.
SHORTEST: Final = 20


class Called(msgspec.Struct, frozen=True):
    """A call of an emulated interface, as the journal has it and as it came.

    `names` are what later steps quote of its answer: (text, path of keys).
    """

    number: int
    at: int
    record: RequestRecord
    call: Call
    names: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def body(self) -> bytes:
        """The body as it came, of an upload too; empty where it was too long to be read."""
        body = self.call.body
        return body if isinstance(body, bytes) else bytes(body or b"")

    @property
    def address(self) -> str:
        """Where it went, as an answer gives such addresses out."""
        return f"{self.call.origin}{self.call.path}"

    @property
    def broken(self) -> bool:
        """True if the client got no whole answer: no HTTP, nothing at all, or the first half of an answer."""
        fault = self.record.fault
        return fault is not None and fault.rule.fault.broken


class Moved(msgspec.Struct, frozen=True):
    """The clock goes to `at` and all that is due has settled; `idle` where that was nothing."""

    at: int
    idle: bool = False


Step = Called | Done | Moved


class Script(msgspec.Struct):
    """All steps in their order, the outcomes of tries by delivery, and what cannot be repeated, in words."""

    steps: list[Step] = msgspec.field(default_factory=list)
    outcomes: dict[str, list[int | str]] = msgspec.field(default_factory=dict)
    #: whether webhooks left the world
    delivers: bool = False
    left_out: list[str] = msgspec.field(default_factory=list)


def script(world: World) -> Script:
    """The steps that were done to a world since its epoch began. Raises `Cut`."""
    result = Script()
    _ = world.record.opening
    journal, record = world.journal, world.record
    numbers = journal.numbers(frozenset({"request", "control"}))
    begun = _begun(record)
    now = world.start
    late = ticks = 0
    modes = False
    for position, (stamp, command) in enumerate(record.commands()):
        if isinstance(command, Move):
            modes = modes or not command.by_hand
            result.steps.append(Moved(stamp.at, stamp.at == now and stamp.ticks == ticks))
            now = stamp.at
        if isinstance(command, Move) or not begun[position]:
            ticks = stamp.ticks
        if not isinstance(command, _JOURNALED):
            continue
        if isinstance(command, Act) and command.refused:
            result.steps.append(Done(0, stamp.at, command.name, dict(command.arguments), command))
            continue
        number = next(numbers)
        if stamp.at > now or begun[position]:
            late += begun[position] and not _last(world, number)
            now = max(now, stamp.at)
            result.steps.append(Moved(now))
        _, code, about = journal.entry(number)
        if isinstance(command, Call) and code == CODE["request"]:
            result.steps.append(Called(number, stamp.at, about, command))
        elif about["what"] not in _IDLE:
            detail = {name: value for name, value in about.items() if name != "what"}
            act = command if isinstance(command, Act) else None
            result.steps.append(Done(number, stamp.at, str(about["what"]), detail, act))
    if world.now > now:
        result.steps.append(Moved(world.now))
    if late:
        result.left_out.append(
            f"{late} calls or acts came while the world advanced; they are repeated once their instant has settled"
        )
    if modes:
        result.left_out.append("the clock ran on its own for a time; here it is moved from instant to instant")
    result.outcomes = _outcomes(world)
    result.delivers = bool(result.outcomes) or any(not delivery.outlet.builtin for delivery in world.outlets.deliveries)
    result.steps = _named(result.steps)
    return result


def _begun(record: Record) -> list[bool]:
    """Of each command whether it came while the clock was being moved."""
    begun = [False] * len(record)
    for position, (_, command) in enumerate(record.commands()):
        if isinstance(command, Move):
            begun[command.first : position] = [True] * (position - command.first)
    return begun


def _last(world: World, number: int) -> bool:
    """True if only deliveries, other calls and its own messages follow a call at its instant."""
    at, _, called = world.journal.entry(number)
    for later in range(number + 1, len(world.journal)):
        instant, code, about = world.journal.entry(later)
        if instant > at:
            break
        if code not in (CODE["try"], CODE["delivery"], CODE["request"]):
            message = getattr(about, "message", None)
            if message is None or message.id.encode() not in called.answer:
                return False
    return True


def whole(script: Script) -> bool:
    """True if nothing is missing that the digest depends on."""
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


def _named(steps: list[Step]) -> list[Step]:
    """The calls with what later steps quote of their answers."""
    later = b""
    named: list[Step] = []
    for step in reversed(steps):
        if isinstance(step, Called):
            names = [] if step.broken or step.record.status >= 400 else list(_texts(_json(step.record.answer), ()))
            quoted = dict.fromkeys((text, path) for text, path in names if text.encode() in later)
            named.append(Called(step.number, step.at, step.record, step.call, tuple(quoted)))
            record = step.record
            key = b"" if record.bare else record.key.encode()
            later += b"\0".join((b"", step.address.encode(), record.query, step.body, key))
        else:
            named.append(step)
            if isinstance(step, Done):
                later += b"\0" + orjson.dumps(step.detail, default=str)
    return named[::-1]


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


def stem(world_id: str) -> str:
    """The name of a file of this world, without its ending."""
    return re.sub(r"[^0-9A-Za-z]+", "_", world_id).strip("_").lower() or "world"
