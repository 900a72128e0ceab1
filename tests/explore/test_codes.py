"""The family `codes`, and the end of a code in the family `time`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import httpx

from tests.explore.rich import Rich, misfortunes

if TYPE_CHECKING:
    from sendbox.fixture import Sandbox

PHONE: Final = "420777000101"
USUAL: Final = {"sendbox": 1}


class Login:
    """A client whose customer enters the newest code on the phone, a minute later."""

    def __init__(self) -> None:
        self.answers: list[int] = []

    def do(self, sandbox: Sandbox) -> None:
        """What its test does: a wrong code, then the right one."""
        with httpx.Client(transport=sandbox.transport, headers={"X-API-Key": sandbox.api_key}) as http:
            url = f"{sandbox.verify_url}/v1/validations"
            token = http.post(url, json={"phoneNumber": PHONE}).json()["token"]
            sandbox.advance("1m")
            code = sandbox.codes()[0].code
            entered = ("111111" if code == "000000" else "000000", code)
            self.answers = [http.post(f"{url}/{token}/verify", json={"code": code}).status_code for code in entered]
            sandbox.advance("1h")


def test_each_misfortune_of_codes(rich: Rich) -> None:
    """A code that is entered twice is verified; one of another session is not: each find is a question."""
    login = Login()
    usual = rich.run((), login.do, USUAL)
    answers = {}
    for item in misfortunes(usual.census, "codes"):
        assert item.changing
        rich.run((item,), login.do, USUAL)
        answers[str(item)] = login.answers
    twice, sessions = "enters the code twice, and the client has", "begins two sessions, and the client has"
    first, second = "the answer to the first time", "the answer to the second time"
    assert answers == {
        f"the 1st call of verifyCode {twice} {second}": [400, 200],
        f"the 1st call of verifyCode {twice} {first}": [400, 200],
        f"the 2nd call of verifyCode {twice} {second}": [400, 200],
        f"the 2nd call of verifyCode {twice} {first}": [400, 200],
        f"the 1st call of createValidation {sessions} {first}": [400, 400],
        f"the 1st call of createValidation {sessions} {second}": [400, 200],
    }


def test_a_code_is_entered_at_its_last_millisecond(rich: Rich) -> None:
    """The advance right before it ends a millisecond before the code does; the code is still taken."""
    login = Login()
    (item,) = (
        item
        for item in misfortunes(rich.run((), login.do, USUAL).census, "time")
        if item.spot.kind.name == "expiry" and "1st advance" in item.spot.place
    )
    assert str(item) == f"the 1st advance ends a millisecond before the 1st code of {PHONE} expires"
    census = rich.run((item,), login.do, USUAL).census
    assert login.answers == [400, 200]
    assert census.sessions[0].verified == census.moves[0].ended == 599_999


def test_a_code_that_is_not_entered(rich: Rich) -> None:
    """An advance beyond its end ends at it, a millisecond after it, and a millisecond before it."""

    def do(sandbox: Sandbox) -> None:
        with httpx.Client(transport=sandbox.transport, headers={"X-API-Key": sandbox.api_key}) as http:
            http.post(f"{sandbox.verify_url}/v1/validations", json={"phoneNumber": PHONE})
        sandbox.advance("1h")

    items = [item for item in misfortunes(rich.run((), do, USUAL).census, "time") if item.spot.kind.name == "expiry"]
    ends = [rich.run((item,), do, USUAL).census.moves[0].ended for item in items]
    assert ends == [600_000, 600_001, 599_999]
