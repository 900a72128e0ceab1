"""The HMAC proof: which bytes, under which key, written how (§5.5, A52)."""

from __future__ import annotations

import base64
import hashlib
import hmac

import pytest

from sendbox.services.assume import Proof
from sendbox.services.verify.session import proof_holds, sign_proof

VALUES = {"phoneNumber": "420777000101", "token": "ab" * 32, "code": "012345", "timestamp": "2026-03-01T09:00:00.000Z"}
TEXT = f"420777000101:{'ab' * 32}:012345:2026-03-01T09:00:00.000Z"


def raw(text: str, name: str = "sha256") -> bytes:
    """The proof that another program would compute."""
    return hmac.new(b"s3cret", text.encode(), getattr(hashlib, name)).digest()


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        (Proof(), raw(TEXT).hex()),
        (Proof(hash="sha1"), raw(TEXT, "sha1").hex()),
        (Proof(hash="sha384"), raw(TEXT, "sha384").hex()),
        (Proof(hash="sha512"), raw(TEXT, "sha512").hex()),
        (Proof(encoding="base64"), base64.b64encode(raw(TEXT)).decode()),
        (Proof(encoding="base64url"), base64.urlsafe_b64encode(raw(TEXT)).decode().rstrip("=")),
        (
            Proof(separator=""),
            raw(TEXT.replace("420777000101:", "420777000101", 1).replace("ab:0", "ab0").replace("5:2", "52")).hex(),
        ),
        (
            Proof(order=("timestamp", "code", "token", "phoneNumber"), separator="|"),
            raw(f"2026-03-01T09:00:00.000Z|012345|{'ab' * 32}|420777000101").hex(),
        ),
    ],
    ids=["default", "sha1", "sha384", "sha512", "base64", "base64url", "no-separator", "order"],
)
def test_s5_5_a_proof_can_be_computed_elsewhere(form: Proof, expected: str) -> None:
    """§5.5: the four values under the secret, in the form that the setting `proof` says (A52)."""
    assert sign_proof("s3cret", VALUES, form) == expected
    assert proof_holds(expected, "s3cret", VALUES, form)


@pytest.mark.parametrize("name", VALUES)
def test_s5_5_a_proof_holds_for_its_values_only(name: str) -> None:
    """Another phone number, token, code or timestamp is refused."""
    proof = sign_proof("s3cret", VALUES, Proof())
    assert not proof_holds(proof, "s3cret", VALUES | {name: VALUES[name] + "0"}, Proof())


@pytest.mark.parametrize(
    ("proof", "secret"),
    [("", "s3cret"), ("é\ud7ff", "s3cret"), (raw(TEXT).hex().upper(), "s3cret"), (raw(TEXT).hex(), "other")],
    ids=["empty", "not-ascii", "upper-case", "another-secret"],
)
def test_a_wrong_proof_does_not_hold(proof: str, secret: str) -> None:
    """Whatever a client sends is compared, and nothing but the proof holds."""
    assert not proof_holds(proof, secret, VALUES, Proof())


@pytest.mark.parametrize("secret", [None, ""])
def test_without_a_secret_nothing_holds(secret: str | None) -> None:
    """An account without `verificationSecret` has no proofs."""
    assert not proof_holds(sign_proof("", VALUES, Proof()), secret, VALUES, Proof())
