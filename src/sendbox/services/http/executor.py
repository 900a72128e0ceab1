"""The executor: carries out the command `Call`, a call of HTTP that came to a world.

The effect on the world and the answer depend on the world and the call alone. The caller, a server or a
replay, finds the world of the call; the executor does everything else, and journals it. An
exception of a handler becomes an answer in the shape of its interface.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from sendbox.contract.findings import show
from sendbox.contract.validators import Contract, NotLoaded, preload
from sendbox.engine.commands.command import Body, Call
from sendbox.engine.commands.record import MANY, RequestRecord
from sendbox.engine.commands.tracing import TRACEPARENT
from sendbox.engine.durations import iso
from sendbox.engine.journal import CODE
from sendbox.engine.remarks import Advice, Finding, RemadeAdvice
from sendbox.engine.texts import regex
from sendbox.engine.world import World
from sendbox.services.advice import OUTSIDE_SPECIFICATION, POLLING_STOPPED_CLOCK, SENT_AGAIN, advise
from sendbox.services.assume import Assume
from sendbox.services.http.exchange import (
    Answer,
    Exchange,
    Incoming,
    Interface,
    Link,
    Named,
    Refusal,
    Refused,
    Route,
    RouteTable,
    Upload,
    header,
)
from sendbox.services.http.faulting import NO_FAULT, Decision, decide, note_fault, retry_at, spoil_answer
from sendbox.services.http.requests import add_values
from sendbox.services.operations import SENDING
from sendbox.services.ports import account_of

#: Headers that have a part in what is answered.
HEADERS: Final = frozenset({b"content-type", b"x-api-key"})
#: The operation of a call that no row serves.
UNKNOWN: Final = "unknown"
#: A path that needs no quotation marks in YAML.
_PLAIN: Final = regex(r"/[A-Za-z0-9/._~-]{1,200}")
#: So much of an upload is read at a time.
_PIECE: Final = 1 << 16

#: Work in portions: the caller pauses at each None, and calls each function that it is given off the event loop.
Work = Generator[Callable[[], None] | None, None, "Handled"]
Findings = Sequence[Finding]
#: A call that is carried out, in portions too.
Carried = Generator[Callable[[], None] | None, None, tuple[Exchange, Answer, Findings]]
#: Ids of requests whose events may have to leave before the answer.
RequestIds = Sequence[str]


class Handled(Struct, frozen=True):
    """The outcome of a call: the answer, its record in the journal and the number of that entry.

    `overtaking_requests` are its requests whose events may have to leave before the answer. `sent` is the request that
    sent messages, and the first phone among them. `advice` are the remarks on a legal call, and `remade_places` code
    and path of those remarks that are not made before they are read.
    """

    answer: Answer
    record: RequestRecord | None = None
    number: int = -1
    overtaking_requests: RequestIds = ()
    sent: tuple[Named, str] | None = None
    advice: Sequence[Advice] = ()
    remade_places: Sequence[tuple[str, str]] = ()


class Unserved(Struct, frozen=True):
    """The refusal of a call that no row serves: its answer, and the remarks on it; `error` is that of its interface."""

    answer: Answer
    error: Refusal
    finding: Finding
    advice: tuple[Advice, ...] = ()


def outside_specification(path: str, interface: str, error: Refusal) -> Unserved:
    """The refusal of a path that the specification does not have; its text says how a rule can answer it (A97)."""
    name = path if _PLAIN.fullmatch(path) else show(path)
    why = f"{name} is not a path of the {interface} interface, it is outside the specification"
    rule = f"api: [{{when: {{path: {name}}}, fault: {{answer: {{status: 200, body: {{}}}}}}}}]"
    answer = error(404, f"{why}; a rule of `api` can answer it: {rule}")
    finding, advice = Finding("$", "call", why, "§7", "A97"), advise(OUTSIDE_SPECIFICATION, why, "$")
    return Unserved(answer, error, finding, (advice,))


class CallExecutor:
    """Serves the rows of all interfaces, and the addresses that worlds give out.

    `check` is shown each answer of a row before a fault spoils it.
    """

    def __init__(
        self,
        contract: Contract,
        routes: Sequence[Route],
        interfaces: Sequence[Interface],
        uploads: Sequence[Upload] = (),
        links: Sequence[Link] = (),
    ) -> None:
        self.contract = contract
        self.paths = RouteTable(routes)
        self.interfaces = interfaces
        self.prefixes = tuple(prefix for interface in interfaces for prefix in interface.prefixes)
        self.check: Callable[[Route, Answer], None] | None = None
        self.uploads = uploads
        self.links = links
        self._uploads = [(upload.path.partition("{")[0], upload) for upload in uploads]
        self._links = [(link.path.partition("{")[0], link) for link in links]
        self._heads = (*self.prefixes, *(head for head, _ in (*self._uploads, *self._links)))

    def work(self, world: World, call: Call) -> Handled | Work:
        """Carries out any call, or hands back the work that takes time."""
        for prefix, upload in self._uploads:
            if call.path.startswith(prefix) and call.method == "PUT":
                return self.upload(world, call, upload)
        for prefix, link in self._links:
            if call.path.startswith(prefix):
                return Handled(self.follow(world, call, link))
        rows, params = self.paths.find(call.path)
        route = None if rows is None else rows.get(call.method)
        return self.refuse_unserved(world, call) if route is None else self.serve(world, call, route, params)

    def takes(self, path: str) -> bool:
        """True if a path belongs to an interface, or is an address that worlds give out."""
        return path in self.paths or path.startswith(self._heads)

    def lost(self, method: str, path: str) -> Unserved:
        """The refusal of a path (A97) or a method (A75) that no row has."""
        rows, _ = self.paths.find(path)
        if rows is None:
            interface = next(interface for interface in self.interfaces if path.startswith(interface.prefixes))
            return outside_specification(path, interface.name, interface.error)
        legal = ", ".join(sorted(rows))
        why = f"{method} is not served at {path}; legal: {legal}"
        error = next(iter(rows.values())).error
        answer = error(405, why)
        answer.headers = ((b"allow", legal.encode()),)
        return Unserved(answer, error, _call_finding(why))

    def refuse_unserved(self, world: World, call: Call) -> Handled:
        """Carries out a call of a path or a method that no row has."""
        return self._refuse_path(world, call, self.lost(call.method, call.path))

    def _refuse_path(self, world: World, call: Call, refusal: Unserved) -> Handled:
        """Refuses a call, unless a rule of `api` that asks for its path answers it."""
        decision = NO_FAULT
        if world.api.of_paths:
            decision = decide(world, UNKNOWN, call, body_bytes(call.body), "")
        if decision[0] is None:
            record = RequestRecord.of(UNKNOWN, call, refusal.answer.status, refusal.answer.body)
            record.findings, record.kept_advice = [refusal.finding], refusal.advice
            return _journaled(world, record, refusal.answer, decision)
        answer = spoil_answer(decision[0], refusal.error, refusal.answer if decision[0].rule.has_effect else None)
        return _journaled(world, RequestRecord.of(UNKNOWN, call, answer.status, answer.body), answer, decision)

    # -- rows

    def serve(self, world: World, call: Call, route: Route, params: Mapping[str, str]) -> Handled | Work:
        """Carries out a call of a row, or returns the work that takes time; `params` are the parameters of its path."""
        if route.beyond and Assume.of(world).beyond == "off":
            return self._refuse_path(world, call, outside_specification(route.path, route.interface, route.error))
        if call.body is None:
            return _refused(
                world, call, route.operation, route.error(413, route.too_long), _call_finding(route.too_long)
            )
        decision = NO_FAULT
        if world.api.rules:
            about = "" if route.about is None else route.about(world, params)
            decision = decide(world, route.operation, call, body_bytes(call.body), about)
            if decision[0] is not None and not decision[0].rule.has_effect:
                answer = spoil_answer(decision[0], route.error, None)
                record = RequestRecord.of(route.operation, call, answer.status, answer.body)
                return _journaled(world, record, answer, decision)
        return self._serve(call, self.exchange(world, call, route, params), decision)

    def _serve(self, call: Call, exchange: Exchange, decision: Decision) -> Handled | Work:
        """The outcome of a call that reaches its handler."""
        route, world = exchange.route, exchange.world
        if route.tokens is not None and (jwt := route.tokens.of(call, exchange.body)) is not None:
            exchange.bearer = route.tokens.admitted(world, jwt)
            if isinstance(exchange.bearer, Finding):
                bare = call._replace(body=b"")
                return _refused(world, bare, route.operation, route.deny(True), exchange.bearer, call)
        if decision[0] is not None and decision[0].rule.fault.doubled:
            return self._twice(call, exchange, decision, decision[0].rule.fault.doubled)
        overtakes = world.outlets.faults.overtakes
        if overtakes:
            world.outlets.injection.overtaking_requests.clear()
        try:
            answer, findings = call_handler(exchange)
        except NotLoaded as missing:
            return self._again(call, exchange, decision, missing)
        if answer.work is not None:
            return self._serve_in_slices(call, exchange, decision, answer.work)
        overtaking_requests = world.outlets.injection.overtaking_requests[:] if overtakes else ()
        return self._journal_answer(call, exchange, answer, findings, decision, overtaking_requests)

    def _again(self, call: Call, exchange: Exchange, decision: Decision, missing: NotLoaded) -> Work:
        """The same again, once the missing module is loaded: nothing was done before."""
        yield missing.load
        outcome = self._serve(call, self._fresh(call, exchange), decision)
        return outcome if isinstance(outcome, Handled) else (yield from outcome)

    def _serve_in_slices(
        self, call: Call, exchange: Exchange, decision: Decision, work: Generator[None, None, Answer]
    ) -> Work:
        """The outcome of a call whose handler works in slices."""
        try:
            answer, findings = yield from run_in_slices(exchange, work)
        except NotLoaded as missing:
            return (yield from self._again(call, exchange, decision, missing))
        return self._journal_answer(call, exchange, answer, findings, decision, ())

    def _twice(self, call: Call, exchange: Exchange, decision: Decision, doubled: str) -> Work:
        """The outcome of a call that is carried out twice; the journal has it once, with the effects of both."""
        first = yield from self._carried_out(call, exchange)
        again = self._fresh(call, exchange)
        again.changed = first[0].changed
        last = yield from self._carried_out(call, again)
        answered, answer, findings = first if doubled == "first" else last
        answered.entries = exchange.entries
        return self._journal_answer(call, answered, answer, findings, decision, ())

    def _carried_out(self, call: Call, exchange: Exchange) -> Carried:
        """The call with the answer of its handler and the findings, once that was loaded and has done all its work."""
        try:
            answer, findings = call_handler(exchange)
            if answer.work is not None:
                answer, findings = yield from run_in_slices(exchange, answer.work)
        except NotLoaded as missing:
            yield missing.load
            return (yield from self._carried_out(call, self._fresh(call, exchange)))
        return exchange, answer, findings

    def _fresh(self, call: Call, exchange: Exchange) -> Exchange:
        """The same call, not handled yet."""
        new_exchange = self.exchange(exchange.world, call, exchange.route, exchange.params)
        new_exchange.bearer = exchange.bearer
        return new_exchange

    def _journal_answer(
        self,
        call: Call,
        exchange: Exchange,
        answer: Answer,
        findings: Findings,
        decision: Decision,
        overtaking_requests: RequestIds,
    ) -> Handled:
        """Journals a call that a handler answered."""
        route, world = exchange.route, exchange.world
        if route.method == "GET" and world.clock.mode == "manual":
            _remark_poll(exchange, call.path, answer)
        if self.check is not None:
            self.check(route, answer)
        if world.api.unanswered and answer.status < 400:
            _remark_again(exchange)
        if decision[0] is not None:
            original, answer = answer, spoil_answer(decision[0], route.error, answer)
            lost = answer is not original or decision[0].rule.fault.broken
            if lost and original.status < 400 and route.operation in SENDING:
                world.api.note_unanswered(_content(exchange), world.now)
        record = exchange.record
        assert record is not None
        record.answered(answer.status, None if answer is exchange.remade else answer.body)
        record.findings = add_values(findings, exchange) if findings else ()
        record.kept_advice = _kept_advice(exchange)
        if record.content is None:
            record.content = exchange.content
        if exchange.sent is not None and header(call.headers, TRACEPARENT) is not None:
            world.outlets.traces.note(exchange.sent[0].id, call.headers)
        exchange.uses("key", exchange.key.id)
        if exchange.order_sensitive:
            decision = decision[0], True
        if decision is NO_FAULT:  # most calls are such
            number = world.request(record)
            record.effects = number - exchange.entries
            return Handled(
                answer,
                record,
                number,
                overtaking_requests,
                exchange.sent,
                exchange.advice,
                exchange.remade_places,
            )
        record.effects = len(world.journal) - exchange.entries
        handled = _journaled(world, record, answer, decision, overtaking_requests)
        return replace(handled, sent=exchange.sent, advice=exchange.advice, remade_places=exchange.remade_places)

    def exchange(self, world: World, call: Call, route: Route, params: Mapping[str, str]) -> Exchange:
        """A call as its handler sees it."""
        body = call.body if isinstance(call.body, bytes) else body_bytes(call.body)
        return Exchange(
            route,
            world,
            account_of(world).keys[call.key],
            call.headers,
            call.query,
            body,
            call.origin,
            self.contract,
            params,
            RequestRecord.of(route.operation, call),
            len(world.journal),
        )

    # -- addresses that worlds give out

    def upload(self, world: World, call: Call, upload: Upload) -> Work:
        """Takes in the body of a call at an address; the journal has the call without it."""
        findings: Findings = ()
        decision = NO_FAULT
        key = world.id
        try:
            incoming = upload.receive(world, call.path.rpartition("/")[2], self.contract)
            key = incoming.key
            if world.api.rules:
                asking = call._replace(path="", query=b"", body=b"", key=key)
                decision = decide(world, upload.operation, asking, b"", "")
            applied = decision[0]
            if applied is not None and not applied.rule.has_effect:
                incoming.give_up()
                answer = spoil_answer(applied, upload.error, None)
            else:
                yield preload  # it is read where nothing can wait for it
                yield from _taken_in(incoming, call)
                answer = upload.success() if applied is None else spoil_answer(applied, upload.error, upload.success())
        except Refused as refused:
            findings = refused.findings
            answer = upload.error(refused.status, refused.text)
            if decision[0] is not None:
                answer = spoil_answer(decision[0], upload.error, answer)
        record = RequestRecord.of(upload.operation, call._replace(key=key, body=b""), answer.status, answer.body)
        record.findings = findings
        return _journaled(world, record, answer, decision, call=call)

    def follow(self, world: World, call: Call, link: Link) -> Answer:
        """Follows a link; looking ahead with HEAD does not count, and changes nothing."""
        counts = call.method == "GET"
        answer = link.follow(world, call.path.rpartition("/")[2], counts, call.query.decode("latin-1"))
        if counts and answer.status < 400:
            world.record.add(world.now, world.ticks, call)
        return answer


def body_bytes(body: Body) -> bytes:
    """A body in one piece."""
    return body if isinstance(body, bytes) else bytes(body or b"")


def _taken_in(incoming: Incoming, call: Call) -> Generator[None, None, None]:
    """Takes a body in and stores it. Raises `Refused`; after any error the address may be tried again."""
    try:
        content_type = (header(call.headers, b"content-type") or b"").decode("latin-1")
        yield from incoming.take(content_type.partition(";")[0].strip().lower(), _pieces(call.body))
    finally:
        incoming.give_up()


def _pieces(body: Body) -> Iterator[bytes]:
    if body is None or isinstance(body, bytes):
        return (body_bytes(body)[at : at + _PIECE] for at in range(0, len(body or b""), _PIECE))
    return body.pieces(_PIECE)


def _refused(
    world: World, journaled: Call, operation: str, answer: Answer, finding: Finding, call: Call | None = None
) -> Handled:
    """A call that reaches no handler, and is journaled too; `call` is the call as it came, if it has more."""
    record = RequestRecord.of(operation, journaled, answer.status, answer.body)
    record.findings = [finding]
    return _journaled(world, record, answer, call=call)


def _journaled(
    world: World,
    record: RequestRecord,
    answer: Answer,
    decision: Decision = NO_FAULT,
    overtaking_requests: RequestIds = (),
    call: Call | None = None,
) -> Handled:
    """Journals a call, and behind it the fault that applied to it."""
    applied, order_sensitive = decision
    if applied is not None:
        note_fault(record, applied)
    number = world.request(record, call)
    journal = world.journal
    if order_sensitive:
        journal.mark(number)
    if applied is not None:
        entry = journal.add(world.now, CODE["fault"], applied)
        if (again := retry_at(answer, world.now)) is not None:
            world.await_call(again)
        if order_sensitive:
            journal.mark(entry)
    return Handled(answer, record, number, overtaking_requests, advice=record.advice)


def _remark_poll(exchange: Exchange, path: str, answer: Answer) -> None:
    """Advice, once a world, to a client that waits for something while the clock stands."""
    world = exchange.world
    question = b"\0".join((path.encode(), exchange.query, exchange.key.id.encode()))
    if world.polling.asked(world.now, question, answer.body):
        text = f"{path} was asked {MANY} times with the same answer while the clock stands; advance it, then ask"
        exchange.advice.append(advise(POLLING_STOPPED_CLOCK, text, "$", exchange.route.section))


def _remark_again(exchange: Exchange) -> None:
    """Advice to a client that sends again what it has sent already, because the answer was lost."""
    at = exchange.world.api.unanswered.get(_content(exchange))
    if at is not None:
        text = (
            f"the same {exchange.route.operation} was accepted at {iso(at)}, though its answer was lost; what it sends "
            "is sent twice now"
        )
        exchange.advice.append(advise(SENT_AGAIN, text, "$"))


def _content(exchange: Exchange) -> bytes:
    """A value that is equal for a call and its repetition."""
    return b"\0".join((exchange.route.operation.encode(), exchange.key.id.encode(), exchange.content or b""))


def _kept_advice(exchange: Exchange) -> Sequence[Advice | RemadeAdvice]:
    """The advice on a call as its record keeps it."""
    advice = exchange.advice
    if exchange.remade_advice is None:
        return _share(tuple(advice))
    place, remade = exchange.remade_advice
    return _share((*advice[:place], remade, *advice[place:]))


@lru_cache(1024)
def _share(advice: tuple[Advice | RemadeAdvice, ...]) -> Sequence[Advice | RemadeAdvice]:
    """One object for equal advice: clients send the same again and again."""
    return advice


def _call_finding(why: str) -> Finding:
    return Finding("$", "call", why, "§7", "A75")


log = logging.getLogger("sendbox")


def call_handler(exchange: Exchange) -> tuple[Answer, Sequence[Finding]]:
    """The answer of the route's handler, and its findings. Raises `NotLoaded`; after loading, call it again.

    A handler that breaks answers 500; the log has the reason (§7.1).
    """
    try:
        return exchange.route.handler(exchange), exchange.findings
    except Exception as error:
        return _failed(exchange, error)


def run_in_slices(
    exchange: Exchange, work: Generator[None, None, Answer]
) -> Generator[None, None, tuple[Answer, Sequence[Finding]]]:
    """The same for a handler that works in slices; pauses now and then."""
    try:
        return (yield from work), exchange.findings
    except Exception as error:
        return _failed(exchange, error)


def _failed(exchange: Exchange, error: Exception) -> tuple[Answer, Sequence[Finding]]:
    route = exchange.route
    if isinstance(error, NotLoaded):
        raise error
    if isinstance(error, Refused):
        return route.error(error.status, error.text) if error.answer is None else error.answer, error.findings
    log.error("%s failed while it answered %s", exchange.world.id, route.operation, exc_info=error)
    finding = Finding("$", "internal", "an error of the sandbox itself; its log has the details", "§7.1")
    return route.error(500, "Internal server error"), [finding]
