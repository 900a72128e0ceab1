"""A world's script as a pytest file that repeats all of it and ends in the same digest."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final

import msgspec

from sendbox.control.export.rows import ActStep, Exported, Literals, broken
from sendbox.control.export.script import CallStep, Script, file_stem, is_complete
from sendbox.engine.answer import JsonObject
from sendbox.engine.bounds import deeper
from sendbox.engine.commands.record import JSON_TYPE
from sendbox.engine.durations import iso, show
from sendbox.engine.world import World
from sendbox.services.http.exchange import BODY_CAP

#: Methods that httpx has a function for, with a body and without.
_METHODS: Final = ("GET", "POST", "PUT", "PATCH")
#: A body that is nested deeper is written as its text: Python reads at most 200 nested brackets.
_NESTED: Final = 50


class About(msgspec.Struct, frozen=True):
    """The facts that a file states about its world. `scenario` is a name of the library, or the YAML text."""

    scenario: str
    digest: str
    engine: int
    version: str


class PytestFile:
    """A file under way; `text` is that of a whole script."""

    def __init__(self, world: World, script: Script, about: About, exported: Mapping[str, Exported]) -> None:
        self._world = world
        self._exported = exported
        self._script = script
        self._about = about
        self._names: dict[str, str] = {world.id: "sendbox.api_key"}
        self._literals = Literals(self._names)
        self._now = world.start
        #: a call moved the clock since the last step that did
        self._moved = False
        self._lines: list[str] = []

    def text(self) -> str:
        """Header, settings, the test."""
        self._names[self._world.tag] = "tag"
        for step in self._script.steps:
            if isinstance(step, CallStep):
                self._call(step)
            elif isinstance(step, ActStep):
                self._act(step)
            elif not step.idle:
                self._move(step.at)
        body = "\n".join(f"    {line}" for line in self._lines)
        return "\n".join([*self._head(body), *self._test(body)]) + "\n"

    # -- around the steps

    def _head(self, body: str) -> list[str]:
        world, about = self._world, self._about
        lines = [
            f'"""{world.id} again, up to {iso(world.now)}.',
            "",
            f"Exported by Sendbox {about.version}, engine {about.engine}: another engine may have another digest.",
        ]
        if self._script.delivers:
            lines.append("Webhooks are not sent: each try ends as it did then (OUTCOMES).")
        if self._script.left_out:
            lines += ["", "What differs from the world:", *(f"- {line}" for line in self._script.left_out)]
        lines += ['"""', "", "import httpx", "import pytest", ""]
        names = [] if "(ControlError)" not in body else ["from sendbox.control.operation import ControlError"]
        names += ["from sendbox.fixture import Recorded"] if self._script.delivers else []
        if names:
            lines += [*names, ""]
        if "\n" in about.scenario:
            text = about.scenario.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
            lines += [f'SCENARIO = """\\\n{text}"""']
        else:
            lines += [f"SCENARIO = {json.dumps(about.scenario)}"]
        if self._script.delivers:
            lines += ["#: How the tries of a webhook ended, by its X-Request-Id: a status, or why there was none."]
            lines += [f"OUTCOMES = {self._literals.value(self._script.outcomes)}"]
        return [*lines, "", ""]

    def _test(self, body: str) -> list[str]:
        world, about = self._world, self._about
        lines = []
        if not is_complete(self._script):
            lines.append('@pytest.mark.xfail(reason="not all of it can be repeated", strict=False)')
        clock = {"mode": "manual", "start": iso(world.start_given)}
        plain = Literals({})
        settings = {"seed": repr(world.seed_given), "clock": plain.value(clock), "salt": plain.text(world.salt)}
        arguments = ["scenario=SCENARIO", *(f"{key}={value}" for key, value in settings.items())]
        lines += [
            broken("@pytest.mark.sendbox", arguments, 0),
            f"def test_{file_stem(world.id)}(sendbox):",
        ]
        if re.search(r"\btag\b", body):
            lines.append(
                '    tag = sendbox.perform("world")["tag"]  # names that are found without a key begin with it'
            )
        if self._script.delivers:
            lines.append("    sendbox.deliver_to(Recorded(OUTCOMES))")
        lines += self._client(body)
        return [*lines, body, f'    assert sendbox.digest == "{about.digest}"']

    def _client(self, body: str) -> list[str]:
        """The lines that define the client and the key that the calls need."""
        late = any(isinstance(step, CallStep) and step.record.fault is not None for step in self._script.steps)
        patient = ", timeout=None" if late else ""  # only what never comes is a timeout then
        lines = [f"    client = httpx.Client(transport=sendbox.transport, base_url=sendbox.origin{patient})"]
        if "headers=key" in body:
            lines.append('    key = {"x-api-key": sendbox.api_key}')
        return lines

    def write_call(self, step: CallStep) -> str:
        """One call without the others."""
        self._call(step)
        body = "\n".join(f"    {line}" for line in self._lines)
        imports = ["import httpx", *(["import pytest"] if step.broken else []), "", ""]
        return "\n".join([*imports, "def test_call(sendbox):", *self._client(body), body]) + "\n"

    # -- one method for each kind of step

    def _move(self, at: int) -> None:
        if at > self._now:
            by = f'"{show(at - self._now)}")  # {iso(at)}'
            to = f'to="{iso(at)}")'
            self._lines.append(f"sendbox.advance({to if self._moved else by}")
            self._now, self._moved = at, False
        else:
            self._lines.append("sendbox.settle()")

    def _call(self, step: CallStep) -> None:
        record = step.record
        self._moved = self._moved or step.moves
        query = f"?{record.query.decode('latin-1')}" if record.query else ""
        options = {**self._headers(step), **self._body(step)}
        target = self._names.get(step.address) or self._literals.text(record.path + query)
        arguments = [target, *(f"{name}={text}" for name, text in options.items())]
        function = f"client.{record.method.lower()}"
        if record.method not in _METHODS:
            function, arguments = "client.request", [json.dumps(record.method), *arguments]
        if step.broken:
            self._raise("httpx.TransportError", broken(function, arguments))
            return
        if record.fault is not None and record.fault.rule.fault.late:  # the client may have given up
            arguments.append("timeout=None")
        name = f"answer_{step.number}"
        self._lines.append(broken(f"{name} = {function}", arguments))
        self._lines.append(f"assert {name}.status_code == {record.status}")
        for text, path in step.names:
            if text not in self._names:
                field = re.sub(r"\W", "_", next(key for key in reversed(path) if key[0] != "#"))
                variable = f"{field}_{step.number}"
                count = sum(other.startswith(variable) for other in self._names.values())
                variable = f"{variable}_{count}" if count else variable
                keys = "".join(f"[{key[1:]}]" if key[0] == "#" else f"[{json.dumps(key)}]" for key in path)
                self._lines.append(f"{variable} = {name}.json(){keys}")
                self._names[text] = variable

    def _headers(self, step: CallStep) -> Mapping[str, str]:
        """The key, and a content type that httpx would not add itself."""
        record = step.record
        headers = {} if record.bare else {"x-api-key": record.key}
        if record.content_type is not None and self._as_json(step) is None:
            headers["content-type"] = record.content_type.decode("latin-1")
        elif record.key == self._world.id and headers:
            return {"headers": "key"}
        return {"headers": self._literals.value(headers)} if headers else {}

    def _body(self, step: CallStep) -> Mapping[str, str]:
        if step.call.body is None:
            return {"content": f'b" " * {BODY_CAP + 1}'}
        value = self._as_json(step)
        if value is not None:
            key = self._world.id
            refused = step.record.canonical is None and f'"{key}"'.encode() not in step.body
            # the digest reads a refused body as it came, with addresses in it
            names = {text: name for text, name in self._names.items() if not refused or text != key}
            return {"json": Literals(names).value(value[0], 4, 50)}
        if not step.body:
            return {}
        try:
            return {"content": self._literals.text(step.body.decode())}
        except UnicodeDecodeError:
            return {"content": repr(step.body)}

    def _as_json(self, step: CallStep) -> tuple[object] | None:
        """The body as `json=` would send it, None where it would be another one."""
        body = step.body
        if step.record.content_type != JSON_TYPE or not body or deeper(body, _NESTED):
            return None
        try:
            value = json.loads(body, object_pairs_hook=_unique)
            json.dumps(value, allow_nan=False).encode()
        except (ValueError, RecursionError):
            return None
        return None if value is None else (value,)  # httpx sends nothing for null

    def _act(self, step: ActStep) -> None:
        row = self._exported.get(step.what)
        if step.refused:
            self._raise("ControlError", self._literals.call("sendbox.perform", [step.what], step.detail))
        elif row is not None and row.line is not None:
            self._lines.append(row.line(self._literals, step.detail))
        else:
            self._lines.append(self._literals.call("sendbox.perform", [step.what], step.detail))

    def _raise(self, error: str, line: str) -> None:
        self._lines += [f"with pytest.raises({error}):", "    " + line.replace("\n", "\n    ")]


def _unique(pairs: list[tuple[str, object]]) -> JsonObject:
    """An object whose names are all different. Raises ValueError for one whose are not."""
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        raise ValueError("a name is given twice")
    return mapping
