"""Names that a world gave out, and texts of a script that stand for them: `<message:0>` is the first message's id."""

from __future__ import annotations

import re
from typing import Any, Final

_STANDS_FOR: Final = re.compile(r"<([a-z_]+)(?::(-?\d+))?>")
#: `$name.path.to.field`, as in the traffic of a scenario.
_REFERS: Final = re.compile(r"\$([A-Za-z][\w-]*)((?:\.[\w-]+)+)")
#: The field of an answer, and what its value is a name of.
_FIELDS: Final = {
    "message_id": "message",
    "token": "token",
    "redirect_url": "page",
    "url": "url",
    "proof": "proof",
    "timestamp": "timestamp",
    "template_id": "template",
    "chatapp_id": "waba",
    "phone_number_id": "number",
    "apikey": "key",
    "next_cursor": "cursor",
    "code": "code",
    "id": "id",
}


class Names:
    """What is known so far, by kind, in the order in which it was learnt."""

    def __init__(self, world: str, hook: str) -> None:
        self._known: dict[str, list[str]] = {"world": [world], "hook": [hook]}
        #: answers that a later step refers to, by the names of their steps
        self.answers: dict[str, Any] = {}

    def learn(self, did: str, answer: Any) -> None:
        """Takes what an answer names; `did` is the call that it answers."""
        if isinstance(answer, dict):
            for field, value in answer.items():
                if isinstance(value, str) and field in _FIELDS:
                    self._learn(did, _FIELDS[field], value)
                else:
                    self.learn(did, value)
        elif isinstance(answer, list):
            for value in answer:
                self.learn(did, value)

    def _learn(self, did: str, kind: str, value: str) -> None:
        if kind == "url":
            kind = "upload" if "/upload/" in value else "link" if "/s/" in value else "address"
        elif kind == "token" and value.startswith("eyJ"):
            kind = "jwt"
        elif kind == "code":
            kind = "signup_code" if "/signups/" in did else "code" if did == "GET /codes" else "word"
        elif kind == "id":
            kind = "rule" if did == "POST /rules" else "delivery" if did == "GET /deliveries" else "thing"
        if kind == "page":
            self._add("signup", value.rpartition("/")[2])
        self._add(kind, value)

    def _add(self, kind: str, value: str) -> None:
        known = self._known.setdefault(kind, [])
        if value not in known:
            known.append(value)

    def of(self, kind: str) -> list[str]:
        """Everything known of a kind."""
        return self._known.get(kind, [])

    def filled(self, value: Any) -> Any:
        """The value with names in the place of what stands for them; what is not known is `none`."""
        if isinstance(value, str) and (refers := _REFERS.fullmatch(value)) and refers[1] in self.answers:
            return self._field(refers[1], refers[2].split(".")[1:])
        if isinstance(value, str):
            return _STANDS_FOR.sub(self._named, value)
        if isinstance(value, dict):
            return {self.filled(name): self.filled(each) for name, each in value.items()}
        return [self.filled(each) for each in value] if isinstance(value, list) else value

    def _field(self, name: str, path: list[str]) -> Any:
        """A field of an earlier answer, as a scenario's traffic refers to it."""
        found = self.answers[name]
        for step in path:
            if isinstance(found, list) and int(step) < len(found):
                found = found[int(step)]
            else:
                found = found.get(step, "none") if isinstance(found, dict) else "none"
        return found

    def _named(self, found: re.Match[str]) -> str:
        known = self.of(found[1])
        if not known:
            return "none"
        at = int(found[2] or 0)
        return known[at % len(known)] if at >= 0 else known[-1]
