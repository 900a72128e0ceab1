"""The parts of a step that a phone shows in addition to its text: header, footer, buttons, cards (§2.2, A02)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count
from typing import TYPE_CHECKING, Any

from sendbox.services.templates import shown as templates

if TYPE_CHECKING:
    from sendbox.services.messaging.model import Step
    from sendbox.services.ports import Account


def shown(step: Step, account: Account) -> dict[str, Any]:
    """The parts of a step in the form of `services/templates/shown.py`; a part that there is not is left out."""
    use = step.template
    if use is not None:
        template = account.template(use.name, use.language, step.sender)
        return {} if template is None else templates.shown(template, use)
    content = step.content
    if content is None:
        buttons = [{"type": "URL", "text": button["title"], "url": button["url"]} for button in step.buttons or ()]
        return {"buttons": buttons} if buttons else {}
    replies = count()  # in the order of `Step.suggestions`
    parts = {
        "buttons": list(_suggested(content.get("buttons", ()), replies)),
        "cards": [_card(card, replies) for card in (content.get("card"), *content.get("carousel", ())) if card],
        "raw": content.get("raw"),
    }
    return {name: part for name, part in parts.items() if part}


def _suggested(buttons: Iterable[dict[str, Any]], replies: Iterator[int]) -> Iterator[dict[str, Any]]:
    for button in buttons:
        view = {"type": button["type"], "text": button["text"]}
        yield view | ({"press": next(replies)} if button["type"] == "reply" else {"url": button.get("url", "")})


def _card(card: dict[str, Any], replies: Iterator[int]) -> dict[str, Any]:
    parts = {
        "header": {"kind": card.get("type", "image"), "link": card["file"]} if "file" in card else None,
        "title": card.get("title"),
        "description": card.get("description"),
        "buttons": list(_suggested(card.get("buttons", ()), replies)),
    }
    return {name: part for name, part in parts.items() if part}
