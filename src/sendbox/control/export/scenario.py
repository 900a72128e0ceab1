"""A world's script as a scenario: its settings, what the client sent (`traffic`), and its `timeline`.

And the scenario with which it was opened, by name, as text or as an object.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping
from contextlib import suppress
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl, urlencode

from sendbox.contract.parser import Malformed, parse_json
from sendbox.control.export.rows import ActStep, Exported, NoEntry, entries_before
from sendbox.control.export.script import CallStep, MoveStep, Script
from sendbox.engine.answer import JsonObject
from sendbox.engine.blueprint import Blueprint
from sendbox.engine.bounds import DEEPEST, deeper
from sendbox.engine.durations import iso, show
from sendbox.engine.journal import CODE
from sendbox.engine.traffic import NONE, WORLD, parse_reference
from sendbox.engine.world import World
from sendbox.scenario import library
from sendbox.scenario.environment import escape_texts
from sendbox.scenario.write import dump
from sendbox.services.numbers.notation import normalize
from sendbox.services.ports import account_of

if TYPE_CHECKING:
    from sendbox.scenario.language import Language


_TOKEN: Final = re.compile(r"^/v1/validations/([^/]+)")
#: The token of a signup, which lets a call in without a key.
_SIGNUP: Final = re.compile(rb'"token"\s*:\s*"eyJ')
#: How many levels of a scenario stand around the body of a call.
WRAP: Final = 4
FORM: Final = b"application/x-www-form-urlencoded"


def scenario_of(
    language: Language, world: World, script: Script, source: JsonObject, exported: Mapping[str, Exported]
) -> tuple[JsonObject, list[str]]:
    """The scenario as an object, and what it cannot express, in words."""
    writer = _Writer(language, world, script, source, exported)
    writer.read()
    clock = {**(source.get("clock") or {}), "mode": "manual", "start": iso(world.start_given)}
    value = {**source, "sendbox": 1, "seed": world.seed_given, "clock": clock}
    for where, rules in writer.rules.items():
        if rules:
            value = _in_front(value, language.keys[where].path, rules)
    if writer.timeline:
        value["timeline"] = [*writer.timeline, *(source.get("timeline") or [])]
    value["traffic"] = writer.traffic
    value.pop("receiver", None)
    if script.outcomes:
        find = world.outlets.find
        value["receiver"] = [
            {"webhook": delivery.number, "ends": ends}
            for name, ends in script.outcomes.items()
            if (delivery := find(name)) is not None
        ]
    due = world.timeline.next_due()
    if due is not None and due <= world.now:
        writer.left_out.append("what was due at the end had not happened yet; sendbox play carries it out")
    return value, [*script.left_out, *writer.left_out]


def entry_of(world: World, step: ActStep, exported: Mapping[str, Exported], *, strict: bool = False) -> JsonObject:
    """The entry of a timeline that does what was done, without its instant. Raises `NoEntry`.

    With `strict` also where anything came first at its instant.
    """
    row = exported.get(step.what, Exported())
    if row.entry is None or step.refused:
        raise NoEntry("no entry of a timeline does that")
    entry = row.entry(world, step)
    phone = None
    if row.by_phone:
        text = str(step.detail["number"])
        phone = normalize(text, account_of(world).country) or text
    sooner = {CODE[kind]: kind for kind in row.sooner}
    for at, code, about in entries_before(world, step):
        if at < step.at:
            break
        if strict and code != CODE["control"]:
            raise NoEntry("something came first at that instant, and an entry of a timeline comes before it")
        if code in sooner and phone in (None, about.message.phone):
            text = f"what was due at that instant came first ({about.message.phone} {sooner[code]})"
            raise NoEntry(f"{text}, and an entry of a timeline comes before that")
    return entry


def _in_front(value: Any, path: tuple[str, ...], rules: list[JsonObject]) -> Any:
    """A part of a scenario with rules in front of the list to which a path leads; the part itself is not changed."""
    if not path:
        return [*rules, *(value or [])]
    return {**(value or {}), path[0]: _in_front((value or {}).get(path[0]), path[1:], rules)}


def entry_of_call(language: Language, world: World, step: CallStep) -> JsonObject:
    """The entry of traffic that makes a call. ValueError where none can, with the reason."""
    writer = _Writer(language, world, Script([step]), {}, {})
    writer.read()
    if writer.left_out:
        raise ValueError(writer.left_out[0])
    return writer.traffic[-1]


class _Unsaid(Exception):
    """An entry of traffic cannot express this of a call; the text says what."""


class _Writer:
    def __init__(
        self, language: Language, world: World, script: Script, source: JsonObject, exported: Mapping[str, Exported]
    ) -> None:
        self._language = language
        self._source = source
        self._exported = exported
        self._world = world
        self._script = script
        self._looks = [row.look for row in exported.values() if row.look is not None]
        self._names: dict[str, str] = {}
        #: the instant of the last entry of the traffic, and whether the world settled there since
        self._last = self._now = -1
        self._settled = False
        acts = (step for step in script.steps if isinstance(step, ActStep))
        #: instants at which something was called that the world has not settled since
        self._calling = _calling(script)
        self._dropped = {step.detail["rule"] for step in acts if step.what == "drop_rule"}
        #: rules that a tester put in front, by their list
        self.rules: dict[str, list[JsonObject]] = {}
        self.traffic: list[JsonObject] = []
        self.timeline: list[JsonObject] = []
        self.left_out: list[str] = []

    def read(self) -> None:
        """Goes through the steps; moves of the clock are in the instants."""
        for _, group in groupby(self._script.steps, type):
            steps = list(group)
            if acts := [step for step in steps if isinstance(step, ActStep)]:
                self._acts(acts)
            for step in steps:
                if isinstance(step, CallStep):
                    self._call(step)
                elif isinstance(step, MoveStep):
                    self._settled |= step.at == self._last and not step.idle

    def _at(self, at: int) -> str:
        return show(at - self._world.start)

    def _call(self, step: CallStep) -> None:
        self._now = step.at
        try:
            request = self._request(step)
        except _Unsaid as why:
            self.left_out.append(f"entry {step.number}: {step.record.operation} had {why}")
            return
        record = step.record
        if record.key != self._world.id:
            request["key"] = self._names.get(record.key) or record.key.rpartition("~")[2]
        new = [(text, path) for text, path in step.names if text not in self._names]
        entry = self._entry(step.at, f"entry-{step.number}" if new else None)
        for text, path in new:
            self._names.setdefault(text, f"${entry['name']}.{'.'.join(key.lstrip('#') for key in path)}")
        expect = {"expect": {"status": NONE}} if step.broken else {}
        self.traffic.append({**entry, "request": request, **expect})

    def _entry(self, at: int, name: str | None = None) -> JsonObject:
        """The first keys of every entry of the traffic."""
        if self._settled and at == self._last and self.traffic:
            self.traffic.append({"at": self._at(at), "control": {"operation": "advance", "arguments": {"by": 0}}})
        self._last, self._settled = at, False
        return {"at": self._at(at)} if name is None else {"at": self._at(at), "name": name}

    def _request(self, step: CallStep) -> JsonObject:
        """The request of a call, as an entry has it. Raises `_Unsaid` if no entry can express the call."""
        record = step.record
        if step.call.body is None:
            raise _Unsaid("a body that is too long to be read")
        denied = record.status >= 400 or any(finding.path == "$.token" for finding in record.findings)
        if record.bare and denied and _SIGNUP.search(step.body):
            raise _Unsaid("no key, and a token that did not let it do that; an entry always has a key")
        if record.canonical is None and record.operation.startswith("legacy"):
            raw = record.query or step.body
            fields = parse_qsl(raw.decode("latin-1"), keep_blank_values=True)  # the escapes of it are UTF-8
            if not raw.startswith(b"apikey=") or urlencode(fields).encode() != raw:
                raise _Unsaid("fields that the digest has as they came, in an order of their own")
        call = self._language.calls.get(record.operation)
        if call is not None and call.part == "content":
            url = self._names.get(step.address)
            if url is not None:
                return {"operation": record.operation, "params": {"url": url}, **_content(step)}
        elif call is not None and (call.part == "query" or not record.query):
            token = _TOKEN.match(record.path)
            try:
                params = {} if token is None else {"params": {"token": self._quoted(token[1])}}
                try:
                    return {"operation": record.operation, **params, **self._carried(step, call.part)}
                except _Unsaid:
                    if call.part != "query":
                        return {"operation": record.operation, **params, **_content(step)}
            except _Unsaid:
                if token is not None and token[1].startswith(self._world.tag):
                    raise
        query = f"?{record.query.decode('latin-1')}" if record.query else ""
        request = {"call": f"{record.method} {record.path}{query}"}
        return {**request, **_content(step)} if step.body else request

    def _carried(self, step: CallStep, part: str | None) -> JsonObject:
        """The content of a call, as an entry of the traffic has it. Raises `_Unsaid` if no entry can have it."""
        record, body = step.record, step.body
        form = (record.content_type or b"").partition(b";")[0].strip().lower() == FORM
        if part == "query":
            if body:
                raise _Unsaid("a body")
            return {"query": self._fields(record.query)} if record.query else {}
        if part == "content":
            raise _Unsaid("a file, which goes to an address that only the world itself knows")
        if not body:
            return {}
        if part == "form" and form:
            return {"form": self._fields(body)}
        if part != "body" or form:
            raise _Unsaid("a body of another type than its operation takes")
        if deeper(body, DEEPEST - WRAP):
            raise _Unsaid("a body that is nested too deep for a scenario")
        try:
            value = parse_json(body)
        except Malformed as malformed:
            malformed_json = malformed.finding.rule == "json"
            raise _Unsaid("a body that is not JSON" if malformed_json else "an integer beyond the range") from None
        if not isinstance(value, dict | list):
            raise _Unsaid("a body that is neither an object nor a list")
        return {"body": self._quoted(value)}

    def _fields(self, raw: bytes) -> JsonObject:
        pairs = [pair for pair in parse_qsl(raw.decode("latin-1"), keep_blank_values=True) if pair[0] != "apikey"]
        if len(dict(pairs)) < len(pairs):
            raise _Unsaid("a field twice")
        return {name: self._quoted(value) for name, value in pairs}

    def _quoted(self, value: object) -> object:
        """The value with `$name.field` for what an earlier answer gave."""
        if isinstance(value, str):
            if value not in self._names:
                self._look_for(value)
            key, tag = self._world.id, self._world.tag
            if value not in self._names and (value == key or value.startswith(f"{key}~")):  # a key of the world
                return f"{WORLD}{value.removeprefix(key)}"
            if value not in self._names and len(value) > len(tag) and value.startswith(tag):
                raise _Unsaid(f'the name "{value}", which no answer gave')
            if value not in self._names and parse_reference(value) is not None:
                raise _Unsaid(f'the text "{value}", which refers to an answer in a scenario')
            return self._names.get(value, value)
        if isinstance(value, dict):
            return {name: self._quoted(item) for name, item in value.items()}
        return [self._quoted(item) for item in value] if isinstance(value, list) else value

    def _acts(self, steps: list[ActStep]) -> None:
        """Consecutive acts: in the timeline where no traffic stands at their instant, else through control."""
        while steps and not (self.traffic or self.timeline) and self._at_first(steps[0]):
            self._rule(steps.pop(0))
        for at, group in groupby(steps, lambda step: step.at):
            row = list(group)
            entries: list[JsonObject] = []
            if at != self._last and at not in self._calling:
                with suppress(NoEntry):
                    for step in row:
                        entry = entry_of(self._world, step, self._exported, strict=bool(self._script.outcomes))
                        entries.append({"at": self._at(at), **entry})
            if len(entries) == len(row):
                self.timeline += entries
                continue
            for step in row:
                self._control(step)

    def _at_first(self, step: ActStep) -> bool:
        return step.what == "rule" and not step.refused and step.detail["id"] not in self._dropped

    def _rule(self, step: ActStep) -> None:
        """A rule that was put before anything else goes into its list, unless another rule has its name."""
        where, rule = str(step.detail["in"]), dict(step.detail["rule"])
        if "name" in rule and any(other.get("name") == rule["name"] for other in self._all(where)):
            self._control(step)
        else:
            self.rules.setdefault(where, []).insert(0, rule)

    def _all(self, where: str) -> list[JsonObject]:
        """The rules of a list that stand in one file."""
        written: Any = self._source
        for name in self._language.keys[where].path:
            written = (written or {}).get(name)
        return [*self.rules.get(where, []), *(written or [])]

    def _control(self, step: ActStep) -> None:
        """Adds an entry to the traffic that repeats the act through control."""
        self._now = step.at
        try:
            if step.act is None:  # a browser opened a link
                address = self._quoted(step.detail["code"])
                if address == step.detail["code"]:
                    raise _Unsaid("a link that no message has")
                self.traffic.append({**self._entry(step.at), "request": {"call": f"GET {address}"}})
                return
            arguments = self._arguments(step)
        except _Unsaid as why:
            self.left_out.append(f"entry {step.number}: {step.what} at {iso(step.at)} had {why}")
            return
        name = None
        if step.what == "rule" and step.detail["id"] in self._dropped:
            name = f"entry-{step.number}"
            self._names[step.detail["id"]] = f"${name}.id"
        entry = self._entry(step.at, name)
        self.traffic.append({**entry, "control": {"operation": step.act.name, "arguments": arguments}})

    def _arguments(self, step: ActStep) -> JsonObject:
        """The arguments of an act."""
        if step.what == "scenario" and step.detail["source"] is None:
            return {"name": step.detail["name"]}
        if step.what == "scenario":
            source = {key: value for key, value in step.detail["source"].items() if key not in ("traffic", "receiver")}
            return {"raw": escape_texts(source)}
        assert step.act is not None
        arguments: JsonObject = {}
        for name, value in step.act.arguments.items():
            arguments[name] = self._quoted(value)
        return arguments

    def _look_for(self, value: str) -> None:
        """Inserts an operation whose answer shows a name of the world, before what quotes it."""
        for operation, find in self._looks:
            if path := find(self._world, value):
                entry = self._entry(self._now, f"look-{len(self.traffic)}")
                self.traffic.append({**entry, "control": {"operation": operation}})
                self._names[value] = f"${entry['name']}.{path}"
                return


def _calling(script: Script) -> set[int]:
    """Instants at which a call follows an act before the world settled."""
    pairs = zip(script.steps, script.steps[1:], strict=False)
    return {after.at for before, after in pairs if isinstance(before, ActStep) and isinstance(after, CallStep)}


def _content(step: CallStep) -> JsonObject:
    """A body unchanged, with its content type; empty without one."""
    kind = step.record.content_type
    try:
        text: str | JsonObject | None = step.body.decode()
    except UnicodeDecodeError:
        text = None
    if text is None or parse_reference(text) is not None:
        text = {"base64": b64encode(step.body).decode()}
    return {"content": text, "type": "" if kind is None else kind.decode("latin-1")}


# --- the scenario of a world, which means what was compiled


def name_or_text(language: Language, blueprint: Blueprint) -> str:
    """The name of a scenario of the library, or the text of any other."""
    return blueprint.name if of_the_library(language, blueprint) else dump(source_of(blueprint))


def of_the_library(language: Language, blueprint: Blueprint) -> bool:
    """True if it is the scenario that has this name in the library."""
    return blueprint.name in library.names() and _is(language.load(blueprint.name), blueprint)


def library_name(language: Language, blueprint: Blueprint) -> str | None:
    """The name of a scenario of the library, which may have another title; None for any other scenario."""
    named = (row.name for row in library.rows() if blueprint.name in (row.name, row.title))
    return next((name for name in named if _is(language.load(name), blueprint)), None)


def _is(in_library: Blueprint, blueprint: Blueprint) -> bool:
    return in_library is blueprint or (in_library.source is not None and in_library.source == blueprint.source)


def source_of(blueprint: Blueprint) -> JsonObject:
    """The scenario as an object."""
    return {"sendbox": 1, "name": blueprint.name} if blueprint.source is None else blueprint.source
