"""The HMAC proof of a validation: phone number, token, code and timestamp under the account's secret (§5.5, A52)."""

from __future__ import annotations

import hmac
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from sendbox.services.assume import Proof

#: How the signature's bytes are written. `base64url` has no padding, as in tokens.
_ENCODE: Final[Mapping[str, Callable[[bytes], str]]] = {
    "hex": bytes.hex,
    "base64": lambda raw: b64encode(raw).decode(),
    "base64url": lambda raw: urlsafe_b64encode(raw).decode().rstrip("="),
}


def sign(secret: str, values: Mapping[str, str], form: Proof) -> str:
    """The proof over `values`, which are `phoneNumber`, `token`, `code` and `timestamp` as they stand in answers."""
    text = form.separator.join(values[name] for name in form.order)
    return _ENCODE[form.encoding](hmac.new(secret.encode(), text.encode(), form.hash).digest())


def holds(proof: str, secret: str | None, values: Mapping[str, str], form: Proof) -> bool:
    """True if a proof is the correct one for `values`; never without a secret."""
    if not secret:
        return False
    # texts of clients may hold anything, and only bytes are compared whatever is in them
    return hmac.compare_digest(proof.encode(), sign(secret, values, form).encode())
