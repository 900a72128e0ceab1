"""Operations on scenarios as texts: check one, and read those of the library."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from sendbox.control.arguments import whole
from sendbox.control.operation import Call, ControlError, operation
from sendbox.scenario import cursor, library
from sendbox.scenario.model import errors, listed

if TYPE_CHECKING:
    from sendbox.scenario.language import Language


@operation("POST", "/check")
async def check(call: Call, text: str, line: Any = None, column: Any = None) -> Any:
    """What is wrong with a scenario as YAML, and what may be written at the cursor; nothing is opened or changed.

    `{ok, problems, place, keys, values, examples}`: `problems` as in the answer 422 to a scenario, with warnings, which
    leave it `ok`. With `line` and `column`, which count from 1 (the end of the line unless `column` is given), `place`
    is the path at the cursor, null where it is not known; `keys` are `{key, means, says, required, example}` of the
    keys that are legal there and not yet used, `values` the legal words, `examples` further values. The text may be
    unfinished.
    """
    row = None if line is None else whole(line, "line", 1)
    at = None if column is None else whole(column, "column", 1)
    return await asyncio.get_running_loop().run_in_executor(None, _checked, call.served.language, text, row, at)


def _checked(language: Language, text: str, line: int | None, column: int | None) -> dict[str, Any]:
    problems = language.check(text if "\n" in text else f"{text}\n", paths=False)  # one line could be a name
    legal = cursor.NOWHERE if line is None else cursor.legal(text, line, column, language.shape)
    return {"ok": not errors(problems), "problems": [each.as_json() for each in problems], **legal.as_json()}


@operation("GET", "/scenarios")
async def scenarios(call: Call) -> Any:
    """The scenarios of the library: `{name, title, summary, traffic}` of each.

    `traffic` says whether it has requests of its own; others are played with a message for each of their rules.
    """
    rows = await asyncio.get_running_loop().run_in_executor(None, library.rows)
    return {"scenarios": [row._asdict() for row in rows]}


@operation("GET", "/scenarios/{name}")
async def library_scenario(call: Call, name: str) -> Any:
    """The text of a scenario of the library."""
    if name not in library.names():
        legal = listed(library.names())
        raise ControlError(404, "no_such_scenario", f'"{name}" is not a scenario of the library; legal: {legal}')
    return {"name": name, "text": library.text(name)}
