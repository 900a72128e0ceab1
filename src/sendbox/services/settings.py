"""The rows of the assumptions' settings: how a scenario has each, and what it changes. Long as the table is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, get_args

import orjson
from msgspec.structs import replace

from sendbox.engine.answer import JsonMapping
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
from sendbox.services import assume
from sendbox.services.setting import SettingReader, choice, rows, setting
from sendbox.services.tables import table
from sendbox.services.windows import Window, minutes, nearest, zones

_OFF: Final = "off"
_TIMING: Final = mapping(
    "timing",
    "The usual times, each after the result before.",
    {result: duration(f"The time of {result}.") for result in assume.Timing.__struct_fields__},
    "a mapping of results to durations",
)


def read_limits(node: ValueNode, reader: SettingReader, base: assume.VerifyLimits) -> assume.VerifyLimits:
    """`off`, or a mapping of limits; a limit that the mapping leaves out stays as in `base`."""
    if node.value == _OFF:
        return assume.VerifyLimits(None, None)
    limits = {name: None if item.value == _OFF else reader.rate(item) for name, item in node.entries().items()}
    return replace(base, **limits)


_LIMITS: Final = reference(
    "limits",
    "How many validation sessions may begin in how much time.",
    lambda node, reader: read_limits(node, reader, assume.VerifyLimits()),
)
_PROOF: Final = mapping(
    "proof",
    "How the proof of a validation is made.",
    {
        "hash": word("The hash function of the HMAC.", get_args(assume.Hash), "a hash function"),
        "encoding": word(
            "How its bytes are written; base64url has no padding.", get_args(assume.Encoding), "an encoding"
        ),
        "order": sequence(
            "The order of the four values.",
            word("One of the values.", assume.PROVED, "a value of a proof"),
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


def _read_prices(node: ValueNode, reader: SettingReader) -> assume.Prices:
    prices = _PRICES.read(node, reader)
    return assume.Prices(
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


def _read_promotional(node: ValueNode, reader: SettingReader) -> assume.PromotionalHours | None:
    if node.value is None:
        return None
    hours = _HOURS.read(node, reader)
    if isinstance(hours, tuple):
        hours = {"hours": hours}
    start, end = hours["hours"]
    return assume.PromotionalHours(
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


#: The rows of the settings by name.
SETTINGS: Final = rows(
    assume.Assume(),
    {
        "rcs": setting("A02", switch("Whether a flow may have a step named rcs.")),
        "fallback_on_failure": setting(
            "A04", choice("After a bad end the flow moves on at once, or waits for the ttl.", assume.OnFailure)
        ),
        "invalid_number": setting(
            "A08", choice("Where an invalid number is reported: by webhook, or in the response.", assume.InvalidNumber)
        ),
        "messages_accepted": setting(
            "A09", choice("What one entry of `accepted` of POST /messages stands for.", assume.Accepted)
        ),
        "messages_refusal": setting(
            "A88",
            choice(
                "Whether a bad object refuses the whole POST /messages, or is rejected alone.", assume.MessagesRefusal
            ),
        ),
        "legacy_error": setting("A13", choice("Whether a legacy error has a code.", assume.LegacyError)),
        "legacy_answer": setting(
            "A13", choice("Whether a legacy answer ends with the id, or has the number behind it.", assume.LegacyAnswer)
        ),
        "country": setting("A14", Value(_COUNTRY, lambda node, reader: reader.country_code(node)), "the account's"),
        "queue": setting("A18", into(lambda normal: normal, _QUEUE), "no limit", other={"normal": "1/s"}),
        "nulls": setting(
            "A56", choice("Whether null for an optional field is refused or counts as left out.", assume.Nulls)
        ),
        "content_type": setting(
            "A75",
            choice(
                "Whether a JSON body of another content type is read with advice, or refused with 415.",
                assume.ContentType,
            ),
        ),
        "unknown_fields": setting(
            "A57", choice("Whether an unknown field has no effect but advice, or is refused.", assume.UnknownFields)
        ),
        "reference": setting(
            "A57", switch("Whether a message may have a reference of the client's own, which events and rows show.")
        ),
        "sender_form": setting("A59", choice("Whether a sender of a wrong form is refused.", assume.SenderForm)),
        "sms_sender": setting("A59", choice("Whether an unregistered sms sender is accepted.", assume.SmsSender)),
        "prices": setting("A61", Value(_PRICES.node, _read_prices), "built in"),
        "timing": setting("A63", into(assume.Timing, _TIMING), other={"sent": "10s"}),
        "conversation": setting("A66", duration("How long a conversation stays open."), other="1m"),
        "test_number": setting(
            "A89",
            choice("Whether 420777777777 is the service's test number, to which nothing is sent.", assume.TestNumber),
        ),
        "promotional_window": setting("A84", Value(_HOURS.node, _read_promotional), "no limit", other="08:00-20:00"),
        "webhook_retry": setting(
            "A20",
            sequence(
                "How long after the start of a try the next one follows; one entry for each further try.",
                Value({"$ref": "#/$defs/duration"}, _read_wait),
                "a list of durations such as [30s, 60s]",
                maxItems=100,
            ),
            other=["10s"],
        ),
        "webhook_timeout": setting("A20", duration("How long a receiver has for its answer."), other="10s"),
        "bundle": setting("A22", switch("Whether events of one instant for one target are sent in one webhook.")),
        "allowed": setting(
            "A83",
            sequence(
                "The only numbers that may be written to.",
                Value({"$ref": "#/$defs/numberPattern"}, lambda node, reader: reader.phones(node).text),
                "a list of phone patterns",
            ),
            "every number",
        ),
        "identical": setting("A83", rate("How many identical messages a phone may get."), "no limit", other="1/h"),
        "list_delay": setting("A81", duration("How long until an entry by the lists of /v1 is in force."), other="0s"),
        "no_secret": setting(
            "A51",
            choice(
                "Whether verify-proof without a verificationSecret is a 400, or answers 200 with an error.",
                assume.NoSecret,
            ),
        ),
        "proof": setting("A52", into(assume.Proof, _PROOF), other={"encoding": "base64"}),
        "verify_limits": setting("A53", _LIMITS, other="off"),
        "template_review": setting(
            "A43", duration("How long the review of a template takes where no rule says."), other="1m"
        ),
        "verify_code_required": setting("A41", switch("Whether phone_numbers/verify needs a code.")),
        "bulk": setting("A35", into(assume.BulkLimits, _BULK), other={"lines": 100}),
        "beyond": setting(
            "A94",
            choice(
                "Whether the calls are served that clients make and the specification does not have.", assume.Beyond
            ),
            also=("A95", "A96"),
        ),
    },
)
#: Several settings under one name: `careful` refuses what a client should not rely on, `lenient` takes more.
PROFILES: Final[Mapping[str, JsonMapping]] = {
    "careful": {"content_type": "strict", "unknown_fields": "refuse", "sms_sender": "strict", "test_number": "on"},
    "lenient": {"sender_form": "accept", "messages_refusal": "partial"},
}
