"""Operations on messages and phones: look, move by hand, write, reply, click."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sendbox.control.operation import Call, ControlError, chosen, each, newest, operation, wait_for
from sendbox.engine.world import World
from sendbox.services.account.account import Account
from sendbox.services.messaging.channels import CHANNELS, IllegalTransition
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.phones import NoSuchThing
from sendbox.services.messaging.records import Message
from sendbox.services.messaging.results import STATES
from sendbox.services.messaging.rules.explain import explain as explain_message
from sendbox.services.messaging.views import inbound_view, link_view, message_view, phone_view
from sendbox.services.numbers.normal import normalize
from sendbox.services.partner.partner import Partner

FAMILIES = ("sms", "richmsg", "chatapp")


@operation("GET", "/worlds/{id}/messages")
async def messages(
    call: Call,
    phone: str | None = None,
    channel: str | None = None,
    result: str | None = None,
    tag: str | None = None,
    wait: Any = None,
    last: Any = None,
) -> Any:
    """Messages with attempts, oldest first; `wait` is a long poll until there is one, `last` asks for the newest."""
    _legal("channel", channel, CHANNELS)
    _legal("result", result, STATES)
    hosted = call.here

    async def look() -> tuple[World, list[Message]] | None:
        world = hosted.world
        found = (
            Messaging.of(world).messages
            if phone is None
            else Messaging.of(world).phones.messages_of(_number(world, phone))
        )
        fitting = await newest(found, lambda message: _fits(message, channel, result, tag), last)
        return (world, fitting) if fitting else None

    found = await wait_for(hosted, wait, look)
    if found is None:
        return {"messages": []}
    world, fitting = found
    return {"messages": await each(fitting, lambda message: message_view(world, message))}


def _legal(name: str, word: str | None, legal: Sequence[str]) -> None:
    if word is not None and word not in legal:
        raise ControlError(400, "bad_argument", f'{name}: "{word}" is not known; legal: {", ".join(legal)}')


def _fits(message: Message, channel: str | None, result: str | None, tag: str | None) -> bool:
    if result is not None and message.result != result:
        return False
    if tag is not None and tag not in message.submission.send.tags:
        return False
    if channel is None:
        return True
    shown = message.shown
    return (message.submission.send.steps[0] if shown is None else shown.step).channel == channel


def _number(world: World, text: str) -> str:
    return normalize(text, Account.of(world).country) or text


def _handset(world: World, text: str) -> str:
    """The number of a phone that does something. 400 for what is no number: no phone could have it (A14)."""
    number = normalize(text, Account.of(world).country)
    if number is None:
        raise ControlError(
            400,
            "bad_argument",
            f'"{text}" is no phone number; legal: 8 to 15 digits with an assigned calling code (A14)',
        )
    return number


def _message(world: World, message_id: str) -> Message:
    message = Messaging.of(world).by_id.get(message_id)
    if message is None:
        raise ControlError(404, "no_such_message", f'"{message_id}" is no message of this world')
    return message


@operation("GET", "/worlds/{id}/messages/{message_id}")
async def message(call: Call, message_id: str) -> Any:
    """One message."""
    return message_view(call.here.world, _message(call.here.world, message_id))


@operation("GET", "/worlds/{id}/explain")
async def explain(call: Call, message_id: str) -> Any:
    """Why a message became what it is: each attempt, the rules that were tried for it, and why the others did not."""
    return explain_message(call.here.world, _message(call.here.world, message_id))


@operation("POST", "/worlds/{id}/messages/{message_id}/events")
async def move_message(call: Call, message_id: str, result: str, info: str | None = None) -> Any:
    """Moves a message's current attempt by hand; the rest of its plan is dropped."""
    world = call.here.world
    found = _message(world, message_id)
    _legal("result", result, STATES[1:])
    _try(lambda: Messaging.of(world).simulator.move_by_hand(found, result, info))
    world.control("event", {"message_id": message_id, "result": result, **({} if info is None else {"info": info})})
    call.runtime.changed(call.here)
    return message_view(world, found)


@operation("POST", "/worlds/{id}/inbound", status=201, act=True)
async def inbound(
    call: Call, channel: str, from_: str, body: str, to: str | None = None, message_id: str | None = None
) -> Any:
    """A phone writes, or replies."""
    _legal("channel", channel, FAMILIES)
    world = call.here.world
    number = _handset(world, from_)
    written = _try(lambda: Messaging.of(world).phones.write(channel, number, to, body, message_id=message_id))
    call.runtime.changed(call.here)
    return inbound_view(written)


def _try(act: Callable[[], Any]) -> Any:
    try:
        return act()
    except NoSuchThing as missing:
        raise ControlError(404, "no_such_thing", str(missing)) from None
    except IllegalTransition as illegal:
        raise ControlError(409, "illegal_transition", str(illegal), legal=list(illegal.legal)) from None


