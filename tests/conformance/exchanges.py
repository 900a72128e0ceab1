"""Runs a case of `exchanges/*.yaml` against a sandbox, with nothing but HTTP: as a client in any language would.

The world delivers into its outbox, and the runner is the receiver of every address: while a call moves the clock it
takes what waits there, notes it, and says how it was answered.
"""

from __future__ import annotations

import asyncio
import base64
import re
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, quote, urlencode, urlsplit

import orjson
import yaml

from tests.box import ORIGIN, Answer, Box
from tests.conformance.matching import Names, difference

FOLDER: Final = Path(__file__).parent / "exchanges"
#: When every world starts, unless its case says: a Sunday.
START: Final = "2026-03-01T09:00:00Z"
#: A name is a part of the key of its world, which has at most 64 characters after `test-`.
NAME: Final = re.compile(r"[a-z0-9-]{1,60}")
JSON: Final = "application/json"
FORM: Final = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True)
class Case:
    """One case; the README beside this file says what the fields hold."""

    name: str
    section: str
    steps: list[dict[str, Any]]
    scenario: Any = None
    start: str = START
    receiver: list[int | str] = field(default_factory=list)


def id_of(section: str, name: str) -> str:
    """What a test of a case is called, by section and name: `s2_2-ttl-runs-out`."""
    return f"s{section.removeprefix('§').replace('.', '_')}-{name}"


def load() -> list[Case]:
    """Every case, in the order of the files."""
    return [
        Case(**row)
        for path in sorted(FOLDER.glob("*.yaml"))
        for row in yaml.load(path.read_text("utf-8"), Loader=yaml.CSafeLoader)
    ]


async def run(case: Case, box: Box) -> list[str]:
    """Plays a case in a world of its own; what went other than expected, a line each, up to the first step with any."""
    play = Play(case, box)
    await play.open()
    try:
        for number, step in enumerate(case.steps):
            if found := await play.step(step):
                return [f"step {number}: {line}" for line in found]
        return []
    finally:
        await box.delete(play.world)


