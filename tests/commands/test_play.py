"""`sendbox play`: arguments, output, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner, Result

from sendbox.cli import main as cli
from sendbox.cli import play as playing
from sendbox.cli.outcome import CANNOT, NO, OK, USAGE
from sendbox.runtime.slot import Conflict


def sendbox(*args: str) -> Result:
    return CliRunner().invoke(cli.sendbox, ["play", *args])


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    """A scenario whose request does not get what it expects."""
    file = tmp_path / "wrong.yaml"
    file.write_text(
        "sendbox: 1\ntraffic: [{at: 0s, request: {operation: sendMessage, body: {}}, expect: {status: 200}}]\n"
    )
    return file


def test_a_scenario_is_shown() -> None:
    """As a table, with the digest at the end; the exit code is 0 when all went as expected."""
    result = sendbox("otp-fallback")
    assert result.exit_code == OK
    assert result.output.startswith(
        "A code falls back to SMS\nthe scenario's traffic, 1 request, seed 7, from 2026-03-02T"
    )
    assert result.output.splitlines()[-1].startswith("digest ")
    assert "\x1b" not in result.output


def test_several_scenarios_are_shown_one_after_the_other() -> None:
    """With an empty line between."""
    result = sendbox("otp-fallback", "otp-lockout")
    assert result.exit_code == OK
    assert "\n\nA login is locked out\n" in result.output
    *_, head, first, second = result.output.splitlines()
    assert head == "2 scenarios, 2 as expected"
    assert first.startswith("  ok    otp-fallback  1 request, 1 message")
    assert second.startswith("  ok    otp-lockout   ")


@pytest.mark.unmeasured
def test_what_nothing_can_meet_is_not_ok(tmp_path: Path) -> None:
    """An expectation that cannot fail proves nothing, here as in `sendbox verdict`."""
    file = tmp_path / "never.yaml"
    file.write_text(
        "sendbox: 1\nattempts: [{name: nobody, when: {nth: 99}, then: failed}]\n"
        "traffic: []\nexpect: [{that: attempts, where: {rule: nobodi}, count: 0}]\n"
    )
    assert sendbox(str(file)).exit_code == NO
    assert "a condition that nothing can meet" in " ".join(sendbox(str(file)).output.split())
    assert "verdict, failed" in sendbox("--format", "mermaid", str(file)).output
    last = sendbox(str(file), "otp-fallback").output.splitlines()[-2]
    assert (last.split()[0], last.endswith("expectations not met")) == ("FAIL", True)


@pytest.mark.unmeasured
def test_several_scenarios_of_which_one_fails(wrong: Path, tmp_path: Path) -> None:
    """Each has a line that says what was not as expected."""
    unmet = tmp_path / "unmet.yaml"
    unmet.write_text("sendbox: 1\ntraffic: []\nexpect: [{that: messages}]\n")
    result = sendbox("--until", "1h", str(wrong), str(unmet), "late-receipt")
    assert result.exit_code == NO
    *_, head, first, second, third = [line.strip() for line in result.output.splitlines()]
    assert head == "3 scenarios, 1 as expected"
    assert first.startswith("FAIL")
    assert first.endswith("1 request, 0 messages, 1 not as expected")
    assert second.startswith("FAIL")
    assert second.endswith("0 requests, 0 messages, expectations not met")
    assert third.startswith("ok")


@pytest.mark.unmeasured
@pytest.mark.parametrize("seed", ["7", "text"])
def test_options_arrive(seed: str) -> None:
    """Seed and time, as the command line has them."""
    result = sendbox("--seed", seed, "--until", "5s", "--format", "json", "otp-fallback")
    shown = json.loads(result.output)
    assert (str(shown["seed"]), shown["stopped"]) == (seed, True)
    assert isinstance(shown["seed"], int) is seed.isdecimal()


@pytest.mark.unmeasured
def test_json_has_everything() -> None:
    """Requests, messages, entries for people, and those that the digest is taken over."""
    shown = json.loads(sendbox("--format", "json", "otp-fallback").output)
    assert [each["status"] for each in shown["requests"]] == [200]
    assert [each["result"] for each in shown["messages"]] == ["delivered"]
    assert shown["entries"][shown["requests"][0]["entry"]]["kind"] == "request"
    assert {entry["kind"] for entry in shown["canonical"]} == {"request", "transition", "fallback", "try"}
    assert shown["passed"] is True


def test_mermaid_is_a_diagram() -> None:
    """That can be put into a document."""
    assert sendbox("--format", "mermaid", "otp-fallback").output.startswith("sequenceDiagram\n    title A code falls")


def test_what_did_not_go_as_expected_ends_with_1(wrong: Path) -> None:
    """And is told."""
    result = sendbox(str(wrong), "otp-fallback")
    assert result.exit_code == NO
    assert "sendMessage at +0s: 400, expected 200" in result.output


def test_problems_are_told(tmp_path: Path) -> None:
    """One problem in the last line, several before it."""
    file = tmp_path / "broken.yaml"
    file.write_text("sendbox: 1\nsed: 7\n")
    result = sendbox(str(file))
    assert result.exit_code == NO
    assert result.stderr.startswith(f'sendbox: {file}:2:1: "sed" is not a key')
    file.write_text("sendbox: 1\nsed: 7\nnam: x\n")
    result = sendbox(str(file))
    assert result.stderr.splitlines()[-1] == f"sendbox: {file} has 2 problems, all above"
    assert len(result.stderr.splitlines()) == 3


def test_what_cannot_be_played_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A world that comes to no end, say."""

    def stuck(*_: object, **__: object) -> None:
        raise Conflict("loop", "it goes round")

    monkeypatch.setattr("sendbox.cli.play.run", stuck)
    result = sendbox("default")
    assert (result.exit_code, result.stderr) == (CANNOT, "sendbox: default: it goes round\n")


def test_wrong_use_is_told() -> None:
    """As everywhere."""
    result = sendbox("--until", "soon", "default")
    assert result.exit_code == USAGE
    assert "'soon' is not a duration" in result.stderr


@pytest.mark.parametrize(
    ("terminal", "environment", "expected"),
    [
        (True, {}, True),
        (True, {"NO_COLOR": ""}, True),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"TERM": "dumb"}, False),
        (False, {}, False),
    ],
)
def test_when_there_are_colours(terminal: bool, environment: dict[str, str], expected: bool) -> None:
    """On a terminal that can show them, unless they are not wanted."""
    assert playing.uses_colour(terminal, environment) is expected


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [("utf-8", "a → b…"), ("ascii", "a > b~"), ("no-such", "a > b~")],
)
def test_arrows_fit_the_encoding(encoding: str, expected: str) -> None:
    """What a terminal does not have is replaced."""
    assert playing.fit("a → b…", encoding) == expected


def test_objects_are_json() -> None:
    """Whatever is in them."""
    assert orjson.loads(playing.format_played(playing.play("replies-and-clicks"), "json", width=1, colour=False))
