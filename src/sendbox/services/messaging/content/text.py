"""The text of a step as it leaves: converted, its links shortened, its segments counted (§2.1, §2.2, A61, A78).

Also the texts that phones write: texts with gaps, filled from the message that is answered and with invented names.
A message fills some gaps (`GAPS`); for others something is invented (`FAKES`): out of a pool that was made when the
scenario was compiled, so that no world needs the library that invents, and a choice is one draw. The digest sees a
filled text in its canonical form: what differs from world to world (ids, the text with its short links) and what
differs between versions of that library (the invented words) stands in it as the gap, the invented ones with the number
that was drawn.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import Final, NamedTuple
from urllib.parse import quote

import msgspec

from sendbox.engine.draws import Chooser
from sendbox.engine.texts import Fake, Gap, regex
from sendbox.services.messaging.channels import ROWS
from sendbox.services.messaging.content import links
from sendbox.services.messaging.model import Shortening, Step
from sendbox.services.messaging.records import Attempt, Submission
from sendbox.services.messaging.rules.rules import Line
from sendbox.services.ports import Account
from sendbox.services.templates.templates import render

#: A short link counts as this many characters, independent of its real length (A78).
LINK_LENGTH: Final = 24
#: What the ids of messages look like: one of its own, or base and index of the recipient, who is one of ten (§2.3).
_OWN_ID: Final = "0" * 36
_INDEXED_ID: Final = "0" * 38
#: Stands for the n-th link until a message is known; a private-use character, which no link finder takes for text.
_MARK: Final = "\ue000"
#: Gaps of a text (`engine/texts.py`) that a message fills. `payload` is followed by a dotted path.
GAPS: Final = {
    "body": "the text of the message, as the phone shows it",
    "sender": "the sender that the phone shows",
    "phone": "the number of the phone",
    "channel": "the channel of the step that reached it",
    "attempt": "which attempt of the message that was, from 1",
    "tag": "the tags of the message, with commas",
    "tags": "the same",
    "message_id": "the id of the message",
    "request_id": "the id of its request",
    "payload": "what the payload of the request holds at a path, such as payload.order.id; nothing where it has none",
}
#: Gaps whose filling no two worlds share, or that say nothing which the request does not.
_OWN: Final = frozenset({"body", "message_id", "request_id"})


class Prepared(msgspec.Struct, eq=False):
    """A step's text, the same for all recipients. `targets` are the addresses that were found; `count` the segments."""

    text: str
    targets: list[str]
    count: int


def prepare(submission: Submission, number: int, step: Step, account: Account) -> Prepared:
    """The prepared text of step `number`, made once for recipients that are served one after another."""
    earlier = submission.prepared
    if earlier is not None and earlier[0] == number:
        text: Prepared = earlier[1]
        return text
    prepared = _prepare(submission, step, account)
    if len(submission.messages) > 1:
        submission.prepared = (number, prepared)
    return prepared


def _prepare(submission: Submission, step: Step, account: Account) -> Prepared:
    if step.template is not None:
        template = account.template(step.template.name, step.template.language, step.sender)
        return Prepared("" if template is None else render(template, step.template), [], 1)
    text = submission.send.text(step) or ""
    targets: list[str] = []
    shortening = submission.send.shortening
    if shortening is not None:

        def mark(target: str) -> str:
            targets.append(target)
            return _MARK

        text = links.shorten(text.replace(_MARK, ""), shortening.type, mark)
    if not ROWS[step.channel].segments:
        return Prepared(text, targets, 1)
    if step.type == "sms":
        text = _MARK.join(to_gsm(piece) for piece in text.split(_MARK)) if targets else to_gsm(text)
    counted = text
    if targets and shortening is not None:
        query = id_query(shortening, _INDEXED_ID if submission.several else _OWN_ID)
        counted = text.replace(_MARK, "x" * LINK_LENGTH + query)
    return Prepared(text, targets, segment(counted).count)


