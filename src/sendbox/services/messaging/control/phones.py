"""Operations on phones: look, write, reply, click."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Final

from sendbox.control.arguments import NEXT, SORTED, Count, Limit, MessageId, Order, Search, Total, described
from sendbox.control.operation import Call, ControlError, operation
from sendbox.control.reading import FORM, count, map_in_slices, run_in_slices
from sendbox.engine.answer import enum, reference
from sendbox.engine.world import World
from sendbox.services.messaging.answers import Handset, Link, NewestHandset, PhoneList, ShortHandset, Text
from sendbox.services.messaging.answers import Message as MessageShown
from sendbox.services.messaging.channels import FAMILIES, USUAL
from sendbox.services.messaging.control.handset import newest_view
from sendbox.services.messaging.control.messages import find_message, make_ids, number_of, translate_errors
from sendbox.services.messaging.control.phone_list import SORTS, list_numbers, page_of_phones, search_filter
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.phones import Phones
from sendbox.services.messaging.records import Message
from sendbox.services.messaging.views import inbound_view, link_view, message_view, phone_short, phone_view
from sendbox.services.numbers import notation
from sendbox.services.ports import account_of

FAMILY: Final = enum(FAMILIES)


@operation("POST", "/worlds/{id}/inbound", status=201, act=True, answers=Text)
async def inbound(
    call: Call,
    channel: Annotated[str, FAMILY],
    from_: Annotated[str, described("the number of the phone")],
    body: Annotated[str, described("the text")],
    to: Annotated[str | None, described("the sender to which it writes")] = None,
    message_id: Annotated[str | None, described("the message that it replies to")] = None,
) -> Text:
    """A phone writes, or replies."""
    world = call.hosted.world
    number = _phone_number(world, from_)
    if to is not None and not any(map(str.isalpha, to)) and (problem := notation.number_problem(to)) is not None:
        raise ControlError(400, "bad_argument", f'to: "{to}" {problem}')
    inbound_message = translate_errors(
        lambda: Messaging.of(world).phones.write(channel, number, to, body, message_id=message_id)
    )
    return inbound_view(inbound_message)


def _phone_number(world: World, text: str) -> str:
    """The number of the phone that acts. Raises `ControlError` for a text that is not a number (A14)."""
    try:
        return notation.number(text, account_of(world).country)
    except ValueError as error:
        raise ControlError(400, "bad_argument", f'"{text}" {error}') from None


@operation("GET", "/worlds/{id}/phones", answers=PhoneList)
async def phones(
    call: Call,
    limit: Limit = None,
    cursor: Annotated[str | None, NEXT] = None,
    order: Order = "oldest",
    search: Search = None,
    form: Annotated[str, FORM] = "plain",
    sort: Annotated[str | None, enum(SORTS), SORTED] = None,
    total: Total = False,
) -> PhoneList:
    """Every phone that was written to or wrote, in order of first appearance.

    `search` finds them by number, by the texts to and from them, by the result of the newest message to them, and by
    what they are. With `form=short` each has how many texts it `received` and `sent`, the `last` of its conversation,
    and the newest message to it where that is `absent`. With `sort=activity` the phone on which something happened last
    is the newest.
    """
    world = call.hosted.world
    fits = await search_filter(world, search)
    listed = await page_of_phones(world, fits, sort, limit, cursor, order)
    full_count = None
    if total:
        numbers, _ = await list_numbers(world)
        full_count = await count(numbers, fits, filtered=search is not None)
    views: list[ShortHandset] | list[Handset]
    if form == "short":
        views = [await run_in_slices(phone_short(world, number)) for number in listed.items]
    else:
        views = await map_in_slices(listed.items, lambda number: phone_view(world, number))
    return PhoneList(phones=views, next_cursor=listed.cursor, total=full_count)


@operation(
    "GET", "/worlds/{id}/phones/{number}", answers=Annotated[Any, reference("AnyHandset", Handset, NewestHandset)]
)
async def phone(
    call: Call, number: str, last: Annotated[Count | None, described("so many of the newest of each list")] = None
) -> Handset | NewestHandset:
    """One handset: its conversation, links and state.

    With `last` it has so many of the newest of each list, and `earlier` says whether there is more. `not_arrived` are
    then the messages that are not on the phone, as it would show them. What the client sent has a `result`, its `info`
    and why it was `refused`; what is still `planned`; the `acts` that its owner can do with it; and what stands beside
    its text: `header`, `footer`, `buttons`, `cards`.
    """
    world = call.hosted.world
    if last is None:
        return phone_view(world, number_of(world, number))
    phones = Messaging.of(world).phones
    for reading in (phones.messages.read(), phones.written.read()):
        await run_in_slices(reading)
    return await run_in_slices(newest_view(world, number_of(world, number), last))


@contextmanager
def _selected_message(call: Call, text: str, message_id: str | None) -> Iterator[tuple[Phones, Message]]:
    """The phones of a world, and the message an act is about: the one named, else the newest that arrived.

    The entry of the act is marked if the message depends on the order of requests. Raises `ControlError`.
    """
    world = call.hosted.world
    number, phones = _phone_number(world, text), Messaging.of(world).phones
    if message_id is not None:
        yield phones, find_message(world, message_id)
        return
    arrived, tied = phones.newest_arrival(number)
    past = Messaging.of(world).past
    if arrived is None and past is not None:
        text = f"no message on {number} is kept: the world no longer has its oldest messages ({past.bound})"
        raise ControlError(404, "forgotten", text, bound=past.bound)
    if arrived is None:
        raise ControlError(404, "no_such_message", f"nothing has arrived on {number} yet; advance the clock first")
    entry = len(world.journal)
    yield phones, arrived.message
    if tied:
        world.journal.mark(entry)


@operation("POST", "/worlds/{id}/phones/{number}/reply", status=201, act=True, prepare=make_ids, answers=Text)
async def phone_reply(
    call: Call, number: str, body: Annotated[str, described("the text")], message_id: MessageId = None
) -> Text:
    """The phone answers the newest message that it received, or `message_id`."""
    with _selected_message(call, number, message_id) as (phones, message):
        return inbound_view(translate_errors(lambda: phones.reply(message, body)))


@operation("POST", "/worlds/{id}/phones/{number}/write", status=201, act=True, answers=Text)
async def phone_write(
    call: Call,
    number: str,
    body: Annotated[str, described("the text")],
    channel: Annotated[str, FAMILY] = USUAL,
    to: Annotated[str | None, described("the sender to which it writes")] = None,
) -> Text:
    """The phone writes a message that is not a reply."""
    text: Text = await inbound(call, channel, number, body, to)
    return text


@operation("POST", "/worlds/{id}/phones/{number}/click", act=True, prepare=make_ids, answers=Link)
async def phone_click(
    call: Call,
    number: str,
    message_id: MessageId = None,
    link: Annotated[
        Count | None, described("its number among the links of the message, from 1; else the first one that works")
    ] = None,
) -> Link:
    """The phone follows a link of the newest message that it received, or of `message_id`."""
    with _selected_message(call, number, message_id) as (phones, message):
        return link_view(translate_errors(lambda: phones.click(message, link)))


@operation("POST", "/worlds/{id}/phones/{number}/press", status=201, act=True, prepare=make_ids, answers=Text)
async def phone_press(
    call: Call,
    number: str,
    button: Annotated[int | str, described("its position from 0, or its title")] = 0,
    message_id: MessageId = None,
) -> Text:
    """The phone presses a quick-reply button; the service gets its payload, else its title."""
    with _selected_message(call, number, message_id) as (phones, message):
        body = translate_errors(lambda: phones.pressed(message, button))
        return inbound_view(translate_errors(lambda: phones.reply(message, body)))


@operation("POST", "/worlds/{id}/phones/{number}/seen", act=True, prepare=make_ids, answers=MessageShown)
async def phone_seen(call: Call, number: str, message_id: MessageId = None) -> MessageShown:
    """The phone's owner opens a message (not on sms)."""
    with _selected_message(call, number, message_id) as (phones, message):
        translate_errors(lambda: phones.see(message))
        return message_view(call.hosted.world, message)


