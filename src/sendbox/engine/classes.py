"""Dataclasses with slots, of which only what is used is made.

`dataclasses` writes source text for six methods of each class and compiles it at import, which takes half a millisecond
or more. Most classes of a process never have an object, and of most others no object is compared or shown. So here a
class only gets its slots at import. `__init__` is compiled when the first object is made, and what else
`dataclasses` adds is made by `dataclasses` itself at its first use.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError
from threading import RLock
from typing import TYPE_CHECKING, Any, Final

#: Fields by name, in the order of their arguments.
Members = dict[str, "Field[Any]"]

_LOCK: Final = RLock()
#: The classes that were made here.
_MADE: Final[dict[type, _Rest]] = {}
#: Stands for a value that a factory makes.
_NEW: Final = object()
_FIELDS: Final = "__dataclass_fields__"
#: What stands here already, and is the same for all classes.
_OURS: Final = frozenset({"__init__", "__setattr__", "__delattr__"})

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(*, slots, **options):
        """The decorator of `dataclasses`; `slots` must be true."""
        if slots is not True:
            raise TypeError("slots=False: a class without slots is made by dataclasses.dataclass")
        return lambda draft: _slotted(draft, options)


def _slotted(draft: type, options: dict[str, Any]) -> type:
    """The class of a draft: with slots for its fields, and all methods still to be made."""
    names = [name for name, kind in inspect.get_annotations(draft).items() if not kind.startswith("ClassVar")]
    inherited = {slot for base in draft.__mro__[1:-1] for slot in base.__dict__.get("__slots__", ())}
    space = {key: value for key, value in draft.__dict__.items() if key not in {*names, "__dict__", "__weakref__"}}
    space["__slots__"] = tuple(name for name in names if name not in inherited)
    frozen, compared = options.get("frozen", False), options.get("eq", True)
    if options.get("repr", True):
        space.setdefault("__repr__", _repr)
    if compared:
        explicit = "__hash__" in space and not (space["__hash__"] is None and "__eq__" in space)
        space.setdefault("__eq__", _eq)
        if not explicit:
            space["__hash__"] = _hash if frozen else None
    if frozen:
        space.update(__setattr__=_frozen, __delattr__=_frozen)
        space = {"__getstate__": _state, "__setstate__": _set_state} | space
    slotted: Any = type(draft)(draft.__name__, draft.__bases__, space)
    slotted.__qualname__ = draft.__qualname__
    rest = _Rest(slotted, draft, options, {name: draft.__dict__.get(name, MISSING) for name in names})
    if "__init__" not in space:
        slotted.__init__ = _first_init(slotted, rest)
    setattr(slotted, _FIELDS, rest)
    _MADE[slotted] = rest
    return slotted  # type: ignore[no-any-return]


class _Rest:
    """Stands for the fields of a class until they are asked for, and makes all methods but `__init__` then."""

    __slots__ = ("_draft", "_given", "_made", "_members", "_options")

    def __init__(self, slotted: type, draft: type, options: dict[str, Any], defaults: dict[str, Any]) -> None:
        self._made: Any = slotted
        self._draft = draft
        self._options = options
        #: what stands in the class for each field: its default, or a `field`, which `dataclasses` takes away
        self._given = defaults
        self._members: Members | None = None

    def __get__(self, instance: object, owner: type) -> Any:
        """The fields, by name."""
        with _LOCK:
            if self._made.__dict__[_FIELDS] is self:  # no other thread was first
                self._complete()
        return getattr(owner, _FIELDS)

    def _complete(self) -> None:
        """Gives the class what `dataclasses` adds to the draft; the fields last, since others look for them first."""
        before = dict(self._draft.__dict__)
        dataclasses.dataclass(**self._options, init=False)(self._draft)
        fields: Members = self._draft.__dataclass_fields__  # type: ignore[attr-defined]
        added = {
            name: value
            for name, value in self._draft.__dict__.items()
            if before.get(name, self) is not value and name not in fields and name not in _OURS
        }
        for name in sorted(added, key=_FIELDS.__eq__):
            setattr(self._made, name, added[name])

    def all_members(self) -> Members:
        """The fields with those of the bases."""
        if self._members is None:
            fields: Members = {}
            for base in reversed(self._made.__mro__[1:]):
                fields |= members(base)
            for name, default in self._given.items():
                member = default if isinstance(default, Field) else dataclasses.field(default=default)
                if member.kw_only is MISSING:
                    member.kw_only = self._options.get("kw_only", False)
                fields[name] = member
            placed = (name for name, member in fields.items() if member.init and not member.kw_only)
            self._made.__match_args__ = tuple(placed)  # type: ignore[misc]
            self._members = fields
        return self._members


def members(kind: type) -> Members:
    """The fields of a class by name, without a need for its methods; of a class that has none, nothing."""
    if kind in _MADE:
        return _MADE[kind].all_members()
    return {member.name: member for member in dataclasses.fields(kind)} if _FIELDS in kind.__dict__ else {}


def _first_init(slotted: Any, rest: _Rest) -> Callable[..., None]:
    """A placeholder for `__init__`, which makes the real one at the first call."""

    def init(self: object, *args: Any, **named: Any) -> None:
        with _LOCK:
            if slotted.__init__ is init:
                slotted.__init__ = _init(slotted, rest)
        slotted.__init__(self, *args, **named)

    return init


def _init(slotted: Any, rest: _Rest) -> Callable[..., None]:
    """The method that sets the fields."""
    frozen = rest._options.get("frozen", False)
    known: dict[str, Any] = {"_set": object.__setattr__, "_new": _NEW}
    by_place: list[str] = []
    by_name: list[str] = []
    lines: list[str] = []
    for name, member in rest.all_members().items():
        value = name
        if member.default is not MISSING:
            known[f"_default_{name}"] = member.default
            argument, value = f"{name}=_default_{name}", name if member.init else f"_default_{name}"
        elif member.default_factory is not MISSING:
            known[f"_make_{name}"] = member.default_factory
            made_new = f"_make_{name}()"
            argument, value = f"{name}=_new", f"{made_new} if {name} is _new else {name}" if member.init else made_new
        else:
            argument = name
        if member.init:
            (by_name if member.kw_only else by_place).append(argument)
        elif argument == name:
            continue
        lines.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(slotted, "__post_init__"):
        lines.append("self.__post_init__()")
    arguments = ", ".join(["self", *by_place, *(("*", *by_name) if by_name else ())])
    exec(f"def __init__({arguments}):\n " + "\n ".join(lines or ["pass"]), known)
    init: Any = known["__init__"]
    init.__qualname__ = f"{slotted.__qualname__}.__init__"
    return init  # type: ignore[no-any-return]


# What stands for the other methods until the first use of one of them. It makes them, and calls the one.


def _repr(self: Any) -> str:
    _ = self.__dataclass_fields__
    return repr(self)


def _eq(self: Any, other: Any) -> Any:
    _ = self.__dataclass_fields__
    return self.__eq__(other)


def _hash(self: Any) -> int:
    _ = self.__dataclass_fields__
    return hash(self)


def _frozen(self: object, name: str, *_: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _state(self: Any) -> list[Any]:
    """The field values of a frozen object, for `copy` and `pickle`."""
    return [getattr(self, member.name) for member in dataclasses.fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for member, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, member.name, value)
