"""An operation of control: one row that every carrier reads.

An operation is a coroutine function of (`Call`, keyword arguments). Its row says where HTTP carries it; its signature
says which arguments are legal, and of which types: path parameters, then fields of the query (GET, DELETE) or of the
JSON body. They are converted before the function is called (`Control.do`). A trailing underscore of an argument is not
part of its public name (`from_` is `from`).
The module is long because a row, all that is served and how a row is performed know each other.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, get_type_hints

import msgspec
from msgspec.structs import FieldInfo, replace

from sendbox.contract.findings import json_path
from sendbox.control.arguments import convert, unknown
from sendbox.engine import bounds
from sendbox.engine.answer import JsonMapping, JsonObject
from sendbox.engine.commands.command import Act
from sendbox.engine.commands.record import RecordIncomplete
from sendbox.engine.digest import finished
from sendbox.engine.durations import excerpt
from sendbox.engine.kinds.rows import KindTable
from sendbox.engine.part import Part
from sendbox.engine.texts import foreign, nearest
from sendbox.engine.world import World
from sendbox.runtime.slot import Conflict, HostedWorld
from sendbox.runtime.teams import EVERYONE, Scope, Token, denial, foreign_world
from sendbox.runtime.worlds import Runtime

if TYPE_CHECKING:
    from sendbox.control.export.rows import Exported
    from sendbox.engine.coverage import Item
    from sendbox.engine.expect.subjects import Subject
    from sendbox.scenario.language import Language
    from sendbox.scenario.model import ScenarioError
    from sendbox.server.application import Application
    from sendbox.services.http.exchange import Interface, Link, Route, Upload
    from sendbox.services.http.openapi import Webhook


class ControlError(Exception):
    """Why an operation failed: an HTTP status, a stable word, a line for people, and details."""

    status: int
    """The HTTP status."""
    error: str
    """The stable word."""
    message: str
    """The line for people."""
    detail: JsonObject
    """The other fields of the answer."""

    def __init__(self, status: int, error: str, message: str, /, **detail: object) -> None:
        super().__init__(message)
        self.status = status
        self.error = error
        self.message = message
        self.detail = detail

    def as_json(self) -> JsonObject:
        """The body of the answer."""
        return {"error": self.error, "message": self.message, **self.detail}


class Created(JsonObject):
    """The answer of an operation that has created something, instead of one that was there already: 201 over HTTP."""


class Text(str):
    """An answer that is not JSON, with its media type.

    The `answers` of an operation name the media types that it may have: `Annotated[Text, "text/html"]`.
    """

    media_type: str

    def __new__(cls, text: str, media_type: str) -> Text:
        """The text."""
        answer = super().__new__(cls, text)
        answer.media_type = media_type
        return answer


@dataclass(slots=True)
class Call:
    """The context of an operation: control, the origin of addresses that it gives out, and its world if it has one.

    `token` says who calls.
    """

    control: Control
    origin: str
    hosted_or_none: HostedWorld | None = None
    token: Token = EVERYONE

    @property
    def runtime(self) -> Runtime:
        """The runtime under control."""
        return self.control.runtime

    @property
    def served(self) -> Served:
        """The operations and kinds that are served."""
        return self.control.served

    @property
    def hosted(self) -> HostedWorld:
        """The world of an operation that has one."""
        assert self.hosted_or_none is not None
        return self.hosted_or_none

    def other_world(self, world_id: str) -> HostedWorld:
        """Another world, to be read. Raises `ControlError`."""
        self.check_own(world_id)
        return self.control.world(world_id, reads=True)

    def check_own(self, world_id: str) -> None:
        """Raises `ControlError` unless a world, or all worlds whose ids begin so, are those of the token."""
        if (text := foreign_world(self.token, world_id)) is not None:
            raise forbidden(text)


Function = Callable[..., Awaitable[object]]
#: What an act needs before it can be done at once: (call, arguments) to the arguments that it is done with.
Prepare = Callable[["Call", JsonMapping], Awaitable[JsonMapping]]
#: The answer of an operation for the past of its world: (call, its row, its arguments, the place).
Past = Callable[["Call", "Operation", JsonMapping, object], Awaitable[object]]
#: An answer as lines for people.
Words = Callable[[JsonObject], list[str]]


def _unsaid(_answer: JsonObject) -> list[str]:
    """Most answers have no such lines."""
    return []


#: Asks what reads a world for a place in its past: the number of an entry of its journal, or an instant.
THEN: Final = "then"


@dataclass(frozen=True)
class Operation:
    """One row: `name` in the clients, `method` and `path` over HTTP (under `/_sandbox`), `status` of a good answer.

    `raw` hands the request's body over unparsed, as argument `raw` (scenario texts). `early`: it does not begin a world
    whose start is still open. An `act` is something that a tester does to the world, a command: it is done at once,
    without a pause, and put on record with its arguments, so that it can be repeated; `prepare` does beforehand what
    takes time, and answers the arguments to go on with. It is journaled too, unless it `journals` itself. `words` makes
    lines for people of its answer. One that reads a world can be asked for its past (`THEN`); `present_only` says
    why one cannot. One that only `watches` a world is not a use of it. One that `makes` a world, or finds it, answers
    `Created`. An `unlogged` one has no line in the log: it changes nothing though it is no GET, or is repeated
    all the time. Its `scope` says which tokens may call it (`runtime/teams.py`): one without its own is
    about its world, or else about the whole server. One that `closes` a world does not make it again for that. A
    `deprecated` one ends with the next release. `answers` is the class of its answer (`engine/answer.py`); without it
    the answer is any object.
    Over HTTP secrets are masked in answers, except in an `unmasked` one, which is repeated or carried out, or has the
    address of a world. A body may have `longest` bytes; more is refused before it is read.

    A row is called with the arguments of its function, `arguments` is the class of them.
    """

    name: str
    method: str
    path: str
    function: Function
    status: int = 200
    raw: bool = False
    act: bool = False
    journals: bool = False
    prepare: Prepare | None = None
    words: Words = _unsaid
    early: bool = False
    present_only: str = ""
    watches: bool = False
    makes: bool = False
    answers: object = dict
    unmasked: bool = False
    closes: bool = False
    deprecated: bool = False
    unlogged: bool = False
    longest: int = bounds.SHORT_BODY
    own_scope: Scope | None = None

    def __call__(self, call: Call, *positional: object, **named: object) -> Awaitable[Any]:
        """The answer of the function of the row."""
        return self.function(call, *positional, **named)

    @property
    def worldly(self) -> bool:
        """True if it works on one world that is open."""
        return self.path.startswith("/worlds/{id}") and not self.makes

    @property
    def tag(self) -> str:
        """The service that it belongs to, or the noun of control that it is about."""
        parts = self.function.__module__.split(".")
        return parts[2] if parts[1] == "services" else parts[1] if parts[-1] == "control" else parts[-1]

    @property
    def scope(self) -> Scope:
        """What it is about, as tokens are for it."""
        return self.own_scope or ("world" if self.worldly or self.makes else "server")

    @property
    def changes(self) -> bool:
        """True if a token that only reads may not call it."""
        return self.method != "GET" and self.scope != "facts"

    @property
    def reads(self) -> bool:
        """True if it reads one world."""
        return self.worldly and self.method == "GET"

    @property
    def logged(self) -> bool:
        """True if the log has a line for it: it changes a world, or it opens or closes worlds."""
        return self.method != "GET" and not self.unlogged

    @cached_property
    def arguments(self) -> type[msgspec.Struct]:
        """The class of its arguments, as the signature of its function declares them."""
        hints = get_type_hints(self.function, localns={"Call": Any}, include_extras=True)
        fields = [
            (name, hints[name]) if parameter.default is parameter.empty else (name, hints[name], parameter.default)
            for name, parameter in list(inspect.signature(self.function).parameters.items())[1:]
        ]
        return msgspec.defstruct(self.name, fields, kw_only=True, rename=lambda name: name.removesuffix("_"))

    @cached_property
    def takes(self) -> Mapping[str, FieldInfo]:
        """Its arguments by public name."""
        return {field.encode_name: field for field in msgspec.structs.fields(self.arguments)}

    @property
    def legal(self) -> Sequence[str]:
        """The public names of all arguments: its own, and the one that asks for the past."""
        return [*self.takes, THEN] if self.reads and not self.present_only else [*self.takes]

    def convert(self, arguments: JsonMapping) -> JsonObject:
        """The values of its arguments, by parameter. Raises `ControlError`."""
        fields = [(self.takes[name], value) for name, value in arguments.items() if name in self.takes]
        return {field.name: converted(field.encode_name, value, field.type) for field, value in fields}

    def in_path(self, name: str) -> bool:
        """True if an argument stands in the path."""
        return f"{{{name}}}" in self.path


#: Arguments that hold a scenario or a part of one.
READ: Final = frozenset({"scenario", "text", "raw"})
_NONE: Final[JsonMapping] = {}


def operation(method: str, path: str, **settings: Any) -> Callable[[Function], Operation]:
    """Makes a function an operation with these settings; its name is the function's. Who serves lists its module."""
    return lambda function: Operation(function.__name__, method, path, function, **settings)