def id_query(shortening: Shortening, message_id: str) -> str:
    """The query that `get_enhance` appends to a short link, "" if it is not requested (§2.1)."""
    return f"?{quote(shortening.name, safe='')}={message_id}" if shortening.enhance else ""


def text_of(attempt: Attempt, prepared: Prepared) -> str:
    """The text one recipient gets: the marks replaced by the message's own short links."""
    short = attempt.message.reactions.links.get(attempt.number, ())
    parts = prepared.text.split(_MARK) if prepared.targets else [prepared.text]
    urls = [link.url for link in short] or prepared.targets
    return parts[0] + "".join(url + piece for url, piece in zip(urls, parts[1:], strict=True))


def text_shown(attempt: Attempt, account: Account) -> str:
    """The text that a phone shows for an attempt."""
    submission = attempt.message.submission
    earlier = submission.prepared
    prepared = prepare(submission, attempt.number, attempt.step, account)
    submission.prepared = earlier  # a view leaves nothing behind for the recipients that are served
    return text_of(attempt, prepared)


def fill(line: Line, chooser: Chooser, account: Account, phone: str, attempt: Attempt | None = None) -> tuple[str, str]:
    """The text with its gaps filled, and its canonical form; without an attempt only the phone is known."""
    draw = chooser.draw(line.rule, line.subject, line.number)
    texts, canonical = [], []
    for index, piece in enumerate(line.text.parts):
        if isinstance(piece, Fake):
            drawn = draw.pick(piece.pool, f"{line.purpose}.{index}")
            texts.append(piece.pool[drawn])
            canonical.append(f"{{{{fake.{piece.name} {piece.locale} {drawn}}}}}")
            continue
        value = piece if isinstance(piece, str) else _value(piece, account, phone, attempt)
        texts.append(value)
        canonical.append(f"{{{{{piece.name}}}}}" if isinstance(piece, Gap) and piece.name in _OWN else value)
    return "".join(texts), "".join(canonical)


def _value(gap: Gap, account: Account, phone: str, attempt: Attempt | None) -> str:
    if attempt is None:
        return phone if gap.name == "phone" else ""
    if gap.name == "payload":
        return _inside(json.loads(attempt.message.submission.send.payload), gap.path)
    return str(_FILLINGS[gap.name](attempt, account))


_FILLINGS: Final[dict[str, Callable[[Attempt, Account], object]]] = {
    "body": text_shown,
    "sender": lambda attempt, _account: attempt.shown_sender,
    "phone": lambda attempt, _account: attempt.message.phone,
    "channel": lambda attempt, _account: attempt.step.channel,
    "attempt": lambda attempt, _account: attempt.number + 1,
    **dict.fromkeys(("tag", "tags"), lambda attempt, _account: ",".join(attempt.message.submission.send.tags)),
    "message_id": lambda attempt, _account: attempt.message.id,
    "request_id": lambda attempt, _account: attempt.message.submission.request_id,
}


def _inside(value: object, path: tuple[str, ...]) -> str:
    """The value at a path, as text; empty if there is no value."""
    for name in path:
        if isinstance(value, dict) and name in value:
            value = value[name]
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            return ""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


_BASIC: Final = (
    "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?"
    "¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
)
#: Each takes two septets: an escape and its own, which are never cut apart.
_EXTENDED: Final = "\f^{}\\[~]|€"
_ESCAPE: Final = "\x1b"

_PLAIN_BYTES: Final = "".join(char for char in _BASIC if char.isascii()).encode()
_FOREIGN: Final = regex(f"[^{re.escape(_BASIC + _EXTENDED)}]")
_DOUBLE: Final = regex(f"([{re.escape(_EXTENDED)}])")
#: Characters that the transliteration keeps as they are although the alphabet lacks them.
_INSTEAD: Final = {"`": "'", "\t": " "}


