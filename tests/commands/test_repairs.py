"""`sendbox check --fix`."""

from __future__ import annotations

from pathlib import Path

from tests.commands.sandbox import sendbox

OLD = """\
sendbox: 1   # a scenario of before
assume: {webhook_retry: [5, '10s', 90]}\t# ms\r
attempts:
  - {name: "5", then: [sending, sent: 2000, {delivered: {after: 30}}]}
  - {times: 3, when: {attempt: 2}, then: [sent: 1s..5s], click: {after: 0}}   # café: 5
  - {times: 1, then: [{sent: {after: &time 7}}], click: {after: *time}}
"""
NEW = """\
sendbox: 1   # a scenario of before
assume: {webhook_retry: [5ms, '10s', 90ms]}\t# ms\r
attempts:
  - {name: "5", then: [sending, sent: 2000ms, {delivered: {after: 30ms}}]}
  - {times: 3, when: {attempt: 2}, then: [sent: 1s..5s], click: {after: 0}}   # café: 5
  - {times: 1, then: [{sent: {after: &time 7}}], click: {after: *time}}
"""


def test_numbers_get_their_unit(tmp_path: Path) -> None:
    """Only the numbers change, and only those that are lengths of time; what cannot be repaired is reported."""
    file = tmp_path / "old.yaml"
    file.write_bytes(OLD.encode())
    result = sendbox("check", "--fix", str(file))
    assert file.read_bytes() == NEW.encode()
    assert [line.removeprefix(f"{file}:") for line in result.stderr.splitlines()] == [
        "2:26: 5 is now 5ms",
        "2:36: 90 is now 90ms",
        "4:39: 2000 is now 2000ms",
        "4:65: 30 is now 30ms",
    ]
    assert ":38: 7 has no unit; 7s or 7ms is legal, only 0 needs no unit" in result.stdout
    assert result.exit_code == 1


def test_numbers_in_quotes_get_their_unit(tmp_path: Path) -> None:
    """They keep their quotes. Whoever meant a date is told the date, and gets no `ms`."""
    file = tmp_path / "old.yaml"
    outage = "outage: {channel: sms, for: '120000'}"
    file.write_text(f'sendbox: 1\ntimeline:\n- {{at: "5", {outage}}}\n- {{at: 1772355600, {outage}}}\n')
    result = sendbox("check", "--fix", str(file))
    outage = outage.replace("120000", "120000ms")
    assert file.read_text() == f'sendbox: 1\ntimeline:\n- {{at: "5ms", {outage}}}\n- {{at: 1772355600, {outage}}}\n'
    assert result.stdout.splitlines()[0] == (
        f"{file}:4:8: 1772355600 is neither a duration nor a date and time; "
        "1772355600s or 1772355600ms, or 2026-03-01T09:00:00.000Z is legal"
    )


def test_lines_are_counted_as_yaml_counts_them(tmp_path: Path) -> None:
    """Behind a mark of the byte order, and with ends of lines that only Unicode has, the right number is changed."""
    file = tmp_path / "old.yaml"
    text = "\ufeff# a\u2028# b\nsendbox: 1\nattempts:\n- {then: [{sent: {after: 15}}]}\n- {then: failed}\n"
    file.write_text(text, encoding="utf-8")
    sendbox("check", "--fix", str(file))
    assert file.read_text(encoding="utf-8") == text.replace("15", "15ms")
    file.write_text("\ufeff{sendbox: 1, attempts: [{then: [{sent: {after: 15}}]}]}", encoding="utf-8")
    sendbox("check", "--fix", str(file))
    assert file.read_text(encoding="utf-8") == "\ufeff{sendbox: 1, attempts: [{then: [{sent: {after: 15ms}}]}]}"


def test_a_second_time_changes_nothing(tmp_path: Path) -> None:
    """What was repaired is left as it is; in JSON a length of time stands in quotes."""
    file = tmp_path / "old.json"
    file.write_text('{"sendbox": 1, "timeline": [{"at": 5, "clock": {"mode": "manual"}}]}')
    assert sendbox("check", "--fix", str(file)).exit_code == 0
    text = file.read_text()
    assert '"at": "5ms",' in text
    again = sendbox("check", "--fix", str(file))
    assert (again.exit_code, again.stderr, file.read_text()) == (0, "", text)
