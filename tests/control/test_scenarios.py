"""Scenarios as texts: what is wrong, what may be written, those of the library, and that of a world."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sendbox.scenario import library
from tests.box import KEY, WORLD, Box, boxed

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


#: With a rule in several lists, and comments.
TEXT = """# Mine.
sendbox: 1
name: mine
extends: default
attempts:
  - name: lost
    when: {tag: x}
    then: failed
api:
  - {name: busy, when: {operation: showKey}, fault: {status: 503}, times: 1}
partner:
  signup: [{name: refused, result: failed}]
"""


async def shown(box: Box) -> dict[str, Any]:
    answer = await box.get(f"{WORLD}/scenario")
    assert answer.status == 200
    result: dict[str, Any] = answer.json
    return result


def rule(shown: dict[str, Any], title: str) -> dict[str, Any]:
    return next(row for row in shown["rules"] if row["rule"] == title)


async def test_a_world_shows_its_scenario_as_it_was_given() -> None:
    """The text with its comments; each rule with its line, whose it is, and how often it decided."""
    async with boxed() as box:
        await box.open(scenario=TEXT)
        await box.post(f"{WORLD}/rules", {"name": "put", "when": {"tag": "y"}, "then": "failed"})
        for tag in ("x", "y", "x"):
            await box.send(tag=tag)
        await box.get("/v1/apikey/me", x_api_key=KEY)
        await box.advance()
        found = await shown(box)
        assert (found["name"], found["given"], found["text"], found["at_reset"]) == ("mine", "text", TEXT, [])
        assert (found["settings"]["seed"], found["settings"]["clock"]["mode"]) == (0, "manual")
        titles = [row["rule"] for row in found["rules"] if row["in"] == "attempts"]
        assert titles[:2] == ["put", "lost"]
        put, lost = rule(found, "put"), rule(found, "lost")
        assert (put["of"], put["line"], put["fired"]) == ("control", None, 1)
        assert put["id"]
        assert (lost["of"], lost["line"], lost["fired"], lost["place"]) == ("scenario", 6, 2, "scenario:6")
        assert (rule(found, "busy")["in"], rule(found, "busy")["fired"]) == ("api", 1)
        assert (rule(found, "refused")["in"], rule(found, "refused")["line"]) == ("partner.signup", 12)
        theirs = rule(found, "delivered")
        assert (theirs["of"], theirs["line"]) == ("default", None)
        await box.post(f"{WORLD}/reset")
        assert {row["fired"] for row in (await shown(box))["rules"]} == {0}


async def test_a_scenario_of_the_library_is_shown_by_its_file() -> None:
    """The default one too, which is compiled before."""
    async with boxed() as box:
        await box.open(scenario="otp-fallback")
        found = await shown(box)
        assert (found["given"], found["text"]) == ("library", library.text("otp-fallback"))
        first = next(row for row in found["rules"] if row["in"] == "attempts")
        assert found["text"].splitlines()[first["line"] - 1].endswith(f"name: {first['rule']}")
        await box.delete(WORLD)
        await box.open()
        found = await shown(box)
        assert (found["given"], found["name"]) == ("library", "default")
        assert all(row["line"] and row["of"] == "scenario" for row in found["rules"])


@pytest.mark.parametrize("several", [False, True])
async def test_what_was_not_a_text_is_written(several: bool) -> None:
    """An object, and what was joined of several; the lines are those of the new text."""
    async with boxed() as box:
        lost = {"name": "lost", "when": {"tag": "x"}, "then": "failed"}
        mine = {"sendbox": 1, "extends": "default", "attempts": [lost]}
        await box.open(scenario=[TEXT, mine] if several else mine)
        found = await shown(box)
        assert found["given"] == "object"
        text = found["text"].splitlines()
        for row in found["rules"]:
            if row["in"] == "attempts" and row["rule"] == "lost":
                assert text[row["line"] - 1].endswith("name: lost")
        assert rule(found, "delivered")["of"] == "default"
        assert text[rule(found, "delivered")["line"] - 1].endswith("name: delivered")


async def test_a_loaded_scenario_is_shown_with_what_waits() -> None:
    """Lists that stay until the reset have no lines in the new text."""
    async with boxed() as box:
        await box.open(scenario=TEXT)
        await box.call("PUT", f"{WORLD}/scenario", b"sendbox: 1\nname: other\nseed: 7\npartner: {}\n")
        found = await shown(box)
        assert found["name"] == "other"
        assert {"seed", "partner"} <= set(found["at_reset"])
        assert (rule(found, "refused")["line"], [row["in"] for row in found["rules"]]) == (None, ["partner.signup"])


async def test_a_file_is_shown_as_such(tmp_path: Path) -> None:
    """Its text as it was read when it was compiled, and the file of a rule that it includes."""
    (tmp_path / "base.yaml").write_text("sendbox: 1\napi: [{name: busy, fault: {status: 503}}]\n", "utf-8")
    file = tmp_path / "mine.yaml"
    file.write_text(TEXT.replace("default", "base.yaml"), "utf-8")
    async with boxed(file) as box:
        await box.open()
        found = await shown(box)
        assert (found["given"], found["text"], rule(found, "lost")["line"]) == ("file", file.read_text("utf-8"), 6)
        assert [row["of"] for row in found["rules"] if row["in"] == "api"] == ["scenario", str(tmp_path / "base.yaml")]


async def test_the_magic_numbers() -> None:
    """Those of the default scenario, with what happens to a message to each."""
    async with boxed() as box:
        rows = (await box.get("/_sandbox/numbers")).json["numbers"]
        assert rows[:2] == [
            {"ends": "00", "example": "420777000100", "meaning": "delivered"},
            {"ends": "01", "example": "420777000101", "meaning": "delivered as well"},
        ]
        assert [row["ends"] for row in rows] == [f"{number:02}" for number in range(15)]
