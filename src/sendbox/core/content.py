"""The text of a step as it leaves: converted, its links shortened, its segments counted (§2.1, §2.2, A61, A78)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sendbox.core import links
from sendbox.core.templates import render
from sendbox.core.text import segment, to_gsm

if TYPE_CHECKING:
    from sendbox.core.account import Account
    from sendbox.core.model import Step
    from sendbox.core.records import Attempt, Submission

#: A short link counts as this many characters, whatever its real length (A78); so does an id appended to it.
LINK_LENGTH: Final = 24
ID_LENGTH: Final = 36
#: Stands for the n-th link until a message is known; a private-use character, which no link finder takes for text.
_MARK: Final = "\ue000"


class Prepared:
    """A step's text, the same for all recipients. `targets` are the addresses that were found; `count` the segments."""

    __slots__ = ("count", "culprit", "targets", "text")

    def __init__(self, text: str, targets: list[str], count: int, culprit: str | None) -> None:
        self.text = text
        self.targets = targets
        self.count = count
        self.culprit = culprit


def prepare(submission: Submission, number: int, step: Step, account: Account) -> Prepared:
    """The prepared text of step `number`, made once a submission."""
    if submission.prepared is None:
        submission.prepared = {}
    prepared = submission.prepared.get(number)
    if prepared is None:
        prepared = submission.prepared[number] = _prepare(submission, step, account)
    return prepared


def _prepare(submission: Submission, step: Step, account: Account) -> Prepared:
    if step.template is not None:
        template = account.template(step.template.name, step.template.language)
        return Prepared("" if template is None else render(template, step.template), [], 1, None)
    text = step.body or ""
    targets: list[str] = []
    shortening = submission.send.shortening
    if shortening is not None:

        def mark(target: str) -> str:
            targets.append(target)
            return _MARK

        text = links.shorten(text.replace(_MARK, ""), shortening.type, mark)
    if step.channel != "sms":
        return Prepared(text, targets, 1, None)
    if step.type == "sms":
        text = _MARK.join(to_gsm(part) for part in text.split(_MARK)) if targets else to_gsm(text)
    counted = text
    if targets and shortening is not None:
        length = LINK_LENGTH + (len(shortening.name) + 2 + ID_LENGTH if shortening.enhance else 0)
        counted = text.replace(_MARK, "x" * length)
    segments = segment(counted)
    return Prepared(text, targets, segments.count, segments.culprit)


def text_of(attempt: Attempt, prepared: Prepared) -> str:
    """The text one recipient gets: the marks replaced by the message's own short links."""
    made = (attempt.message.links or {}).get(attempt.number, ())
    parts = prepared.text.split(_MARK) if prepared.targets else [prepared.text]
    urls = [link.url for link in made] or prepared.targets
    return parts[0] + "".join(url + part for url, part in zip(urls, parts[1:], strict=True))