def operations_of(*modules: ModuleType) -> tuple[Operation, ...]:
    """The operations of some modules, in the order in which they are written there."""
    return tuple(
        row
        for module in modules
        for row in vars(module).values()
        if isinstance(row, Operation) and row.function.__module__ == module.__name__
    )


#: What a service has that is still to come: (world, the most items) to its items.
Pending = Callable[["World", int], Awaitable[Sequence[object]]]


class View(NamedTuple):
    """A list of a service that the page shows of a world: the heading, and the operation that answers with `items`.

    `columns` are fields of an item by their headings.
    """

    title: str
    operation: str
    items: str
    columns: Mapping[str, str]


def _no_phones(_world: World) -> Generator[None, None, Callable[[str], str | None]]:
    """The phones of messages where there are no messages."""
    yield from ()
    return lambda _message_id: None


@dataclass(frozen=True, eq=False)
class Served:
    """All that is served: what the services and control itself register, as the application lists it.

    `parts` are what worlds are opened with, in that order; `language` is that of their scenarios, `scenario` the one
    of a session of tests; `schemas` are the folders that hold the contract. `operations` of control and `routes` of
    the `interfaces`, in the order in which they are listed; `webhooks` as the contract documents them; `uploads` and
    `links` at addresses that worlds give out. `kinds` of entries, and the `subjects` that a scenario may expect. For
    coverage `dimensions` with headings, `facts`, `samples` of fields, `untold` assumptions, the item of a `denied` call
    (path, key). `pending` lists what is still to come, `exported` says how an export repeats an act of a tester,
    `attributes` are made of a test's handle, by the name under which it offers them; `views` are shown on the page.
    `document` makes a page of the report of a world, `phones_by_id` reads the phones of its messages, by their ids.
    """

    parts: Sequence[type[Part]]
    language: Language
    schemas: Sequence[Path]
    operations: Sequence[Operation]
    routes: Sequence[Route]
    interfaces: Sequence[Interface]
    kinds: KindTable
    subjects: Mapping[str, Subject]
    webhooks: Mapping[str, Webhook] = field(default_factory=dict)
    scenario: str = "default"
    uploads: Sequence[Upload] = ()
    links: Sequence[Link] = ()
    dimensions: Mapping[str, str] = field(default_factory=dict)
    facts: Sequence[Item] = ()
    samples: JsonMapping = field(default_factory=dict)
    untold: Mapping[str, str] = field(default_factory=dict)
    denied: Callable[[str, str | None], str | None] = lambda _path, _key: None
    pending: Mapping[str, Pending] = field(default_factory=dict)
    exported: Mapping[str, Exported] = field(default_factory=dict)
    attributes: Mapping[str, Callable[[Any], object]] = field(default_factory=dict)
    views: Sequence[View] = ()
    document: Callable[[JsonMapping], str] | None = None
    phones_by_id: Callable[[World], Generator[None, None, Callable[[str], str | None]]] = _no_phones

    @cached_property
    def by_name(self) -> Mapping[str, Operation]:
        """The operations by name."""
        return {row.name: row for row in self.operations}