@operation("GET", "/worlds/{id}/phones")
async def phones(call: Call) -> Any:
    """Every phone that was written to or wrote, in order of first appearance."""
    world = call.here.world
    reached = await chosen(Messaging.of(world).messages[:], lambda message: message.valid)
    numbers = dict.fromkeys(message.phone for message in reached)
    numbers.update(dict.fromkeys(entry.sender for entry in Messaging.of(world).phones.inbound))
    numbers.update(dict.fromkeys(notice.phone for notice in Partner.of(world).notices))
    return {"phones": await each(numbers, lambda number: phone_view(world, number))}


@operation("GET", "/worlds/{id}/phones/{number}")
async def phone(call: Call, number: str) -> Any:
    """One handset: its conversation, links and state."""
    return phone_view(call.here.world, _number(call.here.world, number))


def _latest(world: World, number: str, message_id: str | None) -> Message:
    """The message an act is about: the one named, else the newest that arrived on the phone."""
    if message_id is not None:
        return _message(world, message_id)
    inbox = Messaging.of(world).phones.inbox(number)
    if not inbox:
        raise ControlError(404, "no_such_message", f"nothing has arrived on {number} yet; advance the clock first")
    return inbox[-1].message


@operation("POST", "/worlds/{id}/phones/{number}/reply", status=201, act=True)
async def phone_reply(call: Call, number: str, body: str, message_id: str | None = None) -> Any:
    """The phone answers the newest message it received, or the one named."""
    world = call.here.world
    found = _latest(world, _handset(world, number), message_id)
    written = _try(lambda: Messaging.of(world).phones.reply(found, body))
    call.runtime.changed(call.here)
    return inbound_view(written)


@operation("POST", "/worlds/{id}/phones/{number}/write", status=201, act=True)
async def phone_write(call: Call, number: str, body: str, channel: str = "sms", to: str | None = None) -> Any:
    """The phone writes out of the blue."""
    return await inbound(call, channel, number, body, to)


@operation("POST", "/worlds/{id}/phones/{number}/click", act=True)
async def phone_click(call: Call, number: str, message_id: str | None = None) -> Any:
    """The phone follows the first working link of the newest message that it received, or of the one named."""
    world = call.here.world
    found = _latest(world, _handset(world, number), message_id)
    link = _try(lambda: Messaging.of(world).phones.click(found))
    call.runtime.changed(call.here)
    return link_view(link)


@operation("POST", "/worlds/{id}/phones/{number}/press", status=201, act=True)
async def phone_press(call: Call, number: str, button: Any = 0, message_id: str | None = None) -> Any:
    """The phone presses a quick-reply button, by position or title; the service gets its payload, else its title."""
    world = call.here.world
    found = _latest(world, _handset(world, number), message_id)
    body = _try(lambda: Messaging.of(world).phones.pressed(found, button))
    written = _try(lambda: Messaging.of(world).phones.reply(found, body))
    call.runtime.changed(call.here)
    return inbound_view(written)


@operation("POST", "/worlds/{id}/phones/{number}/seen", act=True)
async def phone_seen(call: Call, number: str, message_id: str | None = None) -> Any:
    """The phone's owner opens a message (not on sms)."""
    world = call.here.world
    found = _latest(world, _handset(world, number), message_id)
    _try(lambda: Messaging.of(world).phones.see(found))
    call.runtime.changed(call.here)
    return message_view(world, found)


@operation("POST", "/worlds/{id}/phones/{number}/opt-out", act=True)
async def phone_opt_out(call: Call, number: str) -> Any:
    """The phone's owner opts out of promotional messages."""
    world = call.here.world
    normal = _handset(world, number)
    arrived = Messaging.of(world).phones.inbox(normal)
    Messaging.of(world).phones.opt_out(normal, arrived[-1].message if arrived else None)
    call.runtime.changed(call.here)
    return phone_view(world, normal)


@operation("POST", "/worlds/{id}/phones/{number}/offline", act=True)
async def phone_offline(call: Call, number: str) -> Any:
    """Switches the phone off."""
    world = call.here.world
    Messaging.of(world).phones.go_offline(_handset(world, number))
    return phone_view(world, _handset(world, number))


@operation("POST", "/worlds/{id}/phones/{number}/online", act=True)
async def phone_online(call: Call, number: str) -> Any:
    """Switches the phone on; what waited for it arrives when the clock is next moved."""
    world = call.here.world
    Messaging.of(world).phones.go_online(_handset(world, number))
    call.runtime.changed(call.here)
    return phone_view(world, _handset(world, number))