class Play:
    """One case while it runs."""

    def __init__(self, case: Case, box: Box) -> None:
        self.key = f"test-{case.name}"
        self.world = f"/_sandbox/worlds/{self.key}"
        self._case = case
        self._box = box
        self._names = Names(key=self.key, origin=ORIGIN)
        #: calls that came and were not looked at yet
        self._calls: list[dict[str, Any]] = []
        self._answers = deque(case.receiver)

    async def open(self) -> None:
        """Opens the world, which keeps its deliveries for whoever takes them."""
        settings: dict[str, Any] = {"clock": {"mode": "manual", "start": self._case.start}, "deliveries": "pull"}
        if self._case.scenario is not None:
            settings["scenario"] = self._case.scenario
        await self._box.open(self.key, **settings)

    async def step(self, step: dict[str, Any]) -> list[str]:
        """Plays one step; what went other than expected."""
        match step:
            case {"request": request, "expect": expect, **rest} if not rest:
                return self._compare(expect, await self._request(self._names.fill(request)))
            case {"control": request, **rest} if rest.keys() <= {"expect"}:
                request = self._names.fill(request)
                body = _json(request["json"]) if "json" in request else b""
                target = f"{self.world}{request['path']}"
                answer = await self._box.call(request["method"], target, body, {"content-type": JSON})
                return self._compare({"status": 200, **rest.get("expect", {})}, answer, exact=False)
            case {"advance": how, **rest} if not rest:
                return await self._advance(how if isinstance(how, dict) else {"by": how})
            case {"expect_events": events, **rest} if rest.keys() <= {"exact", "from"}:
                came = [event for call in self._take(rest.get("from")) for event in call["events"]]
                return difference(events, came, self._names, exact=rest.get("exact", False))
            case {"expect_calls": calls, **rest} if rest.keys() <= {"from"}:
                return difference(calls, self._take(rest.get("from")), self._names, exact=False)
            case {"expect_messages": messages, **rest} if not rest:
                shown = (await self._box.get(f"{self.world}/messages")).json["messages"]
                return difference(messages, shown, self._names, exact=False)
        return [f"{step} is no step"]

    async def _request(self, request: dict[str, Any]) -> Answer:
        """Sends a request; its address is a path, or one that the sandbox gave out, wherever that points."""
        headers: dict[str, str | None] = {"x-api-key": self.key}
        body = b""
        if "json" in request:
            headers["content-type"], body = JSON, _json(request["json"])
        elif "form" in request:
            headers["content-type"], body = FORM, urlencode(request["form"]).encode()
        elif "text" in request:
            body = request["text"].encode()
        headers |= {name.lower(): value for name, value in request.get("headers", {}).items()}
        address = urlsplit(request["path"])
        if address.netloc:
            headers["host"] = address.netloc
        query = "&".join(filter(None, (address.query, urlencode(request.get("query", {}), quote_via=quote))))
        target = f"{address.path}?{query}" if query else address.path
        given = {name: value for name, value in headers.items() if value is not None}
        return await self._box.call(request["method"], target, body, given)

    async def _advance(self, how: dict[str, Any]) -> list[str]:
        moving = asyncio.create_task(self._box.advance(key=self.key, **self._names.fill(how)))
        try:
            while not moving.done():
                waiting = await self._box.post(f"{self.world}/outbox?during=advance&wait=5s")
                for call in waiting.json["calls"]:
                    await self._receive(call)
                await asyncio.sleep(0)
        finally:
            moved = await moving
        return [] if moved["failed"] == 0 or self._case.receiver else [f"{moved['failed']} deliveries failed"]

    async def _receive(self, call: dict[str, Any]) -> None:
        body = base64.b64decode(call["body"]).decode()
        headers = {name.lower(): value for name, value in call["headers"]}
        self._calls.append(
            {
                "at": call["now"],
                "method": call["method"],
                "url": "hook" if call["hook"] else call["url"],
                "headers": headers,
                "body": body,
                "events": _events(call, headers, body),
            }
        )
        answer = self._answers.popleft() if self._answers else 200
        outcome = {"error": answer} if isinstance(answer, str) else {"status": answer}
        await self._box.post(f"{self.world}/outbox/{call['id']}", outcome)

    def _take(self, url: str | None) -> list[dict[str, Any]]:
        """The calls that nobody looked at yet, to one address or to all."""
        wanted = self._names.fill(url)
        taken = [call for call in self._calls if wanted in (None, call["url"])]
        self._calls = [call for call in self._calls if call not in taken]
        return taken

    def _compare(self, expect: dict[str, Any], answer: Answer, *, exact: bool = True) -> list[str]:
        lines = []
        if answer.status != expect["status"]:
            lines.append(f"status {answer.status}, expected {expect['status']}: {answer.body!r}")
        if not expect.keys() <= {"status", "json", "headers", "text"}:
            lines.append(f"{expect} expects what nobody compares")
        if "json" in expect and not lines:
            lines += difference(expect["json"], answer.json, self._names, exact=exact)
        if "text" in expect:
            lines += difference(expect["text"], answer.body.decode(), self._names, exact=True, path="text")
        if "headers" in expect:
            lines += difference(expect["headers"], answer.headers, self._names, exact=False, path="headers")
        return lines


def _events(call: dict[str, Any], headers: dict[str, str], body: str) -> Any:
    """The events that a call carries: its JSON body, or the field `events` of its form or query."""
    if call["method"] == "GET":
        return orjson.loads(parse_qs(urlsplit(call["url"]).query)["events"][0])
    if headers.get("content-type") == FORM:
        return orjson.loads(parse_qs(body)["events"][0])
    events = orjson.loads(body)
    return events if isinstance(events, list) else [events]  # the notification of a signup is one object (A24)


def _json(value: Any) -> bytes:
    return orjson.dumps(value)
