"""One wrong word in each place of a scenario: every key misspelt, every value broken in the way its kind can be.

The places are those of the YAML parser, what may stand in them is asked of the language's schema. What cannot be wrong
is in `FREE`, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import yaml

from sendbox.language import LANGUAGE
from sendbox.scenario import shape
from sendbox.scenario.model import Node, Source
from sendbox.scenario.parse import parse

_TEXT: Final = "a text for people, or for the client: every text is a text"
#: (mapping, key) of what may be any text, and why no other word in it is wrong. "*" is every mapping, or every key.
FREE: Final = {
    ("*", "name"): _TEXT,
    ("*", "body"): _TEXT,
    ("api status", "message"): _TEXT,
    ("*", "info"): _TEXT,
    ("*", "note"): _TEXT,
    ("*", "reason"): _TEXT,
    ("*", "text"): _TEXT,
    ("*", "seed"): "another seed is another run, and as good",
    ("*", "sender"): "whoever may send: the account says, or anybody",
    ("senders", "sms"): "a name that the account has",
    ("senders", "richmsg"): "a name that the account has",
    ("*", "key"): "a key that may be anybody's",
    ("*", "template"): "a template that the client creates",
    ("*", "client"): "a client that the partner names",
    ("*", "client_id"): "a client that the partner names",
    ("*", "language"): "codes of languages are the provider's",
    ("*", "url"): "an address of the client's",
    ("*", "stop_words"): "a word of the recipients'",
    ("*", "message_id"): "an id that is known once the message is sent",
    ("*", "verificationSecret"): "a secret",
    ("*", "default_callback_secret"): "a secret",
    ("button", "phone_number"): "shown to recipients, never called",
    ("payload", "*"): "what the client put into its payload",
    ("query", "*"): "what the sample client asks; the service judges it",
    ("webhook fault", "content_type"): "whatever a body may be called",
    ("example", "*"): "kept as it is",
    ("limited_time_offer", "*"): "kept as it is",
    ("cards", "*"): "kept as it is",
    ("digest", "ignore"): "a path of the client's",
    ("headers", "*"): "headers may have any name",
    ("where", "target"): "an address of the client's",
    ("where", "finding"): "a rule of the contract, which has no list of them",
}


class Mutation(NamedTuple):
    """A scenario with one wrong word in it: `place` in the language, what it was and is, and the line it is on."""

    place: str
    was: str
    now: str
    line: int
    text: str


class _Leaf(NamedTuple):
    node: Node
    parts: list[dict[str, Any]]
    mapping: str
    key: str


def mutations(text: str) -> list[Mutation]:
    """Every way in which one word of a scenario can be wrong."""
    root, problems = parse(text, Source("a.yaml"))
    assert root is not None, problems
    spans = {}
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        begins, ends = event.start_mark, event.end_mark
        if isinstance(event, yaml.ScalarEvent) and begins is not None and ends is not None:
            spans[begins.line + 1, begins.column + 1] = (begins.index, ends.index)
    found = []
    for place, was, now, at in _wrong(root):
        start, end = spans[at]
        found.append(Mutation(place, text[start:end] or was, now, at[0], text[:start] + now + text[end:]))
    return found


def _wrong(root: Node) -> Iterator[tuple[str, str, str, tuple[int, int]]]:
    for where, key, at in _keys(root, [shape.schema()], "scenario"):
        yield f"key {where}.{key}", key, _misspelt(key), at
    for leaf in _leaves(root, [shape.schema()], "scenario", ""):
        now = _broken(leaf)
        if now is not None and leaf.node.line is not None and leaf.node.column is not None:
            at = (leaf.node.line, leaf.node.column)
            yield f"value {leaf.mapping}.{leaf.key}", str(leaf.node.value), now, at


def _misspelt(word: str) -> str:
    """The word with a letter too many, as it happens."""
    middle = len(word) // 2
    return f"{word[:middle]}x{word[middle:]}" if word else "x"


def free(mapping: str, key: str) -> bool:
    """Whether no word there can be wrong."""
    return not FREE.keys().isdisjoint(((mapping, key), ("*", key), (mapping, "*")))


def _title(parts: list[dict[str, Any]], key: str) -> str:
    return next((part["title"] for part in parts if "title" in part), key)


def _keys(node: Node, parts: list[dict[str, Any]], key: str) -> Iterator[tuple[str, str, tuple[int, int]]]:
    """Every key that the language has a word for."""
    here = LANGUAGE.shape.branches(parts)
    title = _title([part for part in here if part.get("type") == "object"], key)
    for item in node.items():
        yield from _keys(item, [part["items"] for part in here if "items" in part], key)
    for name, item in node.entries().items():
        if not free(title, "*") or title == "payload":
            inner = [found for part in here if (found := shape.property_of(part, name)) is not None]
            if inner and title != "payload" and node.keys is not None:
                yield title, name, node.keys[name]
            yield from _keys(item, inner, name)


def _leaves(node: Node, parts: list[dict[str, Any]], mapping: str, key: str) -> Iterator[_Leaf]:
    here = LANGUAGE.shape.branches(parts)
    if isinstance(node.value, dict):
        title = _title([part for part in here if part.get("type") == "object"], key)
        for name, item in node.value.items():
            inner = [found for part in here if (found := shape.property_of(part, name)) is not None]
            yield from _leaves(item, inner, title, name)
    elif isinstance(node.value, list):
        for item in node.value:
            yield from _leaves(item, [part["items"] for part in here if "items" in part], mapping, key)
    else:
        yield _Leaf(node, here, mapping, key)


def _broken(leaf: _Leaf) -> str | None:
    """What is written in place of a value so that it is wrong, None where nothing is."""
    value, text = leaf.node.value, str(leaf.node.value)
    says = " ".join(str(part.get("x-says", "")) for part in leaf.parts)
    kinds = {kind for part in leaf.parts for kind in _kinds(part)}
    words = [word for part in leaf.parts for word in part.get("enum", ())]
    if text.startswith("$"):  # a reference to an answer that there is not
        return f'"$x{text[1:]}"'
    if text.startswith("{{") or "{{1}}" in text:
        return '"{{1"' if leaf.mapping == "component" else None
    if leaf.key == "sendbox":
        return "2"
    if isinstance(value, str) and value in words:
        return _misspelt(value)
    if text[4:5] == "-" and "instant" in says:
        return '"2026-02-30T00:00:00Z"'
    if "duration" in says:
        return f'"{text} or so"'
    if "phone pattern" in says or "phone number" in says or (leaf.mapping, leaf.key) == ("where", "phone"):
        return None if leaf.mapping == "button" else f'"{text[:3]}x{text[3:]}"' if set("*?") & set(text) else '"12"'
    if leaf.key == "tag" and leaf.mapping in ("when", "webhook when", "where"):
        return f'"{text} X"'
    if free(leaf.mapping, leaf.key) or not leaf.parts:
        return None
    if text.startswith("$"):
        name, _, path = text[1:].partition(".")
        return f'"${_misspelt(name)}.{path}"'
    if isinstance(value, bool):
        return "maybe"
    if kinds <= {"integer", "number"}:
        return "many"
    return f'"{_misspelt(text)} ~"'


def _kinds(part: dict[str, Any]) -> list[str]:
    kinds = part.get("type", ())
    return [kinds] if isinstance(kinds, str) else list(kinds)
