"""Settings of the assumptions: what a scenario's `assume:` may override, a row each, typed. Long as the table is.

Only what is built is here; a setting that is not here is refused by name. Durations and instants in milliseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

import msgspec
import orjson
from msgspec.structs import replace

from sendbox.engine.answer import JsonMapping
from sendbox.engine.durations import Rate
from sendbox.engine.forms import (
    Value,
    ValueNode,
    any_keys,
    duration,
    either,
    into,
    mapping,
    rate,
    reference,
    sequence,
    switch,
    text,
    whole,
    word,
)
from sendbox.services.setting import SettingReader, choice, rows, setting
from sendbox.services.tables import table
from sendbox.services.windows import Window, minutes, nearest, zones

if TYPE_CHECKING:
    from sendbox.engine.world import World

OnFailure = Literal["at_once", "ttl"]
InvalidNumber = Literal["webhook", "response"]
Accepted = Literal["object", "recipient"]
TestNumber = Literal["off", "on"]
MessagesRefusal = Literal["whole", "partial"]
LegacyError = Literal["code", "plain"]
LegacyAnswer = Literal["id", "number"]
Nulls = Literal["refuse", "absent"]
ContentType = Literal["advice", "strict"]
UnknownFields = Literal["advice", "refuse"]
Beyond = Literal["on", "off"]
SenderForm = Literal["refuse", "accept"]
SmsSender = Literal["accept", "strict"]
Hash = Literal["sha1", "sha256", "sha384", "sha512"]
NoSecret = Literal["refuse", "observed"]
Encoding = Literal["hex", "base64", "base64url"]

#: The values of a proof, in the usual order.
PROVED: Final = ("phoneNumber", "token", "code", "timestamp")
_OFF: Final = "off"
#: Results that take the time of the good one in whose place they come.
_BAD_ENDS: Final = {"undelivered": "delivered", "failed": "sent"}


class Timing(msgspec.Struct, frozen=True):
    """Default path, milliseconds after the entry before."""

    sending: int = 0
    sent: int = 1_000
    delivered: int = 2_000
    seen: int = 5_000

    def after(self, result: str) -> int:
        """The milliseconds from the previous result to this one; a bad end takes as long as the result it replaces."""
        return int(getattr(self, _BAD_ENDS.get(result, result), 0))

    @property
    def longest(self) -> int:
        """The time, in milliseconds, that the whole path takes."""
        return self.sending + self.sent + self.delivered + self.seen


_TIMING: Final = mapping(
    "timing",
    "The usual times, each after the result before.",
    {result: duration(f"The time of {result}.") for result in Timing.__struct_fields__},
    "a mapping of results to durations",
)


class VerifyLimits(msgspec.Struct, frozen=True):
    """The limits on new validation sessions of an account, and of a number, in a span of time; None = no limit."""

    account: Rate | None = Rate(100, 60_000)
    number: Rate | None = Rate(5, 600_000)


def read_limits(node: ValueNode, reader: SettingReader, base: VerifyLimits) -> VerifyLimits:
    """`off`, or a mapping of limits; a limit that the mapping leaves out stays as in `base`."""
    if node.value == _OFF:
        return VerifyLimits(None, None)
    limits = {name: None if item.value == _OFF else reader.rate(item) for name, item in node.entries().items()}
    return replace(base, **limits)


_LIMITS: Final = reference(
    "limits",
    "How many validation sessions may begin in how much time.",
    lambda node, reader: read_limits(node, reader, VerifyLimits()),
)


class Proof(msgspec.Struct, frozen=True):
    """The way to compute the proof of a validation from its four values."""

    hash: Hash = "sha256"
    encoding: Encoding = "hex"
    order: tuple[str, ...] = PROVED
    separator: str = ":"


_PROOF: Final = mapping(
    "proof",
    "How the proof of a validation is made.",
    {
        "hash": word("The hash function of the HMAC.", get_args(Hash), "a hash function"),
        "encoding": word("How its bytes are written; base64url has no padding.", get_args(Encoding), "an encoding"),
        "order": sequence(
            "The order of the four values.",
            word("One of the values.", PROVED, "a value of a proof"),
            "a list of phoneNumber, token, code and timestamp, each once",
            minItems=4,
            maxItems=4,
            uniqueItems=True,
        ),
        "separator": text("What stands between the values; may be empty.", "a text", maxLength=16),
    },
    "a mapping such as {encoding: base64}",
    minProperties=1,
)


class Prices(msgspec.Struct, frozen=True):
    """Price of one segment in millionths, by currency (`EUR`, `CZK`), channel and calling code ("" = any other).

    Channels here are those that have a price (`PRICED`). None in the scenario's place of a channel means the
    built-in table.
    """

    table: dict[tuple[str, str], tuple[int, int]] = {}


def _read_prices(node: ValueNode, reader: SettingReader) -> Prices:
    prices = _PRICES.read(node, reader)
    return Prices(
        {
            (channel, "" if code == "default" else code): price
            for channel, codes in prices.items()
            for code, price in codes.items()
        }
    )


def _read_price(node: ValueNode, reader: SettingReader) -> tuple[int, int]:
    amounts = node.entries()
    return reader.money(amounts["eur"]), reader.money(amounts["czk"])


#: Channels that have a price, as the built-in table names them.
PRICED: Final = tuple(dict.fromkeys(row["channel"] for row in table(__name__, "messaging/prices.json")))
_PRICES: Final = mapping(
    "prices",
    "Prices of one segment by channel and calling code.",
    {
        channel: any_keys(
            "prices",
            f"Prices of {channel} by calling code, and default for all others.",
            reference("price", read=_read_price),
            "a mapping of calling codes to prices",
            minProperties=1,
            propertyNames=text(
                "A calling code, or default.",
                "a calling code such as 420, or default",
                pattern="^([1-9][0-9]{0,6}|default)$(?!\n)",
                examples=["420", "default"],
            ).node,
        )
        for channel in PRICED
    },
    "a mapping of channels to prices",
    minProperties=1,
)


class BulkLimits(msgspec.Struct, frozen=True):
    """The longest bulk file, in lines and in bytes unpacked."""

    lines: int = 100_000
    bytes: int = 64 * 1024 * 1024


_BULK: Final = mapping(
    "bulk",
    "The longest bulk file that is taken.",
    {
        "lines": whole("Most lines of it.", 1, 1_000_000, "a whole number from 1 to 1000000"),
        "bytes": whole("Most bytes of it, unpacked.", 1, 1 << 30, "a whole number of bytes up to 1 GiB"),
    },
    "the limits of a bulk file, such as {lines: 1000}",
    minProperties=1,
)
_COUNTRY: Final = text(
    "The calling code that national numbers get; wins over the account's.",
    "a calling code such as 420",
    type=["string", "integer"],
    pattern="^[1-9][0-9]{0,2}$(?!\n)",
    minimum=1,
    maximum=999,
    examples=["420"],
).node
_QUEUE: Final = mapping(
    "queue",
    "Limits of the queues.",
    {"normal": rate("How fast the normal queue goes, such as 10/s.")},
    "the limit of the normal queue, such as {normal: 10/s}",
    required=["normal"],
)


class PromotionalHours(msgspec.Struct, frozen=True):
    """When promotional messages go out, and which: to these countries (ISO codes), on these channels, as prices call
    them. None means all.
    """

    window: Window
    countries: tuple[str, ...] | None = None
    channels: tuple[str, ...] | None = None


def _read_hours(node: ValueNode, reader: SettingReader) -> tuple[int, int]:
    start, _, end = str(node.value).partition("-")
    if start == end:
        message = f'"{node.value}" is an empty window; leave the setting out, or null'
        reader.add_problem(node, "promotional_window", message)
    return minutes(start), minutes(end)


def _read_zone(node: ValueNode, reader: SettingReader) -> str:
    name = str(node.value)
    if name in zones():
        return name
    quoted = orjson.dumps(name).decode()
    reader.add_problem(node, "time-zone", f"{quoted} is not the name of an IANA time zone", near=nearest(name))
    return "UTC"


def _read_countries(node: ValueNode, reader: SettingReader) -> tuple[str, ...]:
    return tuple(dict.fromkeys(place.iso for item in node.items() for place in reader.countries(item)))


def _read_promotional(node: ValueNode, reader: SettingReader) -> PromotionalHours | None:
    if node.value is None:
        return None
    hours = _HOURS.read(node, reader)
    if isinstance(hours, tuple):
        hours = {"hours": hours}
    start, end = hours["hours"]
    return PromotionalHours(
        Window(None, start, end, hours.get("tz", "UTC")), hours.get("countries"), hours.get("channels")
    )


def _daily(description: str, says: str, **rules: Any) -> Value:
    pattern = "^([01][0-9]|2[0-3]):[0-5][0-9]-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$(?!\n)"
    return Value(text(description, says, pattern=pattern, examples=["08:00-20:00"], **rules).node, _read_hours)


_EXAMPLE: Final = 'a mapping such as {hours: "08:00-20:00", tz: Europe/Prague, countries: [CZ]}'
_HOURS: Final = either(
    "The hours in which promotional messages go out: in UTC everywhere, or in a time zone, for countries and channels.",
    _daily(
        "The hours in UTC, such as 08:00-20:00.",
        "hours such as 08:00-20:00, or null for no limit",
        type=["string", "null"],
    ),
    mapping(
        "promotional window",
        "Hours in a time zone, for countries and channels.",
        {
            "hours": _daily("The hours, such as 08:00-20:00.", "hours such as 08:00-20:00"),
            "tz": Value(
                text(
                    "Their time zone; UTC unless given.", "the name of an IANA time zone", examples=["Europe/Prague"]
                ).node,
                _read_zone,
            ),
            "countries": Value(
                sequence(
                    "Countries of the phones; all unless given.",
                    reference("country"),
                    "a list of countries such as [CZ, FR]",
                    minItems=1,
                ).node,
                _read_countries,
            ),
            "channels": sequence(
                "Channels of the first step, as in prices; all unless given.",
                word("A channel.", PRICED, "a channel"),
                "a list of channels such as [sms]",
                minItems=1,
                uniqueItems=True,
            ),
        },
        _EXAMPLE,
        required=["hours"],
    ),
    f"hours such as 08:00-20:00, {_EXAMPLE}, or null",
)


def _read_wait(node: ValueNode, reader: SettingReader) -> int:
    time = reader.duration(node)
    if time == 0 and node.value in (0, "0s", "0ms"):
        quoted = orjson.dumps(node.value).decode()
        reader.add_problem(node, "webhook_retry", f"{quoted} is not a time to wait; a try follows after 1ms or more")
    return time


@dataclass(frozen=True, slots=True)
class Assume:
    """Every setting of `assume:` that is built, each with its row: default, assumption, and how a scenario has it."""

    rcs: bool = setting(False, "A02", switch("Whether a flow may have a step named rcs."))
    fallback_on_failure: OnFailure = setting(
        "at_once", "A04", choice("After a bad end the flow moves on at once, or waits for the ttl.", OnFailure)
    )
    invalid_number: InvalidNumber = setting(
        "webhook", "A08", choice("Where an invalid number is reported: by webhook, or in the response.", InvalidNumber)
    )
    messages_accepted: Accepted = setting(
        "object", "A09", choice("What one entry of `accepted` of POST /messages stands for.", Accepted)
    )
    messages_refusal: MessagesRefusal = setting(
        "whole",
        "A88",
        choice("Whether a bad object refuses the whole POST /messages, or is rejected alone.", MessagesRefusal),
    )
    legacy_error: LegacyError = setting("code", "A13", choice("Whether a legacy error has a code.", LegacyError))
    legacy_answer: LegacyAnswer = setting(
        "id", "A13", choice("Whether a legacy answer ends with the id, or has the number behind it.", LegacyAnswer)
    )
    country: str | None = setting(
        None, "A14", Value(_COUNTRY, lambda node, reader: reader.country_code(node)), "the account's"
    )
    queue: Rate | None = setting(None, "A18", into(lambda normal: normal, _QUEUE), "no limit", other={"normal": "1/s"})
    nulls: Nulls = setting(
        "refuse", "A56", choice("Whether null for an optional field is refused or counts as left out.", Nulls)
    )
    content_type: ContentType = setting(
        "advice",
        "A75",
        choice("Whether a JSON body of another content type is read with advice, or refused with 415.", ContentType),
    )
    unknown_fields: UnknownFields = setting(
        "advice", "A57", choice("Whether an unknown field has no effect but advice, or is refused.", UnknownFields)
    )
    reference: bool = setting(
        False, "A57", switch("Whether a message may have a reference of the client's own, which events and rows show.")
    )
    sender_form: SenderForm = setting(
        "refuse", "A59", choice("Whether a sender of a wrong form is refused.", SenderForm)
    )
    sms_sender: SmsSender = setting(
        "accept", "A59", choice("Whether an unregistered sms sender is accepted.", SmsSender)
    )
    prices: Prices | None = setting(None, "A61", Value(_PRICES.node, _read_prices), "built in")
    timing: Timing = setting(Timing(), "A63", into(Timing, _TIMING), other={"sent": "10s"})
    conversation: int = setting(86_400_000, "A66", duration("How long a conversation stays open."), other="1m")
    test_number: TestNumber = setting(
        "off", "A89", choice("Whether 420777777777 is the service's test number, to which nothing is sent.", TestNumber)
    )
    promotional_window: PromotionalHours | None = setting(
        None, "A84", Value(_HOURS.node, _read_promotional), "no limit", other="08:00-20:00"
    )
    webhook_retry: tuple[int, ...] = setting(
        (30_000, 60_000, 120_000, 240_000),
        "A20",
        sequence(
            "How long after the start of a try the next one follows; one entry for each further try.",
            Value({"$ref": "#/$defs/duration"}, _read_wait),
            "a list of durations such as [30s, 60s]",
            maxItems=100,
        ),
        other=["10s"],
    )
    webhook_timeout: int = setting(5_000, "A20", duration("How long a receiver has for its answer."), other="10s")
    bundle: bool = setting(True, "A22", switch("Whether events of one instant for one target are sent in one webhook."))
    allowed: tuple[str, ...] | None = setting(
        None,
        "A83",
        sequence(
            "The only numbers that may be written to.",
            Value({"$ref": "#/$defs/numberPattern"}, lambda node, reader: reader.phones(node).text),
            "a list of phone patterns",
        ),
        "every number",
    )
    identical: Rate | None = setting(
        None, "A83", rate("How many identical messages a phone may get."), "no limit", other="1/h"
    )
    list_delay: int = setting(
        1_000, "A81", duration("How long until an entry by the lists of /v1 is in force."), other="0s"
    )
    no_secret: NoSecret = setting(
        "refuse",
        "A51",
        choice("Whether verify-proof without a verificationSecret is a 400, or answers 200 with an error.", NoSecret),
    )
    proof: Proof = setting(Proof(), "A52", into(Proof, _PROOF), other={"encoding": "base64"})
    verify_limits: VerifyLimits = setting(VerifyLimits(), "A53", _LIMITS, other="off")
    template_review: int = setting(
        10_000, "A43", duration("How long the review of a template takes where no rule says."), other="1m"
    )
    verify_code_required: bool = setting(False, "A41", switch("Whether phone_numbers/verify needs a code."))
    bulk: BulkLimits = setting(BulkLimits(), "A35", into(BulkLimits, _BULK), other={"lines": 100})
    beyond: Beyond = setting(
        "on",
        "A94",
        choice("Whether the calls are served that clients make and the specification does not have.", Beyond),
        also=("A95", "A96"),
    )

    @classmethod
    def of(cls, world: World) -> Assume:
        """The settings of a world."""
        settings: Any = world.assume
        assume: Assume = settings
        return assume


#: The rows of the settings by name.
SETTINGS: Final = rows(Assume)
#: Several settings under one name: `careful` refuses what a client should not rely on, `lenient` takes more.
PROFILES: Final[Mapping[str, JsonMapping]] = {
    "careful": {"content_type": "strict", "unknown_fields": "refuse", "sms_sender": "strict", "test_number": "on"},
    "lenient": {"sender_form": "accept", "messages_refusal": "partial"},
}
