"""The emulated interfaces as one Starlette route: the hot path.

A row is found by a dictionary look-up and answered without request objects. Here is decided who is let in: by key, by
a token in its place, or by a name in the body; a refusal has the shape of the interface. What
becomes of a call that is let in, the executor decides (`services/http/executor.py`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

import orjson
from msgspec import Struct
from starlette.datastructures import URLPath
from starlette.routing import BaseRoute, Match, NoMatchFound
from starlette.types import Receive, Scope, Send

from sendbox.contract.validators import NotLoaded
from sendbox.engine.answer import JsonObject
from sendbox.engine.commands.record import RequestRecord
from sendbox.engine.world import World
from sendbox.runtime.slot import Capped, Conflict, HostedWorld
from sendbox.runtime.spool import MAX_BYTES_IN_MEMORY
from sendbox.runtime.worlds import Runtime
from sendbox.server.origin import (
    CallHeaders,
    ClientLeft,
    call_of,
    headers_of,
    heading_of,
    key_field,
    origin_of,
    read_body,
)
from sendbox.server.wire import carry_out, reply
from sendbox.services.http.exchange import Answer, Route, Tokens, WorldLookup
from sendbox.services.http.executor import UNKNOWN, CallExecutor, Handled, call_handler
from sendbox.services.http.requests import FORM, form_problem, media_type
from sendbox.services.operations import SENDING

if TYPE_CHECKING:
    from sendbox.engine.blueprint import Blueprint


#: Why a call reached no world, and what to do about it.
_NO_KEY: Final = ("no API key came with the call", "send it where this operation takes it (section 5)")
_LATE: Final = (
    "its world was closed or reset while the call was on its way",
    "stop clients before their test ends",
)
#: Of so many calls that are answered at once the last is measured, and stands for all: to measure takes 2 µs.
SAMPLE: Final = 8
#: The characters that stay as they are in the value of a header of Sendbox; all others are percent-encoded.
_PLAIN: Final = "".join(map(chr, range(0x20, 0x7F))).replace("%", "")


class Credentials(Struct, frozen=True):
    """The key of a call, None if there is none, and the body, if it was `read` for the key (None: it is too long).

    `token` says that the call has a token in place of a key.
    """

    key: str | None
    body: bytes | None = None
    read: bool = False
    token: bool = False


class Emulated(BaseRoute):
    """The route of all emulated interfaces; `empty` makes the blueprint of a world without a scenario."""

    def __init__(self, runtime: Runtime, executor: CallExecutor, empty: Callable[[], Blueprint]) -> None:
        self._runtime = runtime
        self.executor = executor
        self._calls, self._seconds = runtime.counts.calls, runtime.counts.call_seconds
        #: calls that were answered at once since the last one that was measured
        self._unmeasured = 0
        self._paths = executor.paths
        self._empty = empty
        if runtime.settings.check_answers:
            executor.check = self._check

    @property
    def routes(self) -> Sequence[Route]:
        """The rows of all interfaces."""
        return self._paths.routes

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Full for every path of a row, and for all else below the prefixes of the interfaces."""
        takes = scope["type"] == "http" and (
            scope["path"] in self._paths or scope["path"].startswith(self.executor.prefixes)
        )
        return (Match.FULL if takes else Match.NONE), {}

    def readdress(self, scope: Scope) -> None:
        """Gives a call to `/` that carries the fields of a row which is served there too the path of that row (A13)."""
        route = self._paths.at_root.get(scope["method"])
        if route is None:
            return
        if route.request is not None:
            carries = media_type(scope["headers"]) == route.request_type
        else:
            carries = key_field(scope["query_string"]) is not None
        if carries:
            scope["path"] = route.path

    def url_path_for(self, name: str, /, **path_params: object) -> URLPath:
        """Raises `NoMatchFound`: rows are found by their paths."""
        raise NoMatchFound(name, path_params)

    @cached_property
    def _keyless(self) -> World:
        """Answers what needs neither key nor world where none is named."""
        return World("", self._empty(), start=0, services=self._runtime.services)

    def answer_at_once(self, scope: Scope, heading: CallHeaders, body: bytes) -> Answer | None:
        """The answer to a call that came whole; None if something must be waited for: at most its world was opened.

        Such is a call with a key in its header, to a world at rest and without rules for calls.
        """
        route, params = self._find(scope)
        if route is None or route.auth != "header" or route.world_lookup is not None or len(body) > route.longest:
            return None
        runtime, key = self._runtime, heading.key
        if key is None:
            return self._refuse_keyless(scope, route, Credentials(None))
        if not runtime.is_ready(key):
            return None
        hosted = self._admit(scope, route, key)
        if not isinstance(hosted, HostedWorld):
            return hosted
        world = hosted.world
        if not hosted.ready or world.api.rules or world.api.headers or world.outlets.faults.overtakes:
            return None
        call = call_of(runtime, scope, key, body, heading=heading)
        runtime.present(hosted)
        outcome = self.executor.serve(world, call, route, params)
        if not isinstance(outcome, Handled):  # it takes time; a handler that does has not begun
            return None
        self.note(hosted, outcome)
        runtime.note_change(hosted, outcome.number)
        answer = self.with_hints(outcome, hosted, call.origin)
        self._unmeasured += 1
        if self._unmeasured == SAMPLE:
            self._unmeasured = 0
            took = runtime.reading() - hosted.used  # which was read when it was found
            self._seconds[route.operation].add(took, SAMPLE)
        return answer

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one call of an emulated interface."""
        route, params = self._find(scope)
        if route is None:
            with suppress(ClientLeft):
                await self._answer_unserved(scope, receive, send)
            return
        with suppress(ClientLeft):  # the client does not wait for an answer, and half a body is not a request
            credentials = await self._credentials(scope, route, receive)
            if credentials.key is None and route.world_lookup is not None and credentials.body is not None:
                await reply(send, await self._answer_without_world(scope, route, route.world_lookup, credentials.body))
                return
            if credentials.key is None:
                await reply(send, self._refuse_keyless(scope, route, credentials))
                return
            why = await self._wake(scope, credentials.key)
            if why is not None:
                await reply(send, self._refused(scope, route.operation, route.error(503, why)))
                return
            hosted = self._admit(scope, route, credentials.key)
            if not isinstance(hosted, HostedWorld):
                await reply(send, hosted)
                return
            world = hosted.world
            body = credentials.body if credentials.read else await read_body(receive, route.longest)
            token = hosted.request_began()  # an advance does not wait for a body that is on its way
            began = self._runtime.reading()
            try:
                answer = await self._serve(scope, route, params, hosted, world, credentials.key, body)
                self._seconds[route.operation].add(self._runtime.reading() - began)
                if answer.fault is None:
                    await reply(send, answer)
            finally:
                hosted.request_ended(token)
                self._runtime.note_change(hosted)
            if answer.fault is not None:  # takes its time, and the world goes on meanwhile
                await carry_out(self._runtime, answer.fault, answer, hosted, scope, receive, send)

    def _find(self, scope: Scope) -> tuple[Route | None, Mapping[str, str]]:
        """The row of a call, None if it has none, and the parameters of its path."""
        rows, params = self._paths.find(scope["path"])
        route = None if rows is None else rows.get(scope["method"])
        if route is not None and not params:  # the journal keeps one text for all calls, not one for each
            scope["method"], scope["path"] = route.method, route.path
        return route, params

    async def _credentials(self, scope: Scope, route: Route, receive: Receive) -> Credentials:
        """The key of a call, from where its row takes it. Raises `ClientLeft`."""
        in_header = route.auth != "form" and route.world_lookup is None
        key = heading_of(scope).key if in_header else None
        if key is None and route.auth == "header-or-query":
            key = key_field(scope["query_string"])
        if key is not None or (in_header and route.tokens is None):
            return Credentials(key)
        body = await read_body(receive, route.longest)
        if body is None:
            return Credentials(None, read=True)
        if route.auth == "form":
            return Credentials(key_field(body if route.method == "POST" else scope["query_string"]), body, read=True)
        if route.world_lookup is not None:  # what the body names tells whose call it is
            owner = await self._runtime.by_tag(route.world_lookup.name_of(body))
            return Credentials(None if owner is None else owner.world.id, body, read=True)
        jwt = None if route.tokens is None else route.tokens.in_body(body)
        if route.tokens is None or jwt is None:
            return Credentials(None, body, read=True)
        return Credentials(await self._world_of(route.tokens, jwt), body, read=True, token=True)

    def _refuse_keyless(self, scope: Scope, route: Route, credentials: Credentials) -> Answer:
        """The answer to a call without a key."""
        answer, refusal = route.deny(credentials.token), _NO_KEY if route.tokens is None else route.tokens.missing
        if credentials.read and credentials.body is None:
            answer, refusal = route.error(413, route.too_long), (route.too_long, "send less at once")
        elif route.request_type == FORM and route.auth == "form" and credentials.body is not None:
            problem = form_problem(scope["headers"], credentials.body)
            if problem is not None:
                answer, refusal = route.error(415, problem), (problem, "send the fields as a form")
        self._runtime.refuse(None, scope["path"], *refusal)
        return self._refused(scope, route.operation, answer)

    def _admit(self, scope: Scope, route: Route, key: str) -> HostedWorld | Answer:
        """The world that a call comes to, opened if need be, or the answer that refuses the call."""
        runtime, path = self._runtime, scope["path"]
        full = runtime.refusal(key, sends=route.operation in SENDING)
        if full is not None:
            runtime.refuse(key, path, *full, full=True)
            return self._refused(scope, route.operation, route.error(503, full.why))
        try:
            hosted = runtime.find(key, path)
        except Capped as capped:
            return self._refused(scope, route.operation, route.error(capped.status, capped.message))
        return self._refused(scope, route.operation, route.deny(True)) if hosted is None else hosted

    async def _wake(self, scope: Scope, key: str) -> str | None:
        """Makes the world of a key again, if it is only in the store; returns why that cannot be, None = it is done."""
        try:
            await self._runtime.wake(key)
        except Conflict as conflict:
            self._runtime.refuse(key, scope["path"], conflict.message, "GET /_sandbox/worlds lists it", full=True)
            return conflict.message
        return None

    def unavailable(self, scope: Scope, why: str) -> Answer | None:
        """The answer 503 in the shape of the interface that a path belongs to; None if it belongs to none."""
        rows, _ = self._paths.find(scope["path"])
        return None if rows is None else next(iter(rows.values())).error(503, why)

    async def _world_of(self, tokens: Tokens, jwt: str) -> str | None:
        """The id of the world that a token is of (§5.3); whether the token is good, that world must say."""
        await asyncio.get_running_loop().run_in_executor(None, tokens.preload)
        hosted = await self._runtime.by_tag(tokens.subject(jwt) or "")
        return None if hosted is None else hosted.world.id

    async def _serve(
        self,
        scope: Scope,
        route: Route,
        params: Mapping[str, str],
        hosted: HostedWorld,
        world: World,
        key: str,
        body: bytes | None,
    ) -> Answer:
        """The answer to a call that was admitted to a world, if that is still there once the body has come."""
        if hosted.working is not None:
            await hosted.wait_until_idle()
        if hosted.gone or hosted.world is not world:
            if route.world_lookup is not None and body is not None:
                return await self._answer_without_world(scope, route, route.world_lookup, body)
            self._runtime.refuse(key, scope["path"], *_LATE)
            return self._refused(scope, route.operation, route.deny(True))
        runtime = self._runtime
        headers = headers_of(scope, world.api.headers) if world.api.headers else None  # rules ask for more of them
        call = call_of(runtime, scope, key, body, headers)
        runtime.present(hosted)
        chain = hosted.calls.chain if hosted.advancing else 0
        outcome = self.executor.serve(world, call, route, params)
        if not isinstance(outcome, Handled):
            outcome = await hosted.run_exclusively(outcome)
        self.note(hosted, outcome)
        if chain:
            sent = None if outcome.sent is None else (outcome.sent[0].id, outcome.sent[1])
            hosted.calls.note_call(chain, route.operation, sent, world.clock, hosted.settings or runtime.settings)
            if hosted.calls.loop is not None:
                hosted.stir()
        if outcome.overtaking_requests and hosted.world is world:
            await runtime.dispatcher.overtake(hosted, tuple(outcome.overtaking_requests))
        return self.with_hints(outcome, hosted, call.origin)

    def denied(self, operation: str, status: int) -> None:
        """Counts and logs the call that came into no world and was noted last (`Runtime.refuse`)."""
        outcome = self._runtime.refusal_answered(None if operation == UNKNOWN else operation, status)
        self._calls[operation, status, outcome] += 1

    def note(self, hosted: HostedWorld, outcome: Handled) -> None:
        """Counts a call, puts a long body away, and logs what is remarked on it."""
        if self._runtime.persistence is not None:
            self._runtime.persistence.changed(hosted)
        record = outcome.record
        if record is not None:
            refused = record.status >= 400 or outcome.answer.refuses
            became = "fault" if record.fault is not None else "refused" if refused else "accepted"
            self._calls[record.head.operation, record.status, became] += 1
            record.put_away(hosted.spool.keep, MAX_BYTES_IN_MEMORY)
            if record.fault is not None:
                self._runtime.log(hosted.world.id, record.fault.line, operation=record.operation, status=record.status)
            if record.findings or outcome.advice or outcome.remade_places:
                _log_remarks(self._runtime, hosted, record, outcome)

    def with_hints(self, outcome: Handled, hosted: HostedWorld, origin: str) -> Answer:
        """The answer with the address of its call's entry in the journal, and the name of the rule that changed it."""
        answer = outcome.answer
        if self._runtime.settings.hints:
            hint = hosted.hint
            if hint[0] != origin:
                hint = hosted.hint = (origin, f"{origin}{hosted.path}/journal/".encode("latin-1", "replace"))
            answer.headers = (*answer.headers, (b"sendbox-journal", b"%b%d" % (hint[1], outcome.number)))
            fault = None if outcome.record is None else outcome.record.fault
            if fault is not None and (rule := fault.rule.name or fault.rule.id or fault.rule.place):
                answer.headers += ((b"sendbox-rule", quote(rule, safe=_PLAIN, errors="replace").encode()),)
            if hosted.news:
                hosted.news = False
                answer.headers += ((b"sendbox-world", f"opened anew: {hosted.before}".encode()),)
        return answer

    async def _answer_without_world(self, scope: Scope, route: Route, whose: WorldLookup, body: bytes) -> Answer:
        """A call without key whose world is not known: answered as in an empty world, and not journaled."""
        exchange = self.executor.exchange(self._keyless, call_of(self._runtime, scope, "", body), route, {})
        while True:
            try:
                answer = call_handler(exchange)[0]
            except NotLoaded as missing:
                await asyncio.get_running_loop().run_in_executor(None, missing.load)
            else:
                self._runtime.refuse(None, scope["path"], *whose.unknown)
                return self._refused(scope, route.operation, answer)

    def _refused(self, scope: Scope, operation: str, answer: Answer) -> Answer:
        """An answer whose reason is not in a world's journal but among the refused keys."""
        self.denied(operation, answer.status)
        if self._runtime.settings.hints:
            shard = self._runtime.settings.shard
            address = f"{origin_of(self._runtime, scope)}/_sandbox/refused{f'?shard={shard}' if shard else ''}"
            answer.headers = (*answer.headers, (b"sendbox-journal", address.encode("latin-1", "replace")))
        return answer

    async def _answer_unserved(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a call whose path (A97) or method (A75) no row has; its body is read if a rule may answer it.

        Raises `ClientLeft`.
        """
        runtime, path = self._runtime, scope["path"]
        refusal = self.executor.lost(scope["method"], path)
        key = heading_of(scope).key
        hosted = None
        if key is None:
            runtime.refuse(None, path, refusal.finding.message, "/openapi.json lists what is served")
        elif await self._wake(scope, key) is None:
            if (full := runtime.refusal(key, sends=False)) is not None:
                runtime.refuse(key, path, *full, full=True)
                await reply(send, self._refused(scope, UNKNOWN, refusal.error(503, full.why)))
                return
            with suppress(Capped):
                hosted = runtime.find(key, path)
        if key is None or hosted is None:
            await reply(send, self._refused(scope, UNKNOWN, refusal.answer))
            return
        api = hosted.world.api
        body = (await read_body(receive) or b"") if api.of_paths else b""
        await hosted.wait_until_idle()
        headers = headers_of(scope, api.headers) if api.headers else None
        call = call_of(runtime, scope, key, body, headers)
        runtime.present(hosted)
        outcome = self.executor.refuse_unserved(hosted.world, call)
        self.note(hosted, outcome)
        runtime.note_change(hosted)
        answer = self.with_hints(outcome, hosted, call.origin)
        if answer.fault is None:
            await reply(send, answer)
        else:
            await carry_out(runtime, answer.fault, answer, hosted, scope, receive, send)

    def _check(self, route: Route, answer: Answer) -> None:
        """In tests: what goes out keeps to the contract too."""
        ref = route.responses.get(answer.status)
        if ref is None:
            return
        value: object = answer.body.decode()
        if answer.content_type.startswith(b"application/json"):
            value = orjson.loads(answer.body)
        findings = self.executor.contract.checker(ref).findings(value)
        if findings:
            self._runtime.violations.append(f"{route.operation} answered {answer.body!r}: {findings[0].message}")


def _log_remarks(runtime: Runtime, hosted: HostedWorld, record: RequestRecord, outcome: Handled) -> None:
    """A line for each finding, and for each advice that is new in this world."""
    world_id = hosted.world.id
    for finding in record.findings:
        word = "refused" if record.status >= 400 else "rejected"
        message = f"{word} {record.operation}: {finding.message} at {finding.path}"
        fields: JsonObject = {"status": record.status, "rule": finding.rule, "at": finding.path}
        runtime.log(world_id, message, operation=record.operation, **fields)
    places = outcome.remade_places
    if outcome.advice:
        places = [*places, *[(advice.code, advice.path) for advice in outcome.advice]]
    new = hosted.advised.note(record.head.operation, places)
    for advice in record.advice if new else ():
        if (advice.code, advice.path) not in new:
            continue
        new.remove((advice.code, advice.path))
        message = f"advice {advice.code} on {record.operation}: {advice.message} at {advice.path}"
        fields = {"status": record.status, "code": advice.code, "at": advice.path}
        runtime.log(world_id, message, operation=record.operation, **fields)
