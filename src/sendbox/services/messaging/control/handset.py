"""The newest of a handset for a person who looks at it: its conversation, and what is not on it (yet)."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from heapq import heappush, heappushpop
from itertools import count
from operator import attrgetter
from typing import Final, Literal

from msgspec.structs import asdict

from sendbox.engine.answer import JsonObject, moment
from sendbox.engine.world import World
from sendbox.services import limits
from sendbox.services.advice import BODY_TRUNCATED
from sendbox.services.messaging.answers import Known, NewestHandset, NumberedLink, Text
from sendbox.services.messaging.channels import ACCEPTED, STATES
from sendbox.services.messaging.checks import BY_WORD
from sendbox.services.messaging.events import info_of
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.model import Step
from sendbox.services.messaging.records import Attempt, Message
from sendbox.services.messaging.views import (
    contents_from_services,
    fields_on_phone,
    handset_view,
    texts_of,
    written_view,
)
from sendbox.services.ports import Account, account_of
from sendbox.services.templates import templates

Entry = tuple[tuple[int, int, int], Attempt | Message]

#: So many messages of a phone are looked at between two pauses.
_LOOKED: Final = 64


def newest_view(world: World, number: str, most: int) -> Generator[None, None, NewestHandset]:
    """The answer of `phone` with `last`; pauses now and then."""
    phones = Messaging.of(world).phones
    messages = phones.messages_of(number)
    arrived, absent = _Newest(most), _Newest(most)
    for place, message in enumerate(messages, 1):
        attempts = message.attempts
        if not attempts and message.valid:
            absent.add(message.accepted_at, message, message)
        for attempt in attempts:
            at = attempt.arrived_at
            (absent if at is None else arrived).add(_began(attempt) if at is None else at, message, attempt)
        if place % _LOOKED == 0:
            yield
    written = phones.written.of(number)
    contents = contents_from_services(world, number)
    texts = texts_of(contents)
    codes = [code for content in contents for code in content.codes]
    there, missing = (yield from _views(world, arrived)), (yield from _views(world, absent))
    conversation: list[Text] = [*there, *texts[-most:], *map(written_view, written[-most:])]
    conversation.sort(key=attrgetter("at"))
    return NewestHandset(
        **handset_view(world, number),
        messages=[message.id for message in messages[-most:]],
        codes=codes[:most],
        conversation=conversation[-most:],
        not_arrived=missing,
        earlier=arrived.count + len(texts) + len(written) > most or absent.count > most,
    )


def _began(attempt: Attempt) -> int:
    """The instant at which an attempt that did not arrive was handed over, or refused."""
    transitions = attempt.transitions()
    return transitions[0][1] if transitions else attempt.message.accepted_at


class _Newest:
    """The newest of many entries, at most so many, and the count of all."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.count = 0
        self.kept: list[Entry] = []

    def add(self, at: int, message: Message, item: Attempt | Message) -> None:
        """One more, of a message at an instant."""
        number = item.number if isinstance(item, Attempt) else 0
        entry = ((at, message.ordinal, number), item)  # no two have the same place
        self.count += 1
        (heappush if self.count <= self.most else heappushpop)(self.kept, entry)


def _views(world: World, newest: _Newest) -> Generator[None, None, list[Known]]:
    """The entries that were kept, oldest first."""
    views = []
    for entry in sorted(newest.kept):
        views.append(entry_view(world, entry))
        yield
    return views


def entry_view(world: World, entry: Entry) -> Known:
    """An attempt as its phone shows it, or would, with what is known of it; of a message without one its first step."""
    (at, _, _), item = entry
    message, attempt = (item.message, item) if isinstance(item, Attempt) else (item, Attempt(item))
    state = attempt.state
    account = account_of(world)
    urls = [link.url for links in message.reactions.links.values() for link in links]
    fields = fields_on_phone(world, attempt)
    links = [NumberedLink(**asdict(link), number=urls.index(link.url) + 1) for link in fields.pop("links")]
    return Known(
        at=moment(at),
        **{**fields, **step_parts(attempt.step, account)},
        truncated=is_truncated(message, attempt.step),
        links=links,
        attempt=attempt.number + 1,
        result=STATES[state],
        info=None if state == ACCEPTED else info_of(attempt, state),
        refused=None if attempt.refused is None else BY_WORD[attempt.refused].says,
        planned=attempt.planned,
        acts=Messaging.of(world).phones.acts_on(message) if item in (message, message.furthest_attempt) else [],
    )


def is_truncated(message: Message, step: Step) -> Literal[True] | None:
    """True if the text of a step is the beginning of a longer one (§2.1), None if it is whole."""
    text, call = message.submission.send.text(step), message.call
    if call is None or len(text or "") != limits.BODY:
        return None
    return True if any(advice.code == BODY_TRUNCATED for advice in call.advice) else None


def step_parts(step: Step, account: Account) -> JsonObject:
    """The parts of a step in the form of `services/templates/templates.py`; a part that there is not is left out."""
    use = step.template
    if use is not None:
        template = account.template(use.name, use.language, step.sender)
        return {} if template is None else templates.visible_parts(template, use)
    content = step.content
    if content is None:
        buttons = [{"type": "URL", "text": button["title"], "url": button["url"]} for button in step.buttons]
        return {"buttons": buttons} if buttons else {}
    replies = count()  # in the order of `Step.suggestions`
    parts = {
        "buttons": list(_suggested(content.get("buttons", ()), replies)),
        "cards": [_card(card, replies) for card in (content.get("card"), *content.get("carousel", ())) if card],
        "raw": content.get("raw"),
    }
    return {name: part for name, part in parts.items() if part}


def _suggested(buttons: Iterable[JsonObject], replies: Iterator[int]) -> Iterator[JsonObject]:
    for button in buttons:
        view = {"type": button["type"], "text": button["text"]}
        yield view | ({"press": next(replies)} if button["type"] == "reply" else {"url": button.get("url", "")})


def _card(card: JsonObject, replies: Iterator[int]) -> JsonObject:
    parts = {
        "header": {"kind": card.get("type", "image"), "link": card["file"]} if "file" in card else None,
        "title": card.get("title"),
        "description": card.get("description"),
        "buttons": list(_suggested(card.get("buttons", ()), replies)),
    }
    return {name: part for name, part in parts.items() if part}
