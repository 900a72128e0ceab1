"""The base of every fault of calls and of deliveries: each fault is one class in a file of its own.

The class is the row of its table; an instance is the fault as a rule has it, with the values that the rule gives.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final, Self, TypeVar, cast

from sendbox.engine.classes import dataclass
from sendbox.engine.durations import Span
from sendbox.engine.forms import Given, Reads, Value, mapping, word

#: No time at all.
AT_ONCE: Final = Span(0, 0)


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault. Every field of a subclass has a default, so that the fault can be made without any.

    `kind` is its word in scenarios and views. `value` is what may stand behind the word, None = nothing: it is the
    first field, or a mapping with the fields as keys. `bare`: the word by itself is a fault too, with fields `usual`.
    `examples` are forms in which a scenario may write it, each with what it does; the first one is what coverage
    proposes. `lenient`: it may let pass what its rule fits.
    """

    kind: ClassVar[str]
    value: ClassVar[Value | None] = None
    bare: ClassVar[bool] = True
    usual: ClassVar[dict[str, Any]] = {}
    examples: ClassVar[Mapping[str, str]]
    lenient: ClassVar[bool] = False

    @classmethod
    def of(cls, detail: Any) -> Self:
        """The fault from what was read behind its word, or from fields."""
        factory = cast("type[Any]", cls)
        fault: Self = factory(**detail) if isinstance(detail, dict) else factory(detail)
        return fault


F = TypeVar("F", bound=Fault)


def by_name(*faults: type[F]) -> dict[str, type[F]]:
    """A table of faults."""
    return {fault.kind: fault for fault in faults}


def read(table: Mapping[str, type[F]], source: Given, reader: Reads) -> F:
    """A fault of a scenario: a word, or a mapping of one key."""
    if not isinstance(source.value, dict):
        fault = table[str(source.value)]
        return fault.of(fault.usual)
    ((kind, detail),) = source.entries().items()
    fault = table[kind]
    assert fault.value is not None
    return fault.of(fault.value.read(detail, reader))


def words(table: Mapping[str, type[F]], description: str, says: str) -> Value:
    """The faults of a table that are a word, in the language's schema."""
    return word(description, (kind for kind, fault in table.items() if fault.bare), says)


def keys(table: Mapping[str, type[F]], title: str, description: str, says: str) -> Value:
    """The faults of a table that have something behind their word, as a mapping of one key."""
    values = {kind: fault.value for kind, fault in table.items() if fault.value is not None}
    return mapping(title, description, values, says, minProperties=1, maxProperties=1)