@dataclass(frozen=True, slots=True)
class Control:
    """The operations over one application. `past` answers what reads a world for a place that the world has passed."""

    app: Application
    served: Served
    past: Past

    @property
    def runtime(self) -> Runtime:
        """The worlds of the application."""
        return self.app.runtime

    async def perform(self, origin: str, name: str, world_id: str | None = None, arguments: JsonMapping = _NONE) -> Any:
        """Performs an operation by its name; `arguments` by public name. Raises `ControlError`."""
        return await self.do(origin, self.served.by_name[name], world_id, arguments)

    async def do(
        self,
        origin: str,
        row: Operation,
        world_id: str | None = None,
        arguments: JsonMapping = _NONE,
        token: Token = EVERYONE,
    ) -> Any:
        """Performs an operation by its row, as `perform` does, for the holder of a token."""
        own = world_id if row.scope == "world" else None  # else it is the id of something else
        if (text := denial(token, row.scope, changes=row.changes, world_id=own)) is not None:
            raise forbidden(text)
        self._count_call(token, own)
        if row.in_path("id") and not row.worldly:
            arguments = {**arguments, "id": world_id}
        for name, value in arguments.items():
            _check(row, name, value)
        needed = [name for name, field in row.takes.items() if field.required]
        for name in needed:
            if name not in arguments:
                text = f'"{name}" is missing; {row.name} needs {", ".join(needed)}'
                raise ControlError(400, "missing_argument", text)
        call = Call(self, origin, token=token)
        then = arguments.get(THEN) if row.reads else None
        try:
            if not row.worldly:
                return await row.function(call, **row.convert(arguments))
            await self.runtime.claim(world_id or "")
            if row.closes and self.runtime.is_stored(world_id or ""):
                self.runtime.close_stored(world_id or "")
                return {"closed": world_id}
            await self.runtime.wake(world_id or "")
            call.hosted_or_none = hosted = self.world(world_id or "", early=row.early, reads=row.reads)
            hosted.controls += 1
            hosted.readers += 1
            self._used(row, hosted)
            try:
                values = row.convert(arguments)
                if then is not None:
                    return await self.past(call, row, values, then)
                return await (self._act(call, row, values) if row.act else row.function(call, **values))
            finally:
                hosted.controls -= 1
                hosted.readers -= 1
                self._used(row, hosted)
                self.runtime.kick(hosted)
        except RecordIncomplete as incomplete:
            raise ControlError(409, "record_cut", str(incomplete), bound=incomplete.bound) from None
        except Conflict as conflict:
            raise refusal(conflict) from None

    def _count_call(self, token: Token, world_id: str | None) -> None:
        """Counts a call for the quota of its world, or of its token; not one of an administrator, who must get through.

        Raises `ControlError` for one too many.
        """
        quotas = self.runtime.quotas
        if quotas is None or (token.role == "admin" and token is not EVERYONE):
            return
        if (full := quotas.call(world_id or token.prefix)) is not None:
            raise ControlError(429, "quota", f"{full.why}; {full.what_to_do}")

    def world(self, world_id: str, *, early: bool = False, reads: bool = False) -> HostedWorld:
        """An open world, at the present, or to be read a closed one that is kept. Raises `ControlError`.

        `early` where its start may still be open.
        """
        runtime = self.runtime
        hosted = runtime.worlds.get(world_id)
        kept = runtime.closed_worlds.worlds.get(world_id)
        if hosted is None and kept is not None:
            if reads:
                return kept
            raise closed(kept)
        if hosted is None:
            why = runtime.closed.why(world_id)
            text = f'"{world_id}" is not an open world: {why or runtime.unknown}; POST /_sandbox/worlds opens one'
            raise ControlError(404, "no_such_world", text, **({"closed": True} if world_id in runtime.closed else {}))
        if not early:
            if hosted.starts is not None:
                runtime.start(hosted, *hosted.starts())
            runtime.present(hosted)
        return hosted

    def _used(self, row: Operation, hosted: HostedWorld) -> None:
        if not row.watches:
            hosted.used = self.runtime.reading()

    async def _act(self, call: Call, row: Operation, values: Mapping[str, object]) -> object:
        """Carries out an act of a tester, once nothing else works in the world."""
        hosted = call.hosted
        if row.prepare is not None:
            values = await row.prepare(call, values)
        await hosted.wait_until_idle()
        not_closed(hosted, reads=False)
        answer = act(call, row, values)
        self.runtime.dispatcher.launch_begun(hosted)
        self.runtime.note_change(hosted)
        return answer


