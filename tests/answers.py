"""What control answers in tests, held against its contract, where a sandbox checks what goes out (`check_answers`)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import jsonschema_rs

from sendbox.app import SERVED
from sendbox.control.openapi import document
from sendbox.control.operation import Control, Operation, Served, Text
from sendbox.control.stream import Events
from sendbox.engine.answer import plain
from sendbox.runtime.teams import EVERYONE, Token

#: What was not as the contract says, until the end of a test.
VIOLATIONS: Final[list[str]] = []
_PERFORM: Final = Control.do


@cache
def contract(served: Served = SERVED) -> dict[str, Any]:
    """The contract of control; nobody changes it."""
    return document(served, prefix="/_sandbox", origin="http://sandbox", version="test")


def validator(schema: dict[str, Any], served: Served = SERVED) -> Any:
    """Holds values against a schema of the contract."""
    return jsonschema_rs.Draft202012Validator({**schema, "components": contract(served)["components"]})


@cache
def _answers(served: Served, name: str) -> Any:
    row = served.by_name[name]
    responses = contract(served)["paths"][f"/_sandbox{row.path}"][row.method.lower()]["responses"]
    return validator(responses[str(row.status)]["content"]["application/json"]["schema"], served)


async def _checked(
    control: Control,
    origin: str,
    row: Operation,
    world_id: str | None = None,
    arguments: Mapping[str, Any] = {},
    token: Token = EVERYONE,
) -> Any:
    answer = await _PERFORM(control, origin, row, world_id, arguments, token)
    served = control.served
    if control.runtime.settings.check_answers and row in served.operations and not isinstance(answer, Text | Events):
        for error in _answers(served, row.name).iter_errors(plain(answer)):
            place = "/".join(map(str, error.instance_path))
            VIOLATIONS.append(f"{row.name} at {place}: {error.message[:600]}")
    return answer


@cache
def _events(path: str, name: str) -> Any:
    content = contract()["paths"][f"/_sandbox{path}"]["get"]["responses"]["200"]["content"]
    return validator(content["text/event-stream"]["x-events"][name])


def event(path: str, name: str, data: Any) -> None:
    """Holds an event of a stream against the contract."""
    _events(path, name).validate(plain(data))


def watch() -> None:
    """From now on answers are held against the contract."""
    Control.do = _checked  # type: ignore[assignment, method-assign]
