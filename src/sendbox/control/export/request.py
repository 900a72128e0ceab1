"""One call of the client as text to copy: a command, a program, a test, an entry of a scenario."""

from __future__ import annotations

import json
import shlex
from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import quote

from sendbox.control.export.pytest import About, PytestFile
from sendbox.control.export.scenario import entry_of_call
from sendbox.control.export.script import CallStep, Script
from sendbox.engine.answer import JsonObject
from sendbox.engine.commands.tracing import HEADERS as TRACING
from sendbox.engine.world import World
from sendbox.scenario.language import Language
from sendbox.scenario.write import dump

#: Characters of a path that stay as they are.
_PATH: Final = "/%:@!$&'()*+,;=~"
#: Methods with which fetch sends no body.
_BARE: Final = ("GET", "HEAD")


def _url(origin: str, step: CallStep) -> str:
    record = step.record
    query = f"?{record.query.decode('latin-1')}" if record.query else ""
    return f"{origin}{quote(record.path, safe=_PATH)}{query}"


def _headers(step: CallStep) -> list[tuple[str, str]]:
    headers = (header for header in step.record.headers if header[0] not in TRACING)  # another call, another place
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers]


def _text(body: bytes) -> str | None:
    """The body as a text that a shell and a program can hold, None where it is none."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def _curl(*arguments: str) -> str:
    """A command line of curl, as a shell reads it."""
    return shlex.join(("curl", *arguments))


def _as_curl(origin: str, step: CallStep) -> str:
    url, body = _url(origin, step), step.body
    usual = "POST" if body else "GET"
    arguments = [*(() if step.record.method == usual else ("-X", step.record.method))]
    arguments += ["-g"] if set(url) & set("[]{}") else []
    arguments.append(url)
    for name, value in _headers(step):
        arguments += ["-H", f"{name}: {value}" if value else f"{name};"]
    if not body:
        return _curl(*arguments)
    if step.record.content_type is None:
        arguments += ["-H", "content-type:"]  # curl would add one
    text = _text(body)
    if text is not None:
        return _curl(*arguments, "--data-raw", text)
    return f"printf %s {b64encode(body).decode()} | base64 -d | {_curl(*arguments, '--data-binary', '@-')}"


def _as_python(origin: str, step: CallStep) -> str:
    arguments = [repr(step.record.method), repr(_url(origin, step))]
    if headers := _headers(step):
        arguments.append(f"headers={headers!r}")
    if step.body:
        text = _text(step.body)
        arguments.append(f"content={step.body if text is None else text!r}")
    lines = "".join(f"    {argument},\n" for argument in arguments)
    return f"import httpx\n\nanswer = httpx.request(\n{lines})\nprint(answer.status_code, answer.text)\n"


def _as_node(origin: str, step: CallStep) -> str:
    options = [f"method: {json.dumps(step.record.method)}"]
    if headers := _headers(step):
        options.append(f"headers: {json.dumps(headers)}")
    note = ""
    if step.body and step.record.method in _BARE:
        note = f"// The call had a body, which fetch does not send with {step.record.method}.\n"
    elif step.body:
        text = _text(step.body)
        encoded = json.dumps(b64encode(step.body).decode()) + ', "base64"' if text is None else json.dumps(text)
        # of a text fetch would make a content type of its own
        options.append(f"body: Buffer.from({encoded})")
    lines = "".join(f"  {option},\n" for option in options)
    done = "then(async (answer) => console.log(answer.status, await answer.text()))"
    return f"{note}fetch({json.dumps(_url(origin, step))}, {{\n{lines}}}).{done};\n"


_PROGRAMS: Final[Mapping[str, Callable[[str, CallStep], str]]] = {
    "curl": _as_curl,
    "python": _as_python,
    "node": _as_node,
}
FORMS: Final = (*_PROGRAMS, "pytest", "scenario")


def request_text(language: Callable[[], Language], world: World, origin: str, step: CallStep, as_: str) -> str:
    """A call as text. ValueError where a scenario cannot say it, with the reason."""
    if as_ == "pytest":
        return PytestFile(world, Script([step]), About("", "", 0, ""), {}).write_call(step)
    if as_ == "scenario":
        entry: JsonObject = entry_of_call(language(), world, step)
        return dump({"traffic": [entry]})
    return _PROGRAMS[as_](origin, step)
