"""Recordings are read from HAR files and journals; what is wrong with a file is said."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Any

import pytest

from sendbox.comparing.recording import Unreadable, read
from sendbox.engine.durations import instant


def har(*entries: Any) -> bytes:
    return json.dumps({"log": {"entries": entries}}).encode()


def entry(**request: Any) -> dict[str, Any]:
    call = {"method": "get", "url": "https://x.example/v1/message?id=1", "headers": [], **request}
    answer = {"status": 200, "content": {"text": "{}", "size": 2}}
    return {"startedDateTime": "2026-03-01T10:00:00.250+01:00", "request": call, "response": answer}


def test_a_har_file() -> None:
    """Texts, forms and base64; keys of headers, queries and forms; calls in the order of their times."""
    form = {"mimeType": "application/x-www-form-urlencoded"}
    later = {**entry(), "startedDateTime": "2026-03-01T09:00:01Z"}
    later["response"] = {"status": 201, "content": {"text": b64encode(b"\xff").decode(), "encoding": "base64"}}
    params = [{"name": "apikey", "value": "k3"}, {"name": "message", "value": "Hi there"}]
    calls = read(
        har(
            later,
            entry(headers=[{"name": "X-API-Key", "value": "k1"}, {"name": "Accept", "value": "*/*"}]),
            entry(url="https://x.example/Send?apikey=k2"),
            entry(method="POST", postData={**form, "params": params}),
            entry(method="POST", postData={"mimeType": "application/json", "text": "e30=", "encoding": "base64"}),
        )
    )
    assert [(call.number, call.method, call.key) for call in calls] == [
        (1, "GET", "k1"), (2, "GET", "k2"), (3, "POST", "k3"), (4, "POST", None), (5, "GET", None)
    ]  # fmt: skip
    assert calls[0].headers == {"x-api-key": "k1"}
    assert calls[2].body == b"apikey=k3&message=Hi+there"
    assert calls[3].headers == {"content-type": "application/json"}
    assert (calls[3].body, calls[4].answer, calls[4].status) == (b"{}", b"\xff", 201)
    assert calls[4].at is not None
    assert calls[0].at == instant("2026-03-01T09:00:00.250Z")
    assert calls[4].at - calls[0].at == 750


def test_calls_without_an_answer() -> None:
    """A connection that broke, and an answer whose content was not kept, cannot be compared."""
    broken, empty = entry(), entry()
    broken["response"] = {"status": 0, "content": {}}
    empty["response"] = {"status": 200, "content": {"size": 12}}
    assert [call.incomplete for call in read(har(broken, empty, entry()))] == [
        "it has no answer", "the recording does not have the answer's content", ""
    ]  # fmt: skip


LEGAL = "legal: a HAR file (log.entries), or what GET /_sandbox/worlds/ID/journal answers"


@pytest.mark.parametrize(
    ("raw", "beginning"),
    [
        (b"<har>", "it is not JSON: "),
        (b"[]", f"it is neither of the two forms; {LEGAL}"),
        (b'{"entries": [], "form": "canonical"}', f"it is neither of the two forms; {LEGAL}"),
        (b'{"log": {"entries": []}}', f"it has no call; {LEGAL}"),
        (b'{"entries": [{"kind": "opened"}]}', f"it has no call; {LEGAL}"),
        (b'{"entries": [1]}', "it is damaged: entries[0] is not an object"),
        (b'{"entries": [{"kind": "request"}]}', 'it is damaged: entries[0]: "status" is missing'),
        (har({"request": {}}), 'it is damaged: log.entries[0]: "response" is missing'),
        (
            har(entry(), {**entry(), "startedDateTime": "soon"}),
            "it is damaged: log.entries[1]: 'soon' is not an instant",
        ),
        (har(5), "it is damaged: log.entries[0]: its fields are not those of a recorded call"),
        (
            har({**entry(), "response": {"status": "x"}}),
            "it is damaged: log.entries[0]: \"status\" is 'x', which is no status",
        ),
        (har(entry(postData={"text": "?", "encoding": "base64"})), "it is damaged: log.entries[0]: "),
    ],
)
def test_files_that_cannot_be_read(raw: bytes, beginning: str) -> None:
    """Each says what is wrong, where, and what is legal."""
    with pytest.raises(Unreadable) as refused:
        read(raw)
    assert str(refused.value).startswith(beginning)
