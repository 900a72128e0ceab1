"""Control of partner management: the steps of a signup, templates and numbers by hand."""

from __future__ import annotations

from typing import Any

import pytest

from tests.box import KEY, WORLD, Box, boxed

pytestmark = pytest.mark.asyncio
BODY = {"type": "BODY", "text": "Hi"}
SCENARIO: dict[str, Any] = {
    "sendbox": 1,
    "partner": {"accounts": [{"waba_id": "1", "numbers": [{"phone_number": "420900000001", "phone_number_id": "11"}]}]},
    "account": {
        "templates": [
            {"name": "a", "language": "en", "components": [BODY]},
            {"name": "a", "language": "cs", "components": [BODY]},
            {"name": "b", "language": "en", "components": [BODY]},
        ]
    },
}


async def begin(box: Box, mode: str = "manual") -> str:
    """The id of a signup that has just begun."""
    body = {"partner_callback_url": "http://client.example/x", "phone_number": mode}
    answer = await box.post("/v1/chatapp/signup", body, x_api_key=KEY)
    return str(answer.json["redirect_url"]).rpartition("/")[2]


async def test_a_signup_step_by_step() -> None:
    """Each step of the hosted page is an operation; one that is not due is a 409 with its reason."""
    async with boxed() as box:
        await box.open()
        path = f"{WORLD}/signups/{await begin(box)}"
        early = await box.post(f"{path}/finish", {})
        assert (early.status, early.json["error"]) == (409, "state")
        assert (await box.post(f"{path}/open", {})).json["state"] == "opened"
        await box.post(f"{path}/number", {"phone_number": "420777000555"})
        assert (await box.delete(f"{path}/number")).json["phone_number"] is None
        given = await box.post(f"{path}/number", {"phone_number": "420777000555", "details": {"name": "Bakery"}})
        assert given.json["details"] == {"name": "Bakery"}
        again = (await box.post(f"{path}/resend", {})).json["code"]
        assert (await box.post(f"{path}/code", {"code": "x"})).status == 409
        assert (await box.post(f"{path}/code", {"code": again})).json["state"] == "number_verified"
        done = (await box.post(f"{path}/finish", {})).json
        assert done["state"] == "completed"
        assert (await box.get(path)).json == done
        shown = (await box.get(f"{WORLD}/partner")).json
        page = shown["signups"][0].pop("page")
        assert shown["signups"] == [done]
        assert (done["legal"], page.partition("?")[0]) == ([], f"/signup/{done['signup']}")
        assert (await box.get(page)).status == 200
        await box.advance("1h")
        assert (await box.get(f"{WORLD}/partner")).json["signups"][0]["page"] is None
        assert shown["accounts"][0]["chatapp_id"] == done["chatapp_id"]
        await box.advance("0s")
        assert [each["number"] for each in (await box.get(f"{WORLD}/phones")).json["phones"]] == ["420777000555"]


async def test_a_signup_at_once_or_not_at_all() -> None:
    """`complete` does what is left; `fail` ends it; an unknown id is a 404."""
    async with boxed() as box:
        await box.open()
        path = f"{WORLD}/signups/{await begin(box)}"
        assert (await box.get(path)).json["legal"] == ["complete", "fail"]
        refused = await box.post(f"{path}/complete", {"phone_number": "42077700*"})
        assert (refused.status, refused.json["error"]) == (400, "bad_argument")
        assert (await box.post(f"{path}/complete", {"phone_number": "420777000555"})).json["state"] == "completed"
        path = f"{WORLD}/signups/{await begin(box)}"
        assert (await box.post(f"{path}/fail", {"reason": "no"})).json["reason"] == "no"
        assert (await box.post(f"{path}/fail", {})).status == 409
        assert (await box.get(f"{WORLD}/signups/x")).json["error"] == "no_such_signup"


async def test_templates_by_hand() -> None:
    """By id or by a name that only one has; an illegal status says which are legal."""
    async with boxed() as box:
        await box.open(scenario=SCENARIO)
        templates = (await box.get(f"{WORLD}/partner")).json["templates"]
        assert [each["status"] for each in templates] == ["APPROVED"] * 3
        moved = await box.patch(f"{WORLD}/templates/b", {"status": "PAUSED", "reason": "complaints"})
        assert (moved.json["status"], moved.json["reason"]) == ("PAUSED", "complaints")
        by_id = await box.patch(f"{WORLD}/templates/{templates[1]['template_id']}", {"status": "DISABLED"})
        assert (by_id.json["language"], by_id.json["status"]) == ("cs", "DISABLED")
        illegal = await box.patch(f"{WORLD}/templates/b", {"status": "IN_APPEAL"})
        assert (illegal.status, illegal.json["legal"]) == (
            409, ["APPROVED", "PENDING", "DISABLED", "PENDING_DELETION", "DELETED"],
        )  # fmt: skip
        gone = await box.patch(f"{WORLD}/templates/b", {"status": "DELETED"})
        assert gone.json == {"name": "b", "language": "en", "status": "DELETED"}
        for name, message in (
            ("a", '2 templates have the name or id "a"'),
            ("b", 'no template has the name or id "b"'),
        ):
            answer = await box.patch(f"{WORLD}/templates/{name}", {"status": "PAUSED"})
            assert (answer.status, answer.json["message"]) == (404, message)


async def test_numbers_by_hand() -> None:
    """By id or by phone number; ratings that there are not and states that do not follow are refused."""
    async with boxed() as box:
        await box.open(scenario=SCENARIO)
        flagged = (await box.patch(f"{WORLD}/numbers/11", {"quality": "RED"})).json
        assert (flagged["status"], flagged["quality"]) == ("FLAGGED", "RED")
        assert (await box.patch(f"{WORLD}/numbers/900000001", {"status": "OFFLINE"})).json["status"] == "OFFLINE"
        assert (await box.patch(f"{WORLD}/numbers/11", {"status": "FLAGGED"})).json["legal"] == ["CONNECTED"]
        assert (await box.patch(f"{WORLD}/numbers/11", {"quality": "BLUE"})).status == 400
        assert (await box.patch(f"{WORLD}/numbers/12", {"quality": "RED"})).status == 404


async def test_another_scenario_s_partner_holds_from_the_next_reset() -> None:
    """What is connected is not exchanged under a client's feet."""
    async with boxed() as box:
        await box.open()
        answer = (await box.put(f"{WORLD}/scenario", SCENARIO)).json
        assert "partner" in answer["at_reset"]
