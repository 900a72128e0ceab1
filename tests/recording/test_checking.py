"""The lines about differences from the contract: of requests, of answers and of webhooks."""

from __future__ import annotations

from typing import Any, Final

import pytest

from sendbox.recording.recorder import Checker
from sendbox.recording.standins import StandIns
from sendbox.services.http.requests import FORM
from tests.recording.test_masking import call

CHECKER: Final = Checker()
AT: Final = "1970-01-01T00:00:00.000Z"
SENT: Final = (
    '{"request_id": "0d9c1f4e-52a7-4c1b-9d0e-3f6f0f1f6a11", "accepted": [{"key": "0", "message_id": "a"}],'
    ' "rejected": []}'
)
MESSAGE: Final = '{"body": "Hi", "to": [{"phone_number": "420777000101"}]}'
FIELDS: Final = "apikey=a-key-of-mine&number=420777000101&message=Hi"


@pytest.mark.unmeasured
@pytest.mark.parametrize(
    ("given", "lines"),
    [
        ({"url": "/v2/message", "body": MESSAGE, "answer": SENT}, []),
        ({"url": "/base/v2/message", "body": MESSAGE, "answer": SENT}, []),
        (
            {"url": "/v2/message", "body": '{"to": []}', "answer": "<html>", "status": 200},
            [
                "POST /v2/message: request: [] has fewer entries than the minimum of 1 in to; legal: 1 to 10 (§2.1)",
                "POST /v2/message: answer: the body is no JSON: unexpected character, expected a JSON value: line 1",
            ],
        ),
        (
            {"url": "/v2/message", "body": MESSAGE, "status": 418},
            ["POST /v2/message: answer: 418 is not a status of sendMessage; legal: 200, 400, 415"],
        ),
        ({"url": "/v2/message", "body": MESSAGE, "status": 0}, []),
        ({"url": "/Send", "body": FIELDS, "headers": {"content-type": FORM}, "answer": "OK|a"}, []),
        (
            {"url": f"/Send?{FIELDS.replace('message', 'text')}", "method": "GET", "answer": "FINE"},
            [
                "GET /Send: request: message is missing; required: a string (§4.1, A13) at $.message",
                'GET /Send: answer: "FINE" is not a legal JSON body; legal: text in the form',
            ],
        ),
        ({"url": "/v1/credit/services", "method": "GET", "status": 401, "answer": '{"message": "Unauthorized"}'}, []),
        ({"url": "/v1/inbox", "method": "GET"}, ["GET /v1/inbox: request: it is outside the specification"]),
        ({"url": "/v2/message", "method": "PUT"}, ["PUT /v2/message: request: it is outside the specification"]),
        *(({"url": url, "method": method}, []) for url, method in (("/upload/a", "PUT"), ("/v2/message", "OPTIONS"))),
        ({"url": "https://c.example/x", "body": "[]", "webhook": True}, ["POST /x: webhook: [] "]),
        ({"url": "https://c.example/x", "body": '{"status": 5}', "webhook": True}, ["POST /x: webhook: "] * 2),
        ({"url": "https://c.example/x?events=%5B%5D", "method": "GET", "webhook": True}, ["GET /x: webhook: [] "]),
        (
            {"url": "https://c.example/x", "body": "a=1", "headers": {"content-type": FORM}, "webhook": True},
            ["POST /x: webhook: the body is no JSON"],
        ),
    ],
)
def test_lines(given: dict[str, Any], lines: list[str]) -> None:
    """Each difference is a line with the time and the place of the call."""
    found = list(CHECKER.differences(call(**given).masked(StandIns())))
    assert [line for line, text in zip(found, lines, strict=True) if not line.startswith(f"{AT} {text}")] == []


def test_many_differences_are_ten_lines() -> None:
    """Of one side of a call not more are named."""
    body = "[" + ",".join(['{"body": 1}'] * 9) + "]"
    assert len(list(CHECKER.differences(call("/v2/messages", body, answer=SENT).masked(StandIns())))) == 10


def test_parameters_of_a_path() -> None:
    """By their names, for an operation; there is none elsewhere."""
    path = "https://api.service.example/v1/validations/abc/verify"
    assert CHECKER.parameters("POST", path) == {"token": "abc"}
    assert CHECKER.parameters("POST", "https://api.service.example/v1/inbox") == {}