@operation("POST", "/worlds/{id}/phones/{number}/opt-out", act=True, answers=Handset)
async def phone_opt_out(call: Call, number: str) -> Handset:
    """The phone's owner opts out of promotional messages."""
    world = call.hosted.world
    normal = _phone_number(world, number)
    phones, entry = Messaging.of(world).phones, len(world.journal)
    arrived, tied = phones.newest_arrival(normal)
    phones.opt_out(normal, None if arrived is None else arrived.message)
    if tied:
        world.journal.mark(entry)
    return phone_view(world, normal)


def _act(call: Call, number: str, act: Callable[[Phones, str], None]) -> Handset:
    """Does something with a phone, and shows it."""
    world = call.hosted.world
    normal = _phone_number(world, number)
    act(Messaging.of(world).phones, normal)
    return phone_view(world, normal)


@operation("POST", "/worlds/{id}/phones/{number}/opt-in", act=True, answers=Handset)
async def phone_opt_in(call: Call, number: str) -> Handset:
    """The phone's owner takes an opt-out back, in force at once."""
    return _act(call, number, Phones.opt_in)


@operation("POST", "/worlds/{id}/phones/{number}/offline", act=True, answers=Handset)
async def phone_offline(call: Call, number: str) -> Handset:
    """Switches the phone off."""
    return _act(call, number, Phones.go_offline)


@operation("POST", "/worlds/{id}/phones/{number}/online", act=True, answers=Handset)
async def phone_online(call: Call, number: str) -> Handset:
    """Switches the phone on; what waited for it arrives when the clock is next moved."""
    return _act(call, number, Phones.go_online)
