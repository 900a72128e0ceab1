"""The words of `when.operation` against the routes that there are."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from inspect import getclosurevars
from types import FunctionType
from typing import Any

from sendbox import data
from sendbox.app import SERVED
from sendbox.services.operations import CALLS, EMULATED, SENDING
from sendbox.services.verify.verify import OPERATION


def _called(handler: Callable[..., Any]) -> Iterator[str]:
    """Names that a handler uses, and those that the functions use which it uses."""
    todo, seen = [handler], set()
    while todo:
        function = todo.pop()
        if isinstance(function, partial):  # a port that was given to it stands among what is given
            todo += [function.func, *function.args]
            continue
        if function in seen or not isinstance(function, FunctionType):
            continue
        seen.add(function)
        yield from function.__code__.co_names
        found = getclosurevars(function)
        todo += [value for value in (*found.globals.values(), *found.nonlocals.values()) if callable(value)]


def test_the_operations_that_send_are_those_whose_handlers_do() -> None:
    """A route that hands messages to the world is a word of `when.operation`, and no other is.

    Verify hands its message over inside the core, under a name of its own.
    """
    sending = [row.operation for row in SERVED.routes if row.operation == OPERATION or "accept" in _called(row.handler)]
    assert list(SENDING) == sending


def test_editors_complete_operations() -> None:
    """The schema offers all of them where one stands: what it offers is what check takes."""
    defined = json.loads((data.folder("schemas") / "scenario.schema.json").read_text("utf-8"))["$defs"]
    called = defined["trafficRequest"]["properties"]["operation"]
    for node, words in ((defined["operation"], SENDING), (defined["called"], EMULATED), (called, CALLS)):
        assert node["anyOf"][0]["enum"] == list(words)
