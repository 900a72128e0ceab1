"""The part of an export that repeats the acts of phones and the acts on messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Final

from sendbox.control.export.rows import ActStep, Exported, Literals, NameLookup, NoEntry, entries_before, made_entry
from sendbox.engine.answer import JsonObject
from sendbox.engine.world import World
from sendbox.services.messaging.channels import ACCEPTED, FAMILY, LEGAL, SEEN, STATE_OF, STATES
from sendbox.services.messaging.control.messages import number_of
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.records import Attempt, Inbound, Link, Message

#: Acts that answer a message.
_REPLIES: Final = frozenset({"phone_reply", "phone_press"})
#: States in which a phone cannot have a message.
_LOST: Final = frozenset({"undelivered", "rejected", "failed"})
_NEWEST: Final = "it was not about the newest message of that kind, and a timeline cannot name one"


def _number(world: World, step: ActStep) -> str:
    return number_of(world, str(step.detail["number"]))


def _attempts_on_phone(world: World, number: str, step: ActStep) -> Iterator[tuple[Attempt, int]]:
    """The attempts that a phone had before this act as far as was known, newest first, with their states."""
    now: set[tuple[int, int]] = set()  # what had been reached at this very instant
    for at, code, record in entries_before(world, step):
        if at < step.at:
            break
        if isinstance(record, Attempt):
            now.add((id(record), STATE_OF.get(code, ACCEPTED)))
    if step.what == "phone_seen":
        now.discard((id(_opened_attempt(world, step)), SEEN))
    attempts = []
    for message in Messaging.of(world).phones.messages_of(number):
        if message.submission.service_sending is not None:
            continue
        for attempt in message.attempts:
            every = attempt.transitions()
            states = [
                (code, at) for code, at in every if at < step.at or (at == step.at and (id(attempt), code) in now)
            ]
            if states and STATES[states[-1][0]] not in _LOST:
                attempts.append((states[0][1], message.ordinal, attempt.number, attempt, states[-1][0]))
    for _, _, _, attempt, state in sorted(attempts, key=lambda entry: entry[:3], reverse=True):
        yield attempt, state


def _opened_attempt(world: World, step: ActStep) -> Attempt:
    """The attempt that a phone opened by an act, which stands behind it."""
    opened: Attempt = made_entry(world, step, STATES[SEEN])
    return opened


def _written(world: World, step: ActStep) -> JsonObject:
    """The entry that repeats a message which a phone wrote by an act; the act follows it in the journal."""
    inbound: Inbound = made_entry(world, step, "inbound")
    if "{{" in inbound.body:
        raise NoEntry("its text has {{, which is a gap in a scenario")
    family, phone, text = inbound.channel, inbound.sender, {"body": inbound.body}
    had = [attempt for attempt, _ in _attempts_on_phone(world, phone, step) if FAMILY[attempt.step.channel] == family]
    if step.what in _REPLIES and had and had[0].message is inbound.message:
        return {"reply": {"phone": phone, "channel": family, **text}}
    to = step.detail.get("to")
    answered: Message | None = None
    if had and to in (None, had[0].shown_sender):
        answered = had[0].message
    if answered is not inbound.message:
        raise NoEntry(_NEWEST)
    return {"inbound": {"channel": family, "from": phone, **text} | ({} if to is None else {"to": to})}


def _seen(world: World, step: ActStep) -> JsonObject:
    """A phone opened a message."""
    phone = _number(world, step)
    opened = _opened_attempt(world, step)
    able = (
        attempt for attempt, state in _attempts_on_phone(world, phone, step) if LEGAL[attempt.step.channel][state][SEEN]
    )
    if next(able, None) is not opened:
        raise NoEntry(_NEWEST)
    return {"phone": {"number": phone, "act": "seen"}}


def _click(world: World, step: ActStep) -> JsonObject:
    """A link was followed, by a phone or by anyone else who has its address."""
    link: Link = made_entry(world, step, "click")
    message = link.message
    newest = next(
        (attempt for attempt, _ in _attempts_on_phone(world, message.phone, step) if attempt.message.reactions.links),
        None,
    )
    if newest is None or newest.message is not message:
        raise NoEntry(_NEWEST)
    act: JsonObject = {"number": message.phone, "act": "click"}
    every = [other for links in message.reactions.links.values() for other in links]
    if next(other for other in every if step.at < other.expires_at) is link:
        return {"phone": act}
    links = message.reactions.links.get(newest.number, [])
    if link not in links:
        raise NoEntry(_NEWEST)
    return {"phone": act | {"link": links.index(link) + 1}}


def _phone_act(act: str) -> Callable[[World, ActStep], JsonObject]:
    """An act of a phone that is about no message."""
    return lambda world, step: {"phone": {"number": _number(world, step), "act": act}}


def _by_phone(method: str, *positional: str) -> Callable[[Literals, JsonObject], str]:
    """A method of the fixture's phone, with the arguments that it takes by position."""

    def line(literals: Literals, detail: JsonObject) -> str:
        named = dict(detail)
        phone = f"sendbox.phone({literals.text(str(named.pop('number')))})"
        first = [named.pop(name) for name in positional if name in named]
        return literals.call(f"{phone}.{method}", first, named)

    return line


def _moved(literals: Literals, detail: JsonObject) -> str:
    named = dict(detail)
    return literals.call("sendbox.move", [named.pop("message_id"), named.pop("result")], named)


def _message(world: World, name: str) -> str | None:
    message = Messaging.of(world).by_id.get(name)
    return None if message is None else f"messages.{Messaging.of(world).messages.index(message)}.message_id"


def _link(world: World, code: str) -> str | None:
    for at, message in enumerate(Messaging.of(world).messages):
        every = (link for links in message.reactions.links.values() for link in links)
        for index, link in enumerate(every):
            if link.code == code:
                return f"messages.{at}.links.{index}.url"
    return None


_phone: Final = partial(Exported, by_phone=True)
_SENDING: Final = frozenset({"sending"})
EXPORTED: Final[Mapping[str, Exported]] = {
    "phone_reply": _phone(_written, _SENDING, line=_by_phone("reply", "body")),
    "phone_write": _phone(_written, _SENDING, line=_by_phone("write", "body")),
    "phone_press": _phone(_written, _SENDING, line=_by_phone("press", "button")),
    "inbound": Exported(_written, _SENDING),
    "phone_click": _phone(_click, _SENDING, line=_by_phone("click")),
    "link": Exported(
        _click,
        _SENDING,
        line=lambda literals, detail: literals.call("client.get", [f"/s/{detail['code']}"], {}),
        look=NameLookup("messages", _link),
    ),
    "phone_seen": _phone(_seen, frozenset({"sent", "delivered"}), line=_by_phone("seen")),
    "phone_offline": _phone(_phone_act("offline"), frozenset({"delivered", "seen"}), line=_by_phone("offline")),
    "phone_online": _phone(_phone_act("online"), line=_by_phone("online")),
    "phone_opt_out": _phone(_phone_act("opt_out"), line=_by_phone("opt_out")),
    "phone_opt_in": _phone(_phone_act("opt_in"), line=_by_phone("opt_in")),
    "event": Exported(line=_moved, look=NameLookup("messages", _message)),
}
