"""Operations on phones: look, write, reply, click."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sendbox.control.arguments import whole
from sendbox.control.operation import Call, ControlError, operation
from sendbox.control.reading import chosen, each, through
from sendbox.services.messaging.channels import FAMILIES, USUAL
from sendbox.services.messaging.control.handset import newest_view
from sendbox.services.messaging.control.messages import legal, message_of, number_of, tried
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.views import inbound_view, link_view, message_view, phone_view
from sendbox.services.numbers import written
from sendbox.services.ports import Phoning, account_of

if TYPE_CHECKING:
    from sendbox.engine.world import World
    from sendbox.services.messaging.phones import Phones
    from sendbox.services.messaging.records import Message


@operation("POST", "/worlds/{id}/inbound", status=201, act=True)
async def inbound(
    call: Call, channel: str, from_: str, body: str, to: str | None = None, message_id: str | None = None
) -> Any:
    """A phone writes, or replies."""
    legal("channel", channel, FAMILIES)
    world = call.here.world
    number = _handset(world, from_)
    if to is not None and not any(map(str.isalpha, to)) and (wrong := written.misfit(to)) is not None:
        raise ControlError(400, "bad_argument", f'to: "{to}" {wrong}')
    wrote = tried(lambda: Messaging.of(world).phones.write(channel, number, to, body, message_id=message_id))
    return inbound_view(wrote)


def _handset(world: World, text: str) -> str:
    """The number of a phone that does something. 400 for a text that is not a number: no phone could have it (A14)."""
    try:
        return written.number(text, account_of(world).country)
    except ValueError as error:
        raise ControlError(400, "bad_argument", f'"{text}" {error}') from None


@operation("GET", "/worlds/{id}/phones")
async def phones(call: Call) -> Any:
    """Every phone that was written to or wrote, in order of first appearance."""
    world = call.here.world
    reached = await chosen(Messaging.of(world).messages[:], lambda message: message.valid)
    numbers = dict.fromkeys(message.phone for message in reached)
    numbers.update(dict.fromkeys(entry.sender for entry in Messaging.of(world).phones.inbound))
    for part in world.parts.values():
        if isinstance(part, Phoning):
            numbers.update(dict.fromkeys(part.phones()))
    return {"phones": await each(numbers, lambda number: phone_view(world, number))}


@operation("GET", "/worlds/{id}/phones/{number}")
async def phone(call: Call, number: str, last: Any = None) -> Any:
    """One handset: its conversation, links and state.

    With `last` it has so many of the newest of each list, and `earlier` says whether there is more. `not_arrived` are
    then the messages that are not on the phone, as it would show them. What the client sent has a `result`, its `info`
    and why it was `refused`; what is still `planned`; the `acts` that its owner can do with it; and what stands beside
    its text: `header`, `footer`, `buttons`, `cards`.
    """
    world = call.here.world
    if last is None:
        return phone_view(world, number_of(world, number))
    most = whole(last, "last", 1)
    return await through(newest_view(world, number_of(world, number), most))


async def _latest(call: Call, text: str, message_id: str | None) -> tuple[Phones, Message]:
    """The phones of a world, and the message an act is about: the one named, else the newest that arrived."""
    world = call.here.world
    number, phones = _handset(world, text), Messaging.of(world).phones
    if message_id is not None:
        return phones, await message_of(world, message_id)
    inbox = phones.inbox(number)
    if not inbox:
        raise ControlError(404, "no_such_message", f"nothing has arrived on {number} yet; advance the clock first")
    return phones, inbox[-1].message


@operation("POST", "/worlds/{id}/phones/{number}/reply", status=201, act=True)
async def phone_reply(call: Call, number: str, body: str, message_id: str | None = None) -> Any:
    """The phone answers the newest message that it received, or `message_id`."""
    phones, message = await _latest(call, number, message_id)
    return inbound_view(tried(lambda: phones.reply(message, body)))


@operation("POST", "/worlds/{id}/phones/{number}/write", status=201, act=True)
async def phone_write(call: Call, number: str, body: str, channel: str = USUAL, to: str | None = None) -> Any:
    """The phone writes a message that is not a reply."""
    return await inbound(call, channel, number, body, to)


@operation("POST", "/worlds/{id}/phones/{number}/click", act=True)
async def phone_click(call: Call, number: str, message_id: str | None = None, link: Any = None) -> Any:
    """The phone follows a link of the newest message that it received, or of `message_id`.

    `link` is its number among the links of the message, from 1; else it is the first one that works.
    """
    which = None if link is None else whole(link, "link", 1)
    phones, message = await _latest(call, number, message_id)
    return link_view(tried(lambda: phones.click(message, which)))


@operation("POST", "/worlds/{id}/phones/{number}/press", status=201, act=True)
async def phone_press(call: Call, number: str, button: Any = 0, message_id: str | None = None) -> Any:
    """The phone presses a quick-reply button, by position or title; the service gets its payload, else its title."""
    phones, message = await _latest(call, number, message_id)
    body = tried(lambda: phones.pressed(message, button))
    return inbound_view(tried(lambda: phones.reply(message, body)))


@operation("POST", "/worlds/{id}/phones/{number}/seen", act=True)
async def phone_seen(call: Call, number: str, message_id: str | None = None) -> Any:
    """The phone's owner opens a message (not on sms)."""
    phones, message = await _latest(call, number, message_id)
    tried(lambda: phones.see(message))
    return message_view(call.here.world, message)


@operation("POST", "/worlds/{id}/phones/{number}/opt-out", act=True)
async def phone_opt_out(call: Call, number: str) -> Any:
    """The phone's owner opts out of promotional messages."""
    world = call.here.world
    normal = _handset(world, number)
    arrived = Messaging.of(world).phones.inbox(normal)
    Messaging.of(world).phones.opt_out(normal, arrived[-1].message if arrived else None)
    return phone_view(world, normal)


@operation("POST", "/worlds/{id}/phones/{number}/offline", act=True)
async def phone_offline(call: Call, number: str) -> Any:
    """Switches the phone off."""
    world = call.here.world
    normal = _handset(world, number)
    Messaging.of(world).phones.go_offline(normal)
    return phone_view(world, normal)


@operation("POST", "/worlds/{id}/phones/{number}/online", act=True)
async def phone_online(call: Call, number: str) -> Any:
    """Switches the phone on; what waited for it arrives when the clock is next moved."""
    world = call.here.world
    normal = _handset(world, number)
    Messaging.of(world).phones.go_online(normal)
    return phone_view(world, normal)
