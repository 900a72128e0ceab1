"""Checkpoints: a whole world as bytes, and back.

What worlds share (the blueprint and its rules) is not copied but referred to. Only worlds of this process are restored,
from bytes that this process made.
"""

from __future__ import annotations

import pickle
from io import BytesIO
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sendbox.engine.blueprint import Blueprint
    from sendbox.engine.world import World


def take(world: World) -> bytes:
    """The world as it stands."""
    shared = _shared(world.blueprint)
    names = {id(thing): name for name, thing in shared.items()}
    out = BytesIO()
    pickler = _Pickler(out, names)
    pickler.dump(world)
    return out.getvalue()


def restore(taken: bytes, blueprint: Blueprint, epoch: int) -> World:
    """The world as it stood, in a new epoch: what was under way to a receiver waits to be tried again."""
    world: World = _Unpickler(BytesIO(taken), _shared(blueprint)).load()
    world.epoch = epoch
    world.outlets.land()
    return world


def _shared(blueprint: Blueprint) -> dict[str, Any]:
    """What a world takes from its blueprint as it is, by a name that both sides know."""
    return {str(number): part for number, part in enumerate(blueprint.shared())}


class _Pickler(pickle.Pickler):
    def __init__(self, out: BytesIO, names: dict[int, str]) -> None:
        super().__init__(out, protocol=pickle.HIGHEST_PROTOCOL)
        self._names = names

    def persistent_id(self, thing: Any) -> str | None:
        return self._names.get(id(thing))


class _Unpickler(pickle.Unpickler):
    def __init__(self, source: BytesIO, shared: dict[str, Any]) -> None:
        super().__init__(source)
        self._shared = shared

    def persistent_load(self, name: str) -> Any:
        return self._shared[name]
