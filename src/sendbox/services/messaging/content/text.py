"""The text of a step as it leaves: converted, its links shortened, its segments counted (§2.1, §2.2, A61, A78)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from sendbox.engine.classes import dataclass
from sendbox.services.messaging.channels import ROWS
from sendbox.services.messaging.content import links
from sendbox.services.messaging.content.segments import segment, to_gsm
from sendbox.services.templates.templates import render

if TYPE_CHECKING:
    from sendbox.services.messaging.model import Shortening, Step
    from sendbox.services.messaging.records import Attempt, Submission
    from sendbox.services.ports import Account

#: A short link counts as this many characters, independent of its real length (A78).
LINK_LENGTH: Final = 24
#: What the ids of messages look like: one of its own, or base and index of the recipient, who is one of ten (§2.3).
_OWN_ID: Final = "0" * 36
_INDEXED_ID: Final = "0" * 38
#: Stands for the n-th link until a message is known; a private-use character, which no link finder takes for text.
_MARK: Final = "\ue000"


@dataclass(slots=True, eq=False)
class Prepared:
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
    short = (attempt.message.links or {}).get(attempt.number, ())
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
