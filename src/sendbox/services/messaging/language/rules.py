"""The rules of `attempts:`: their form, and how they are compiled into those of the engine."""

from __future__ import annotations

from typing import Any, Final

from msgspec.structs import replace

from sendbox.engine.answer import JsonObject
from sendbox.engine.durations import Span
from sendbox.engine.forms import (
    Value,
    any_keys,
    either,
    into,
    mapping,
    positive,
    reference,
    sequence,
    span,
    switch,
    text,
)
from sendbox.engine.rules.rule import When
from sendbox.scenario.keys.rules import RuleForm
from sendbox.scenario.keys.texts import compile_text
from sendbox.scenario.keys.when import Conditions, asked, key, one_of, one_or_more, pattern, recipient, values_at
from sendbox.scenario.model import Node, listed, plain, show
from sendbox.scenario.values import Reader, canonical, whole_number
from sendbox.services.assume import Timing
from sendbox.services.messaging.channels import CHANNELS, ROWS, STATES, legal_next
from sendbox.services.messaging.content.text import GAPS
from sendbox.services.messaging.model import ASKED, MessageField
from sendbox.services.messaging.rules.conditions import After, Payload
from sendbox.services.messaging.rules.rules import Click, Path, PathEntry, Reply, Rule
from sendbox.services.operations import SENDING

#: The results that a scenario may name.
_RESULTS: Final = STATES[1:]


def _make(values: dict[str, Any], when: When, node: Node, reader: Reader) -> tuple[str, dict[str, object]]:
    """The text and the fields of a rule. Entries of a path that say no time have their usual one (A63)."""
    asks = node.get("when")
    #: for the checks below: a condition that could not be read may have been any channel
    channels = None if asks is not None and asks.incomplete else when.words("channel")
    illegal = values.get("illegal", False)
    mix = None
    path, decides = _way(values, node, channels, reader, illegal=illegal)
    if "mix" in values:
        mixed = node.entries()["mix"]
        mix, decides["mix"] = _mix(values["mix"], mixed, channels, reader, illegal=illegal)
        leading = [path.leads for path, _ in mix]
        if any(leading) and path.leads:
            reader.add_problem(node, "mix", '"mix" stands beside "then"; a rule decides the way once', key="mix")
        elif any(leading) and not all(leading) and not mixed.incomplete:
            message = "some ways of the mix have a then, and others have none; give each one, or none"
            reader.add_problem(node, "mix", message, key="mix")
    # equal rules without a name have equal texts, wherever they stand and however their times are written
    return canonical({"when": asked(when), **decides}), {
        "path": replace(path, replies=None, click=None) if path.leads else None,
        "mix": mix,
        "replies": path.replies,
        "click": path.click,
        "illegal": illegal,
    }


def _way(
    values: dict[str, Any], node: Node, channels: tuple[str, ...] | None, reader: Reader, *, illegal: bool
) -> tuple[Path, JsonObject]:
    """The content of a rule, or of a way of a mix: the results and the acts of the phone; and its text."""
    path = Path()
    decides: JsonObject = {}
    if "then" in values:
        path, decides["then"] = _path(values["then"], reader.assume.timing)
        if not illegal:
            _path_is_legal(node.entries()["then"], path, channels, reader)
    replies, click = values.get("replies"), values.get("click")
    if replies is not None:
        decides["replies"] = [[*_pair(reply.after), reply.body] for reply in replies]
    if isinstance(click, Click):
        decides["click"], click = _click_text(click), (click,)
    elif click is not None:
        decides["click"] = [*map(_click_text, click)]
    return replace(path, replies=replies, click=click), decides


