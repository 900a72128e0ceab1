"""A Message object (§2.1) as the command that the core takes, after its schema has been checked.

What a schema cannot say is said here: rules over several fields, rules that look at the account, and remarks on what
the service would do silently. All findings of a message are collected before it is refused. This is on the path of
every message: known fields are tested as sets, and paths and texts are made only when there is something to say.

`callback` is where the deliveries of a message go, as a string or as the object of A01 (§2.1, §6). Targets are shared
and never change, so the target of an address is kept: most clients name the same one in each call.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

import msgspec
import orjson

from sendbox.contract.findings import show
from sendbox.engine.answer import JsonObject
from sendbox.engine.commands.record import compact
from sendbox.engine.delivery.batches import Target
from sendbox.engine.durations import instant, iso
from sendbox.engine.remarks import Advice, Finding
from sendbox.engine.texts import regex
from sendbox.services import limits
from sendbox.services import windows as window
from sendbox.services.advice import (
    CALLBACK_TEMPLATE_IGNORED,
    DATETIME_CONVERTED,
    DATETIME_WITHOUT_ZONE,
    EMPTY_TAGS,
    NUMBER_CONVERTED,
    TAGS_CLEANED,
    advise,
)
from sendbox.services.assume import Assume
from sendbox.services.http.exchange import Exchange
from sendbox.services.http.numbers import remark_recipient
from sendbox.services.http.requests import refusal, refused_fields, renamed, unknown_fields
from sendbox.services.messaging.content import tags
from sendbox.services.messaging.http.accepting import remark_clock, remark_texts
from sendbox.services.messaging.http.sending.steps import (
    Root,
    check_sender,
    default_flow,
    doubtful,
    read_flow,
    truncate_body,
)
from sendbox.services.messaging.model import LABELS, Recipient, Send, Shortening
from sendbox.services.numbers import notation
from sendbox.services.ports import account_of
from sendbox.services.windows import Window

OBJECT_FIELDS: Final = frozenset(
    {"url", "method", "content_type", "headers", "batch_size", "timeout_ms", "item", "body"}
)
TEMPLATES: Final = ("item", "body")

_TOKEN: Final = regex(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_UNPRINTABLE: Final = regex(r"[\x00-\x08\x0a-\x1f\x7f]")


def read_callback(value: str | JsonObject, path: str, problems: list[Finding], advice: list[Advice]) -> Target | None:
    """The target that `callback` names, None for the empty string; what is wrong goes to `problems` (A01)."""
    if isinstance(value, str):
        if not value:
            return None
        if (target := _address(value)) is None:
            problems.append(_no_address(f"{path}.callback", value))
        return target
    return _read_object(value, f"{path}.callback", problems, advice)


def _read_object(value: JsonObject, path: str, problems: list[Finding], advice: list[Advice]) -> Target | None:
    if not OBJECT_FIELDS.issuperset(value):
        unknown_fields(value, OBJECT_FIELDS, path, "§2.1", advice)
    for name in TEMPLATES:
        if name in value:
            message = f"{show(value[name])} is a template, whose syntax is unknown: it has no effect"
            advice.append(advise(CALLBACK_TEMPLATE_IGNORED, message, f"{path}.{name}"))
    headers = tuple(value.get("headers", {}).items())
    for name, content in headers:
        if _TOKEN.fullmatch(name) is None:
            text = f"{show(name)} is not a header name; legal are letters, digits and !#$%&'*+.^_`|~- (A01)"
            problems.append(_finding(f"{path}.headers", "header-name", text))
        if _UNPRINTABLE.search(content) is not None:
            text = f"{show(content)} holds a control character, which no header may (A01)"
            problems.append(_finding(f"{path}.headers.{name}", "header-value", text))
    url = value["url"]
    if _address(url) is None:
        problems.append(_no_address(f"{path}.url", url))
        return None
    return Target(
        url,
        value.get("method", "POST"),
        value.get("content_type", "application/json"),
        headers,
        value.get("batch_size", 100),
        value.get("timeout_ms"),
    )


@lru_cache(maxsize=1024)
def _address(url: str) -> Target | None:
    """The plain target of an address that its schema takes, None where what is in its brackets is no IPv6 address."""
    try:
        urlsplit(url)
    except ValueError:
        return None
    return Target(url)


def _no_address(path: str, url: str) -> Finding:
    return _finding(path, "callback", f"{show(url)} is not an address: its brackets hold no IPv6 address (§2.1)")


def _finding(path: str, rule: str, message: str) -> Finding:
    return Finding(path, rule, message, "§2.1", "A01")


MESSAGE_FIELDS: Final = frozenset(
    {
        "body", "to", "sender", "callback", "tag", "messageTag", "payload", "params", "datetime", "delivery_time",
        "flow",
    }
)  # fmt: skip
RECIPIENT_FIELDS: Final = frozenset({"phone_number"})
PARAMS_FIELDS: Final = frozenset({"_url"})
URL_FIELDS: Final = frozenset({"type", "domain", "get_enhance", "get_name", "expires_at", "expires"})
WINDOW_FIELDS: Final = frozenset({"days", "start", "end", "tz"})

#: The special tag that takes the priority queue (§2.1, A60).
PRIORITY_TAG: Final = "priority"
EMPTY_PAYLOAD: Final = b"{}"
_ZONE: Final = regex(r"(?:([Zz])|[+-]([0-9]{2}:[0-9]{2}))\Z")


def decode_message(message: JsonObject, path: str, exchange: Exchange, advice: list[Advice]) -> Send:
    """The `Send` of a Message that satisfies its schema; remarks are appended to `advice` (§2.1, §2.2).

    `path` is where the message stands in the request (`$`, `$[3]`). Raises `Refused` with every finding when a rule
    is broken that the schema does not hold: body and sender of the steps (A55, A59), `datetime` (A58), the zone and
    the domain (A77), `callback` (A01). `Send.at` is the instant of `datetime` as it stands: the core decides what is
    still ahead. Long, as a Message has many fields, and most have a step of their own.
    """
    problems: list[Finding] = []
    get = message.get
    root = Root(path, exchange, problems, advice)
    labels = None if MESSAGE_FIELDS.issuperset(message) else _read_labels(message, root)

    body = get("body")
    if body:
        root.body = body if len(body) <= limits.BODY else truncate_body(body, f"{path}.body", "§2.1", advice)
    sender = get("sender")
    if sender:
        root.sender = sender
        if doubtful(sender):
            check_sender(sender, f"{path}.sender", "§2.1", root)
    flow = get("flow")
    steps = default_flow(root) if flow is None else read_flow(flow, root)

    tag = get("tag")
    if "messageTag" in message:
        tag = renamed(message, "messageTag", "tag", path, advice)
    send_tags = tags.DEFAULT if tag is None else _read_tags(tag, path, advice)

    send = Send(
        _read_recipients(message["to"], path, exchange, advice),
        steps,
        send_tags,
        priority=PRIORITY_TAG in send_tags,
        path=path,
        labels=labels,
        kept_body=root.body,
    )
    value = get("payload")
    if value is not None:
        send.kept_payload = compact(orjson.dumps(value)) if value else EMPTY_PAYLOAD
    value = get("callback")
    if value is not None:
        send.callback = read_callback(value, path, problems, advice)
    value = get("datetime")
    if value is not None:
        send.at = read_datetime(value, path, problems, advice)
    value = get("delivery_time")
    if value is not None:
        send.window = _read_window(value, path, problems, advice)
        if send.window is not None and not send.window.always:
            remark_clock(exchange.world, "delivery_time", f"{path}.delivery_time", "§2.1", advice)
    value = get("params")
    if value is not None:
        send.shortening = _read_params(value, root)
    if advice:
        problems += refused_fields(exchange, advice)
    if problems:
        raise refusal(problems)
    remark_texts(send, advice)
    return send


class RecipientsAdvice(msgspec.Struct, frozen=True, gc=False):
    """The advice on the recipients of a call with one message, whose numbers were read by a calling code."""

    country: str

    def remake(self, body: bytes) -> list[Advice]:
        """The advice."""
        to = orjson.loads(body)["to"]
        recipients, _ = _read_numbers(to, self.country)
        return _recipient_remarks(to, recipients, "$")


@lru_cache(256)
def _recipients_advice(country: str) -> RecipientsAdvice:
    return RecipientsAdvice(country)


def _read_recipients(to: list[JsonObject], path: str, exchange: Exchange, advice: list[Advice]) -> list[Recipient]:
    """The recipients. In a call of one message the advice on converted numbers is not kept: its body tells it again."""
    country = account_of(exchange.world).country
    recipients, converted = _read_numbers(to, country)
    if converted == []:
        return recipients
    # a line of an upload has no record; what a null means, a setting decides (A56); forms collect advice in other lists
    of_call = path == "$" and exchange.record is not None and advice is exchange.advice and b"null" not in exchange.body
    if converted is None or not of_call:
        advice += _recipient_remarks(to, recipients, path)
    else:
        exchange.remade_advice = len(advice), _recipients_advice(country)
        exchange.remade_places = [_conversion(index) for index in converted]
    return recipients


def _read_numbers(to: list[JsonObject], country: str) -> tuple[list[Recipient], list[int] | None]:
    """The recipients, and the places of those whose number is converted; None where there is more to remark."""
    recipients: list[Recipient] = []
    converted: list[int] | None = []
    for index, item in enumerate(to):
        raw = item["phone_number"]
        number = notation.normalize(raw, country)
        recipients.append(Recipient(number or raw, number is not None))
        if number is None or len(item) > 1 or notation.doubtful(number):
            converted = None
        elif number != raw and converted is not None:
            converted.append(index)
    return recipients, converted


def _recipient_remarks(to: list[JsonObject], recipients: list[Recipient], path: str) -> list[Advice]:
    """The advice on recipients, as they were given and as they were read."""
    advice: list[Advice] = []
    for index, (item, recipient) in enumerate(zip(to, recipients, strict=True)):
        if len(item) > 1:
            unknown_fields(item, RECIPIENT_FIELDS, f"{path}.to[{index}]", "§2.1", advice)
        raw, number = item["phone_number"], recipient.number if recipient.valid else None
        if number != raw or notation.doubtful(raw):
            remark_recipient(raw, number, _phone_path(path, index), advice)
    return advice


@lru_cache(1024)
def _phone_path(path: str, index: int) -> str:
    """The path of a phone: one text for all calls, as the journal keeps it with each advice."""
    return f"{path}.to[{index}].phone_number"


@lru_cache(1024)
def _conversion(index: int) -> tuple[str, str]:
    """Code and path of the advice that a number is converted."""
    return NUMBER_CONVERTED, _phone_path("$", index)


def _read_tags(text: str, path: str, advice: list[Advice]) -> tuple[str, ...]:
    cleaned = tags.normalize(text)
    if cleaned is tags.DEFAULT:  # the very object, which stands for tags of which nothing is left
        advice.append(advise(EMPTY_TAGS, f"{show(text)} holds no tag; the default is used: promotional", f"{path}.tag"))
        return cleaned
    clean = ",".join(cleaned)
    if clean != text:
        advice.append(advise(TAGS_CLEANED, f"{show(text)} becomes {show(clean)}", f"{path}.tag"))
    return cleaned


def _read_labels(message: JsonObject, root: Root) -> dict[str, str]:
    """The texts of the client's own by their names; code checks them, since they may be off (A57)."""
    assume = Assume.of(root.exchange.world)
    longest_of = {row.name: row.longest for row in LABELS if not row.setting or getattr(assume, row.setting)}
    labels = {}
    for name, longest in longest_of.items():
        label = message.get(name)
        if isinstance(label, str) and 0 < len(label) <= longest:
            labels[name] = label
        elif name in message:
            text = f"{show(label)} is not a legal {name}; legal: a text of 1 to {longest} characters"
            root.refuse(f"{root.path}.{name}", name, f"{text} (§2.1, A57)", "§2.1", "A57")
    unknown_fields(message, MESSAGE_FIELDS.union(longest_of), root.path, "§2.1", root.advice)
    return labels


