"""Refusals of the Verify interface: code, text, status and attempts (§7.2, A49, A54, A75)."""

from __future__ import annotations

import orjson
import pytest

from sendbox.contract.validators import Contract
from sendbox.engine.remarks import Finding
from sendbox.services.http.exchange import Answer
from sendbox.services.verify import http as errors
from sendbox.services.verify.http import ROUTES

FOUND = [Finding("$", "rule", "wrong", "§4")]

#: Every code of §7.2 and A49, as a client knows it.
EXPECTED = [
    ("INVALID_PHONE", 400, "Invalid phone number"),
    ("MISSING_FIELD", 400, "Missing required field: phoneNumber"),
    ("UNSUPPORTED_MEDIA_TYPE", 415, "Unsupported media type"),
    ("MISSING_API_KEY", 401, "Missing X-API-Key header"),
    ("INVALID_API_KEY", 401, "Invalid or disabled API key"),
    ("TENANT_RATE_LIMIT", 429, "Tenant rate limit exceeded"),
    ("PHONE_RATE_LIMIT", 429, "Too many attempts for this phone number"),
    ("INVALID_CODE", 400, "Invalid code"),
    ("EXPIRED", 400, "Validation expired"),
    ("VERIFICATION_DISABLED", 400, "Tenant does not have verification enabled"),
    ("NOT_FOUND", 404, "Validation not found"),
    ("TOO_MANY_ATTEMPTS", 429, "Too many attempts"),
]


def shown(answer: Answer) -> tuple[int, str, str, int]:
    """Status, code, text, attempts; the body has nothing else."""
    body = orjson.loads(answer.body)
    assert set(body) == {"error", "message", "attemptsRemaining"}
    return answer.status, body["error"], body["message"], body["attemptsRemaining"]


@pytest.mark.parametrize(("code", "status", "text"), EXPECTED, ids=[each[0] for each in EXPECTED])
def test_s7_2_error_codes(code: str, status: int, text: str) -> None:
    """§7.2, A54: each code has one status and one sentence."""
    refused = errors.refusal(code, FOUND, 3, field="phoneNumber")
    assert refused.answer is not None
    assert shown(refused.answer) == (status, code, text, 3)
    assert (refused.status, refused.text, refused.findings) == (status, text, FOUND)


def test_every_code_is_in_the_table() -> None:
    """No code is without its expectation here."""
    assert set(errors.ERRORS) == {code for code, _, _ in EXPECTED}


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, "MISSING_FIELD"),
        (404, "NOT_FOUND"),
        (405, "METHOD_NOT_ALLOWED"),
        (413, "PAYLOAD_TOO_LARGE"),
        (415, "UNSUPPORTED_MEDIA_TYPE"),
        (500, "INTERNAL_ERROR"),
    ],
)
def test_s7_1_refusals_that_no_handler_makes(status: int, code: str) -> None:
    """A75: they have the interface's shape too; a creation would have had all its attempts."""
    assert shown(errors.error(status, "text")) == (status, code, "text", 0)
    assert shown(errors.creation_error(status, "text")) == (status, code, "text", 6)


def test_s5_4_denied_keys() -> None:
    """§5.4: 401, and the code tells a missing key from a wrong one."""
    assert shown(errors.deny(False)) == (401, "MISSING_API_KEY", "Missing X-API-Key header", 0)
    assert shown(errors.deny(True)) == (401, "INVALID_API_KEY", "Invalid or disabled API key", 0)
    assert shown(errors.deny_creation(False))[3] == shown(errors.deny_creation(True))[3] == 6


def test_rows() -> None:
    """§4.5: four rows; only the offline check takes no key; every error shape is in the contract."""
    assert [(row.method, row.path, row.auth) for row in ROUTES] == [
        ("POST", "/v1/validations", "header"),
        ("POST", "/v1/validations/{token}/verify", "header"),
        ("PATCH", "/v1/validations/{token}", "header"),
        ("POST", "/v1/verify-proof", "none"),
    ]
    checker = Contract().checker("verify.json#/$defs/VerifyError")
    for code, _, text in EXPECTED:
        assert checker.is_valid({"error": code, "message": text, "attemptsRemaining": 0})
    assert not checker.is_valid({"error": "OTHER", "message": "x", "attemptsRemaining": 0})
