"""The exchanges of `exchanges/*.yaml`, played in a world of their own; the README says how they are written."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import httpx
import pytest
import yaml

from sendbox.app import ROUTES

if TYPE_CHECKING:
    from sendbox.fixture import Sandbox

FOLDER: Final = Path(__file__).parent / "exchanges"
_KEPT: Final = re.compile(r"\$\{(\w+)\}")
#: Interfaces of which every row, and every status that it can answer, occurs in an exchange.
WHOLE: Final = ("verify",)


@dataclass(frozen=True, slots=True)
class Exchange:
    """One story of calls and time."""

    name: str
    section: str
    steps: list[dict[str, Any]]
    scenario: dict[str, Any] = field(default_factory=dict)


def load() -> list[Exchange]:
    """Every exchange, in the order of the files."""
    return [
        Exchange(**row)
        for path in sorted(FOLDER.glob("*.yaml"))
        for row in yaml.load(path.read_text("utf-8"), Loader=yaml.CSafeLoader)
    ]


EXCHANGES: Final = load()


@pytest.mark.parametrize("exchange", [pytest.param(each, id=f"{each.section}-{each.name}") for each in EXCHANGES])
def test_exchange(exchange: Exchange, sendbox: Sandbox) -> None:
    """Each call is answered with the status and body that stand beside it."""
    start = {"clock": {"mode": "manual", "start": "2026-03-01T09:00:00Z"}}
    sendbox.load({"sendbox": 1, "extends": "default", **start, **exchange.scenario})
    kept: dict[str, str] = {}
    with httpx.Client(base_url=sendbox.origin, transport=sendbox.transport) as client:
        for step in exchange.steps:
            for _ in range(step.get("times", 1)):
                _play(_filled(step, kept), sendbox, client, kept)


def _play(step: dict[str, Any], sendbox: Sandbox, client: httpx.Client, kept: dict[str, str]) -> None:
    if "advance" in step:
        sendbox.advance(step["advance"])
    elif "account" in step:
        sendbox.set_account(**step["account"])
    elif "codes" in step:
        found = sendbox.codes(phone=step["codes"])
        assert _fits(found, step["answer"], kept) or found == step["answer"]
    elif "inbox" in step:
        assert [entry.body for entry in sendbox.phone(step["inbox"]).inbox] == step["answer"]
    elif "events" in step:
        assert sendbox.events == step["events"]
    else:
        method, _, path = step["call"].partition(" ")
        key = step.get("key", "the world's")
        headers = {} if key is None else {"X-API-Key": sendbox.api_key if key == "the world's" else key}
        body = {"content": step["text"]} if "text" in step else {"json": step["json"]} if "json" in step else {}
        answer = client.request(method, path, headers=headers, **body)
        shown = answer.json()
        assert (answer.status_code, shown) == (step["status"], shown), shown
        assert _fits(shown, step["answer"], kept), (shown, step["answer"])
        assert {name.lower(): value for name, value in step.get("headers", {}).items()}.items() <= dict(
            answer.headers
        ).items()


def _fits(value: Any, wanted: Any, kept: dict[str, str]) -> bool:
    """Whether a value is the one that is wanted; `<name>` takes any text and keeps it, `~` begins a pattern."""
    if isinstance(wanted, dict):
        return (
            isinstance(value, dict)
            and value.keys() == wanted.keys()
            and all(_fits(value[name], item, kept) for name, item in wanted.items())
        )
    if isinstance(wanted, list):
        return len(value) == len(wanted) and all(map(lambda one, two: _fits(one, two, kept), value, wanted))
    if isinstance(wanted, str) and wanted.startswith("~"):
        return re.fullmatch(wanted[1:], value) is not None
    if isinstance(wanted, str) and re.fullmatch(r"<\w+>", wanted):
        kept[wanted[1:-1]] = value
        return isinstance(value, str)
    return bool(value == wanted)


def _filled(step: Any, kept: dict[str, str]) -> Any:
    """A step with what was kept in the places of `${name}`."""
    if isinstance(step, dict):
        return {name: _filled(item, kept) for name, item in step.items()}
    if isinstance(step, list):
        return [_filled(item, kept) for item in step]
    return _KEPT.sub(lambda found: kept[found[1]], step) if isinstance(step, str) else step


def test_names_are_unique() -> None:
    """A name leads to one exchange."""
    assert [name for name, count in Counter(each.name for each in EXCHANGES).items() if count > 1] == []


def test_every_row_and_status_occurs() -> None:
    """Each status that a row of a whole interface can answer stands in an exchange, the inner error apart (§7.1)."""
    expected = {
        (route.method, route.path, status)
        for route in ROUTES
        if route.interface in WHOLE
        for status in route.responses
        if status != 500
    }
    found = set()
    for exchange in EXCHANGES:
        for step in exchange.steps:
            if "call" in step:
                method, _, path = step["call"].partition(" ")
                found.add((method, re.sub(r"(?<=/validations/)[^/]+", "{token}", path), step["status"]))
    assert expected - found == set()
