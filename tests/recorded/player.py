"""Plays a script against a world of its own, through the interfaces and control alone, and keeps every answer."""

from __future__ import annotations

import contextlib
import gzip
import json
import logging
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import httpx

from sendbox.control.operation import ControlError
from tests.recorded.box import ORIGIN, Sandbox, SandboxServer
from tests.recorded.messages import Step
from tests.recorded.names import Names
from tests.recorded.receiver import Receiver

#: Headers of answers that say nothing: their length is that of the body, and the server is a new one each time.
_SILENT: Final = ("content-length", "date", "server", "sendbox-instance")
CALL_BACK: Final = {"to": [{"phone_number": "420777000101"}], "body": "We got your answer"}


class Broken(AssertionError):
    """The sandbox itself failed, which no record may hold."""


class Player:
    """One world while its script is played. `answers` has what came of each step."""

    def __init__(self, server: SandboxServer, script: dict[str, Any]) -> None:
        self.script = script
        receiver = script["receiver"]
        pulled: dict[str, Any] = {"deliveries": "pull"} if receiver == "pull" else {}
        self.box: Sandbox = server.sandbox(script["name"], salt=script["name"], **pulled, **script["open"])
        self.world = self.box.api_key
        self.client = httpx.Client(base_url=ORIGIN, transport=self.box.transport, timeout=5.0)
        self.names = Names(self.world, self.box.callback_url)
        self.receiver = Receiver(script["answers"], self._called_back if script.get("calls_back") else None)
        if receiver == "app":
            self.box.deliver_to(self.receiver)
        self.answers: list[dict[str, Any]] = []
        #: how often each address was called with which status
        self.calls: defaultdict[str, Counter[int]] = defaultdict(Counter)

    def play(self) -> None:
        """All steps. Raises `Broken` when the sandbox fails."""
        with _watched():
            for step in self.script["steps"]:
                came = self.step(step)
                self.answers.append(came)
                if "name" in step:
                    self.names.answers[step["name"]] = came.get("body")

    def close(self) -> None:
        """The world is over."""
        self.client.close()
        self.box.close()

    def step(self, step: Step) -> dict[str, Any]:
        """One step, and what came of it."""
        if "advance" in step:
            return self._advance(self.names.filled(step["advance"]))
        params = {name: str(self.names.filled(value)) for name, value in step.get("params", {}).items()}
        if "control" in step:
            did = step["control"]
            method, path = self.names.filled(did).format_map(params).split(" ", 1)
            return self._call(did, method, f"/_sandbox/worlds/{self.world}{path}", step, {})
        method, target = self.names.filled(step["call"]).format_map(params).split(" ", 1)
        key = step.get("key")
        headers = {} if key is None else {"x-api-key": self._key(key)}
        return self._call(step["call"], method, target.removeprefix(ORIGIN), step, headers)

    def _key(self, key: str) -> str:
        """A key of the world by what it ends in, or the one that an earlier answer gave out."""
        return str(self.names.filled(key)) if key.startswith("$") else f"{self.world}{key}"

    def control(self, path: str, method: str = "GET", **query: str) -> Any:
        """The answer of control about the world. Raises `Broken` where it has none."""
        answer = self.client.request(method, f"/_sandbox/worlds/{self.world}{path}", params=query)
        self._called(answer)
        if answer.status_code != 200:
            raise Broken(f"{method} {path} {query} answered {answer.status_code}: {answer.text}")
        return answer.json()

    def _called(self, answer: httpx.Response) -> None:
        self.calls[f"{answer.request.method} {answer.request.url.path}"][answer.status_code] += 1

    def _called_back(self) -> None:
        with contextlib.suppress(httpx.HTTPError):  # a fault of the scenario may strike it
            self.client.post("/v2/message", headers={"x-api-key": self.world}, json=CALL_BACK)

    def _call(self, did: str, method: str, target: str, step: Step, headers: dict[str, str]) -> dict[str, Any]:
        given: dict[str, Any] = {}
        headers = {**headers, **step.get("headers", {})}
        if "json" in step:
            given["content"] = json.dumps(self.names.filled(step["json"]), separators=(",", ":")).encode()
            headers.setdefault("content-type", "application/json")
        elif "text" in step:
            text = step["text"].encode()
            given["content"] = gzip.compress(text, mtime=0) if step.get("gzip") else text
        elif "form" in step:
            given["data"] = self.names.filled(step["form"])
        if "query" in step:
            given["params"] = self.names.filled(step["query"])
        if not target.startswith("/"):
            target = f"/{target}"
        try:
            answer = self.client.request(method, target, headers=headers, follow_redirects=False, **given)
        except httpx.HTTPError as error:  # a fault of the scenario, as its client sees it
            return {"did": f"{method} {target}", "raised": f"{type(error).__name__}: {error}"}
        self._called(answer)
        shown = _shown(answer)
        if target.startswith("/_sandbox") and answer.status_code >= 500:
            raise Broken(f"{method} {target} answered {shown}")
        self.names.learn(did, shown["body"])
        return {"did": f"{method} {target}", **shown}

    def _advance(self, how: dict[str, Any]) -> dict[str, Any]:
        step: Step = {"json": how}
        path = f"/_sandbox/worlds/{self.world}/clock/advance"
        if self.script["receiver"] == "app":  # the receiver is served where the fixture's own call waits
            if len(how) != 1:
                return self._call("advance", "POST", path, step, {})
            try:
                return {"did": f"advance {json.dumps(how)}", "body": self.box.advance(**how).json}
            except ControlError as error:
                return {"did": f"advance {json.dumps(how)}", "refused": str(error)}
        if self.script["receiver"] == "hook":
            return self._call("advance", "POST", path, step, {})
        with ThreadPoolExecutor(1) as pool:
            moved = pool.submit(self._call, "advance", "POST", path, step, {})
            while not moved.done():
                self._fetch()
            return moved.result()

    def _fetch(self) -> None:
        """Carries out what waits in the outbox while the world advances."""
        for call in self.control("/outbox", "POST", during="advance", wait="5s")["calls"]:
            named = next((value for name, value in call["headers"] if name.lower() == "x-request-id"), call["url"])
            ended = self.receiver.outcome(named)
            how = {"error": ended} if isinstance(ended, str) else {"status": ended}
            self._call("outbox", "POST", f"/_sandbox/worlds/{self.world}/outbox/{call['id']}", {"json": how}, {})


def _shown(answer: httpx.Response) -> dict[str, Any]:
    headers = {name: value for name, value in answer.headers.items() if name not in _SILENT}
    try:
        body = json.loads(answer.text) if "json" in headers.get("content-type", "") else answer.text
    except ValueError:
        body = answer.text
    return {"status": answer.status_code, "headers": headers, "body": body}


@contextlib.contextmanager
def _watched() -> Iterator[None]:
    """Raises `Broken` for what the sandbox wrote into its log as its own failure."""
    failures: list[str] = []

    class Watch(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.levelno >= logging.ERROR:
                failures.append(self.format(record))

    watch = Watch()
    logger = logging.getLogger("sendbox")
    logger.addHandler(watch)
    try:
        yield
    finally:
        logger.removeHandler(watch)
    if failures:
        raise Broken("\n".join(each[-1000:] for each in failures[:3]))
