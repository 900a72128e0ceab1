"""The part of the language that all services share: the key `assume`, and the rules for senders and templates."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from sendbox.engine.texts import Pattern
from sendbox.scenario.lint import globs
from sendbox.scenario.lint.linter import Linter
from sendbox.scenario.model import Node, listed, nearest, show
from sendbox.scenario.values import Reader
from sendbox.scenario.vocabulary import Vocabulary
from sendbox.services import limits
from sendbox.services.assume import Assume
from sendbox.services.numbers import notation
from sendbox.services.operations import CALLS, Operation
from sendbox.services.ports import SenderForm
from sendbox.services.settings import PROFILES, SETTINGS
from sendbox.services.templates.buttons import VARIABLE

_PARAMETER: Final = re.compile(r"\{\w+\}")
_UNCLOSED: Final = re.compile(r"\{\{(?![^{}]*\}\})")


def compile_assume(node: Node | None, reader: Reader) -> Assume:
    """The settings, with those of the profile, else the defaults, for those that are not given."""
    entries = {} if node is None else dict(node.entries())
    profile = entries.pop("profile", None)
    settings = {} if profile is None else dict(PROFILES[str(profile.value)])
    settings |= {name: SETTINGS[name].read(item, reader) for name, item in entries.items()}
    return Assume(**settings)


def compile_sender(node: Node, family: str, forms: Mapping[str, SenderForm], reader: Reader) -> str:
    """A sender of an account, in the form of its family of channels (A59)."""
    text = str(node.value)
    if notation.is_pattern(text):
        reader.add_problem(node, "sender", f"{show(text)} is a pattern where one sender is wanted")
    elif forms[family] == "number":
        if not (text.isascii() and text.isdigit()):
            message = f"{show(text)} is not a sender of {family}: a Phone Number ID has digits only"
            reader.add_problem(node, "sender", message)
    elif forms[family] == "agent":
        return text  # agents are named as they like
    elif text.startswith("+") and text[1:].isdigit():
        reader.add_problem(node, "sender", f"{show(text)} is written with +; a virtual number has none", near=text[1:])
    elif not text.isdigit() and len(text) > limits.SENDER:
        message = f"{show(text)} has {len(text)} characters, a sender name has at most {limits.SENDER} (§8)"
        reader.add_problem(node, "sender", message)
    return text


def template_makes_sense(node: Node, reader: Reader) -> None:
    """A template has one body, and variables that a step can fill (§2.2)."""
    components = node.entries()["components"]
    kinds = [item.entries()["type"].value for item in components.items()]
    if not components.incomplete:
        for kind in dict.fromkeys(kinds):
            if kinds.count(kind) > 1:
                times = kinds.count(kind)
                reader.add_problem(components, "template", f'"{kind}" stands {times} times, a template has it once')
        if "BODY" not in kinds:
            reader.add_problem(components, "template", f"{show(kinds)} has no BODY, which every template needs")
    for item in components.items():
        if (text := item.get("text")) is not None:
            _variables_make_sense(text, reader)


def _variables_make_sense(node: Node, reader: Reader) -> None:
    text = str(node.value)
    if _UNCLOSED.search(text):
        reader.add_problem(node, "variable", f"{show(text)} opens a variable with {{{{ that }}}} does not close")
    names = list(dict.fromkeys(VARIABLE.findall(text)))
    numbers = sorted(int(name) for name in names if name.isascii() and name.isdigit())
    if numbers and len(numbers) < len(names):
        reader.add_problem(node, "variable", f"{show(text)} mixes numbered and named variables; use one kind")
    elif numbers and numbers != list(range(1, len(numbers) + 1)):
        expected = listed(f"{{{{{number}}}}}" for number in range(1, len(numbers) + 1))
        reader.add_problem(node, "variable", f"{show(text)} does not number its variables from 1 on: {expected}")


def country_of(root: Node) -> Node | None:
    """Where a scenario says the calling code of national numbers (A14)."""
    return (root.get("assume") or root).get("country") or (root.get("account") or root).get("country")


#: A file and a short link have addresses of their own.
_ADDRESSES: Final = {"{url}": "/upload/*", "{message_id}": "/s/*"}


def _path(row: Operation) -> str:
    """The path of an operation, with `*` for its parameters."""
    return _ADDRESSES.get(row.path) or _PARAMETER.sub("*", row.path)


_SERVED: Final = tuple(dict.fromkeys(map(_path, CALLS.values())))
#: The operation of a call to a path, or by a method, that is not served.
_UNKNOWN: Final = "unknown"
#: So many operations are listed in a message.
_LISTED: Final = 5
#: Operations that name no phone, and those without a body.
_PHONELESS: Final = frozenset(name for name, row in CALLS.items() if not row.phones)
_BODYLESS: Final = frozenset(name for name, row in CALLS.items() if row.part in (None, "query"))


def _lint(linter: Linter) -> None:
    """Entries of `allowed` that are not numbers, and conditions that no call can meet."""
    for _, item in linter.entries("assume", "allowed"):
        linter.number(item, Pattern(str(item.value), digits=True))
    for _, item in linter.entries("api"):
        when = item.get("when")
        if when is not None:
            _lacks(when, ("phone", "country"), _PHONELESS, "names no phone", linter)
            _fit_together(when, linter)


def _doubt(expected: Node, linter: Linter) -> None:
    """Conditions of an expectation that no call can meet."""
    where = expected.get("where")
    subject = expected.entries()["that"].value
    if where is not None and subject == "requests":
        _not_served(where, linter)
        _lacks(where, ("body",), _BODYLESS, "has no body", linter)
    if where is not None and subject in ("requests", "faults"):
        _lacks(where, ("phone",), _PHONELESS, "names no phone", linter)


def _lacks(conditions: Node, fields: tuple[str, ...], without: frozenset[str], why: str, linter: Linter) -> None:
    """Warns about fields that the operations beside them do not have."""
    operation = conditions.get("operation")
    items = [] if operation is None else operation.items() or [operation]
    patterns = [Pattern(str(item.value)) for item in items]
    named = {name for name in (*CALLS, _UNKNOWN) if any(pattern.matches(name) for pattern in patterns)}
    if not named or not named <= without:
        return
    for key in fields:
        if key in conditions.entries():
            message = f"{show(key)} is never met: {listed(str(item.value) for item in items)} {why}"
            legal = [name for name in CALLS if name not in without]
            more = f" and {len(legal) - _LISTED} more operations" if len(legal) > _LISTED else ""
            message = f"{message}; legal beside it: {listed(legal[:_LISTED])}{more}"
            linter.warn(conditions.entries()[key], "never-asked", message, value=key)


def _items(conditions: Node, *keys: str) -> dict[str, list[Node]]:
    """The values of the conditions that stand there."""
    return {key: node.items() or [node] for key in keys if (node := conditions.get(key)) is not None}


def _rows(paths: list[Node]) -> list[Operation]:
    """The operations that are served at some of the paths."""
    return [row for row in CALLS.values() if any(globs.overlaps(str(item.value), _path(row)) for item in paths)]


def _fit_together(when: Node, linter: Linter) -> None:
    """Warns about operations of a rule none of which is served at the paths beside them."""
    conditions = _items(when, "path", "operation")
    if len(conditions) > 1:
        paths = conditions["path"]
        legal = [row.name for row in _rows(paths)] or [_UNKNOWN]
        _apart(conditions["operation"], legal, "the operation of", paths, linter)


def _not_served(where: Node, linter: Linter) -> None:
    """A path that nothing serves or answers, or not by this method, or as another operation.

    A call that no operation serves is `unknown`.
    """
    conditions = _items(where, "path", "method", "operation")
    operations = [Pattern(str(item.value)) for item in conditions.get("operation", ())]
    if any(pattern.matches(_UNKNOWN) for pattern in operations):
        return
    paths = conditions.get("path", [])
    answered = [
        str(path.value)
        for _, rule in linter.entries("api")
        if (when := rule.get("when")) is not None
        for path in _items(when, "path").get("path", ())
    ]
    for item in paths:
        if not any(globs.overlaps(str(item.value), known) for known in (*_SERVED, *answered)):
            message = f"{show(item.value)} is not a path that is served (a call to it has the operation unknown)"
            linter.warn(item, "not-served", message, near=nearest(item.value, _SERVED))
    rows = _rows(paths)
    if operations:
        _apart(conditions["operation"], [row.name for row in rows], "the operation of", paths, linter)
        named = [row for row in CALLS.values() if any(pattern.matches(row.name) for pattern in operations)]
        rows = [row for row in named if row in rows] if paths else named
    if "method" in conditions:
        about = paths or conditions.get("operation", [])
        _apart(conditions["method"], [row.method for row in rows], "a method of", about, linter)


def _apart(conditions: list[Node], legal: list[str], relation: str, about: list[Node], linter: Linter) -> None:
    """Warns about methods or operations none of which goes with the paths or operations beside it."""
    for item in conditions:
        if legal and about and not any(map(Pattern(str(item.value)).matches, legal)):
            there = f"{relation} {listed(str(node.value) for node in about)}"
            message = f"{show(item.value)} is not {there}, which has: {listed(dict.fromkeys(legal))}"
            linter.warn(item, "never-asked", message)


SHARED: Final = Vocabulary(lints=(_lint,), doubts=(_doubt,))
