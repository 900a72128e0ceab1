"""Compiles texts with gaps (`{{name}}`), and generates the values of those that are to be generated.

Faker is imported when the first such text is compiled, which takes a fifth of a second: a caller on an event loop asks
`compiles_slowly` first, and compiles on another thread. Faker comes with the extra `people`; without it such a text is
a problem of its scenario.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Final

import orjson

from sendbox.engine import bounds
from sendbox.engine.draws import Chooser
from sendbox.engine.texts import FAKES, POOL, Fake, Gap, Text
from sendbox.scenario import library
from sendbox.scenario.model import Node, listed, nearest, show

if TYPE_CHECKING:
    from sendbox.scenario.values import Reader


#: The locale of a scenario without one. The schema lists the legal ones.
LOCALE: Final = "en_US"

#: The name of the rule in draws for generated texts.
INVENTED: Final = "fake"
_LARGEST: Final = 2**64 - 1
_GAP: Final = re.compile(r"\{\{\s*(.*?)\s*\}\}", re.DOTALL)
_MENTION: Final = re.compile(r"\{\{\s*fake\b")


def compile_text(node: Node, reader: Reader, gaps: Collection[str], locale: Node | None) -> Text | None:
    """A text with its gaps, of which `gaps` are legal beside generated ones; None when it has none."""
    source = str(node.value)
    if "{{" not in source:
        return None
    spoken = reader.locale if locale is None else str(locale.value)
    pieces: list[str | Gap | Fake] = []
    end = 0
    for match in _GAP.finditer(source):
        pieces += [source[end : match.start()]] if match.start() > end else []
        end = match.end()
        gap = _gap(match[1], node, reader, gaps, spoken)
        pieces += [] if gap is None else [gap]
    tail = source[end:]
    if "{{" in tail:
        reader.add_problem(node, "gap", f"{show(source)} opens a gap with {{{{ that no }}}} closes")
    pieces += [tail] if tail else []
    return Text(source, tuple(pieces))


def _gap(name: str, node: Node, reader: Reader, gaps: Collection[str], locale: str) -> Gap | Fake | None:
    word, _, name_in_family = name.partition(".")
    if word == "fake":
        if name_in_family in FAKES:
            try:
                return Fake(name_in_family, locale, _pool(locale, name_in_family, reader.chooser))
            except ImportError:
                missing = "needs Faker, which is not installed: pip install 'sendbox[people]'"
                reader.add_problem(node, "gap", f'"{{{{{name}}}}}" {missing}')
                return None
        legal = [f"fake.{legal_name}" for legal_name in FAKES]
        _unknown(name, node, reader, legal, f"not a value that can be generated; legal: {listed(legal)}")
    elif word == "payload" and word in gaps:
        path = tuple(name_in_family.split("."))
        if all(path):
            return Gap("payload", path)
        reader.add_problem(node, "gap", f'"{{{{{name}}}}}" has no path into the payload, such as payload.order.id')
    elif name in gaps:
        return Gap(name)
    else:
        plain = [f"{legal_name}.…" if legal_name == "payload" else legal_name for legal_name in gaps]
        message = f"not a gap that can be filled here; legal: {listed([*plain, 'fake.…'])}"
        _unknown(name, node, reader, [*gaps, *(f"fake.{legal_name}" for legal_name in FAKES)], message)
    return None


def _unknown(name: str, node: Node, reader: Reader, legal: list[str], message: str) -> None:
    near = nearest(name, legal) or next((word for word in legal if word == f"fake.{name}"), None)
    reader.add_problem(node, "gap", f'"{{{{{name}}}}}" is {message}', near=near)


def _pool(locale: str, name: str, chooser: Chooser) -> tuple[str, ...]:
    """The generated texts of one kind, the same in every process with this version of Faker."""
    draws = (chooser.scoped(INVENTED, f"{locale}.{name}", number) for number in range(POOL))
    return _invented(locale, name, tuple(draw.between(0, _LARGEST, "seed") for draw in draws))


@functools.cache
def _invented(locale: str, name: str, seeds: tuple[int, ...]) -> tuple[str, ...]:
    """One text for each seed."""
    from faker import Faker

    maker = Faker(locale)
    texts = []
    for seed in seeds:
        maker.seed_instance(seed)
        texts.append(str(getattr(maker, name)()).replace("\n", " "))
    return tuple(texts)


def invents(source: object) -> bool:
    """True if a scenario or rule may generate texts, by its own text or by a scenario that it builds on."""
    if isinstance(source, Mapping):
        try:
            text = orjson.dumps(source).decode()
        except TypeError:  # a value that JSON does not have: compiling reports it
            return True
    else:
        text = str(source)
    return bool(_MENTION.search(text)) or any(name in text for name in _inventing())


def compiles_slowly(source: object) -> bool:
    """True if a scenario or a part of one is long, or may generate texts: it is compiled off an event loop."""
    return bounds.large(source) or invents(source)


@functools.cache
def _inventing() -> tuple[str, ...]:
    """The scenarios of the library that generate texts."""
    return tuple(name for name in library.names() if _MENTION.search(library.path(name).read_text("utf-8")))
