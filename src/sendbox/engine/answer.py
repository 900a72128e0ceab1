"""`Answer`: the class of an object that control answers. What builds it, encodes it and describes it reads this class.

A field with the default None is left out of the JSON where it is None; one without a default is always there. An
underscore behind the name of a field is not part of its name in JSON (`from_` is `from`).
"""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, TypeVar, dataclass_transform

import msgspec
import orjson
from msgspec import Struct

from sendbox.engine.durations import within_calendar

#: A JSON object.
JsonObject = dict[str, Any]
#: A JSON object that is only read.
JsonMapping = Mapping[str, Any]

#: pytest shows a failure at the call in the test, not in this module.
__tracebackhide__ = True


class _Instant(datetime):
    __slots__ = ()

    @property
    def text(self) -> str:
        """The instant as control writes it: `2026-03-01T09:00:00.000Z`."""
        return self.isoformat(timespec="milliseconds")[:-6] + "Z"


#: An instant of a world; for who reads it, a datetime with a time zone. As text it has milliseconds.
if TYPE_CHECKING:
    Instant = datetime
else:
    Instant = _Instant
_EPOCH: Final = _Instant(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)


def moment(at: int) -> Instant:
    """The instant that is so many milliseconds after 1970; outside the calendar its first or last instant."""
    return _EPOCH + within_calendar(at) * _MILLISECOND


def milliseconds(instant: datetime) -> int:
    """The milliseconds since 1970 of an instant."""
    return (instant - _EPOCH) // _MILLISECOND


def moment_or_none(at: int | None) -> Instant | None:
    """The instant, None if there is none."""
    return None if at is None else moment(at)


def keywords(**schema: object) -> msgspec.Meta:
    """Keywords of JSON Schema for `Annotated`; they describe a value and are not checked."""
    return msgspec.Meta(extra_json_schema=schema)


def enum(legal: Iterable[object]) -> msgspec.Meta:
    """The keyword of a value that is one of some words, to which arguments are held."""
    words = list(legal)
    return msgspec.Meta(extra_json_schema={"enum": words}, extra={"words": words})


#: Any object that a client of the service wrote.
Payload = Annotated[
    Any, keywords(type="object", additionalProperties=True, description="Any JSON object, as the request had it.")
]


class Field(Struct, frozen=True):
    """A field of a class: the name of its attribute, and the value with which it is left out of the JSON."""

    attribute: str
    absent: object


class _Class(msgspec.StructMeta, ABCMeta):
    """The class of the classes of answers: how each is made."""

    def __new__(mcls, name: str, bases: tuple[type, ...], namespace: JsonObject, **config: Any) -> _Class:
        """Make a class whose fields have names, and whose objects cannot be changed."""
        settings = {"frozen": True, "kw_only": True, "eq": False, "omit_defaults": True, "rename": _named, **config}
        return super().__new__(mcls, name, bases, namespace, **settings)


def _named(field: str) -> str:
    return field.removesuffix("_")


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(msgspec.field,))
class Answer(msgspec.Struct, Mapping[str, Any], metaclass=_Class, frozen=True):
    """An object of JSON with declared fields, which cannot be changed.

    An attribute has a value of the declared type, a key has the JSON: `clock.now`, `clock["now"]`. It equals its JSON.
    """

    __hash__ = None  # type: ignore[assignment] # as a dict
    #: The type of the fields that services add, None where they add none.
    EXTRA_FIELDS_TYPE: ClassVar[object] = None

    if not TYPE_CHECKING:  # so that type checkers find misspelt names

        def __getattr__(self, name: str) -> object:
            """Called for a name that is no field."""
            if name.startswith("_"):
                raise AttributeError(name)
            raise AttributeError(f'"{name}" is not a field here; legal: {", ".join(self)}')

    @property
    def json(self) -> JsonObject:
        """The object as plain values, for `json.dumps`."""
        return {name: plain(value) for name, value in self.present().items()}

    def extended(self, fields: JsonMapping) -> JsonObject:
        """The fields as they are, and those that services add."""
        plain_fields: JsonObject = builtins(self)
        return {**plain_fields, **fields}

    def present(self) -> JsonObject:
        """The values of the fields that there are, by their names."""
        values = ((name, getattr(self, field.attribute), field.absent) for name, field in _fields(type(self)).items())
        return {name: value for name, value, absent in values if value is not absent}

    def __getitem__(self, name: str) -> Any:
        field = _fields(type(self))[name]
        value = getattr(self, field.attribute)
        if value is field.absent:
            raise KeyError(name)
        return plain(value)

    def __iter__(self) -> Iterator[str]:
        return iter(self.present())

    def __len__(self) -> int:
        return len(self.present())

    def __eq__(self, other: object) -> bool:
        if type(other) is type(self):
            return msgspec.structs.astuple(self) == msgspec.structs.astuple(other)
        return isinstance(other, Mapping) and self.json == dict(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __copy__(self) -> Answer:
        return self

    def __deepcopy__(self, _memo: object) -> Answer:
        return self

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.items())})"


@cache
def _fields(answer: type[Answer]) -> dict[str, Field]:
    """The fields of a class by their names in JSON."""
    return {field.encode_name: Field(field.name, field.default) for field in msgspec.structs.fields(answer)}


def plain(value: object) -> Any:
    """The JSON of a value, as a copy."""
    if isinstance(value, Answer):
        return value.json
    if isinstance(value, Mapping):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value.text if isinstance(value, _Instant) else value


def builtins(value: object) -> Any:
    """The plain values of what `orjson` does not know: an answer, an instant. Raises TypeError for anything else."""
    if isinstance(value, Answer):
        return msgspec.to_builtins(value, enc_hook=builtins)
    if isinstance(value, _Instant):
        return value.text
    raise TypeError(f"{type(value).__name__} is not a type of JSON")


def encoded(value: object) -> bytes:
    """A value as JSON."""
    return orjson.dumps(value, default=builtins)


T = TypeVar("T")


def read(value: object, kind: type[T]) -> T:
    """The value of a type that plain values are. Raises `msgspec.ValidationError` where they are none."""
    return msgspec.convert(value, kind, dec_hook=_decoded)


def _decoded(kind: type, value: object) -> object:
    if kind is _Instant and isinstance(value, str):
        return _Instant.fromisoformat(value)
    raise NotImplementedError(kind)


COMPONENTS: Final = "#/components/schemas/"
#: Components of the contract by name, each with the classes of which a value has one.
REFERENCES: Final[dict[str, tuple[object, ...]]] = {}


def reference(name: str, *classes: object) -> msgspec.Meta:
    """The keyword of a value that a component of the contract describes: an object of one of some classes.

    Without classes the component is made elsewhere.
    """
    if classes:
        REFERENCES[name] = classes
    return keywords(**{"$ref": COMPONENTS + name})
