"""The emulated interfaces as one Starlette route: the hot path.

A row is found by a dictionary look-up and answered without request objects. Here is decided who is let in: by key, by
a token in its place, or by a name in the body; whoever is not let in is told so in the shape of the interface.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Any, Final

import orjson
from starlette.requests import ClientDisconnect, Request
from starlette.routing import BaseRoute, Match, NoMatchFound
from starlette.types import Receive, Scope, Send

from sendbox.contract.validators import Contract, NotLoaded
from sendbox.engine.polls import MANY
from sendbox.engine.remarks import Finding
from sendbox.engine.requests import RequestRecord
from sendbox.engine.world import World
from sendbox.runtime.worlds import Hosted, Runtime, Slice
from sendbox.server.faults import NO_FAULT, Decision, carry_out, decide, note, reply, spoilt, told
from sendbox.server.origin import BODY_CAP, content_type, header_key, key_field, origin_of, read_body
from sendbox.services.advice import POLLING_STOPPED_CLOCK, advise
from sendbox.services.http.diagnosis import valued
from sendbox.services.http.exchange import Answer, Exchange, Route, Tokens, Whose
from sendbox.services.http.handling import handled, worked
from sendbox.services.http.interfaces import Interface
from sendbox.services.http.paths import Paths
from sendbox.services.ports import account_of

log = logging.getLogger("sendbox")

#: So many different remarks are remembered a world, so that the log says each of them once.
MOST_TOLD: Final = 1_000
#: Why a call reached no world, and what to do about it.
_NO_KEY: Final = ("no API key came with the call", "send it where this operation takes it (section 5)")
_TOO_LONG: Final = (f"the body is longer than {BODY_CAP} bytes, the most that is read", "send less at once")
_LATE: Final = (
    "its world was closed or reset while the call was on its way",
    "let clients end before the test does that they belong to",
)


class Emulated(BaseRoute):
    """All rows of the emulated interfaces as one route."""

    def __init__(
        self, runtime: Runtime, contract: Contract, routes: Sequence[Route], interfaces: Sequence[Interface]
    ) -> None:
        self._runtime = runtime
        self._contract = contract
        self._paths = Paths(routes)
        self._interfaces = interfaces
        self._prefixes = tuple(prefix for each in interfaces for prefix in each.prefixes)
        #: answers what needs neither key nor world where none is named
        self._nobody = World("", runtime.language.load({"sendbox": 1}), start=0, services=runtime.services)

    def takes(self, scope: Scope) -> bool:
        """Every path of the table, and everything else below the prefixes of the interfaces."""
        if scope["type"] != "http":
            return False
        path: str = scope["path"]
        return path in self._paths or path.startswith(self._prefixes)

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """The same, as Starlette asks it."""
        return (Match.FULL if self.takes(scope) else Match.NONE), {}

    def url_path_for(self, name: str, /, **path_params: Any) -> Any:
        """Emulated rows have no names to be looked up by."""
        raise NoMatchFound(name, path_params)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one call of an emulated interface."""
        path: str = scope["path"]
        row, scope["path_params"] = self._paths.find(path)
        route = None if row is None else row.get(scope["method"])
        if route is None:
            await reply(send, self._lost(scope, row))
            return
        try:
            body: bytes | None = None
            jwt: str | None = None
            if route.auth == "form":  # the key stands in the body
                body = await read_body(receive)
                key = None if body is None else key_field(body if route.method == "POST" else scope["query_string"])
            elif route.whose is not None:  # no key: what the body names tells whose call it is
                body = await read_body(receive)
                known = None if body is None else self._runtime.by_tag(route.whose.name_of(body))
                if known is None:
                    await reply(send, await self._homeless(scope, route, route.whose, body))
                    return
                key = known.world.id
            else:
                key = header_key(scope)
                if key is None and route.auth == "header-or-query":
                    key = key_field(scope["query_string"])
                elif key is None and route.tokens is not None:
                    body = await read_body(receive)
                    jwt = None if body is None else route.tokens.given(body)
                    key = None if jwt is None else await self._world_of(route.tokens, jwt)
            hosted = None if key is None else self._runtime.find(key, path)
            if key is None or hosted is None:
                answer = self._refused(scope, route.deny(key is not None))
                if route.auth in ("form", "header-or-token") and key is None and body is None:
                    self._runtime.refuse(None, path, *_TOO_LONG)
                    answer = self._refused(scope, route.error(413, _TOO_LONG[0]))
                elif key is None:
                    self._runtime.refuse(None, path, *(_NO_KEY if route.tokens is None else route.tokens.missing))
                await reply(send, answer)
                return
            token = hosted.request_began()
            try:
                answer = await self._serve(scope, receive, route, hosted, key, body, jwt)
                if answer.fault is None:
                    await reply(send, answer)
            finally:
                hosted.request_ended(token)
                self._runtime.changed(hosted)
            if answer.fault is not None:  # takes its time, and the world goes on meanwhile
                await carry_out(answer.fault, answer, hosted, scope, receive, send)
        except ClientDisconnect:  # whoever called does not wait for an answer, and half a body is no request
            pass

    async def _world_of(self, tokens: Tokens, jwt: str) -> str | None:
        """The id of the world that a token is of (§5.3); whether the token is good, that world must say."""
        await asyncio.get_running_loop().run_in_executor(None, tokens.preload)
        hosted = self._runtime.by_tag(tokens.subject(jwt) or "")
        return None if hosted is None else hosted.world.id

    async def _serve(
        self,
        scope: Scope,
        receive: Receive,
        route: Route,
        hosted: Hosted,
        key: str,
        body: bytes | None,
        jwt: str | None = None,
    ) -> Answer:
        """The answer to a call that was admitted to a world, if the world is still there once the body has come.

        `jwt` is the token that stands in for the key, where one does.
        """
        world = hosted.world
        if body is None:
            body = await read_body(receive)
        decision = NO_FAULT
        if world.api.rules and body is not None and not hosted.gone and hosted.world is world:
            self._runtime.present(hosted)
            about = "" if route.about is None else route.about(world, scope["path_params"])
            decision = decide(world, route.operation, key, scope["path"], body, scope["query_string"], about)
            if decision[0] is not None and not decision[0].rule.effective:
                answer = spoilt(decision[0], route.error, None)
                record = _record(scope, route, key, body, answer)
                self._journal(origin_of(self._runtime, scope), hosted, record, answer, decision)
                return answer
        while not hosted.gone and hosted.world is world:
            if body is None:
                long = route.error(413, _TOO_LONG[0])
                return self._refuse(scope, hosted, key, route.operation, long, _call_finding(_TOO_LONG[0]))
            try:
                done = await self._answer(scope, route, hosted, key, body, jwt, decision)
                if done is not None:
                    return done
            except NotLoaded as missing:  # nothing was done yet, and the loop must not wait for an import
                await asyncio.get_running_loop().run_in_executor(None, missing.load)
        if route.whose is not None:
            return await self._homeless(scope, route, route.whose, body)
        self._runtime.refuse(key, scope["path"], *_LATE)
        return self._refused(scope, route.deny(True))

    async def _homeless(self, scope: Scope, route: Route, whose: Whose, body: bytes | None) -> Answer:
        """A call without key of which nobody knows whose it is: answered as in an empty world, journaled nowhere."""
        if body is None:
            return self._refused(scope, route.error(413, _TOO_LONG[0]))
        self._runtime.refuse(None, scope["path"], *whose.unknown)
        nobody = self._nobody
        exchange = Exchange(route, nobody, account_of(nobody).keys[""], scope["headers"], b"", body, "", self._contract)
        while True:
            try:
                return self._refused(scope, handled(exchange)[0])
            except NotLoaded as missing:
                await asyncio.get_running_loop().run_in_executor(None, missing.load)

    async def _answer(
        self,
        scope: Scope,
        route: Route,
        hosted: Hosted,
        key: str,
        body: bytes,
        jwt: str | None = None,
        decision: Decision = NO_FAULT,
    ) -> Answer | None:
        """Runs the handler, one with much to do in slices, and journals the call; None when the world went away."""
        runtime = self._runtime
        runtime.present(hosted)
        world = hosted.world
        origin = origin_of(runtime, scope)
        headers, query, params = scope["headers"], scope["query_string"], scope["path_params"]
        exchange = Exchange(
            route, world, account_of(world).keys[key], headers, query, body, origin, self._contract, params
        )
        if jwt is not None and route.tokens is not None:
            exchange.bearer = route.tokens.admitted(world, jwt)
            if isinstance(exchange.bearer, Finding):
                return self._refuse(scope, hosted, key, route.operation, route.deny(True), exchange.bearer)
        faults, detours = world.outlets.faults, world.outlets.detours
        if faults.overtakes:
            detours.hasty.clear()
        answer, findings = handled(exchange)
        hasty = detours.hasty[:] if faults.overtakes else None
        if answer.work is not None:
            answer, findings = await worked(exchange, Slice().through(answer.work))
        if hosted.world is not world:
            return None
        if route.method == "GET" and world.clock.mode == "manual":
            _remark_poll(exchange, scope["path"], answer)
        if runtime.settings.check_answers:
            self._check(route, answer)
        if decision[0] is not None:
            answer = spoilt(decision[0], route.error, answer)
        record = _record(scope, route, key, body, answer)
        record.findings = valued(findings, exchange) if findings else ()
        record.advice = exchange.advice
        record.canonical = exchange.content
        self._journal(origin, hosted, record, answer, decision)
        if hasty:
            await runtime.carrier.overtake(hosted, hasty)
        return answer

    def _journal(
        self, origin: str, hosted: Hosted, record: RequestRecord, answer: Answer, decision: Decision = NO_FAULT
    ) -> None:
        """Journals a call, with the fault that applied to it, and puts the address of its entry into the answer."""
        if decision[0] is not None:
            told(record, decision[0])
        number = hosted.world.request(record)
        if decision is not NO_FAULT:
            note(self._runtime, hosted, number, decision)
        if record.findings or record.advice:
            _log_remarks(self._runtime, hosted, record)
        if self._runtime.settings.hints:
            address = f"{origin}{hosted.path}/journal/{number}"
            answer.headers = (*answer.headers, (b"sendbox-journal", address.encode("latin-1", "replace")))

    def journal(
        self, request: Request, hosted: Hosted, record: RequestRecord, answer: Answer, decision: Decision = NO_FAULT
    ) -> None:
        """The same for a call that comes by a route of its own."""
        origin = origin_of(self._runtime, request.scope)
        self._journal(origin, hosted, record, answer, decision)

    def _refuse(
        self,
        scope: Scope,
        hosted: Hosted,
        key: str,
        operation: str,
        answer: Answer,
        finding: Finding,
    ) -> Answer:
        """A call that no handler sees, journaled all the same."""
        self._runtime.present(hosted)
        record = RequestRecord(operation, scope["method"], scope["path"], key, answer.status, b"", answer.body)
        record.findings = [finding]
        self._journal(origin_of(self._runtime, scope), hosted, record, answer)
        return answer

    def _refused(self, scope: Scope, answer: Answer) -> Answer:
        """An answer whose reason is not in a world's journal but among the refused keys."""
        if self._runtime.settings.hints:
            address = f"{origin_of(self._runtime, scope)}/_sandbox/refused"
            answer.headers = (*answer.headers, (b"sendbox-journal", address.encode("latin-1", "replace")))
        return answer

    def _lost(self, scope: Scope, row: dict[str, Route] | None) -> Answer:
        """A path or a method that no row has: 404 or 405 in the shape of its interface (A75)."""
        path: str = scope["path"]
        if row is None:
            interface = next(each for each in self._interfaces if path.startswith(each.prefixes))
            why = f"{path} is no path of the {interface.name} interface"
            answer = interface.error(404, why)
        else:
            legal = ", ".join(sorted(row))
            why = f"{scope['method']} is not served at {path}; legal: {legal}"
            answer = next(iter(row.values())).error(405, why)
            answer.headers = ((b"allow", legal.encode()),)
        key = header_key(scope)
        if key is None:
            self._runtime.refuse(None, path, why, "what is served stands at /openapi.json")
            return self._refused(scope, answer)
        hosted = self._runtime.find(key, path)
        if hosted is None:
            return self._refused(scope, answer)
        self._refuse(scope, hosted, key, "unknown", answer, _call_finding(why))
        self._runtime.changed(hosted)
        return answer

    def _check(self, route: Route, answer: Answer) -> None:
        """In tests: what goes out keeps to the contract too."""
        ref = route.responses.get(answer.status)
        if ref is None:
            return
        value: object = answer.body.decode()
        if answer.content_type.startswith(b"application/json"):
            value = orjson.loads(answer.body)
        found = self._contract.checker(ref).findings(value)
        if found:
            self._runtime.violations.append(f"{route.operation} answered {answer.body!r}: {found[0].message}")