def _mix(
    values: dict[str, float] | tuple[dict[str, Any], ...],
    node: Node,
    channels: tuple[str, ...] | None,
    reader: Reader,
    *,
    illegal: bool,
) -> tuple[tuple[tuple[Path, float], ...], object]:
    """The ways of a mix with their weights, and its text."""
    if isinstance(values, dict):
        for goal in values:
            _goal_is_reachable(node, goal, channels, reader, key=goal)
        return tuple((Path(goal=goal), weight) for goal, weight in values.items()), values
    mix, texts = [], []
    for item, content in zip(node.items(), values, strict=True):
        path, decides = _way(content, item, channels, reader, illegal=illegal)
        mix.append((path, content["weight"]))
        texts.append({**decides, "weight": content["weight"]})
    return tuple(mix), texts


def _reply(node: Node, reader: Reader) -> Reply:
    body = node.entries()["body"]
    return Reply(reader.span(node.get("after")), str(body.value), compile_text(body, reader, GAPS, node.get("locale")))


def _click_text(click: Click) -> list[int]:
    return [*_pair(click.after), *([click.link] if click.link else [])]


def _path(value: str | tuple[str | dict[str, Any], ...], timing: Timing) -> tuple[Path, object]:
    """The path, and what of it belongs to the rule's canonical text."""
    if isinstance(value, str):
        return Path(goal=value), value
    entries, texts = zip(*(_entry(item, timing) for item in value), strict=True) if value else ((), ())
    return Path(entries=entries), texts


def _entry(value: str | dict[str, Any], timing: Timing) -> tuple[PathEntry, object]:
    if isinstance(value, str):
        return PathEntry(value, _usual(value, timing)), value
    ((result, moment),) = value.items()
    after, info = (moment.get("after"), moment.get("info")) if isinstance(moment, dict) else (moment, None)
    if after is None:
        return PathEntry(result, _usual(result, timing), info), [result, info]
    return PathEntry(result, after, info), [result, *_pair(after), info]


def _usual(result: str, timing: Timing) -> Span:
    """The time of a result after the one before, when a rule says none: as on the default way to it (A63)."""
    at = timing.after(result)
    return Span(at, at)


def _pair(span: Span) -> list[int]:
    return [span.low, span.high]


def channels_of(node: Node | None, reader: Reader) -> tuple[str, ...] | None:
    """A channel or a list of them; `chatapp` means both of its steps."""
    if node is None:
        return None
    names = [str(item.value) for item in node.items() or [node]]
    if len(set(names)) < len(names):
        reader.add_problem(node, "uniqueItems", f"{show(names)} names a channel twice")
    meant = [channel for word in names for channel in reader.families.get(word, (word,))]
    return tuple(dict.fromkeys(meant))


def _check(conditions: JsonObject, node: Node, reader: Reader) -> None:
    """Complains about a first attempt that asks about an earlier one."""
    after = conditions.get("after", After())
    asks_attempt = (after.result, after.channel, after.info) != (None, None, None)
    if asks_attempt and conditions.get("attempt") == 1 and not node.entries()["after"].incomplete:
        asks = show(plain(node.entries()["after"]))
        message = f"{asks} asks about an earlier attempt, and attempt 1 has none; legal: attempt 2 and more"
        reader.add_problem(node, "after", message, key="after")


def _channel(description: str) -> Value:
    return reference("channels", description, channels_of)


# The form of a rule

