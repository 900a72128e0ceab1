"""Running a handler: answers, refusals in either form, and what breaks."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from sendbox.contract.validators import NotLoaded
from sendbox.engine.remarks import Finding
from sendbox.services.http.exchange import Answer, Refused
from sendbox.services.http.executor import call_handler

FOUND = Finding("$", "rule", "wrong", "§4")
ANSWER = Answer(200, b"{}")


def call(outcome: Any, findings: Sequence[Finding] = ()) -> Any:
    """A call whose handler has this outcome."""

    def handler(_exchange: Any) -> Answer:
        if isinstance(outcome, Exception):
            raise outcome
        return cast("Answer", outcome)

    def error(status: int, text: str) -> Answer:
        return Answer(status, text.encode())

    route = SimpleNamespace(handler=handler, error=error, operation="op")
    return cast("Any", SimpleNamespace(route=route, findings=findings, world=SimpleNamespace(id="test-a")))


@pytest.mark.parametrize(
    ("outcome", "left", "status", "body", "findings"),
    [
        (ANSWER, [], 200, b"{}", []),
        (ANSWER, [FOUND], 200, b"{}", [FOUND]),
        (Refused([FOUND], 409, "no"), [], 409, b"no", [FOUND]),
        (Refused([FOUND], 409, "no", Answer(429, b"own")), [], 429, b"own", [FOUND]),
    ],
    ids=["answer", "findings", "refused", "own-answer"],
)
def test_handled(outcome: Any, left: list[Finding], status: int, body: bytes, findings: list[Finding]) -> None:
    """The handler's answer; for a refusal its own, or the one that the route makes of status and text."""
    answer, found = call_handler(call(outcome, left))
    assert (answer.status, answer.body, list(found)) == (status, body, findings)


def test_what_is_not_loaded_is_passed_on() -> None:
    """The caller imports it off the loop, and asks again."""
    with pytest.raises(NotLoaded):
        call_handler(call(NotLoaded()))


def test_a_handler_that_breaks_answers_500(caplog: pytest.LogCaptureFixture) -> None:
    """§7.1: the client gets an answer in the interface's shape, the log gets the reason."""
    with caplog.at_level(logging.ERROR):
        answer, found = call_handler(call(KeyError("x")))
    assert (answer.status, answer.body, found[0].rule) == (500, b"Internal server error", "internal")
    assert "test-a failed while it answered op" in caplog.text