def forbidden(text: str) -> ControlError:
    """The answer to a token that may not do this."""
    return ControlError(403, "forbidden", text)


def refusal(conflict: Conflict) -> ControlError:
    """The answer to what cannot be done now."""
    return ControlError(conflict.status, conflict.error, conflict.message, **conflict.detail)


def closed(hosted: HostedWorld) -> ControlError:
    """The answer to what cannot be done with a closed world."""
    text = f"{hosted.world.id} is closed, and can only be read; POST /_sandbox/worlds opens its key again"
    return ControlError(409, "closed", text)


def not_closed(hosted: HostedWorld, *, reads: bool = True) -> None:
    """Raises `ControlError` for a world that has ended while a call waited; a call that `reads` may still read it."""
    if hosted.gone and not (reads and hosted.kept):
        text = f'"{hosted.world.id}" is not an open world: {hosted.why} while this call waited'
        raise ControlError(404, "no_such_world", text)


def act(call: Call, row: Operation, values: JsonMapping) -> object:
    """Carries out the command `Act`: what a tester does, by the names of parameters. Raises `ControlError`.

    It is done in one go. What of it takes long belongs in its `prepare`.
    """
    return finished(acting(call, row, values))


def acting(call: Call, row: Operation, values: Mapping[str, object]) -> Generator[None, None, object]:
    """The same with its pauses, for a world into which nothing else comes."""
    hosted = call.hosted
    world = hosted.world
    arguments = {name.removesuffix("_"): value for name, value in values.items() if value is not None}
    entries = len(world.journal)
    step = row.function(call, **values).__await__()
    try:
        while next(step) is None:  # a pause, and nothing that it waits for
            yield
    except StopIteration as returned:
        answer = returned.value
    except ControlError:
        if len(world.journal) > entries:  # a part of it was done
            world.record.add(world.now, world.ticks, Act(row.name, arguments, refused=True))
        raise
    else:
        raise RuntimeError(f"the act {row.name} waited: what it waits for belongs in its prepare")
    if hosted.world is world:  # else the world began anew, and its record too
        world.record.add(world.now, world.ticks, Act(row.name, arguments))
        if not row.journals:
            world.journal_act(row.name, arguments)
    return answer


