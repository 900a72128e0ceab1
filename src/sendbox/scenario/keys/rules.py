"""The form of a rule, which all lists of rules share: a name, `when`, what the rule decides, and `times`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeVar

from msgspec.structs import replace

from sendbox.engine.answer import JsonMapping
from sendbox.engine.forms import Node as Schema
from sendbox.engine.forms import Value, mapping, positive, reference, text
from sendbox.engine.rules.rule import Rule, When
from sendbox.scenario.keys.when import Conditions
from sendbox.scenario.model import Node
from sendbox.scenario.values import Reader, entries, text_of, whole_number
from sendbox.scenario.vocabulary import Key, RuleList, Rules

R = TypeVar("R", bound="Rule")


class RuleForm(NamedTuple, Generic[R]):
    """The form of the rules of one list.

    `path` leads to the list, `description`, `times` and `says` describe a rule, its `times`, and a legal one. `keys`
    are the forms of what stands in a rule beside what all rules have, `requires` tells which of them it needs. `make`
    gets what was read of these keys, the conditions, and the rule; it returns the text that identifies a rule
    without a name, and the fields of a rule of the class `kind`. `decides` and `within` are those of the `RuleList`;
    `parts` are further definitions of the schema. A name has up to `longest` characters.
    """

    path: tuple[str, ...]
    kind: Callable[..., R]
    conditions: Conditions
    description: str
    keys: Mapping[str, Value]
    times: str
    says: str
    make: Callable[[dict[str, Any], When, Node, Reader], tuple[str, dict[str, object]]]
    requires: JsonMapping = MappingProxyType({})
    decides: tuple[tuple[str, ...], ...] = ()
    within: str | None = None
    parts: Mapping[str, Value] = MappingProxyType({})
    longest: int = 100

    @property
    def definition(self) -> str:
        """Its name in the schema."""
        return f"{self.conditions.kind}Rule" if self.conditions.kind else "rule"

    @property
    def definitions(self) -> dict[str, Schema]:
        """Its definitions in the schema, by name."""
        about = (
            "What the rule is about; its draws depend on this name, so the rule may move and change without changing "
            "them."
        )
        keys = {
            "name": text(about, "a name", minLength=1, maxLength=self.longest),
            "when": reference(self.conditions.definition),
            **self.keys,
            "times": positive(f"{self.times}; without end unless given."),
        }
        rule = mapping(f"{self.conditions.kind} rule".strip(), self.description, keys, self.says, **self.requires)
        parts = {name: part.node for name, part in self.parts.items()}
        return {**parts, self.conditions.definition: self.conditions.node, self.definition: rule.node}

    def compile(self, node: Node, reader: Reader) -> R:
        """One rule. The texts that it invents are in its locale."""
        name, times, locale = (node.get(key) for key in ("name", "times", "locale"))
        when = self.conditions.read(node, reader)
        local = reader if locale is None else replace(reader, locale=str(locale.value))
        values = {key: self.keys[key].read(item, local) for key, item in node.entries().items() if key in self.keys}
        identity, fields = self.make(values, when, node, reader)
        return self.kind(
            key=text_of(name) or identity,
            when=when,
            times=None if times is None else whole_number(times),
            name=text_of(name),
            place=node.place,
            **fields,
        )

    def compile_list(self, root: Node | None, reader: Reader) -> tuple[R, ...]:
        """The rules of the list below a key."""
        return entries(None if root is None else root.part(*self.path[1:]), reader, self.compile)

    @property
    def list(self) -> RuleList:
        """The list, as lints compare its rules."""
        return RuleList(
            self.path, (*self.conditions.asks,), self.decides, within=self.within, extra=("name", *self.keys)
        )

    def key(
        self,
        *,
        late: bool = False,
        assumes: Callable[[Node, Reader], object] | None = None,
        times: tuple[str, ...] | None = None,
    ) -> Key:
        """The key of the language that has these rules."""
        rules = Rules(self.definition, self.compile)
        return Key(self.path[0], self.compile_list, late, assumes, rules, lists=(self.list,), times=times)
