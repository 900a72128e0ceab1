"""The list of phones that `phones` pages through: by appearance, by activity or by a field, and what a search finds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain
from typing import Any, Final

from sendbox.control.operation import ControlError, converted
from sendbox.control.reading import Page, page, run_in_slices, select, sorted_page
from sendbox.control.searching import TEXT, SearchKey, Term, make_filter, parse_terms, text_filter, words
from sendbox.engine.world import World
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.results import STATES
from sendbox.services.messaging.views import body_of, phone_short
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
