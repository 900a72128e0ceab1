"""The additions of a service to the language: keys, happenings of the timeline, lints, parts of the schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from sendbox.engine.answer import JsonMapping, JsonObject
from sendbox.engine.forms import Value
from sendbox.engine.rules.rule import Rule
from sendbox.scenario.keys.timeline import Happening
from sendbox.scenario.lint.linter import Linter
from sendbox.scenario.model import Node
from sendbox.scenario.values import Reader


class Rules(NamedTuple):
    """The means by which control reads one rule of a key: its definition in the schema, and its compile function.

    A rule is a dataclass that has `key`, `name` and `place`.
    """

    definition: str
    compile: Callable[[Node, Reader], Rule]


class RuleList(NamedTuple):
    """A list of rules, in which an earlier rule may make a later one useless.

    `path` leads to it; `when` is the key of the conditions, "" where they stand in the entry. `asks` are the conditions
    that can be compared, `decides` groups of keys, each group decided independently of the others; with `within` they
    stand in a mapping of their own. Without `decides` the first rule that matches decides everything. `extra` are keys
    that are neither conditions nor decisions.
    """

    path: tuple[str, ...]
    asks: tuple[str, ...]
    decides: tuple[tuple[str, ...], ...] = ()
    when: str = "when"
    within: str | None = None
    extra: tuple[str, ...] = ("name",)


class Key(NamedTuple):
    """A key of the language. `compile` turns its node (None: a scenario does not have the key) into a value.

    The value is a tuple of records, or one record.

    - `late`: it is compiled after the timeline.
    - `assumes` reads settings of the assumptions from it, where it has any.
    - `rules` and `patch` are what control may give a world: a rule, or a change of the key's value, compiled with the
      value as it is now; the schema has the definition of the change under the key's name.
    - `lists` are its rules as lints compare them; `times` the keys of durations in it, beside those of the language;
      None: it has no durations that a world waits for.
    """

    name: str
    compile: Callable[[Node | None, Reader], Any]
    late: bool = False
    assumes: Callable[[Node, Reader], object] | None = None
    rules: Rules | None = None
    patch: Callable[[Node, Reader, JsonMapping], JsonObject] | None = None
    lists: tuple[RuleList, ...] = ()
    times: tuple[str, ...] | None = None

    @property
    def path(self) -> tuple[str, ...]:
        """The path of its rules in a scenario."""
        return self.lists[0].path


class Vocabulary(NamedTuple):
    """Everything that one service adds.

    `lints` warn about a scenario, `doubts` about conditions of one expectation that nothing can meet. `posted` are
    the forms of conditions about texts of events, for rules of `webhooks`. `families` are words that stand for
    several, such as a family of channels; `schema` is added to the schema of the language (`Shape`).
    """

    keys: tuple[Key, ...] = ()
    happenings: tuple[Happening, ...] = ()
    lints: tuple[Callable[[Linter], None], ...] = ()
    doubts: tuple[Callable[[Node, Linter], None], ...] = ()
    posted: Mapping[str, Value] = MappingProxyType({})
    families: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    schema: JsonMapping = MappingProxyType({})
