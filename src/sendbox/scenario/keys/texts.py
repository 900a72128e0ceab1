"""Compiles texts with gaps (`{{name}}`), and invents what fills those that want something invented.

Faker is imported when the first such text is compiled, which takes a fifth of a second: whoever compiles on an event
loop asks `invents` first, and does it elsewhere.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, Final

import orjson

from sendbox.engine.texts import FAKES, POOL, Fake, Gap, Text
from sendbox.scenario import library
from sendbox.scenario.model import Node, listed, nearest, show

if TYPE_CHECKING:
    from sendbox.engine.chooser.draws import Chooser
    from sendbox.scenario.values import Reader

#: The locale of a scenario that names none. The schema has the list of those that may be named.
LOCALE: Final = "en_US"

#: What stands for a rule where something is invented.
INVENTED: Final = "fake"
_LARGEST: Final = 2**64 - 1
_GAP: Final = re.compile(r"\{\{\s*(.*?)\s*\}\}", re.DOTALL)
_MENTION: Final = re.compile(r"\{\{\s*fake\b")


def compile_text(node: Node, reader: Reader, gaps: Collection[str], locale: Node | None) -> Text | None:
    """A text with its gaps, of which `gaps` are legal beside invented ones; None when it has none."""
    source = str(node.value)
    if "{{" not in source:
        return None
    spoken = reader.locale if locale is None else str(locale.value)
    parts: list[str | Gap | Fake] = []
    end = 0
    for found in _GAP.finditer(source):
        parts += [source[end : found.start()]] if found.start() > end else []
        end = found.end()
        gap = _gap(found[1], node, reader, gaps, spoken)
        parts += [] if gap is None else [gap]
    rest = source[end:]
    if "{{" in rest:
        reader.complain(node, "gap", f"{show(source)} opens a gap with {{{{ that }}}} does not close")
    parts += [rest] if rest else []
    return Text(source, tuple(parts))


def _gap(name: str, node: Node, reader: Reader, gaps: Collection[str], locale: str) -> Gap | Fake | None:
    word, _, rest = name.partition(".")
    if word == "fake":
        if rest in FAKES:
            return Fake(rest, locale, _pool(locale, rest, reader.chooser))
        legal = [f"fake.{each}" for each in FAKES]
        _unknown(name, node, reader, legal, f"nothing that is invented; legal: {listed(legal)}")
    elif word == "payload" and word in gaps:
        path = tuple(rest.split("."))
        if all(path):
            return Gap("payload", path)
        reader.complain(node, "gap", f'"{{{{{name}}}}}" has no path into the payload, such as payload.order.id')
    elif name in gaps:
        return Gap(name)
    else:
        plain = [f"{each}.…" if each == "payload" else each for each in gaps]
        message = f"no gap that can be filled here; legal: {listed([*plain, 'fake.…'])}"
        _unknown(name, node, reader, [*gaps, *(f"fake.{each}" for each in FAKES)], message)
    return None


def _unknown(name: str, node: Node, reader: Reader, legal: list[str], message: str) -> None:
    near = nearest(name, legal) or next((each for each in legal if each == f"fake.{name}"), None)
    reader.complain(node, "gap", f'"{{{{{name}}}}}" is {message}', near=near)


def _pool(locale: str, name: str, chooser: Chooser) -> tuple[str, ...]:
    """What is invented of one kind, the same in every process that has this version of Faker."""
    draws = (chooser.scoped(INVENTED, f"{locale}.{name}", number) for number in range(POOL))
    return _invented(locale, name, tuple(draw.between(0, _LARGEST, "seed") for draw in draws))


@functools.cache
def _invented(locale: str, name: str, seeds: tuple[int, ...]) -> tuple[str, ...]:
    """One text for each seed."""
    maker = _maker(locale)
    made = []
    for seed in seeds:
        maker.seed_instance(seed)
        made.append(str(getattr(maker, name)()).replace("\n", " "))
    return tuple(made)


def _maker(locale: str) -> Any:
    from faker import Faker

    return Faker(locale)


def invents(source: object) -> bool:
    """Whether a scenario or rule may want something invented: by its text, or by what it builds on."""
    if isinstance(source, Mapping):
        try:
            text = orjson.dumps(source).decode()
        except TypeError:  # a value beyond JSON: compiling it will say so
            return True
    else:
        text = str(source)
    return bool(_MENTION.search(text)) or any(name in text for name in _inventing())


@functools.cache
def _inventing() -> tuple[str, ...]:
    """The scenarios of the library that want something invented."""
    return tuple(name for name in library.names() if _MENTION.search(library.path(name).read_text("utf-8")))
