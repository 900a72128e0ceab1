"""Channels (§2.2): a row for each, and the results of an attempt, the lifecycle of one flow step tried (§3.1, A25).

The differences of channels stand here, and are read by the code that serves them all. To add a channel, add its row,
and what reads the fields of its step (`http/sending/steps.py`).

An attempt begins `accepted`. The operator takes it (`sending`) and answers (`sent`); a receipt confirms the handset
(`delivered`) or gives up (`undelivered`). Checks refuse before the hand-over only, so `rejected` leaves `accepted` and
nothing else. A technical failure can occur until an end is reached, so `failed` leaves every state that is not an end.
An operator that confirms at once skips `sending`. Whether the recipient opened the message is known on the rich-message
and messaging-app channels only: they have the event `opened`, sms has not, hence two tables. `delivered` is an end for
sms and not for the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from sendbox.engine.answer import JsonMapping, JsonObject
from sendbox.engine.journal import enter
from sendbox.engine.lifecycle import Table
from sendbox.services.assume import Assume
from sendbox.services.ports import SenderForm

STATES: Final = ("accepted", "sending", "sent", "delivered", "seen", "undelivered", "rejected", "failed")

ACCEPTED, SENDING, SENT, DELIVERED, SEEN, UNDELIVERED, REJECTED, FAILED = range(8)

#: The kinds of journal for the results: a transition has one kind a result; and back.
ENTRY: Final = enter(*STATES)
STATE_OF: Final = {entry: state for state, entry in enumerate(ENTRY)}
CODES: Final = {state: code for code, state in enumerate(STATES)}

#: How far a state got, by code: sent < delivered < seen; everything else counts as not reached (A64, A65).
REACH: Final = (0, 0, 1, 2, 3, 0, 0, 0)

#: The default way to each result that a scenario may name (A63).
WAYS: Final = {
    "sending": ("sending",),
    "sent": ("sending", "sent"),
    "delivered": ("sending", "sent", "delivered"),
    "seen": ("sending", "sent", "delivered", "seen"),
    "undelivered": ("sending", "sent", "undelivered"),
    "rejected": ("rejected",),
    "failed": ("sending", "failed"),
}

ATTEMPT_READABLE: Final[Table] = {
    "accepted": {
        "handed_over": "sending",
        "operator_accepted": "sent",
        "check_refused": "rejected",
        "broke_down": "failed",
    },
    "sending": {"operator_accepted": "sent", "broke_down": "failed"},
    "sent": {
        "device_confirmed": "delivered",
        "opened": "seen",
        "receipt_failed": "undelivered",
        "broke_down": "failed",
    },
    "delivered": {"opened": "seen"},
    "seen": {},
    "undelivered": {},
    "rejected": {},
    "failed": {},
}

ATTEMPT_SMS: Final[Table] = {
    state: {event: after for event, after in row.items() if event != "opened"}
    for state, row in ATTEMPT_READABLE.items()
}


#: Fields that the steps of channels with a text have.
OF_EACH: Final = frozenset({"body", "sender", "ttl", "ttl_condition"})
#: Old names of `chatapp_template` fields to new ones (§9).
OLD_TEMPLATE_NAMES: Final = {
    "parameters_body": "params",
    "parameters_header": "params_header",
    "parameters_buttons": "params_buttons",
}
#: A Phone Number ID, such as a sender of the messaging app is.
_SENDER_ID: Final = "109876543210987"


class Channel(msgspec.Struct, frozen=True):
    """One channel. `family` is what prices, senders, phones and incoming events call it (§6 `gateway`).

    `lifecycle` is the table of its attempts, `condition` the default `ttl_condition` and `assumed` the assumption that
    this rests on, `fields` are those of its step. `sender` is what its senders are; `numbers`: the account's own are
    senders. `details` is the field of an event that holds its details, and `gateway` what stands there as gateway:
    None for nothing, "" for the step's own. `segments`: a text is priced by the segment.
    `conversation`: free text needs a recipient who has written. `buttons` are the fields of a button, `contents` the
    fields that can take the place of a text. `setting` switches the channel on; "" for one that is always there.
    `least` is the least of a step that works, for samples.
    """

    name: str
    family: str
    lifecycle: Table
    condition: str = "delivered"
    assumed: str | None = None
    fields: frozenset[str] = OF_EACH
    needs_sender: bool = True
    sender: SenderForm = "name"
    numbers: bool = False
    details: str = ""
    gateway: str | None = None
    segments: bool = False
    conversation: bool = False
    buttons: frozenset[str] = frozenset()
    contents: frozenset[str] = frozenset()
    setting: str = ""
    least: JsonMapping = msgspec.field(default_factory=dict)

    @property
    def numeric(self) -> bool:
        """True if its senders are Phone Number IDs."""
        return self.sender == "number"

    @property
    def takes_body(self) -> bool:
        """True if its text is in `body`; else the text comes from a template."""
        return "body" in self.fields

    @property
    def owed_to(self) -> str | None:
        """The assumption without which there would be no such channel."""
        return self.assumed if self.setting else None

    def is_on(self, assume: Assume) -> bool:
        """True if the channel exists in a world with these settings."""
        return not self.setting or bool(getattr(assume, self.setting))

    @property
    def shows_seen(self) -> bool:
        """True if it reports that a message was opened (§3.1)."""
        return any("opened" in row for row in self.lifecycle.values())

    @property
    def results(self) -> tuple[str, ...]:
        """The results that its attempts can have."""
        reached = {STATES[ACCEPTED], *(state for row in self.lifecycle.values() for state in row.values())}
        return tuple(state for state in STATES if state in reached)


#: Every channel, in the order of the specification; then those that it does not show.
ROWS: Final[dict[str, Channel]] = {
    channel.name: channel
    for channel in (
        Channel(
            "sms",
            "sms",
            ATTEMPT_SMS,
            "sent",
            fields=OF_EACH | {"gateway", "type"},
            needs_sender=False,
            numbers=True,
            details="sms",
            gateway="",
            segments=True,
        ),
        Channel(
            "richmsg",
            "richmsg",
            ATTEMPT_READABLE,
            fields=OF_EACH | {"buttons"},
            details="richmsg",
            buttons=frozenset({"title", "url"}),
            least={"sender": "Acme"},
        ),
        Channel(
            "chatapp_text",
            "chatapp",
            ATTEMPT_READABLE,
            assumed="A03",
            sender="number",
            details="chatapp_body",
            gateway="chatapp",
            conversation=True,
            least={"sender": _SENDER_ID},
        ),
        Channel(
            "chatapp_template",
            "chatapp",
            ATTEMPT_READABLE,
            assumed="A03",
            fields=OF_EACH - {"body"}
            | {
                "template_name",
                "language",
                "params",
                "params_header",
                "params_buttons",
                "params_carousel",
                "params_lto",
            }
            | OLD_TEMPLATE_NAMES.keys(),
            sender="number",
            details="chatapp_template",
            gateway="chatapp",
            least={"template_name": "otp", "language": "en", "sender": _SENDER_ID},
        ),
        Channel(
            "rcs",
            "rcs",
            ATTEMPT_READABLE,
            assumed="A02",
            fields=OF_EACH | {"buttons", "card", "carousel", "raw"},
            sender="agent",
            details="rcs",
            buttons=frozenset({"type", "text", "postback", "url", "description", "webview"}),
            contents=frozenset({"card", "carousel", "raw"}),
            setting="rcs",
            least={"sender": "Acme"},
        ),
    )
}
#: The channel of a message without a flow (§2.1), of codes and of the legacy interface.
USUAL: Final = "sms"
#: The channel of templates: of a step that only says which one.
TEMPLATED: Final = next(name for name, channel in ROWS.items() if not channel.takes_body)
CHANNELS: Final = tuple(ROWS)
#: What each channel is called where prices, senders, phones and incoming events speak of it.
FAMILY: Final = {name: channel.family for name, channel in ROWS.items()}
FAMILIES: Final = tuple(dict.fromkeys(FAMILY.values()))
#: What the senders of each family are.
SENDERS: Final[dict[str, SenderForm]] = {channel.family: channel.sender for channel in ROWS.values()}
#: Families on which a message from a phone opens a conversation.
CONVERSING: Final = frozenset(channel.family for channel in ROWS.values() if channel.conversation)
#: What a channel may be called in an expectation: its name, or its family's.
CHANNEL_WORDS: Final = tuple(dict.fromkeys((*CHANNELS, *FAMILIES)))
#: What a word of a scenario means: a channel, or all channels of a family.
MEANT: Final = {name: (name,) for name in CHANNELS} | {
    family: tuple(name for name in CHANNELS if FAMILY[name] == family) for family in FAMILIES
}
#: What stands in samples of requests where a field of this name, or of this end of a path, is needed.
SAMPLES: Final[JsonObject] = {
    "flow": [{USUAL: {}}],
    **{name: channel.least for name, channel in ROWS.items() if channel.least},
    **{f"{name}.sender": channel.least["sender"] for name, channel in ROWS.items() if channel.needs_sender},
}
#: The table of each channel's attempts.
ATTEMPT: Final[dict[str, Table]] = {name: channel.lifecycle for name, channel in ROWS.items()}


def channels_on(assume: Assume) -> Iterator[Channel]:
    """The channels that there are in a world with these settings."""
    return (channel for channel in ROWS.values() if channel.is_on(assume))


class IllegalTransition(Exception):
    """A pair that is not in the table. `state`, `result` wanted, `legal` results from there."""

    def __init__(self, channel: str, state: str, result: str) -> None:
        self.channel = channel
        self.state = state
        self.result = result
        self.legal = legal_next(channel, state)
        allowed = ", ".join(self.legal) or "none, it is an end"
        super().__init__(f'"{result}" does not follow "{state}" on the {channel} channel; legal: {allowed} (§3.1, A25)')


def legal_next(channel: str, state: str) -> tuple[str, ...]:
    """The results that may follow `state` on `channel`, in the order of the table; empty for an end."""
    return tuple(ATTEMPT[channel][state].values())


#: The same tables by code, for the hot path: `LEGAL[channel][state][next]`.
LEGAL: Final = {
    name: tuple(tuple(after in table[state].values() for after in STATES) for state in STATES)
    for name, table in ATTEMPT.items()
}
