"""Compiles the rules of `attempts:` into those of the engine."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sendbox.engine.durations import Span
from sendbox.scenario.keys.texts import compile_text
from sendbox.scenario.keys.when import asked, compile_when, one_or_more, patterns, recipient, values_at
from sendbox.scenario.model import Node, listed, plain, show
from sendbox.scenario.values import Reader, canonical, text_of, whole, words
from sendbox.services.messaging.channels import CHANNELS, ROWS, legal_next
from sendbox.services.messaging.content.text import GAPS
from sendbox.services.messaging.model import ASKED
from sendbox.services.messaging.rules.conditions import After, Payload
from sendbox.services.messaging.rules.rules import Click, Path, PathEntry, Reply, Rule
from sendbox.services.operations import SENDING

if TYPE_CHECKING:
    from sendbox.services.assume import Timing


def compile_rule(node: Node, reader: Reader) -> Rule:
    """One rule. Entries of a path that say no time have their usual one (A63)."""
    asks = node.get("when")
    when = compile_when(node, reader, _asks)
    #: for the checks below: a condition that could not be read may have been any channel
    channels = None if asks is not None and asks.cut else when.words("channel")
    illegal = _flag(node.get("illegal"))
    mix = None
    way, decides = _way(node, node.get("locale"), channels, reader, illegal=illegal)
    if (mixed := node.get("mix")) is not None:
        mix, decides["mix"] = _mix(mixed, node.get("locale"), channels, reader, illegal=illegal)
        leading = [path.leads for path, _ in mix]
        if any(leading) and way.leads:
            reader.complain(node, "mix", '"mix" stands beside "then"; a rule decides the way once', key="mix")
        elif any(leading) and not all(leading) and not mixed.cut:
            message = "some ways of the mix have a then, and others have none; give each one, or none"
            reader.complain(node, "mix", message, key="mix")
    name = text_of(node.get("name"))
    times = node.get("times")
    return Rule(
        # equal rules without a name have equal texts, wherever they stand and however their times are written
        key=name or canonical({"when": asked(when), **decides}),
        when=when,
        path=replace(way, replies=None, click=None) if way.leads else None,
        mix=mix,
        replies=way.replies,
        click=way.click,
        illegal=illegal,
        times=None if times is None else int(_number(times)),
        name=name,
        place=node.place,
    )


def _way(
    node: Node, locale: Node | None, channels: tuple[str, ...] | None, reader: Reader, *, illegal: bool
) -> tuple[Path, dict[str, Any]]:
    """The content of a rule, or of a way of a mix: the results and the acts of the phone; and its text."""
    path, replies, click = Path(), None, None
    decides: dict[str, Any] = {}
    if (then := node.get("then")) is not None:
        path, decides["then"] = _path(then, reader, reader.assume.timing)
        if not illegal:
            _path_is_legal(then, path, channels, reader)
    if (answers := node.get("replies")) is not None:
        replies = tuple(_reply(item, reader, locale) for item in answers.items())
        decides["replies"] = [[*_pair(reply.after), reply.body] for reply in replies]
    if (opens := node.get("click")) is not None:
        click = tuple(_click(item, reader) for item in opens.items() or [opens])
        texts = [[*_pair(opening.after), *([opening.link] if opening.link else [])] for opening in click]
        decides["click"] = texts if isinstance(opens.value, list) else texts[0]
    return replace(path, replies=replies, click=click), decides


def _mix(
    node: Node, locale: Node | None, channels: tuple[str, ...] | None, reader: Reader, *, illegal: bool
) -> tuple[tuple[tuple[Path, float], ...], Any]:
    """The ways of a mix with their weights, and its text."""
    if isinstance(node.value, dict):
        goals = {goal: _number(weight) for goal, weight in node.entries().items()}
        for goal in node.entries():
            _goal_is_reachable(node, goal, channels, reader, key=goal)
        return tuple((Path(goal=goal), weight) for goal, weight in goals.items()), goals
    mix, texts = [], []
    for item in node.items():
        weight = _number(item.entries()["weight"])
        way, decides = _way(item, locale, channels, reader, illegal=illegal)
        mix.append((way, weight))
        texts.append({**decides, "weight": weight})
    return tuple(mix), texts


def _reply(node: Node, reader: Reader, locale: Node | None) -> Reply:
    body = node.entries()["body"]
    text = compile_text(body, reader, GAPS, node.get("locale") or locale)
    return Reply(reader.span(node.get("after")), str(body.value), text)


def _click(node: Node, reader: Reader) -> Click:
    link = node.get("link")
    return Click(reader.span(node.get("after")), None if link is None else int(_number(link)))


def _asks(when: Node, reader: Reader) -> dict[str, Any]:
    payload = when.get("payload")
    special = {
        "channel": {"channel": channels_of(when.get("channel"), reader)},
        "phone": recipient(when, reader),
        "operation": {
            "operation": reader.operations(when.get("operation"), SENDING, "not an operation that sends"),
        },
        "attempt": {"attempt": one_or_more(when.get("attempt"), whole)},
        "payload": {"payload": None if payload is None else Payload(values_at(payload, reader, "payload"))},
    }
    asks: dict[str, Any] = {}
    for name in ASKED:
        asks |= special[name] if name in special else patterns(when, reader, name)
    return {**asks, "after": _after(when, asks["attempt"], reader)}


def _after(when: Node, attempt: object, reader: Reader) -> After | None:
    node = when.get("after")
    if node is None:
        return None
    info = node.get("info")
    after = After(
        result=words(node.get("result")),
        channel=channels_of(node.get("channel"), reader),
        info=one_or_more(info, reader.pattern),
        message=words(node.get("message")),
    )
    asks_attempt = (after.result, after.channel, after.info) != (None, None, None)
    if attempt == 1 and asks_attempt and not node.cut:
        message = (
            f"{show(plain(node))} asks about an earlier attempt, and attempt 1 has none; legal: attempt 2 and more"
        )
        reader.complain(when, "after", message, key="after")
    return after


def channels_of(node: Node | None, reader: Reader) -> tuple[str, ...] | None:
    """A channel or a list of them; `chatapp` means both of its steps."""
    if node is None:
        return None
    names = [str(item.value) for item in node.items() or [node]]
    if len(set(names)) < len(names):
        reader.complain(node, "uniqueItems", f"{show(names)} names a channel twice")
    meant = [channel for word in names for channel in reader.families.get(word, (word,))]
    return tuple(dict.fromkeys(meant))


def _path(node: Node, reader: Reader, timing: Timing) -> tuple[Path, Any]:
    """The path, and what of it belongs to the rule's canonical text."""
    if isinstance(node.value, str):
        return Path(goal=node.value), node.value
    entries, texts = [], []
    for item in node.items():
        entry, text = _entry(item, reader, timing)
        entries.append(entry)
        texts.append(text)
    return Path(entries=tuple(entries)), texts