class Segments(NamedTuple):
    """The encoding and the size of a text as it is sent.

    `encoding` is `GSM-7` or `UCS-2`; `units` are septets or UTF-16 units; `count` the segments billed, at least 1;
    `culprit` the first character that forced UCS-2, None in GSM-7.
    """

    encoding: str
    units: int
    count: int  # type: ignore[assignment] # §6 calls it so; `count` of a tuple is not needed
    culprit: str | None


def segment(text: str) -> Segments:
    """Counts the segments: 160 septets or 70 units in one, 153 or 67 in each of several."""
    if text.isascii() and not text.encode().translate(None, _PLAIN_BYTES):
        size = len(text)
        return Segments("GSM-7", size, 1 if size <= 160 else -(-size // 153), None)
    foreign = _FOREIGN.search(text)
    if foreign:
        units = text.encode("utf-16-be", "surrogatepass")
        return Segments("UCS-2", len(units) // 2, _pairs(units), foreign.group())
    septets = _DOUBLE.sub(rf"{_ESCAPE}\1", text)
    return Segments("GSM-7", len(septets), _septets(septets), None)


def only_foreign_character(text: str) -> tuple[str, int, int] | None:
    """The one character that makes a text travel in more segments than it would without: (it, position, segments).

    Position from 1; the segments are those of the text with a plain sign in its place. None where several characters
    are foreign, or where it adds no segment.
    """
    foreign = _FOREIGN.findall(text)
    if not foreign or any(char != foreign[0] for char in foreign):
        return None
    plain = segment(text.replace(foreign[0], "?")).count
    return (foreign[0], text.index(foreign[0]) + 1, plain) if plain < segment(text).count else None


def surely_not_over(text: str) -> bool:
    """A cheap test that no single character adds a segment: True is certain, False needs a closer look."""
    size = len(text)
    if size <= 70 and (text.isascii() or len(text.encode("utf-16-le", "surrogatepass")) <= 140):
        return True  # one segment in any encoding
    one_over = size == 161 if size < 307 else size % 153 == 1
    return not one_over and text.isascii() and not text.encode().translate(None, _PLAIN_BYTES)


def one_unit_over(segments: Segments) -> int | None:
    """The units that one segment less would hold, where the text has just one unit more; else None."""
    one, several = (160, 153) if segments.encoding == "GSM-7" else (70, 67)
    less = segments.count - 1
    room = one if less == 1 else several * less
    return room if less and segments.units == room + 1 else None


def _septets(septets: str) -> int:
    if len(septets) <= 160:
        return 1
    count = at = 0
    while at < len(septets):
        at += 153
        at -= septets[at - 1 : at] == _ESCAPE
        count += 1
    return count


def _pairs(units: bytes) -> int:
    if len(units) <= 140:
        return 1
    count = at = 0
    while at < len(units):
        at += 134
        if units[at - 2 : at - 1] in _HIGH and units[at : at + 1] in _LOW:
            at -= 2
        count += 1
    return count


#: First bytes of the two halves of a surrogate pair.
_HIGH: Final = frozenset(bytes([byte]) for byte in range(0xD8, 0xDC))
_LOW: Final = frozenset(bytes([byte]) for byte in range(0xDC, 0xE0))


def to_gsm(text: str) -> str:
    """The text in GSM-7 characters, for steps of `type: sms` (§2.2).

    What the alphabet has stays, other letters and signs are transliterated, the rest (emoji too) is dropped.
    """
    if not _FOREIGN.search(text):
        return text
    composed = unicodedata.normalize("NFC", text)
    return _FOREIGN.sub(lambda match: _transliterated(match.group()), composed)


@lru_cache(maxsize=4096)
def _transliterated(char: str) -> str:
    # Imported on first use: most worlds never send a text that needs it.
    from anyascii import anyascii

    plain = _INSTEAD.get(char) or anyascii(char)
    # Emoji come as `:name:`, which would lengthen what is to be kept short.
    return "" if len(plain) > 2 and plain[0] == plain[-1] == ":" else _FOREIGN.sub("", plain)
