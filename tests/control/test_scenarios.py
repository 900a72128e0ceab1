"""Scenarios as texts: what is wrong with them, what may be written in them, those of the library."""

from __future__ import annotations

from typing import Any

import pytest

from sendbox.scenario import library
from tests.box import boxed

pytestmark = pytest.mark.asyncio
CHECK = "/_sandbox/check"


async def checked(text: str, **more: Any) -> dict[str, Any]:
    async with boxed() as box:
        answer = await box.post(CHECK, {"text": text, **more})
        assert answer.status == 200
        result: dict[str, Any] = answer.json
        return result


async def test_problems_are_an_answer() -> None:
    """Each with its place; a warning leaves the scenario usable."""
    wrong = await checked("sendbox: 1\nattempts:\n  - then: delivred\n")
    assert (wrong["ok"], wrong["place"], wrong["keys"]) == (False, None, [])
    assert [(p["line"], p["column"], p["path"], p["severity"]) for p in wrong["problems"]] == [
        (3, 11, "$.attempts[0].then", "error")
    ]
    doubtful = await checked("sendbox: 1\nattempts:\n  - {then: delivered}\n  - {then: failed}\n")
    assert doubtful["ok"]
    assert {p["severity"] for p in doubtful["problems"]} == {"warning"}
    assert await checked("sendbox: 1\nextends: default\n") == {
        "ok": True,
        "problems": [],
        "place": None,
        "keys": [],
        "values": [],
        "examples": [],
    }


async def test_a_text_is_never_a_name_and_reads_nothing_of_the_machine() -> None:
    """What could be a name of the library or a path is YAML here; `extends` knows the library, `${}` nothing."""
    for text in ("default", "/etc/passwd", "other.yaml", ""):
        assert not (await checked(text))["ok"]
    afar = await checked("sendbox: 1\nextends: ./other.yaml\nname: ${HOME}\n")
    assert {p["rule"] for p in afar["problems"]} == {"extends", "environment"}


async def test_the_cursor_gets_keys_and_words() -> None:
    """Also where the text cannot be read."""
    text = "sendbox: 1\nattempts:\n  - name: 'x\n  - when: {channel: sms, \n"
    found = await checked(text, line=4)
    assert not found["ok"]
    assert found["place"] == "attempts[1].when"
    assert {"phone", "tag"} <= {row["key"] for row in found["keys"]}
    found = await checked("sendbox: 1\nclock: {mode: }", line="2", column="15")
    assert (found["place"], found["values"]) == ("clock.mode", ["manual", "real", "auto"])


async def test_arguments_are_checked() -> None:
    """Lines count from 1; a text is needed, and may be as long as a scenario."""
    async with boxed() as box:
        assert (await box.post(CHECK, {"text": "a: 1", "line": 0})).status == 400
        assert (await box.post(CHECK, {"text": "a: 1", "line": 1, "column": 0})).status == 400
        assert (await box.post(CHECK, {})).json["error"] == "missing_argument"
        long = f"sendbox: 1\n# {'x' * 100_000}\n"
        assert (await box.post(CHECK, {"text": long})).json["ok"]


async def test_the_library_is_listed_and_read() -> None:
    """Each scenario with its title and story; its text has its comments."""
    async with boxed() as box:
        rows = {row["name"]: row for row in (await box.get("/_sandbox/scenarios")).json["scenarios"]}
        assert tuple(rows) == library.names()
        assert rows["otp-fallback"]["traffic"] is True
        assert rows["default"]["summary"].startswith("The scenario of every world")
        assert rows["otp-fallback"]["title"]
        assert all(row["summary"] for row in rows.values())
        shown = (await box.get("/_sandbox/scenarios/otp-fallback")).json
        assert shown == {"name": "otp-fallback", "text": library.path("otp-fallback").read_text("utf-8")}
        missing = await box.get("/_sandbox/scenarios/otp")
        assert (missing.status, missing.json["error"]) == (404, "no_such_scenario")