def _entry(node: Node, reader: Reader, timing: Timing) -> tuple[PathEntry, Any]:
    if isinstance(node.value, str):
        return PathEntry(node.value, _usual(node.value, timing)), node.value
    ((result, moment),) = node.entries().items()
    after: Node | None = moment
    info = None
    if isinstance(moment.value, dict):
        after, info = moment.value.get("after"), text_of(moment.value.get("info"))
    if after is None:
        return PathEntry(result, _usual(result, timing), info), [result, info]
    span = reader.span(after)
    return PathEntry(result, span, info), [result, *_pair(span), info]


def _usual(result: str, timing: Timing) -> Span:
    """The time of a result after the one before, when a rule says none: as on the default way to it (A63)."""
    at = timing.after(result)
    return Span(at, at)


def _pair(span: Span) -> list[int]:
    return [span.low, span.high]


def _flag(node: Node | None) -> bool:
    return node is not None and node.value is True


def _number(node: Node) -> float:
    assert isinstance(node.value, int | float)
    return node.value


# Whether a path is legal


def _path_is_legal(node: Node, path: Path, channels: tuple[str, ...] | None, reader: Reader) -> None:
    """Each result of a path may follow the one before (§3.1, A25).

    On every channel that the rule names; when it names none, on any one of them, since a channel on which the path
    cannot go on simply ends there.
    """
    if path.goal is not None:
        _goal_is_reachable(node, path.goal, channels, reader)
        return
    if node.cut:
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
    reader.complain(node, "transition", message, key=key)


def _goal_is_reachable(
    node: Node, goal: str, channels: tuple[str, ...] | None, reader: Reader, *, key: str | None = None
) -> None:
    """`seen` exists on channels that report that a message was opened (§3.1)."""
    if goal == "seen" and channels and not any(ROWS[channel].shows_seen for channel in channels):
        where = f"{listed(channels)}, the only channel of this rule"
        message = f'"seen" does not exist on {where} (§3.1); legal: delivered or a bad end'
        reader.complain(node, "transition", message, key=key)
