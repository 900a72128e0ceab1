"""What a service brings to the language: keys, happenings of the timeline, doubts, additions to the schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from sendbox.scenario.keys.timeline import Happening
from sendbox.scenario.model import Node
from sendbox.scenario.values import Reader

if TYPE_CHECKING:
    from sendbox.scenario.lint.doubts import Doubts


class Rules(NamedTuple):
    """The rules of a key, as control takes one: its definition in the schema, and what compiles it.

    A rule is a dataclass that has `key`, `name` and `place`.
    """

    definition: str
    compile: Callable[[Node, Reader], Any]


class RuleList(NamedTuple):
    """A list of rules, of which an earlier one may leave nothing to a later one.

    `path` leads to it; `when` is the key of the conditions, "" where they stand in the entry. `asks` are the conditions
    that can be compared, `decides` the keys of things decided apart from each other, several for one thing; under
    `within` they stand in a mapping of their own. Without `decides` the first rule that fits decides everything.
    `extra` are keys that neither ask nor decide.
    """

    path: tuple[str, ...]
    asks: tuple[str, ...]
    decides: tuple[tuple[str, ...], ...] = ()
    when: str = "when"
    within: str | None = None
    extra: tuple[str, ...] = ("name",)


class Key(NamedTuple):
    """A key of the language, whose node (None: a scenario does not have it) `compile` makes into what it settles.

    That is a tuple of records, or a record with `shared()`, the parts of it that a checkpoint does not copy.

    - `late`: it is compiled after the timeline.
    - `assumes` makes of it the settings of the assumptions, where it has a say in them.
    - `rules` and `patch` are what control may give a world: a rule, or a change of what the key settles, compiled with
      what of it stands now; the schema has the definition of the change under the key's name.
    - `lists` are its rules as doubts compare them; `times` the words under which times stand in it, beside those of
      the language; None: it has no times that are waited for.
    """

    name: str
    compile: Callable[[Node | None, Reader], Any]
    late: bool = False
    assumes: Callable[[Node, Reader], Any] | None = None
    rules: Rules | None = None
    patch: Callable[[Node, Reader, Mapping[str, Any]], dict[str, Any]] | None = None
    lists: tuple[RuleList, ...] = ()
    times: tuple[str, ...] | None = None

    @property
    def path(self) -> tuple[str, ...]:
        """Where its rules stand in a scenario."""
        return self.lists[0].path


class Vocabulary(NamedTuple):
    """All that one service brings.

    `families` are words that stand for several, such as a family of channels; `schema` is added to the schema of the
    language (`Shape`).
    """

    keys: tuple[Key, ...] = ()
    happenings: tuple[Happening, ...] = ()
    doubts: tuple[Callable[[Doubts], None], ...] = ()
    families: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    schema: Mapping[str, Any] = MappingProxyType({})
