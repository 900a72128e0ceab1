"""`content_type`: the request says something else of its body."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from sendbox.engine.delivery.faults.fault import Spoilt, WebhookFault
from sendbox.engine.forms import text

if TYPE_CHECKING:
    from sendbox.engine.delivery.batches import Target

_NO_BODY: Final = "a GET has no body, so no content type can be wrong (A69)"


class ContentType(WebhookFault, frozen=True):
    """The body stays as it is."""

    says: str = ""

    kind: ClassVar = "content_type"
    bare: ClassVar = False
    value: ClassVar = text(
        "What the request says its body is; the body stays as it is.",
        "a content type such as text/plain",
        minLength=1,
        maxLength=200,
    )
    examples: ClassVar = {"{content_type: text/plain}": "the header has this content type; the body is unchanged"}

    @property
    def detail(self) -> str:
        return self.says

    @property
    def spoilt(self) -> Spoilt:
        return Spoilt(content_type=self.says)

    def note(self, target: Target) -> str | None:
        return _NO_BODY if target.method == "GET" else None