def read_datetime(text: str, path: str, problems: list[Finding], advice: list[Advice]) -> int | None:
    """The instant in virtual milliseconds, parts of a millisecond cut off; None and a finding when it is not legal.

    Another offset than UTC is converted, a missing one read as UTC, both with advice (A58).
    """
    place = f"{path}.datetime"
    zone = _ZONE.search(text)
    try:
        at = instant(f"{text}Z" if zone is None else text)
    except ValueError:
        rule = "is not a date-time of RFC 3339; legal is the form 2026-03-01T09:00:00Z (§2.1)"
        problems.append(Finding(place, "date-time", f"{show(text)} {rule}", "§2.1", "A58"))
        return None
    if zone is None:
        advice.append(advise(DATETIME_WITHOUT_ZONE, f"{show(text)} has no offset and is read as UTC", place))
    elif zone[1] is None and zone[2] != "00:00":
        advice.append(advise(DATETIME_CONVERTED, f"{show(text)} is converted to UTC: {iso(at)[:19]}Z", place))
    return at


def _read_window(value: JsonObject, path: str, problems: list[Finding], advice: list[Advice]) -> Window | None:
    place = f"{path}.delivery_time"
    if not WINDOW_FIELDS.issuperset(value):
        unknown_fields(value, WINDOW_FIELDS, place, "§2.1", advice)
    try:
        return window.parse(value)
    except ValueError as error:
        # days and times are the schema's; what is left to find is a zone that does not exist
        problems.append(Finding(f"{place}.tz", "time-zone", str(error), "§2.1"))
        return None


def _read_params(params: JsonObject, root: Root) -> Shortening | None:
    place = f"{root.path}.params"
    if not PARAMS_FIELDS.issuperset(params):
        unknown_fields(params, PARAMS_FIELDS, place, "§2.1", root.advice)
    url = params.get("_url")
    if url is None:
        return None
    place = f"{place}._url"
    if not URL_FIELDS.issuperset(url):
        unknown_fields(url, URL_FIELDS, place, "§2.1", root.advice)
    domain = url.get("domain")
    domains = account_of(root.exchange.world).domains
    if domain is not None and domain not in domains:
        # Names of hosts know no case.
        if domain.lower() in domains:
            domain = domain.lower()
        else:
            legal = ", ".join(sorted(domains)) or "none, the account has no domain"
            text = f"{show(domain)} is not configured for the account; legal: {legal} (§2.1, A77)"
            root.refuse(f"{place}.domain", "domain", text, "§2.1", "A77")
    expires_at = renamed(url, "expires", "expires_at", place, root.advice)
    return Shortening(
        url.get("type", "full"),
        domain,
        url.get("get_enhance") == "id",
        url.get("get_name", "_"),
        None if expires_at is None else int(expires_at),  # 1772355600.0 is an integer too, to JSON Schema
    )
