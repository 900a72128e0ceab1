"""Operations on phones: list, look, write, reply, click."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Annotated, Any, Final

from sendbox.control.arguments import NEXT, SORTED, Count, Limit, MessageId, Order, Search, Total, described
from sendbox.control.operation import Call, ControlError, converted, operation
from sendbox.control.reading import FORM, Page, count, map_in_slices, page, run_in_slices, select, sorted_page
from sendbox.control.searching import TEXT, SearchKey, Term, make_filter, parse_terms, text_filter, words
from sendbox.engine.answer import enum, reference
from sendbox.engine.world import World
from sendbox.services.messaging.answers import Handset, Link, NewestHandset, PhoneList, ShortHandset, Text
from sendbox.services.messaging.answers import Message as MessageShown
from sendbox.services.messaging.channels import FAMILIES, STATES, USUAL
from sendbox.services.messaging.control.handset import newest_view
from sendbox.services.messaging.control.messages import find_message, make_ids, number_of, translate_errors
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.phones import Phones
from sendbox.services.messaging.records import Message
from sendbox.services.messaging.views import body_of, inbound_view, link_view, message_view, phone_short, phone_view
from sendbox.services.numbers import notation
from sendbox.services.ports import HasPhoneContent, account_of

#: What phones can be sorted by.
SORTS: Final = ("activity", "number", "messages")
#: What a search says that a phone is; unanswered is one that wrote the last text of its conversation.
OFFLINE: Final = "offline"
OPTED_OUT: Final = "opted_out"
UNANSWERED: Final = "unanswered"


async def page_of_phones(
    world: World, fits: Callable[[str], bool], sort: str | None, limit: int | None, cursor: str | None, order: str
) -> Page[str]:
    """A page of the numbers of phones: in order of first appearance, of their last activity, or by a field."""
    if sort == "activity":
        return await _page_by_activity(world, fits, limit, cursor, order)
    numbers, _ = known = await list_numbers(world)
    if sort is None:
        return await _page_by_appearance(world, known, fits, limit, cursor, order)
    messages_of, following = Messaging.of(world).phones.messages_of, None if cursor is None else _number(cursor)
    key: Callable[[str], Any] = str if sort == "number" else lambda number: len(messages_of(number))
    return await sorted_page(numbers, key, fits, limit, following, order)


async def _page_by_appearance(
    world: World,
    known: tuple[Sequence[str], Mapping[str, int]],
    fits: Callable[[str], bool],
    limit: int | None,
    cursor: str | None,
    order: str,
) -> Page[str]:
    """A page of the phones in order of first appearance; the cursor is a number of a phone."""
    numbers, places = known
    cursor_place = None
    if cursor is not None:
        cursor_place = places.get(cursor, None if Messaging.of(world).messages.lost else -1)
        if cursor_place == -1:
            raise ControlError(400, "bad_argument", f'cursor: "{cursor}" is not a phone of this world')
        if cursor_place is None:  # it was forgotten, as were those before it
            numbers = [] if order == "newest" else numbers
    listed = await page(numbers, places.__getitem__, fits, limit, cursor_place, order)
    return Page(listed.items, listed.items[-1] if listed.cursor else listed.cursor)


async def _page_by_activity(
    world: World,
    fits: Callable[[str], bool],
    limit: int | None,
    cursor: str | None,
    order: str,
) -> Page[str]:
    """A page of the phones in order of their last activity; those of other services alone come as the oldest."""
    activity = Messaging.of(world).phones.activity
    await run_in_slices(activity.read())
    activity_places = activity.places
    # read last: the journal may still have entries about phones whose messages were forgotten
    _, known = await list_numbers(world)
    places = {**{number: place - len(known) for number, place in known.items()}, **activity_places}
    numbers = [number for number in known if number not in activity_places]
    numbers += [number for number in activity_places if number in known]
    return await page(numbers, places.__getitem__, fits, limit, None if cursor is None else _number(cursor), order)


def _number(cursor: str) -> int:
    """The number that a cursor is. Raises `ControlError`."""
    place: int = converted("cursor", cursor, int)
    return place


async def list_numbers(world: World) -> tuple[Sequence[str], Mapping[str, int]]:
    """The numbers of all phones in order of first appearance, and their places; those of other services come last."""
    phones = Messaging.of(world).phones
    # the appearances last: to forget messages meanwhile would leave them unread
    for reading in (phones.messages.read(), phones.written.read(), phones.appearances.read()):
        await run_in_slices(reading)
    numbers, places = phones.appearances.names, phones.appearances.places
    parts = (part for part in world.parts.values() if isinstance(part, HasPhoneContent))
    part_numbers = list(dict.fromkeys(chain.from_iterable(part.phones() for part in parts)))
    other_numbers = [number for number in part_numbers if number not in places]
    if other_numbers:
        numbers = [*numbers, *other_numbers]
        places = {**places, **{number: len(places) + place for place, number in enumerate(other_numbers)}}
    return numbers, places


async def search_filter(world: World, search: str | None) -> Callable[[str], bool]:
    """A filter of numbers for a search. What takes a look at many texts is found once for all numbers."""
    country, phones = account_of(world).country, Messaging.of(world).phones

    def result_of(number: str) -> Collection[str]:
        return [message.result for message in phones.messages_of(number)[-1:]]

    def states_of(number: str) -> list[str]:
        states = {OFFLINE: phones.is_offline(number), OPTED_OUT: number in account_of(world).optout}
        return [state for state, holds in states.items() if holds]

    keys: dict[str, SearchKey[str]] = {
        "to": lambda value: notation.pattern(value, country).matches,
        "result": words(STATES, result_of),
        "is": words((OFFLINE, OPTED_OUT, UNANSWERED), states_of),
        TEXT: lambda value: lambda number: value in number,
    }
    tests = []
    for term in parse_terms(search, keys):
        fits = make_filter(term, keys)
        tests.append((fits, await _numbers_that_fit(world, term), term.excludes))
    return lambda number: all(
        bool(number in numbers or fits(number)) is not excludes for fits, numbers, excludes in tests
    )


async def _numbers_that_fit(world: World, term: Term) -> Collection[str]:
    """The numbers that fit a word of a search by what many texts say; empty for a word that needs no look at them."""
    if term.key == TEXT:
        return await _numbers_with_text(world, term.value)
    if (term.key, term.value) == ("is", UNANSWERED):
        return await _unanswered_numbers(world)
    return frozenset()


async def _unanswered_numbers(world: World) -> Collection[str]:
    """The numbers of the phones that wrote the last text of their conversation."""
    numbers, _ = await list_numbers(world)
    unanswered = set()
    written = Messaging.of(world).phones.written
    for number in await select(numbers, lambda number: bool(written.of(number))):
        last = (await run_in_slices(phone_short(world, number))).last
        if last is not None and last.direction == "out":
            unanswered.add(number)
    return unanswered


async def _numbers_with_text(world: World, value: str) -> Collection[str]:
    """The numbers of the phones to which, or from which, a text with a word was sent."""
    messaging, holds = Messaging.of(world), text_filter(value)
    sent = await select(
        messaging.messages[:], lambda message: bool(holds(body_of(world, message, message.furthest_attempt)))
    )
    received = await select(messaging.phones.inbound[:], lambda inbound: bool(holds(inbound.body)))
    return {*(message.phone for message in sent), *(inbound.sender for inbound in received)}


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
