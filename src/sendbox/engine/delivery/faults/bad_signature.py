"""`bad_signature`: the request is signed with another secret."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from sendbox.engine.delivery.faults.fault import Spoilt, WebhookFault

if TYPE_CHECKING:
    from sendbox.engine.delivery.batches import Target

_UNSIGNED: Final = "nothing is signed here: the target has no secret, so no signature can be wrong (A21)"


class BadSignature(WebhookFault, frozen=True):
    """On every try."""

    kind: ClassVar = "bad_signature"
    examples: ClassVar = {"bad_signature": "the request is signed with another secret than the account's"}

    @property
    def spoilt(self) -> Spoilt:
        return Spoilt(bad_signature=True)

    def note(self, target: Target) -> str | None:
        return _UNSIGNED if not target.secret or target.method == "GET" else None