_MOMENT: Final = either(
    "When, and with which result_info.",
    span("The time after the entry before."),
    mapping(
        "moment",
        "When, and with which result_info.",
        {
            "after": span("The time after the entry before; the usual one unless given."),
            "info": text(
                "The result_info of the event, such as [1] Undelivered.", "a text", minLength=1, maxLength=200
            ),
        },
        "a time and an info",
    ),
    "a time, or after and info",
)
_ENTRY: Final = either(
    "One result of a path, with or without its time.",
    reference("result"),
    mapping(
        "entry",
        "A result with its time.",
        {
            result: reference("moment", f"{result}, so long after the entry before.", _MOMENT.read)
            for result in _RESULTS
        },
        "one result with its time, such as {sent: {after: 2s}}",
        minProperties=1,
        maxProperties=1,
    ),
    "a result, or a result with its time such as {sent: {after: 2s}}",
)
_PATH: Final = either(
    "A result, reached in the usual way, or the list of results on the way.",
    reference("result"),
    sequence(
        "The results in their order; after counts from the entry before.",
        _ENTRY,
        "a list of results, at least one",
        minItems=1,
    ),
    "a result, or the list of results on the way, each with a dash before it",
)
_REPLY: Final = mapping(
    "reply",
    "An answer of the phone.",
    {
        "after": span("How long after delivered; at once unless given.", default=0),
        "body": text(
            "What it says; it may have gaps such as {{body}} or {{fake.first_name}}.",
            "a text",
            minLength=1,
            maxLength=1000,
        ),
        "locale": reference("locale", "The language and country of its invented values; the rule's unless given."),
    },
    'a reply such as {after: 20s, body: "YES"}',
    required=["body"],
)
_CLICK: Final = into(
    Click,
    mapping(
        "click",
        "The owner opens a short link.",
        {
            "after": span("How long after delivered."),
            "link": positive("Which link of the text, from 1; the first that works unless given."),
        },
        "when a link is opened, such as {after: 1m}",
        required=["after"],
    ),
)
#: What a rule and a way of its `mix` may say.
_DECIDES: Final = {
    "replies": sequence(
        "What the phone answers, counted from delivered.",
        reference("reply", read=_reply),
        "a list of replies, at least one",
        minItems=1,
    ),
    "click": either(
        "The owner opens a short link, once or more often; counted from delivered.",
        reference("click", read=_CLICK.read),
        sequence("Several times.", reference("click", read=_CLICK.read), "a list of clicks, at least one", minItems=1),
        "when a link is opened, such as {after: 1m}, or a list of that",
    ),
}
_THEN: Final = reference("path", read=_PATH.read)
_WAY: Final = mapping(
    "way",
    "One way of a mix, with its weight.",
    {"weight": reference("weight"), "then": _THEN, **_DECIDES},
    "a way such as {weight: 10, then: [sending, sent, {delivered: 10m}]}",
    required=["weight"],
)
_MIX: Final = either(
    "Results with weights, or whole ways with weights; one is drawn for each phone and message.",
    mapping(
        "mix",
        "Results with weights; one is drawn for each phone and message.",
        {result: reference("weight", f"The weight of {result}.") for result in _RESULTS},
        "results with weights, such as {delivered: 95, failed: 5}",
        minProperties=1,
    ),
    sequence(
        "Whole ways: the results with their times, replies and clicks.",
        _WAY,
        "a list of ways, each with its weight",
        minItems=1,
    ),
    "results with weights, such as {delivered: 95, failed: 5}, or a list of ways with weights",
)
_AFTER: Final = into(
    After,
    mapping(
        "after",
        "What happened before, to this message or to this phone.",
        {
            "result": one_of("results", "The result at which an earlier attempt of the message stands, or a list."),
            "channel": _channel("The channel of that attempt, or a list of them."),
            "info": pattern("The result_info of that attempt."),
            "message": one_of(
                "results", "The result at which the message before this one to the same phone stands, or a list."
            ),
        },
        "what happened before, such as {result: undelivered}",
        anyOf=[{"required": [name]} for name in ("result", "channel", "info", "message")],
        **{"x-without": "asks nothing; after has result, channel, info or message"},
    ),
)
#: Conditions that are no patterns of texts, by the field of the message that they ask for.
_SPECIAL: Final = {
    "channel": {"channel": _channel("The channel of the step, or a list of them.")},
    "phone": recipient("the recipient", operator=True),
    "sender": {
        "sender": reference("senderPatterns", "The sender of the step; * stands for any characters.", pattern("").read)
    },
    "operation": {
        "operation": reference(
            "operations",
            "The operation that sent it, such as sendMessage, or a list.",
            lambda node, reader: reader.operations(node, SENDING, "not an operation that sends"),
        )
    },
    "attempt": {
        "attempt": reference(
            "positives",
            "Which attempt of the message: 1 is the first step that was tried.",
            lambda node, _: one_or_more(node, whole_number),
        )
    },
    "key": {"key": key("The API key that sent it.")},
    "payload": {
        "payload": Value(
            any_keys(
                "payload",
                "Dotted paths inside the request's payload and what they hold; texts may have *.",
                reference("valueAt"),
                "a mapping of dotted paths to values",
                minProperties=1,
            ).node,
            lambda node, reader: Payload(values_at(node, reader, "payload")),
        )
    },
}


