"""`bad_json`: an answer whose body is cut."""

from __future__ import annotations

from typing import ClassVar

from sendbox.engine.faults.fault import NO_ANSWER, ApiFault, Body


class BadJson(ApiFault, frozen=True):
    """A fault that sends only the first half of the body, which is not legal JSON any more."""

    kind: ClassVar = "bad_json"
    examples: ClassVar = {"bad_json": "200 with the first half of the body"}

    def replacement(self, body: bytes, _wait: int) -> Body:
        return Body(body[: max(1, len(body) // 2)] or NO_ANSWER[: len(NO_ANSWER) // 2])
