"""A world's script as a scenario: its settings, what the client sent (`traffic`), and what befell it (`timeline`)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl

from sendbox.contract.parse import Malformed, parse_json
from sendbox.core.export import Act, Call, Script
from sendbox.core.journal import CODE
from sendbox.core.spans import iso, show

if TYPE_CHECKING:
    from sendbox.core.world import World

_TOKEN: Final = re.compile(r"^/v1/validations/([^/]+)")
#: Acts by which a phone writes.
_WRITTEN: Final = frozenset({"inbound", "phone_reply", "phone_write", "phone_press"})
FORM: Final = b"application/x-www-form-urlencoded"


def scenario_of(world: World, script: Script, source: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The scenario as an object, and what it cannot say, in words."""
    made = _Made(world, script)
    made.read()
    clock = {**(source.get("clock") or {}), "mode": "manual", "start": iso(world.start_given)}
    value = {**source, "sendbox": 1, "seed": world.seed_given, "clock": clock}
    for where, rules in made.rules.items():
        if where == "verify":
            given = source.get("verify") or {}
            value["verify"] = {**given, "rules": [*rules, *(given.get("rules") or [])]}
        else:
            value[where] = [*rules, *(source.get(where) or [])]
    if made.timeline:
        value["timeline"] = [*made.timeline, *(source.get("timeline") or [])]
    if made.traffic:
        value["traffic"] = made.traffic
    return value, [*script.left_out, *made.left_out]


class _Made:
    def __init__(self, world: World, script: Script) -> None:
        self._world = world
        self._script = script
        self._names: dict[str, str] = {}
        #: rules that control put in front, by the list they stand in
        self.rules: dict[str, list[dict[str, Any]]] = {}
        self.traffic: list[dict[str, Any]] = []
        self.timeline: list[dict[str, Any]] = []
        self.left_out: list[str] = []

    def read(self) -> None:
        """Goes through the steps; moves of the clock are in the instants."""
        for step in self._script.steps:
            if isinstance(step, Call):
                self._call(step)
            elif isinstance(step, Act):
                self._act(step)

    def _at(self, at: int) -> str:
        return show(at - self._world.start)

    def _call(self, step: Call) -> None:
        record = step.record
        if record.operation == "unknown":
            self.left_out.append(f"entry {step.number}: {record.method} {record.path} is served by nothing")
            return
        request: dict[str, Any] = {"operation": record.operation}
        token = _TOKEN.match(record.path)
        if token is not None:
            request["params"] = {"token": self._quoted(token[1])}
        if record.query:
            pairs = parse_qsl(record.query.decode("latin-1"), keep_blank_values=True)
            request["query"] = {name: self._quoted(value) for name, value in pairs if name != "apikey"}
        if record.body and not self._add_body(request, step):
            self.left_out.append(f"entry {step.number}: {record.operation} had a body that is no JSON and no form")
            return
        if record.key != self._world.id:
            request["key"] = record.key.rpartition("~")[2]
        entry: dict[str, Any] = {"at": self._at(step.at)}
        new = [(text, path) for text, path in step.names if text not in self._names]
        if new:
            entry["name"] = name = f"entry-{step.number}"
            for text, path in new:
                self._names.setdefault(text, f"${name}.{'.'.join(key.lstrip('#') for key in path)}")
        self.traffic.append({**entry, "request": request})

    def _add_body(self, request: dict[str, Any], step: Call) -> bool:
        record = step.record
        if (record.content_type or b"").partition(b";")[0].strip().lower() == FORM:
            pairs = parse_qsl(record.body.decode("latin-1"), keep_blank_values=True)
            request["form"] = {name: self._quoted(value) for name, value in pairs if name != "apikey"}
            return True
        try:
            request["body"] = self._quoted(parse_json(record.body))
        except Malformed:
            return False
        return True

    def _quoted(self, value: Any) -> Any:
        """The value with `$name.field` for what an earlier answer gave."""
        if isinstance(value, str):
            return self._names.get(value, value)
        if isinstance(value, dict):
            return {name: self._quoted(item) for name, item in value.items()}
        return [self._quoted(item) for item in value] if isinstance(value, list) else value

    def _written(self, number: int) -> dict[str, Any]:
        """What a phone wrote by the act of this entry, which stands behind it."""
        journal = self._world.journal
        entries = (journal.entry(n) for n in range(number, journal.first - 1, -1))
        inbound = next(what for _, code, what in entries if code == CODE["inbound"])
        said = {"channel": inbound.channel, "from": inbound.sender, "body": inbound.body}
        return said | ({"to": inbound.recipient} if inbound.recipient else {})

    def _act(self, step: Act) -> None:
        detail = step.detail
        entry: dict[str, Any] | None = None
        if step.what in _WRITTEN:
            entry = {"inbound": self._written(step.number)}
        elif step.what == "account":
            entry = {"account": detail["changes"]}
        elif step.what == "move_template":
            entry = {"template": {name: detail[name] for name in ("status", "reason") if name in detail}}
            entry["template"] = {"name": detail["template"], **entry["template"]}
        elif step.what == "rule" and not self.traffic:
            self.rules.setdefault(detail["in"], []).insert(0, detail["rule"])
            return
        if entry is None:
            self.left_out.append(
                f"entry {step.number}: {step.what} at {iso(step.at)}, which no entry of a scenario says"
            )
        else:
            self.timeline.append({"at": self._at(step.at), **entry})
