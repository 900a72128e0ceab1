"""The file of a recording: whole after each call, bounded, and readable by `sendbox compare`."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from sendbox.comparing.recording import Unreadable, read
from sendbox.recording.exchange import Body, Budget, NotRecorded
from sendbox.recording.har import FileFull, HarFile, entry_of
from sendbox.recording.recorder import Recorder
from sendbox.recording.standins import StandIns
from tests.recording.test_masking import call
from tests.serving import LIMIT, free_port
from tests.tiers import LONG


class NoChecker:
    """Finds no differences."""

    def parameters(self, method: str, url: str) -> dict[str, str]:
        return {}

    def differences(self, exchange: object) -> list[str]:
        return []


def written(*calls: Any, file: Path, limit: int = 10**6, waiting: int = 100) -> tuple[Recorder, list[str]]:
    """The recorder that has written calls, and its lines."""
    lines: list[str] = []
    recorder = Recorder(HarFile(file, limit), NoChecker, lines.append, waiting)  # type: ignore[arg-type]
    for one in calls:
        recorder.add(one)
    recorder.close()
    return recorder, lines


def test_each_state_of_the_file_is_whole(tmp_path: Path) -> None:
    """It is JSON after each call, and has what HAR 1.2 requires; only its owner reads it."""
    file = HarFile(tmp_path / "a.har", 10**6)
    for count in range(4):
        entries = json.loads((tmp_path / "a.har").read_bytes())["log"]["entries"]
        assert len(entries) == count == file.count
        file.add(entry_of(call(body='{"body": "ž"}').masked(StandIns())))
    file.close()
    assert stat.S_IMODE(os.stat(tmp_path / "a.har").st_mode) == 0o600
    assert set(entries[0]) == {"startedDateTime", "time", "request", "response", "cache", "timings"}
    assert set(entries[0]["request"]) == set(
        "method url httpVersion cookies headers queryString headersSize bodySize postData".split()
    )
    assert set(entries[0]["response"]) == set(
        "status statusText httpVersion cookies headers content redirectURL headersSize bodySize".split()
    )
    (first, *_) = read((tmp_path / "a.har").read_bytes())
    assert (first.method, first.path, first.status, first.incomplete) == ("POST", "/v2/message", 200, "")
    assert first.body == '{"body": "ž"}'.encode()


def test_a_file_that_is_cut_off_has_its_whole_calls(tmp_path: Path) -> None:
    """`sendbox compare` reads the calls before the one that was being written when the recorder was killed."""
    written(call(), call(), call(), file=tmp_path / "a.har")
    raw = (tmp_path / "a.har").read_bytes()
    third = raw.rindex(b'{"startedDateTime"')
    counts = [len(read(raw[:end])) for end in (third + 30, len(raw) - 3)]
    assert counts == [2, 3]
    with pytest.raises(Unreadable, match="it is not JSON"):
        read(raw[:20])


def test_webhooks_and_calls_without_an_answer_are_not_compared(tmp_path: Path) -> None:
    """The recording says so, and they are passed over."""
    calls = (call(status=0, error="closed"), call(webhook=True), call(status=600))
    written(*calls, file=tmp_path / "a.har")
    assert [one.incomplete for one in read((tmp_path / "a.har").read_bytes())] == [
        "it has no answer",
        "it is a webhook",
        "",
    ]


def test_a_full_file_takes_no_more(tmp_path: Path) -> None:
    """It stays whole; a line says it once, and each call that is not in it is counted."""
    written(call(), call(), file=tmp_path / "two.har")
    limit = (tmp_path / "two.har").stat().st_size
    recorder, lines = written(*(call() for _ in range(5)), file=tmp_path / "a.har", limit=limit)
    assert lines == ["the file is full (--max-size); further calls are handed on, and not recorded"]
    assert (recorder.file.count, recorder.missing) == (2, 3)
    assert len(read((tmp_path / "a.har").read_bytes())) == 2
    file = HarFile(tmp_path / "b.har", 10)
    with pytest.raises(FileFull):
        file.add({})
    file.close()


def test_a_disk_that_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A part of a call that was written is taken back."""
    file = HarFile(tmp_path / "a.har", 10**6)
    file.add({"a": 1})
    whole, write, tries = (tmp_path / "a.har").read_bytes(), file._file.write, iter("half none".split())

    def write_less(data: bytes) -> int:
        if next(tries, "") == "none":
            raise OSError(28, "No space left on device")
        return write(data[: len(data) // 2 + 1])

    monkeypatch.setattr(file, "_file", _Like(file._file, write_less))
    with pytest.raises(OSError, match="No space"):
        file.add({"b": 2})
    file.close()
    assert (tmp_path / "a.har").read_bytes() == whole

    lines: list[str] = []
    broken = HarFile(tmp_path / "b.har", 10**6)
    monkeypatch.setattr(broken, "add", _no_space)
    recorder = Recorder(broken, NoChecker, lines.append)  # type: ignore[arg-type]
    recorder.add(call())
    recorder.close()
    assert lines == ["the file cannot be written: No space left; further calls are handed on, and not recorded"]


class _Like:
    """A file with another `write`."""

    def __init__(self, file: Any, write: Any) -> None:
        self.seek, self.truncate, self.close, self.write = file.seek, file.truncate, file.close, write


def _no_space(_entry: object) -> None:
    raise OSError(28, "No space left")


def test_nothing_waits_for_the_file(tmp_path: Path) -> None:
    """Beyond a number of calls, and of bytes, that wait, further ones are not recorded, which lines say."""
    import threading

    begun, goes_on = threading.Event(), threading.Event()

    def checker() -> NoChecker:
        begun.set()
        goes_on.wait()
        return NoChecker()

    lines: list[str] = []
    recorder = Recorder(HarFile(tmp_path / "a.har", 10**6), checker, lines.append, 2)  # type: ignore[arg-type]
    begun.wait()
    for _ in range(4):
        recorder.add(call())
    recorder.say("a line that has no place")
    goes_on.set()
    recorder.close()
    assert lines == ["2 calls are not recorded: too many waited to be written"]
    assert (recorder.missing, recorder.file.count) == (2, 2)

    budget = Budget(10)
    first, second = Body(budget), Body(budget)
    first.add(b"12345678")
    second.add(b"123")
    second.add(b"1")
    with pytest.raises(NotRecorded, match="too many wait"):
        second.text((), "answer")
    first.release()
    assert budget.take(10)


def test_a_call_that_cannot_be_read(tmp_path: Path) -> None:
    """It is left out, and the next ones are written; so it is where nobody reads the lines."""
    _, lines = written(call(body="[" * 900 + '"a"' + "]" * 900), call(), file=tmp_path / "a.har")
    assert lines == ["POST /v2/message is not recorded: it cannot be read (RecursionError)"]

    def closed(_line: str) -> None:
        raise BrokenPipeError

    recorder = Recorder(HarFile(tmp_path / "b.har", 10**6), NoChecker, closed)  # type: ignore[arg-type]
    recorder.say("a line")
    recorder.add(call())
    recorder.close()
    assert recorder.file.count == 1


@pytest.mark.unmeasured
@pytest.mark.timeout(LONG)
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_a_killed_recorder_leaves_a_readable_file(tmp_path: Path) -> None:
    """Each call that was answered before a line about a later one is in it."""
    port, file = free_port(), tmp_path / "a.har"
    line = [sys.executable, "-m", "sendbox", "record", "--to", f"http://127.0.0.1:{free_port()}", "--port", str(port)]
    with subprocess.Popen([*line, "--file", str(file)], stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        try:
            assert f":{port} go to " in program.stdout.readline()
            for path in ("/v2/message", "/v1/apikey/me"):
                with pytest.raises(httpx.RemoteProtocolError):
                    httpx.post(f"http://127.0.0.1:{port}{path}", content=b"{}", trust_env=False, timeout=LIMIT)
                lines = iter(program.stdout.readline, "")
                assert any(f"{path} has no whole answer" in line for line in lines)
        finally:
            program.send_signal(signal.SIGKILL)
    assert read(file.read_bytes())[0].path == "/v2/message"