def _record(scope: Scope, route: Route, key: str, body: bytes, answer: Answer) -> RequestRecord:
    """What the journal keeps of a call and its answer, with how it came."""
    record = RequestRecord(route.operation, route.method, scope["path"], key, answer.status, body, answer.body)
    record.bare = route.auth != "header" and header_key(scope) is None
    record.content_type = content_type(scope)
    record.query = scope["query_string"]
    return record


def _log_remarks(runtime: Runtime, hosted: Hosted, record: RequestRecord) -> None:
    """A line for each finding, and for each advice that this world was not told before."""
    world_id = hosted.world.id
    for finding in record.findings:
        word = "refused" if record.status >= 400 else "rejected"
        runtime.log(world_id, f"{word} {record.operation}: {finding.message} at {finding.path}")
    for advice in record.advice:
        if advice in hosted.told:
            continue
        if len(hosted.told) < MOST_TOLD:
            hosted.told.add(advice)
        runtime.log(world_id, f"advice {advice.code} on {record.operation}: {advice.message} at {advice.path}")


def _remark_poll(exchange: Exchange, path: str, answer: Answer) -> None:
    """Advice, once a world, to a client that waits for something while the clock stands."""
    world = exchange.world
    question = b"\0".join((path.encode(), exchange.query, exchange.key.id.encode()))
    if world.polls.asked(world.instants, question, answer.body):
        text = f"{path} was asked {MANY} times with the same answer while the clock stands; advance it, then ask"
        exchange.advice.append(advise(POLLING_STOPPED_CLOCK, text, "$", exchange.route.section))


def _call_finding(why: str) -> Finding:
    return Finding("$", "call", why, "§7", "A75")
