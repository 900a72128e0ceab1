"""Lists of rules as a world asks them: those that control put in front, then the scenario's; and what they count.

What is drawn for a rule is keyed by how-manieth it is of what shares a key, never by when it came; a turn (`nth`,
`call`, `every`, `times`) goes by arrival. Equal rules, those of one key, count what asks them once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar

if TYPE_CHECKING:
    from sendbox.engine.durations import Moment


class Listed(Protocol):
    """What a list needs of its rules: they are dataclasses, and `id` is set where control put one in front."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def id(self) -> str | None: ...


R = TypeVar("R", bound=Listed)


class Rulebook(Generic[R]):
    """One list of rules, in the order in which they are asked. `PREFIX` begins the ids of rules put in front."""

    PREFIX: ClassVar[str]
    __slots__ = ("_put", "rules")

    def __init__(self, rules: Sequence[R]) -> None:
        self.rules: list[R] = list(rules)
        #: how many rules were put in front so far
        self._put = 0

    @property
    def given(self) -> tuple[R, ...]:
        """The scenario's rules, without those that control put in front."""
        return tuple(rule for rule in self.rules if rule.id is None)

    def set_rules(self, rules: Sequence[R]) -> None:
        """Replaces the scenario's rules; those that control put in front stay in front."""
        kept = [rule for rule in self.rules if rule.id is not None]
        kept.extend(rules)
        self._arrange(kept)

    def put_rule(self, rule: R) -> str:
        """Puts a rule in front and returns its id; holds for decisions not yet made."""
        self._put += 1
        rule_id = f"{self.PREFIX}{self._put}"
        rules = self.rules.copy()
        rules.insert(0, replace(rule, id=rule_id))
        self._arrange(rules)
        return rule_id

    def drop_rule(self, rule_id: str) -> bool:
        """Takes a rule away that control put there; False when there is none of that id."""
        kept = [rule for rule in self.rules if rule.id != rule_id]
        dropped = len(kept) < len(self.rules)
        self._arrange(kept)
        return dropped

    def _arrange(self, rules: list[R]) -> None:
        """Takes a new list; whoever keeps something beside it does so here."""
        self.rules = rules


class Drawn(NamedTuple):
    """How-manieth of its key something is; `raced`: it could have come before another one as well."""

    number: int
    raced: bool


class _Newest(NamedTuple):
    """The newest of a key that drew: how-manieth it was, when, what it was, and whether it could have come before."""

    number: int
    at: int
    what: str | bytes
    raced: bool


class Turns:
    """What the rules of one list count."""

    __slots__ = ("_counted", "_drawn", "_used")

    def __init__(self) -> None:
        self._drawn: dict[tuple[str, ...], _Newest] = {}
        #: name of a rule -> how many fitted, and how often it applied
        self._counted: dict[str, int] = {}
        self._used: dict[str, int] = {}

    def draw(self, key: tuple[str, ...], at: int, what: str | bytes) -> Drawn:
        """Counts one for which something is drawn, at an instant; `what` is equal for those that cannot race."""
        before = self._drawn.get(key)
        number = 0 if before is None else before.number + 1
        raced = before is not None and before.at == at and (before.raced or before.what != what)
        self._drawn[key] = _Newest(number, at, what, raced)
        return Drawn(number, raced)

    def come(self, name: str, nth: int | None, every: int | None, counted: dict[str, int]) -> bool:
        """Whether it is the turn of what asks, by order of arrival; `counted` holds what it was counted as already."""
        if nth is None and every is None:
            return True
        if name not in counted:
            counted[name] = self._counted[name] = self._counted.get(name, 0) + 1
        number = counted[name]
        return (nth is None or number == nth) and (every is None or number % every == 0)

    def left(self, name: str, times: int | None) -> bool:
        """Whether a rule that applies so many times may apply once more."""
        return times is None or self._used.get(name, 0) < times

    def use(self, name: str, times: int | None) -> None:
        """Counts that a rule applied, where that is bounded."""
        if times is not None:
            self._used[name] = self._used.get(name, 0) + 1


def in_time(begins: Moment | None, ends: Moment | None, now: int, start: int) -> bool:
    """Whether an instant lies in a window, its end excluded; `start` is that of the epoch."""
    return (begins is None or now >= begins.instant(start)) and (ends is None or now < ends.instant(start))
