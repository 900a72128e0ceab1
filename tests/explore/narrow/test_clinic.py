"""The narrow tests of the clinic: each holds without misfortune, and many break under what changes the truth."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from sendbox.fixture import Sandbox
from tests.explore.narrow.clinic import Clinic

pytestmark = pytest.mark.sendbox(clock={"start": "2026-03-02T09:00:00Z"})

ANNA = "420777000101"


@pytest.fixture
def slept() -> list[float]:
    """The pauses that the clinic made; none of them takes any time."""
    return []


@pytest.fixture
def clinic(sendbox: Sandbox, slept: list[float]) -> Iterator[Clinic]:
    """A clinic whose service is the sandbox."""
    headers = {"x-api-key": sendbox.api_key}
    with httpx.Client(base_url=sendbox.origin, headers=headers, transport=sendbox.transport) as http:
        clinic = Clinic(http, lambda: sendbox.clock.now, slept.append)
        sendbox.deliver_to(clinic)
        yield clinic


def refused(fault: object, calls: int) -> pytest.MarkDecorator:
    """A scenario in which the first calls fail."""
    rule = {"when": {"operation": "sendMessage", "nth": [*range(1, calls + 1)]}, "fault": fault}
    return pytest.mark.sendbox(scenario={"sendbox": 1, "extends": "default", "api": [rule]})


def test_a_reminder_is_delivered_after_a_minute(clinic: Clinic, sendbox: Sandbox) -> None:
    """It is sent by one call, and looked at after one minute."""
    assert clinic.remind(ANNA)
    assert clinic.calls == 1
    sendbox.advance("1m")
    assert list(clinic.results.values()) == ["delivered"]
    assert sendbox.message(phone=ANNA).result == "delivered"


@refused({"status": 500}, 2)
def test_the_third_call_is_taken(clinic: Clinic, sendbox: Sandbox, slept: list[float]) -> None:
    """Two errors are two pauses, and one message."""
    assert clinic.remind(ANNA)
    assert (clinic.calls, slept, len(sendbox.messages())) == (3, [1, 1], 1)


@refused({"status": 503}, 1)
def test_the_second_call_is_taken(clinic: Clinic, sendbox: Sandbox) -> None:
    """One error is one more call."""
    assert clinic.remind(ANNA)
    assert (clinic.calls, len(sendbox.messages())) == (2, 1)


def test_a_rule_of_the_test_is_survived_twice(clinic: Clinic, sendbox: Sandbox) -> None:
    """The first call fails, for each of two reminders."""
    for number in (1, 2):
        sendbox.fault("disconnect", when={"operation": "sendMessage"}, times=1)
        assert clinic.remind(f"42077700{number}101")
    assert (clinic.calls, len(sendbox.messages())) == (4, 2)


@refused({"status": {"code": 429, "headers": {"Retry-After": 7}}}, 1)
def test_it_waits_as_long_as_it_is_told(clinic: Clinic, slept: list[float]) -> None:
    """Retry-After is the pause."""
    assert clinic.remind(ANNA)
    assert slept == [7]


@refused({"status": 500}, 3)
def test_it_gives_up(clinic: Clinic, sendbox: Sandbox) -> None:
    """After three calls."""
    assert not clinic.remind(ANNA)
    assert (clinic.calls, sendbox.messages()) == (3, [])


def test_there_is_exactly_one_reply(clinic: Clinic, sendbox: Sandbox) -> None:
    """Who says yes is thanked once, within the minute."""
    clinic.remind(ANNA)
    sendbox.advance("1m")
    sendbox.phone(ANNA).reply("yes")
    sendbox.advance("1m")
    bodies = [message.body for message in sendbox.messages(phone=ANNA)]
    assert len(bodies) == 2
    assert bodies.count("Thank you, until tomorrow.") == 1
    assert {message.result for message in sendbox.messages(phone=ANNA)} == {"delivered"}


@pytest.mark.sendbox(clock={"start": "2026-03-02T19:59:00Z"})
def test_patients_sleep(clinic: Clinic, sendbox: Sandbox) -> None:
    """Until nine in the evening, not from then on, and again in the morning."""
    assert clinic.remind("420777001101")
    sendbox.advance("1m")
    assert not clinic.remind("420777002101")
    sendbox.advance("11h")
    assert clinic.remind("420777003101")
    assert len(sendbox.messages()) == 2


def test_a_delivery_comes_again_while_the_clinic_starts(clinic: Clinic, sendbox: Sandbox) -> None:
    """Three events, and one try more."""
    clinic.starting = 1
    clinic.remind(ANNA)
    sendbox.advance("2m")
    assert clinic.deliveries == 4
    assert list(clinic.results.values()) == ["delivered"]


@pytest.mark.sendbox(
    scenario={"sendbox": 1, "extends": "default", "webhooks": [{"when": {"result": "delivered"}, "fault": "drop"}]}
)
def test_a_lost_webhook_is_missed(clinic: Clinic, sendbox: Sandbox) -> None:
    """What never came is not known."""
    clinic.remind(ANNA)
    sendbox.advance("1m")
    assert list(clinic.results.values()) == ["sent"]
    assert clinic.deliveries == 2


def test_a_code_opens_the_door(clinic: Clinic, sendbox: Sandbox) -> None:
    """The code that came, and no other one; not after ten minutes."""
    token = clinic.ask_code(ANNA)
    sendbox.advance("1m")
    code = sendbox.codes(phone=ANNA)[0].code
    assert not clinic.let_in(token, "000000" if code != "000000" else "111111")
    assert clinic.let_in(token, code)
    token = clinic.ask_code(ANNA)
    sendbox.advance("11m")
    assert not clinic.let_in(token, sendbox.codes(phone=ANNA)[0].code)
