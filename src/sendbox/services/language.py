"""What all services share of the language: the key `assume`, and what senders and templates must be."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from sendbox.engine.patterns import Pattern
from sendbox.scenario.lint.linter import Linter
from sendbox.scenario.model import Node, listed, show
from sendbox.scenario.values import Reader
from sendbox.scenario.vocabulary import Vocabulary
from sendbox.services import limits
from sendbox.services.assume import SETTINGS, Assume
from sendbox.services.numbers import written
from sendbox.services.ports import SenderForm

_VARIABLE: Final = re.compile(r"\{\{\s*([^{}\s]+)\s*\}\}")
_UNCLOSED: Final = re.compile(r"\{\{(?![^{}]*\}\})")


def compile_assume(node: Node | None, reader: Reader) -> Assume:
    """The settings, with the defaults for those that are not given."""
    entries = {} if node is None else node.entries()
    return Assume(**{name: SETTINGS[name].read(item, reader) for name, item in entries.items()})


def compile_sender(node: Node, family: str, forms: Mapping[str, SenderForm], reader: Reader) -> str:
    """A sender of an account, in the form of its family of channels (A59)."""
    text = str(node.value)
    if written.wild(text):
        reader.complain(node, "sender", f"{show(text)} is a pattern where one sender is wanted")
    elif forms[family] == "number":
        if not (text.isascii() and text.isdigit()):
            message = f"{show(text)} is not a sender of {family}: a Phone Number ID has digits only"
            reader.complain(node, "sender", message)
    elif forms[family] == "agent":
        return text  # agents are named as they like
    elif text.startswith("+") and text[1:].isdigit():
        reader.complain(node, "sender", f"{show(text)} is written with +; a virtual number has none", near=text[1:])
    elif not text.isdigit() and len(text) > limits.SENDER:
        message = f"{show(text)} has {len(text)} characters, a sender name has at most {limits.SENDER} (§8)"
        reader.complain(node, "sender", message)
    return text


def template_makes_sense(node: Node, reader: Reader) -> None:
    """A template has one body, and variables that a step can fill (§2.2)."""
    components = node.entries()["components"]
    kinds = [item.entries()["type"].value for item in components.items()]
    if not components.cut:
        for kind in dict.fromkeys(kinds):
            if kinds.count(kind) > 1:
                times = kinds.count(kind)
                reader.complain(components, "template", f'"{kind}" stands {times} times, a template has it once')
        if "BODY" not in kinds:
            reader.complain(components, "template", f"{show(kinds)} has no BODY, which every template needs")
    for item in components.items():
        if (text := item.get("text")) is not None:
            _variables_make_sense(text, reader)


def _variables_make_sense(node: Node, reader: Reader) -> None:
    text = str(node.value)
    if _UNCLOSED.search(text):
        reader.complain(node, "variable", f"{show(text)} opens a variable with {{{{ that }}}} does not close")
    names = list(dict.fromkeys(_VARIABLE.findall(text)))
    numbers = sorted(int(name) for name in names if name.isascii() and name.isdigit())
    if numbers and len(numbers) < len(names):
        reader.complain(node, "variable", f"{show(text)} mixes numbered and named variables; use one kind")
    elif numbers and numbers != list(range(1, len(numbers) + 1)):
        wanted = listed(f"{{{{{number}}}}}" for number in range(1, len(numbers) + 1))
        reader.complain(node, "variable", f"{show(text)} does not number its variables from 1 on: {wanted}")


def country_of(root: Node) -> Node | None:
    """Where a scenario says the calling code of national numbers (A14)."""
    return (root.get("assume") or root).get("country") or (root.get("account") or root).get("country")


def _lint(linter: Linter) -> None:
    """Entries of `allowed` that are not numbers."""
    for _, item in linter.entries("assume", "allowed"):
        linter.number(item, Pattern(str(item.value), digits=True))


SHARED: Final = Vocabulary(lints=(_lint,))
