"""The gaps of a text (`engine/texts.py`) that a message can fill. `text.py` fills them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from sendbox.engine.texts import Text

#: Gaps that a message fills. `payload` is followed by a dotted path.
GAPS: Final = {
    "body": "the text of the message, as the phone shows it",
    "sender": "the sender that the phone shows",
    "phone": "the number of the phone",
    "channel": "the channel of the step that reached it",
    "attempt": "which attempt of the message that was, from 1",
    "tags": "the tags of the message, with commas",
    "message_id": "the id of the message",
    "request_id": "the id of its request",
    "payload": "what the payload of the request holds at a path, such as payload.order.id; nothing where it has none",
}


class Line(NamedTuple):
    """The text that a phone will write, and the values by which its invented parts are drawn."""

    text: Text
    rule: str
    subject: str
    number: int = 0
    purpose: str = "say"
