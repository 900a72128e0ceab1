"""Rules of meaning: what the shape of a scenario cannot say, because it needs more than one value to see it."""

from __future__ import annotations

import re
from typing import Final

from sendbox.scenario.model import Node, listed, show
from sendbox.scenario.values import Reader
from sendbox.services.messaging.channels import ATTEMPT, legal_next
from sendbox.services.messaging.rules.rules import Path

_VARIABLE: Final = re.compile(r"\{\{\s*([^{}\s]+)\s*\}\}")
_UNCLOSED: Final = re.compile(r"\{\{(?![^{}]*\}\})")


def names_differ(nodes: list[Node], reader: Reader) -> None:
    """A name stands once in a file; another file may use it again, for its own version of the rule."""
    first: dict[tuple[int, object], Node] = {}
    for node in nodes:
        name = node.get("name")
        if name is None:
            continue
        known = first.setdefault((id(node.source), name.value), name)
        if known is not name:
            where = known.path if known.line is None else f"line {known.line}"
            reader.complain(name, "name", f"{show(name.value)} is the name of another rule already, at {where}")


def path_is_legal(node: Node, path: Path, channels: tuple[str, ...] | None, reader: Reader) -> None:
    """Each result of a path may follow the one before (§3.1, A25).

    On every channel that the rule names; when it names none, on any one of them, since a channel on which the path
    cannot go on simply ends there.
    """
    if path.goal is not None:
        goal_is_reachable(node, path.goal, channels, reader)
        return
    if node.cut:
        return
    asked = channels or tuple(ATTEMPT)
    state = "accepted"
    for entry, item in zip(path.entries, node.items(), strict=True):
        result = entry.result
        refusing = [channel for channel in asked if result not in legal_next(channel, state)]
        if refusing and (channels is not None or len(refusing) == len(asked)):
            _illegal(item, state, result, refusing[0] if channels else None, reader, alone=len(path.entries) == 1)
        state = result


def _illegal(node: Node, state: str, result: str, channel: str | None, reader: Reader, *, alone: bool) -> None:
    where = f" on {channel}" if channel else ""
    # the channel that can most shows what is legal when the rule names none
    legal = listed(legal_next(channel or "richmsg", state)) or "nothing, it is an end"
    way_out = (
        f'write "then: {result}" for the usual way to it'
        if alone and state == "accepted"
        else '"illegal: true" on the rule permits it'
    )
    message = f'"{result}" does not follow "{state}"{where}; legal: {legal} (§3.1, A25); {way_out}'
    key = result if isinstance(node.value, dict) else None
    reader.complain(node, "transition", message, key=key)


def goals_are_reachable(node: Node, channels: tuple[str, ...] | None, reader: Reader) -> None:
    """Every result of a mix exists on a channel of the rule."""
    for goal in node.entries():
        goal_is_reachable(node, goal, channels, reader, key=goal)


def goal_is_reachable(
    node: Node, goal: str, channels: tuple[str, ...] | None, reader: Reader, *, key: str | None = None
) -> None:
    """`seen` exists where recipients can be seen to read (§3.1)."""
    if channels == ("sms",) and goal == "seen":
        message = '"seen" does not exist on sms, the only channel of this rule (§3.1); legal: delivered or a bad end'
        reader.complain(node, "transition", message, key=key)


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
