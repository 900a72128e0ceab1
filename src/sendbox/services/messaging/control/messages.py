"""Operations on messages: look, explain, move by hand."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from operator import attrgetter
from typing import Annotated, Final, TypeVar

from msgspec import UNSET

from sendbox.control.arguments import SORTED, Last, Limit, NextCursor, Order, Phone, Search, Total, Wait, described
from sendbox.control.operation import Call, ControlError, operation
from sendbox.control.reading import (
    FORM,
    Page,
    count,
    listed,
    map_in_slices,
    remembered,
    replay_past,
    run_in_slices,
    wait_for,
)
from sendbox.control.searching import TEXT, SearchKey, match_texts, patterns, search_filter, texts, times, words
from sendbox.engine.answer import JsonMapping, JsonObject, enum, read
from sendbox.engine.world import World
from sendbox.services.messaging.answers import Explanation, Messages, ShortMessage
from sendbox.services.messaging.answers import Message as MessageShown
from sendbox.services.messaging.channels import CHANNELS, STATES, IllegalTransition
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.phones import NoSuchThing
from sendbox.services.messaging.records import Message
from sendbox.services.messaging.rules.explain import Witness
from sendbox.services.messaging.rules.explain import explain as explain_message
from sendbox.services.messaging.rules.explained import explanation_lines
from sendbox.services.messaging.views import body_of, channel_of, message_short, message_view, sender_of
from sendbox.services.numbers import notation
from sendbox.services.ports import account_of

T = TypeVar("T")
#: Channels, results, and results to which a message can be moved.
CHANNEL: Final = enum(CHANNELS)
RESULT: Final = enum(STATES)
MOVED: Final = enum(STATES[1:])
#: What messages can be sorted by.
SORTS: Final[Mapping[str, Callable[[Message], object]]] = {
    "phone": lambda message: message.phone,
    "result": lambda message: message.result,
    "channel": lambda message: channel_of(message, message.furthest_attempt),
    "attempts": lambda message: len(message.attempts),
}


@operation("GET", "/worlds/{id}/messages", answers=Messages)
async def messages(
    call: Call,
    phone: Phone = None,
    channel: Annotated[str | None, CHANNEL] = None,
    result: Annotated[str | None, RESULT] = None,
    tag: Annotated[str | None, described("one of the tags of the message")] = None,
    wait: Wait = None,
    last: Last = None,
    limit: Limit = None,
    cursor: NextCursor = None,
    order: Order = "oldest",
    search: Search = None,
    form: Annotated[str, FORM] = "plain",
    request: Annotated[int | None, described("the number of the entry of the call that sent them")] = None,
    sort: Annotated[str | None, enum(SORTS), SORTED] = None,
    total: Total = False,
) -> Messages:
    """Messages with attempts, oldest first; `wait` is a long poll until there is one, `last` asks for the newest.

    With `form=short` each has what a list shows: `attempts` is how many there were, `body` has 160 characters at
    most, `unsettled` says whether anything may still happen to it by itself.
    """
    hosted = call.hosted
    full_count: int | None = None
    filtered = any(value is not None for value in (channel, result, tag, search, request))
    how: JsonObject = {"key": None if sort is None else SORTS[sort], "last": last, "limit": limit}

    async def look() -> tuple[World, Page[Message]] | None:
        nonlocal full_count
        world = hosted.world
        finds = search_filter(search, search_keys(world))
        source = None if request is None else remembered(world, request)[2]

        def fits(message: Message) -> bool:
            if source is not None and message.call is not source:
                return False
            return _fits(message, channel, result, tag) and finds(message)

        messaging = Messaging.of(world)
        if phone is not None:
            await run_in_slices(messaging.phones.messages.read())
        every = messaging.messages if phone is None else messaging.phones.messages_of(number_of(world, phone))
        page = await listed(every, attrgetter("ordinal"), fits, cursor=cursor, order=order, **how)
        full_count = await count(every, fits, filtered=filtered) if total else None
        return (world, page) if page.items else None

    matches = await wait_for(hosted, wait, look)
    if matches is None:
        return Messages(messages=[], next_cursor=UNSET if limit is None else None, total=full_count)
    world, page = matches
    view: Callable[[World, Message], ShortMessage | MessageShown] = message_short if form == "short" else message_view
    views = await map_in_slices(page.items, lambda message: view(world, message))
    return Messages(messages=views, next_cursor=page.cursor, total=full_count)


def phones_by_id(world: World) -> Generator[None, None, Callable[[str], str | None]]:
    """The phones of messages by their ids, None for an id that no message has; all new messages are read before."""
    by_id = Messaging.of(world).by_id
    yield from by_id.read()

    def phone_of(message_id: str) -> str | None:
        message = by_id.get(message_id)
        return None if message is None else message.phone

    return phone_of


def search_keys(world: World) -> dict[str, SearchKey[Message]]:
    """The keys of a search for messages, each with a function that makes its filter."""
    country = account_of(world).country
    return {
        "to": lambda value: match_texts(notation.pattern(value, country).matches, attrgetter("phone")),
        "tag": patterns(lambda message: message.submission.send.tags),
        "channel": words(CHANNELS, lambda message: channel_of(message, message.furthest_attempt)),
        "result": words(STATES, attrgetter("result")),
        **times(world.now, attrgetter("accepted_at")),
        "from": patterns(lambda message: sender_of(message, message.furthest_attempt)),
        "operation": patterns(lambda message: message.submission.operation),
        TEXT: texts(lambda message: body_of(world, message, message.furthest_attempt)),
    }


def _fits(message: Message, channel: str | None, result: str | None, tag: str | None) -> bool:
    if result is not None and message.result != result:
        return False
    if tag is not None and tag not in message.submission.send.tags:
        return False
    if channel is None:
        return True
    return channel_of(message, message.furthest_attempt) == channel


def number_of(world: World, text: str) -> str:
    """The number that a text means; the text itself where it has the length of none, or a client wrote to it so.

    Raises `ControlError` for a pattern, and for what is not written like a number.
    """
    wrong = notation.number_problem(text)
    if wrong is None:
        return notation.normalize(text, account_of(world).country) or text
    if Messaging.of(world).phones.messages_of(text):
        return text
    raise ControlError(400, "bad_argument", f'"{text}" {wrong}')


async def message_of(world: World, message_id: str) -> Message:
    """The message of an id. Raises `ControlError`."""
    await run_in_slices(Messaging.of(world).by_id.read())
    return find_message(world, message_id)


async def make_ids(call: Call, arguments: JsonMapping) -> JsonMapping:
    """Makes the ids of all messages before an act that names one, since many ids take long; returns the arguments."""
    if arguments.get("message_id") is not None:
        await run_in_slices(Messaging.of(call.hosted.world).by_id.read())
    return arguments


def find_message(world: World, message_id: str) -> Message:
    """The message of an id, at once. Raises `ControlError`."""
    messaging = Messaging.of(world)
    message = messaging.by_id.get(message_id)
    if message is None and messaging.past is not None and message_id in messaging.past:
        bound = messaging.past.bound
        text = f'"{message_id}" was forgotten: the world no longer has its oldest messages ({bound})'
        raise ControlError(404, "forgotten", text, bound=bound)
    if message is None:
        raise ControlError(404, "no_such_message", f'"{message_id}" is not a message of this world')
    return message


@operation("GET", "/worlds/{id}/messages/{message_id}", answers=MessageShown)
async def message(call: Call, message_id: str) -> MessageShown:
    """One message."""
    return message_view(call.hosted.world, await message_of(call.hosted.world, message_id))


@operation("GET", "/worlds/{id}/explain", words=explanation_lines, answers=Explanation)
async def explain(call: Call, message_id: str) -> Explanation:
    """Why a message has its result: each attempt, its checks, the rules that were tried, and why others did not match.

    Checks and rules are shown as they were when the attempt began, unless the record of the world was cut.
    """
    world = call.hosted.world
    message = await message_of(world, message_id)
    if message.last is None:
        return read(explain_message(world, message), Explanation)
    last, witness = message.last.number, Witness(message_id)

    def watch(again: World) -> Callable[[], bool]:
        witness.watch(again)
        return lambda: last in witness.seen

    await replay_past(call, watch)
    return read(explain_message(world, message, witness.seen), Explanation)


@operation(
    "POST", "/worlds/{id}/messages/{message_id}/events", act=True, journals=True, prepare=make_ids, answers=MessageShown
)
async def move_message(
    call: Call,
    message_id: str,
    result: Annotated[str, MOVED],
    info: Annotated[str | None, described("the `result_info` of its event")] = None,
) -> MessageShown:
    """Moves a message's current attempt by hand; the rest of its plan is dropped."""
    world = call.hosted.world
    message = find_message(world, message_id)
    translate_errors(lambda: Messaging.of(world).simulator.move_by_hand(message, result, info))
    world.journal_act("event", {"message_id": message_id, "result": result, **({} if info is None else {"info": info})})
    return message_view(world, message)


def translate_errors(act: Callable[[], T]) -> T:
    """The answer of an act. Raises `ControlError` if the act cannot be done."""
    try:
        return act()
    except NoSuchThing as missing:
        raise ControlError(404, "no_such_thing", str(missing)) from None
    except IllegalTransition as illegal:
        raise ControlError(409, "illegal_transition", str(illegal), legal=list(illegal.legal)) from None
