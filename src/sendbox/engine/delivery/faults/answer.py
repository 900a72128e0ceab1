"""`answer`: each try ends as if the receiver had answered so."""

from __future__ import annotations

from typing import ClassVar, Final

from sendbox.engine.delivery.faults.fault import WebhookFault
from sendbox.engine.forms import either, whole, word

#: Why a try that a rule answers fails, if not with a status.
SILENCES: Final = ("timeout", "refused", "closed")


class Answer(WebhookFault, frozen=True):
    """`by` is a status, or a word for why there is none."""

    by: str | int = 200

    kind: ClassVar = "answer"
    bare: ClassVar = False
    value: ClassVar = either(
        "Each try ends as if the receiver had given this answer, and does not reach it.",
        whole("A status.", 200, 599, "a status from 200 to 599"),
        word("No answer at all.", SILENCES, "a word for how a try fails"),
        "a status from 200 to 599, or timeout, refused or closed",
    )
    examples: ClassVar = {
        "{answer: 500}": "each try ends as if the receiver had given this answer, and does not reach it",
        "{answer: refused}": "the same without an answer",
    }

    @property
    def detail(self) -> str:
        return str(self.by)

    @property
    def ending(self) -> tuple[int | None, str | None]:
        if isinstance(self.by, str):
            return None, self.by
        return self.by, "redirect" if 300 <= self.by < 400 else None
