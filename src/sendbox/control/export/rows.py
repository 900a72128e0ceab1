"""The form of a row that says how an export repeats what a tester did, and the rows of control itself.

A phone of a timeline acts on the newest message with which it can; a tester may have named another one. So what an act
was about is looked up in the journal, and compared with what the timeline would find.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from sendbox.engine.classes import dataclass
from sendbox.engine.journal import CODE
from sendbox.scenario.environment import escaped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sendbox.control.export.literals import Literals
    from sendbox.engine.commands.command import Act
    from sendbox.engine.world import World


class NoEntry(Exception):
    """No entry of a timeline does what was done; the text says why."""


@dataclass(frozen=True, slots=True)
class Done:
    """Something that a tester did through control: the operation's name, or a word, and its arguments.

    `act` is the command; None for what came as a call. A refused act has no entry in the journal.
    """

    number: int
    at: int
    what: str
    detail: dict[str, Any]
    act: Act | None = None

    @property
    def refused(self) -> bool:
        """True if it was refused although it changed something."""
        return self.act is not None and self.act.refused


class Look(NamedTuple):
    """An operation whose answer shows names of one kind: `find` says where a name stands in it, None for others."""

    operation: str
    find: Callable[[Any, str], str | None]


@dataclass(frozen=True, slots=True)
class Exported:
    """The ways to repeat an act.

    `entry` makes the entry of a timeline, without its instant, or raises `NoEntry`; None if no entry can repeat the
    act. An entry comes before everything that is due at its instant, so it repeats the act wrongly if an attempt
    reached a state of `sooner` first; with `by_phone` only an attempt to the phone of the act counts. `line` writes the
    act in Python; None stands for the operation of that name. `look` finds names that the act may have and that no
    answer gave.
    """

    entry: Callable[[Any, Done], dict[str, Any]] | None = None
    sooner: frozenset[str] = frozenset()
    by_phone: bool = False
    line: Callable[[Literals, dict[str, Any]], str] | None = None
    look: Look | None = None


def before(world: World, step: Done) -> Iterator[tuple[int, int, Any]]:
    """The entries before an act, newest first, as far as they are kept."""
    for earlier in range(step.number - 1, world.journal.first - 1, -1):
        yield world.journal.entry(earlier)


def done(world: World, step: Done, kind: str) -> Any:
    """The entry of a kind that an act made: the newest before its own. Raises `NoEntry` when it is forgotten."""
    for _, code, about in before(world, step):
        if code == CODE[kind]:
            return about
    raise NoEntry(f"the journal forgot what it did ({world.record.cut})")


def some(detail: dict[str, Any], *names: str) -> dict[str, Any]:
    """Those of some arguments that were given."""
    return {name: detail[name] for name in names if name in detail}


def _rule(literals: Literals, detail: dict[str, Any]) -> str:
    raw = {**detail["rule"], **({} if detail["in"] == "attempts" else {"in": detail["in"]})}
    return literals.call("sendbox.perform", ["put_rule"], {"raw": raw})


def _delivery(world: World, name: str) -> str | None:
    delivery = world.outlets.find(name)
    return None if delivery is None else f"deliveries.{delivery.number}.id"


OWN: Final[Mapping[str, Exported]] = {
    "rule": Exported(line=_rule),
    "replay_delivery": Exported(look=Look("deliveries", _delivery)),
    "drop_rule": Exported(line=lambda literals, detail: literals.call("sendbox.drop_rule", [detail["rule"]], {})),
    "scenario": Exported(
        line=lambda literals, detail: literals.call(
            "sendbox.perform", ["load_scenario"], {"raw": escaped(detail["source"])}
        )
    ),
}
