"""A guard around worlds: nothing in one may change but by a command, or by the passing of time.

While it is on, everything that carries a command out, and `World.run`, is a scope. Between two scopes a fingerprint of
all that the world holds must stay the same, and a call or an act that changed something must be on record.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Final
from weakref import WeakKeyDictionary

import pytest

from sendbox.control import operation, replaying
from sendbox.engine.blueprint import Blueprint
from sendbox.engine.world import World
from sendbox.services.http.executor import CallExecutor, Handled, Work

#: What is left out of a fingerprint, by class and name, and why.
LEFT_OUT: Final[dict[tuple[str, str], str]] = {
    ("Clock", "anchor"): "a reading of the machine's clock, from which time passes: it belongs to the process",
    ("Clock", "base"): "the instant at that reading",
    ("Delivery", "id"): "a name, worked out when somebody asks",
    ("FaultyDelivery", "id"): "a name, worked out when somebody asks",
    ("Delivery", "body"): "bytes, made from the events when they are sent",
    ("FaultyDelivery", "body"): "bytes, made from the events when they are sent",
    ("Outlets", "answers"): "what receivers answered beside the status, for control: nothing that happens reads it",
    ("Outlets", "_begun"): "what has begun, for whoever carries it out: it is taken away there",
    ("RequestRecord", "_body"): "the body, or the file in which the same bytes lie",
    ("Index", "_by_name"): "messages and deliveries by their ids, worked out when somebody asks",
    ("Index", "_read"): "how far that goes",
    ("Groups", "_groups"): "messages and texts by phone, which a look at a phone brings up to date",
    ("Groups", "_read"): "how far that goes",
    ("Firsts", "names"): "phones in order of their first appearance, which a list of phones brings up to date",
    ("Firsts", "places"): "the same",
    ("Firsts", "_read"): "how far that goes",
    ("Firsts", "_instant"): "the same",
    ("Firsts", "_newest"): "the same",
    ("Firsts", "_before"): "the same",
    ("World", "record"): "the commands themselves",
    ("World", "plain"): "what names stand for, noted when one is worked out",
    ("Attempt", "operator"): "the operator of a phone, looked up when somebody asks",
    ("Account", "_compiled"): "templates compiled when they are used",
    ("Simulator", "begin"): "a witness of an explanation, in a world that is made again for it alone",
    ("Templates", "_ids"): "names, worked out when somebody asks",
    ("Templates", "_made"): "how often such a name was worked out",
    ("Templates", "_plain"): "the same as `World.plain`",
}
_PLAIN: Final = (str, bytes, int, float, type(None))

#: What a fingerprint is made of, and where each of it was found.
Found = tuple[list[Any], list[str]]


def fingerprint(world: World, *, places: bool = False) -> Found:
    """All that a world holds; with `places` the way to each part of it."""
    found: list[Any] = []
    at: list[str] = []
    seen: dict[int, int] = {}
    kept: list[Any] = []
    todo: list[tuple[Any, str]] = [(world, "world")]
    while todo:
        value, place = todo.pop()
        if places:
            at.append(place)
        if isinstance(value, _PLAIN):
            found.append(value)
            continue
        if isinstance(value, array | bytearray):
            found.append(bytes(value))
            continue
        if id(value) in seen:
            found.append(("again", seen[id(value)]))
            continue
        seen[id(value)] = len(seen)
        kept.append(value)
        kind = type(value)
        if isinstance(value, dict):
            found.append((kind.__name__, len(value)))
            for number, (name, each) in enumerate(value.items()):
                todo.append((name, f"{place} key {number}" if places else ""))
                todo.append((each, f"{place}[{str(name)[:40]}]" if places else ""))
        elif isinstance(value, list | tuple | deque):
            found.append((kind.__name__, len(value)))
            todo += [(each, f"{place}[{number}]" if places else "") for number, each in enumerate(value)]
        elif isinstance(value, set | frozenset):
            found.append((kind.__name__, len(value), sorted(map(str, value)) if _simple(value) else None))
        elif kind.__module__.startswith("sendbox.") and not isinstance(value, Blueprint):
            found.append(kind.__name__)
            todo += [
                (each, f"{place}.{name}" if places else "")
                for name, each in _fields(value)
                if (kind.__name__, name) not in LEFT_OUT
            ]
        else:
            found.append(getattr(value, "__qualname__", kind.__name__))
    return found, at


def _simple(values: Any) -> bool:
    return all(isinstance(each, _PLAIN) for each in values)


def _fields(value: Any) -> Iterator[tuple[str, Any]]:
    for kind in type(value).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if not name.startswith("__") and hasattr(value, name):
                yield name, getattr(value, name)
    yield from getattr(value, "__dict__", {}).items()


class Guard:
    """Remembers how each world was left. `changes` are lines about what nobody commanded."""

    def __init__(self) -> None:
        self.changes: list[str] = []
        self.scopes = 0
        self._left: WeakKeyDictionary[World, list[Any]] = WeakKeyDictionary()
        self._inside: list[World] = []

    def look(self, world: World, before: str) -> None:
        """The world must be as it was left."""
        left = self._left.get(world)
        found, _ = fingerprint(world)
        if left is not None and found != left:
            self._tell(world, left, f"something changed {world.id} before {before}")
        self._left[world] = found

    def _tell(self, world: World, left: list[Any], what: str) -> None:
        found, at = fingerprint(world, places=True)
        for number, value in enumerate(found):
            if number >= len(left) or left[number] != value:
                was = left[number] if number < len(left) else None
                self.changes.append(f"{what}: {at[number]} was {was!r}, and is {value!r}")
                return
        self.changes.append(f"{what}: {len(left)} parts, now {len(found)}")

    @contextmanager
    def scope(self, world: World, what: str, *, records: Callable[[], bool] = lambda: False) -> Iterator[None]:
        """In here the world may change; where it `records`, only if that is put on record."""
        if world in self._inside or not hasattr(world, "record"):
            yield
            return
        self.scopes += 1
        self.look(world, what)
        before, commands = self._left[world], len(world.record)
        self._inside.append(world)
        try:
            yield
        finally:
            self._inside.remove(world)
            found, _ = fingerprint(world)
            if records() and len(world.record) == commands and found != before:
                self._tell(world, before, f"{what} changed {world.id} and is not on record")
            self._left[world] = found

    def forget(self, world: World) -> None:
        """The world has ended."""
        self._left.pop(world, None)


@contextmanager
def guarded() -> Iterator[Guard]:
    """The guard is on, for all worlds of this process."""
    guard = Guard()
    with pytest.MonkeyPatch.context() as patch:
        for name in ("run", "enter", "outcome", "request", "begin"):
            patch.setattr(World, name, _method(guard, f"World.{name}", getattr(World, name)))
        patch.setattr(World, "dispose", _last(guard, World.dispose))
        patch.setattr(CallExecutor, "follow", _following(guard, CallExecutor.follow))
        for name in ("serve", "refuse_unserved", "upload"):
            patch.setattr(CallExecutor, name, _work(guard, f"CallExecutor.{name}", getattr(CallExecutor, name)))
        acting = _acting(guard, operation.acting)
        patch.setattr(operation, "acting", acting)
        patch.setattr(replaying, "acting", acting)
        yield guard


def _method(guard: Guard, what: str, method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def called(world: World, *given: Any, **named: Any) -> Any:
        with guard.scope(world, what):
            return method(world, *given, **named)

    return called


def _last(guard: Guard, method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def called(world: World) -> Any:
        guard.forget(world)
        return method(world)

    return called


def _following(guard: Guard, method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def called(executor: CallExecutor, world: World, call: Any, link: Any) -> Any:
        with guard.scope(world, f"{call.method} {call.path}", records=lambda: True):
            return method(executor, world, call, link)

    return called


def _work(guard: Guard, what: str, method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def called(executor: CallExecutor, world: World, *given: Any) -> Any:
        with guard.scope(world, what):
            done = method(executor, world, *given)
        return done if isinstance(done, Handled) else _steps(guard, what, world, done)

    return called


def _steps(guard: Guard, what: str, world: World, work: Work) -> Work:
    """What takes time: each step of it is a scope."""
    while True:
        with guard.scope(world, what):
            try:
                step = next(work)
            except StopIteration as done:
                found: Handled = done.value
                return found
        yield step


def _acting(guard: Guard, method: Callable[..., Generator[None, None, Any]]) -> Callable[..., Any]:
    @wraps(method)
    def called(call: Any, row: Any, given: Any) -> Generator[None, None, Any]:
        world = call.hosted.world
        with guard.scope(
            world, f"the act {row.name}", records=lambda: call.hosted.world is world
        ):  # else it began anew
            return (yield from method(call, row, given))

    return called


__all__ = ["LEFT_OUT", "Guard", "fingerprint", "guarded"]