def _check(row: Operation, name: str, value: object) -> None:
    """Raises `ControlError` for an argument that an operation does not take, and for a value outside the bounds.

    A scenario, or a part of one, is held to the bounds where it is read, which says the place of each problem.
    """
    if name == THEN and row.reads and row.present_only:
        raise ControlError(400, "bad_argument", f"then: {row.name} answers for the present only: {row.present_only}")
    if name not in row.legal:
        legal = [name for name in row.legal if name != "raw" and not row.in_path(name)]
        near = nearest(name, legal)
        hint = foreign(name) or (f'; did you mean "{near}"?' if near else "")
        words = ", ".join(legal) or "none"
        raise ControlError(400, "unknown_argument", f'"{name}" is not an argument of {row.name}; legal: {words}{hint}')
    outside = None if name in READ else bounds.in_value(value)
    if outside is not None:
        raise out_of_bounds(replace(outside, place=(name, *outside.place)))


def converted(name: str, value: object, kind: object) -> Any:
    """The value of a type that an argument is. Raises `ControlError` that says what is legal."""
    try:
        return convert(value, kind)
    except ValueError as error:
        raise ControlError(400, "bad_argument", f"{name}: {error}") from None


def one_of(value: object, name: str, words: Iterable[str]) -> None:
    """Raises `ControlError` for an argument that is not one of some words."""
    if not isinstance(value, str) or value not in words:
        raise ControlError(400, "bad_argument", f"{name}: {unknown(value, words)}")


def json_object(raw: object, meaning: str) -> JsonObject:
    """A body that must be a JSON object, and is to be what `meaning` says. Raises `ControlError`."""
    if not isinstance(raw, dict):
        raise ControlError(400, "bad_body", f"{excerpt(raw)} is not {meaning}; legal: a JSON object")
    return raw


def out_of_bounds(outside: bounds.Outside) -> ControlError:
    """The answer to what lies outside the bounds of all that comes in."""
    place = f"{json_path(outside.place)}: " if outside.place else ""
    return ControlError(400, "out_of_bounds", f"{place}{outside.message}")


def unreadable(error: ScenarioError, word: str = "bad_scenario") -> ControlError:
    """The answer to a scenario, or a part of one, that cannot be read: 422 with every problem."""
    return ControlError(422, word, str(error), problems=[problem.as_json() for problem in error.problems])
