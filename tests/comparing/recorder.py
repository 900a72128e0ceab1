"""A sandbox whose calls are recorded, as a proxy in front of the service would do it: as a HAR file."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Any, Final

from sendbox.engine.durations import iso
from tests.box import ORIGIN, Answer, Box

#: Where the recorded service seems to be.
SERVICE: Final = ORIGIN


class Recorder(Box):
    """Calls of the emulated interfaces go into `entries`, with the present of the world that they came to."""

    def __init__(self, box: Box) -> None:
        super().__init__(box.app)
        self.entries: list[dict[str, Any]] = []

    async def call(
        self, method: str, target: str, body: bytes = b"", headers: dict[str, str] | None = None, **more: Any
    ) -> Answer:
        answer = await super().call(method, target, body, headers, **more)
        if not target.startswith("/_sandbox"):
            self.entries.append(entry(method, target, body, headers or {}, answer, self._now()))
        return answer

    def _now(self) -> int:
        return max(hosted.world.now for hosted in self.runtime.worlds.values())

    def har(self) -> bytes:
        return har(self.entries)


def har(entries: list[dict[str, Any]]) -> bytes:
    """A file of entries."""
    return json.dumps({"log": {"version": "1.2", "creator": {"name": "test"}, "entries": entries}}).encode()


def entry(method: str, target: str, body: bytes, headers: dict[str, str], answer: Answer, at: int) -> dict[str, Any]:
    """One call as a HAR file has it: texts as they are, other bytes in base64."""
    named = {name.lower(): value for name, value in headers.items()}
    request: dict[str, Any] = {
        "method": method,
        "url": f"{SERVICE}{target}",
        "headers": [{"name": name.title(), "value": value} for name, value in named.items() if name != "host"],
    }
    if body:
        request["postData"] = {"mimeType": named.get("content-type", ""), **_content(body)}
    return {
        "startedDateTime": iso(at),
        "request": request,
        "response": {
            "status": answer.status,
            "content": {"size": len(answer.body), **_content(answer.body)},
        },
    }


def _content(body: bytes) -> dict[str, str]:
    try:
        return {"text": body.decode()}
    except UnicodeDecodeError:
        return {"text": b64encode(body).decode(), "encoding": "base64"}
