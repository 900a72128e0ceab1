"""`sendbox explain`: every message of it, as in `explain.txt`, and what it takes."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any, Final

import pytest
from click.testing import CliRunner, Result

from sendbox.cli import explain as explaining
from sendbox.cli import main as cli
from sendbox.cli.outcome import CANNOT, NO, OK, USAGE
from sendbox.services.messaging.rules.explained import dry_run
from tests.scenarios import load

_CASE: Final = re.compile(
    r"^### (?P<id>\S+)\n\$ sendbox explain (?P<args>.*?)\n(?P<expected>.*?)(?=\n### |\Z)", re.DOTALL | re.MULTILINE
)
HERE: Final = Path(__file__).parent
GOLDEN: Final = (HERE / "explain.txt").read_text("utf-8")
SCENARIO: Final = GOLDEN.partition("=== story.yaml\n")[2].partition("=== end\n")[0]
TROUBLES: Final = GOLDEN.partition("=== troubles.yaml\n")[2].partition("=== end\n")[0]
CASES: Final = {match["id"]: (match["args"], match["expected"].rstrip("\n")) for match in _CASE.finditer(GOLDEN)}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the scenario of the cases, and a request in a file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "story.yaml").write_text(SCENARIO, "utf-8")
    (tmp_path / "troubles.yaml").write_text(TROUBLES, "utf-8")
    request = {"to": [{"phone_number": "420777000101"}, {"phone_number": "nonsense"}], "body": "Hello", "colour": 1}
    (tmp_path / "request.json").write_text(json.dumps(request))
    (tmp_path / "list.json").write_text(json.dumps([{**request, "body": "First"}, {**request, "body": "Second"}]))
    flow = [{"richmsg": {"sender": "Acme", "ttl": 1}}, {"sms": {}}]
    later = {
        "to": [{"phone_number": "420777000102"}],
        "body": "Code 2",
        "flow": flow,
        "datetime": "2026-03-01T10:00:00Z",
    }
    (tmp_path / "flow.json").write_text(json.dumps({**later, "payload": {"order": {"id": 17}}}))
    (tmp_path / "bad.json").write_text("{")
    return tmp_path


def run(*args: str) -> Result:
    return CliRunner().invoke(cli.sendbox, ["explain", *args])


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("args", "expected"), CASES.values(), ids=CASES)
def test_what_is_printed(args: str, expected: str) -> None:
    """Rules, checks, and what happens when, in words."""
    result = run(*shlex.split(args))
    assert result.output.rstrip("\n") == expected
    assert result.exit_code == (NO if re.search("is answered with [45]|gets no answer", expected) else OK)


def test_the_cases_are_read() -> None:
    """No case of the file is lost by the way it is written."""
    assert len(CASES) == GOLDEN.count("\n### ")
    assert all(expected for _, expected in CASES.values())


@pytest.mark.usefixtures("folder")
def test_as_json() -> None:
    """The same for programs."""
    result = run("story.yaml", "--to", "420777000102", "--format", "json")
    found: dict[str, Any] = json.loads(result.output)
    assert (found["start"], found["request"]["status"]) == ("2026-03-01T09:00:00.000Z", 200)
    (message,) = found["messages"]
    assert message["attempts"][0]["decided_by"] == ["this phone is out of order"]
    assert message["happens"][-1]["what"] == "webhook to hook: m1 undelivered → 200"


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (["nowhere"], CANNOT, "is neither a scenario of the library nor a path"),
        (["story.yaml", "bad.json"], CANNOT, "bad.json is not a message in JSON"),
        (["story.yaml", "missing.json"], CANNOT, "missing.json cannot be read: No such file or directory"),
        (["story.yaml", "request.json", "--to", "1"], USAGE, "request.json is the whole message: give it, or flags"),
        (["story.yaml", "--verify", "nobody"], USAGE, "nobody is not a phone number"),
        (["story.yaml", "--channel", "fax"], USAGE, "'fax' is not one of"),
    ],
    ids=["scenario", "json", "file", "both", "number", "channel"],
)
def test_wrong_use(args: list[str], code: int, said: str) -> None:
    """One line, and an exit code."""
    result = run(*args)
    assert result.exit_code == code
    assert said in result.output


@pytest.mark.parametrize(
    ("fault", "answered"),
    [
        ({"status": 500}, "is answered with 500"),
        ({"rate_limit": {"max": 1, "within": "1s"}}, "is answered with 200"),
        ("timeout", "gets no answer"),
        ("disconnect", "gets no answer"),
        ("garbage", "gets no answer"),
        ({"disconnect": "middle"}, "is answered with 200"),
        ("bad_json", "is answered with 200"),
        ({"delay": "1h"}, "is answered with 200"),
        ({"trickle": "1h"}, "is answered with 200"),
    ],
    ids=str,
)
@pytest.mark.unmeasured
def test_a_fault_of_the_interface_is_told(fault: Any, answered: str) -> None:
    """Whatever it does to the connection, and in no real time."""
    word = fault if isinstance(fault, str) else next(iter(fault))
    view = explaining.run(load({"sendbox": 1, "api": [{"name": "broken", "fault": fault}]}), explaining.body_of(None))
    told = dry_run(view)
    assert told[1] == f"sendMessage {answered}"
    assert ('by the api rule "broken"' in told[2]) is (word != "rate_limit")


def test_a_world_that_never_rests_is_stopped() -> None:
    """It says how far it came."""
    text = 'sendbox: 1\ntimeline: [{at: 900d, inbound: {channel: sms, from: "420777000101", body: Hi}}]\n'
    view = explaining.run(load(text), {"to": [{"phone_number": "420777000101"}], "body": "Hello"})
    assert view["stopped"].startswith("900d is more than 400d, the most in one call")
    assert dry_run(view)[-1] == f"stopped: {view['stopped']}"


@pytest.mark.unmeasured
def test_explaining_leaves_no_trace_in_the_fates() -> None:
    """The draw is that of a server with this scenario: equal seeds, equal fates, however often it is asked."""
    text = "sendbox: 1\nseed: 7\nattempts: [{mix: {delivered: 1, failed: 1, undelivered: 1}}]\n"
    request = {"to": [{"phone_number": "420777000101"}], "body": "Hello"}
    views = [explaining.run(load(text), request) for _ in range(2)]
    assert views[0]["messages"][0]["result"] == views[1]["messages"][0]["result"]


@pytest.mark.parametrize(("at", "out"), [("0s", False), ("30m", True), ("2026-03-01T00:30:00Z", True), ("2h", False)])
def test_a_message_is_sent_at_a_moment(tmp_path: Path, at: str, *, out: bool) -> None:
    """What the timeline did before is in force: so long after the start, or at an instant."""
    outage = "{at: 10m, outage: {channel: sms, for: 1h, new: undelivered}}"
    start = '{start: "2026-03-01T00:00:00Z"}'
    (tmp_path / "night.yaml").write_text(f"sendbox: 1\nclock: {start}\ntimeline: [{outage}]\n", "utf-8")
    result = run(str(tmp_path / "night.yaml"), "--at", at)
    assert result.exit_code == OK
    assert ("undelivered" in result.output.lower()) is out


@pytest.mark.parametrize(
    ("at", "problem"),
    [
        ("yesterday", "yesterday"),
        ("2020-01-01T00:00:00Z", "is before the start of the world, 20"),
    ],
)
def test_a_moment_that_is_none(at: str, problem: str) -> None:
    """Neither a duration nor an instant, or one before the world."""
    result = run("default", "--at", at)
    assert result.exit_code == USAGE
    assert problem in result.output
