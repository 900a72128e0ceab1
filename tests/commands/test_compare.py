"""`sendbox compare`: exit codes, settings and scenarios on the command line, and errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sendbox.cli.outcome import CANNOT, NO, OK, USAGE
from tests.commands.sandbox import sendbox

CALL: dict[str, Any] = {
    "startedDateTime": "2026-03-02T09:00:00Z",
    "request": {
        "method": "POST",
        "url": "https://api.service.example/Send",
        "headers": [{"name": "Content-Type", "value": "application/x-www-form-urlencoded"}],
        "postData": {"mimeType": "application/x-www-form-urlencoded", "text": "apikey=k-1&number=420777000101"},
    },
    "response": {"status": 400, "content": {"text": "ERROR", "size": 5}},
}


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "service.har"
    path.write_text(json.dumps({"log": {"entries": [CALL]}}), "utf-8")
    return str(path)


@pytest.mark.unmeasured
def test_a_difference_and_the_setting_that_agrees(file: str) -> None:
    """Exit code 1 with the differences; 0 under the setting that is named, from an option or a scenario."""
    result = sendbox("compare", file)
    assert (result.exit_code, result.output.splitlines()) == (
        NO,
        [
            'call 1, POST /Send: at line 1 the recording has "ERROR", the answer here has "ERROR|202"',
            "    A13 (F) legacy /Send and /api-send.php; agrees with legacy_error: plain",
            "1 of 1 calls differ",
        ],
    )
    result = sendbox("compare", "--assume", "legacy_error=plain", file)
    assert (result.exit_code, result.output) == (OK, "0 of 1 calls differ\n")
    mine = Path(file).with_name("mine.yaml")
    mine.write_text("sendbox: 1\nassume: {legacy_error: plain}\n", "utf-8")
    assert sendbox("compare", "--scenario", "default", "--scenario", str(mine), file).exit_code == OK
    sent = json.loads(sendbox("compare", "--json", file).output)
    assert sent["differences"][0]["agrees"] == [{"setting": "legacy_error", "value": "plain"}]


def test_settings_are_written(file: str) -> None:
    """A scenario with the settings that agree; exit code 0 where nothing differs under them."""
    target = Path(file).with_name("assume.yaml")
    result = sendbox("compare", "--write", str(target), "--assume", "bundle=false", file)
    assert (result.exit_code, result.output.splitlines()[-1]) == (
        OK,
        f"{target}: 1 setting; 0 of 1 calls differ under it",
    )
    assert target.read_text("utf-8") == (
        "# Settings under which sendbox compare agrees with service.har.\n"
        "# 1 of 1 calls differed before, 0 of 1 differ with them.\n"
        "sendbox: 1\n"
        "extends: default\n"
        "assume:\n"
        "  # set when it was compared\n"
        "  bundle: false\n"
        "  # A13 (F) legacy /Send and /api-send.php\n"
        "  # call 1, POST /Send, at line 1: recorded ERROR\n"
        "  #   legacy_error: code answers ERROR|202\n"
        "  #   legacy_error: plain answers as recorded\n"
        "  legacy_error: plain\n"
    )
    assert sendbox("check", str(target)).exit_code == OK
    assert sendbox("compare", "--scenario", str(target), file).exit_code == OK
    assert "extends" not in _written(target, "--scenario", str(target), file)
    assert json.loads(sendbox("compare", "--json", "--write", str(target), file).output)["calls"] == 1


def _written(target: Path, *arguments: str) -> str:
    sendbox("compare", "--write", str(target), *arguments)
    return target.read_text("utf-8")


def test_what_is_wrong(file: str, tmp_path: Path) -> None:
    """One line that says what is wrong, and the exit code."""
    broken = tmp_path / "broken.har"
    broken.write_text("{}", "utf-8")
    for arguments, code, told in (
        ([str(broken)], CANNOT, "cannot be compared: it is neither of the two forms; legal: a HAR file"),
        ([str(tmp_path / "none.har")], CANNOT, "cannot be read: No such file or directory"),
        (["--assume", "plain", file], USAGE, "'plain' is not a setting of assume and its value"),
        (["--assume", "legacy_error=loud", file], NO, '"loud" is not'),
        (["--scenario", "nothing", file], CANNOT, "nothing"),
        (["--write", str(tmp_path / "none" / "assume.yaml"), file], CANNOT, "cannot be written: No such file"),
    ):
        result = sendbox("compare", *arguments)
        assert (result.exit_code, result.stdout) == (code, ""), arguments
        assert told in result.stderr, result.stderr
