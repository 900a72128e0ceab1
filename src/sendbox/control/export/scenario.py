"""A world's script as a scenario: its settings, what the client sent (`traffic`), and what befell it (`timeline`)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl

from sendbox.contract.parse import Malformed, parse_json
from sendbox.control.export.acts import entry_of
from sendbox.control.export.rows import Act, NoEntry, before
from sendbox.control.export.script import Call, Script
from sendbox.engine.bounds import DEEPEST, deeper
from sendbox.engine.durations import iso, show
from sendbox.engine.journal import CODE
from sendbox.engine.traffic import reference
from sendbox.scenario.language import Language
from sendbox.services.operations import CALLS, Part
from sendbox.services.ports import account_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sendbox.control.export.rows import Exported
    from sendbox.engine.requests import RequestRecord
    from sendbox.engine.world import World

_TOKEN: Final = re.compile(r"^/v1/validations/([^/]+)")
#: A name of a rule of `api` is at most so long.
LONGEST_NAME: Final = 300
#: So many levels of a scenario stand around the body of a call.
WRAP: Final = 4
FORM: Final = b"application/x-www-form-urlencoded"


def scenario_of(
    language: Language, world: World, script: Script, source: dict[str, Any], exported: Mapping[str, Exported]
) -> tuple[dict[str, Any], list[str]]:
    """The scenario as an object, and what it cannot say, in words."""
    made = _Made(language, world, script, source, exported)
    made.read()
    clock = {**(source.get("clock") or {}), "mode": "manual", "start": iso(world.start_given)}
    value = {**source, "sendbox": 1, "seed": world.seed_given, "clock": clock}
    for where, rules in made.rules.items():
        if rules:
            value = _in_front(value, language.keys[where].path, rules)
    if made.timeline:
        value["timeline"] = [*made.timeline, *(source.get("timeline") or [])]
    if made.traffic:
        value["traffic"] = made.traffic
    else:
        value.pop("traffic", None)
        made.left_out.append("nobody sent anything; sendbox play sends its samples")
    failed = sum(any(each != 200 for each in ended) for ended in script.outcomes.values())
    if failed:
        made.left_out.append(f"{failed} webhooks were not answered with 200 at once; sendbox play answers all with 200")
    due = world.timeline.next_due()
    if due is not None and due <= world.now:
        made.left_out.append("what was due at the end had not happened yet; sendbox play lets it happen")
    return value, [*script.left_out, *made.left_out]


def _in_front(value: Any, path: tuple[str, ...], rules: list[dict[str, Any]]) -> Any:
    """A part of a scenario with rules in front of the list to which a path leads; the part itself is not changed."""
    if not path:
        return [*rules, *(value or [])]
    return {**(value or {}), path[0]: _in_front((value or {}).get(path[0]), path[1:], rules)}


class _Unsaid(Exception):
    """An entry of traffic cannot say this of a call; the text says what."""


class _Made:
    def __init__(
        self, language: Language, world: World, script: Script, source: dict[str, Any], exported: Mapping[str, Exported]
    ) -> None:
        self._language = language
        self._source = source
        self._exported = exported
        self._world = world
        self._script = script
        self._names: dict[str, str] = {}
        #: rules that a tester put in front, by their list
        self.rules: dict[str, list[dict[str, Any]]] = {}
        self._put: dict[str, dict[str, Any]] = {}
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
        call = CALLS.get(record.operation)
        if call is None:
            self.left_out.append(f"entry {step.number}: {record.method} {record.path} is served by nothing")
            return
        request: dict[str, Any] = {"operation": record.operation}
        token = _TOKEN.match(record.path)
        try:
            if token is not None:
                request["params"] = {"token": self._quoted(token[1])}
            request |= self._carried(record, call.part)
        except _Unsaid as why:
            self.left_out.append(f"entry {step.number}: {record.operation} had {why}")
            return
        if record.key != self._world.id:
            request["key"] = self._names.get(record.key) or record.key.rpartition("~")[2]
        entry: dict[str, Any] = {"at": self._at(step.at)}
        new = [(text, path) for text, path in step.names if text not in self._names]
        if new:
            entry["name"] = name = f"entry-{step.number}"
            for text, path in new:
                self._names.setdefault(text, f"${name}.{'.'.join(key.lstrip('#') for key in path)}")
        self.traffic.append({**entry, "request": request})

    def _carried(self, record: RequestRecord, part: Part | None) -> dict[str, Any]:
        """What a call carries, as an entry of traffic has it. Raises `_Unsaid` for what none has."""
        form = (record.content_type or b"").partition(b";")[0].strip().lower() == FORM
        if part == "query":
            if record.body:
                raise _Unsaid("a body")
            return {"query": self._fields(record.query)} if record.query else {}
        if not record.body:
            return {}
        if part == "form" and form:
            return {"form": self._fields(record.body)}
        if part != "body" or form:
            raise _Unsaid("a body of another type than its operation takes")
        if deeper(record.body, DEEPEST - WRAP):
            raise _Unsaid("a body that is nested too deep for a scenario")
        try:
            value = parse_json(record.body)
        except Malformed as malformed:
            known = malformed.finding.rule == "json"
            raise _Unsaid("a body that is no JSON" if known else "an integer beyond the range") from None
        if not isinstance(value, dict | list):
            raise _Unsaid("a body that is neither an object nor a list")
        return {"body": self._quoted(value)}

    def _fields(self, raw: bytes) -> dict[str, Any]:
        pairs = [pair for pair in parse_qsl(raw.decode("latin-1"), keep_blank_values=True) if pair[0] != "apikey"]
        if len(dict(pairs)) < len(pairs):
            raise _Unsaid("a field twice")
        return {name: self._quoted(value) for name, value in pairs}

    def _quoted(self, value: Any) -> Any:
        """The value with `$name.field` for what an earlier answer gave."""
        if isinstance(value, str):
            if value not in self._names and reference(value) is not None:
                raise _Unsaid(f'the text "{value}", which refers to an answer in a scenario')
            return self._names.get(value, value)
        if isinstance(value, dict):
            return {name: self._quoted(item) for name, item in value.items()}
        return [self._quoted(item) for item in value] if isinstance(value, list) else value

    def _act(self, step: Act) -> None:
        if step.what == "rule":
            self._rule(step)
        elif step.what == "drop_rule":
            self._drop_rule(step)
        else:
            try:
                self.timeline.append({"at": self._at(step.at), **entry_of(self._world, step, self._exported)})
            except NoEntry as why:
                self._leave_out(step, step.what, str(why))

    def _leave_out(self, step: Act, what: str, why: str) -> None:
        self.left_out.append(f"entry {step.number}: {what} at {iso(step.at)}: {why}")

    # -- rules, which a scenario has from the start

    def _rule(self, step: Act) -> None:
        where, rule = str(step.detail.get("in", "attempts")), dict(step.detail["rule"])
        try:
            if self.traffic or self.timeline:
                rule = self._windowed(where, rule, "from", step)
            if "name" in rule and any(each.get("name") == rule["name"] for each in self._all(where)):
                raise NoEntry(f'another rule has the name "{rule["name"]}"')
        except NoEntry as why:
            self._leave_out(step, f"a rule put into {where}", str(why))
            return
        self._put[step.detail["id"]] = rule
        self.rules.setdefault(where, []).insert(0, rule)

    def _all(self, where: str) -> list[dict[str, Any]]:
        """The rules of a list that stand in one file."""
        own: Any = self._source
        for name in self._language.keys[where].path:
            own = (own or {}).get(name)
        return [*self.rules.get(where, []), *(own or [])]

    def _drop_rule(self, step: Act) -> None:
        rule = self._put.pop(step.detail["rule"], None)
        if rule is None:  # it is said of the rule itself
            return
        where = next(where for where, rules in self.rules.items() if any(each is rule for each in rules))
        left = []
        if self.traffic or self.timeline:
            try:
                left = [self._windowed(where, rule, "until", step)]
            except NoEntry as why:
                self._leave_out(step, f"a rule of {where} dropped", str(why))
                return
        at = next(index for index, each in enumerate(self.rules[where]) if each is rule)
        self.rules[where][at : at + 1] = left

    def _windowed(self, where: str, rule: dict[str, Any], key: str, step: Act) -> dict[str, Any]:
        """A rule of `api` that holds from an instant on, or until then, by the name that it had. Raises `NoEntry`."""
        if where != "api":
            raise NoEntry(f"a rule of a scenario holds {'from the start' if key == 'from' else 'to the end'}")
        if any(at == step.at and code == CODE["request"] for at, code, _ in before(self._world, step)):
            raise NoEntry("calls of that instant came first, and a rule holds for all or none of them")
        when = dict(rule.get("when") or {})
        if key in when:
            raise NoEntry(f'it has a "{key}" of its own')
        name = rule.get("name") or self._language.compile_rule("api", rule, country=account_of(self._world).country).key
        if len(name) > LONGEST_NAME:
            raise NoEntry("what it asks is too long for a name")
        return {**rule, "name": name, "when": {**when, key: self._at(step.at)}}