def text_condition(row: MessageField) -> Value:
    """The form of a condition about a text of a message."""
    return pattern(f"{row.says[0].upper()}{row.says[1:]}.")


def _conditions(row: MessageField) -> dict[str, Value]:
    """The forms of the conditions about a field of a message, by name."""
    return _SPECIAL.get(row.name) or {row.name: text_condition(row)}


ATTEMPT_RULES: Final = RuleForm(
    ("attempts",),
    Rule,
    Conditions(
        "",
        "an attempt",
        {
            **{name: form for row in ASKED.values() for name, form in _conditions(row).items()},
            "after": reference("after", read=_AFTER.read),
        },
        per=("phone", "key"),
        join=_check,
    ),
    "A rule: which attempts, and what becomes of them.",
    {
        "then": _THEN,
        "mix": _MIX,
        **_DECIDES,
        "locale": reference(
            "locale", "The language and country of invented values in its replies; the scenario's unless given."
        ),
        "illegal": switch("Permits results that cannot follow each other (§3.1).", default=False),
    },
    "How many messages the rule may decide",
    "a rule such as {then: delivered}",
    _make,
    requires={
        "anyOf": [{"required": [name]} for name in ("then", "mix", "replies", "click")],
        "x-without": "decides nothing; a rule has then, mix, replies or click",
    },
    decides=(("then", "mix"), ("replies",), ("click",)),
    parts={"moment": _MOMENT, "path": _PATH, "reply": _REPLY, "click": _CLICK, "after": _AFTER},
)


# Whether a path is legal


def _path_is_legal(node: Node, path: Path, channels: tuple[str, ...] | None, reader: Reader) -> None:
    """Each result of a path may follow the one before (§3.1, A25).

    On every channel that the rule names; when it names none, on any one of them, since a channel on which the path
    cannot go on simply ends there.
    """
    if path.goal is not None:
        _goal_is_reachable(node, path.goal, channels, reader)
        return
    if node.incomplete:
        return
    candidates = channels or CHANNELS
    state = "accepted"
    for entry, item in zip(path.entries, node.items(), strict=True):
        result = entry.result
        refusing = [channel for channel in candidates if result not in legal_next(channel, state)]
        if refusing and (channels is not None or len(refusing) == len(candidates)):
            _illegal(item, state, result, refusing[0] if channels else None, reader, alone=len(path.entries) == 1)
        state = result


def _illegal(node: Node, state: str, result: str, channel: str | None, reader: Reader, *, alone: bool) -> None:
    where = f" on {channel}" if channel else ""
    # the channel that can most shows what is legal when the rule names none
    most = max((legal_next(name, state) for name in ([channel] if channel else CHANNELS)), key=len)
    legal = listed(most) or "nothing, it is an end"
    way_out = (
        f'write "then: {result}" for the usual way to it'
        if alone and state == "accepted"
        else '"illegal: true" on the rule permits it'
    )
    message = f'"{result}" does not follow "{state}"{where}; legal: {legal} (§3.1, A25); {way_out}'
    key = result if isinstance(node.value, dict) else None
    reader.add_problem(node, "transition", message, key=key)


def _goal_is_reachable(
    node: Node, goal: str, channels: tuple[str, ...] | None, reader: Reader, *, key: str | None = None
) -> None:
    """`seen` exists on channels that report that a message was opened (§3.1)."""
    if goal == "seen" and channels and not any(ROWS[channel].shows_seen for channel in channels):
        where = f"{listed(channels)}, the only channel of this rule"
        message = f'"seen" does not exist on {where} (§3.1); legal: delivered or a bad end'
        reader.add_problem(node, "transition", message, key=key)
