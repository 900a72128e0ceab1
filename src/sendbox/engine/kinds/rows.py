"""The rows for kinds of journal entries: their views, their canonical form, their coverage and their text.

The rows of the engine are in `engine_kinds.py`, those of a service in its module `kinds`; `app.py` puts them together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

import msgspec

from sendbox.engine.answer import JsonObject
from sendbox.engine.durations import iso
from sendbox.engine.journal import CODE
from sendbox.engine.kinds.narration import Entry, Names, Narrate, Narrator

if TYPE_CHECKING:
    from sendbox.engine.commands.record import RequestRecord
    from sendbox.engine.delivery.batches import Delivery
    from sendbox.engine.remarks import Advice
    from sendbox.engine.world import World

#: The plain object that is shown for an entry, or for something in it.
View = JsonObject
#: A line of an entry in canonical form.
Line = JsonObject


def no_lines(*_: object) -> tuple[Line, ...]:
    """The canonical form of an entry that is only bookkeeping, or that other entries include: no lines."""
    return ()


class Kind(msgspec.Struct, frozen=True):
    """A kind of entry. The first argument of its functions is the observer, the second is the subject of the entry.

    - `view` makes the plain object, for an `Observer`.
    - `canonical_lines` makes the canonical form, for a `Canon`. None: a tester caused the entry, and the digest leaves
      it out. `no_lines`: the entry is only bookkeeping, or other entries include it.
    - `count` counts it for coverage, for a `Collector`.
    - `narrate` puts a view of it into words, for a `Narrator`. None: the text of other entries includes it.
    - `log_lines` makes the lines for the log of a server.
    - `shown_as` is the name of the kind in views, if several kinds have the same one.
    - `advice` makes the remarks of an entry.
    - `section` is the section of the specification about it.
    - `view_type` is the type of its views, an `Answer`; None: they may have any fields.
    """

    name: str
    view: Callable[[Observer, Any], View]
    canonical_lines: Callable[[Any, Any], Iterable[Line]] | None
    count: Callable[[Any, Any], None] | None = None
    narrate: Narrate | None = None
    shown_as: str = ""
    log_lines: Callable[[World, Any], Iterable[str]] | None = None
    advice: Callable[[Any], Iterable[Advice]] | None = None
    section: str = ""
    view_type: type | None = None


class Event(msgspec.Struct, frozen=True):
    """A kind of event in a webhook, by the type of its record.

    `item` is its name for coverage; `place` is the thread that it belongs to and its place there, None if it has no
    order.
    """

    view: Callable[[Any], View]
    line: Callable[[Any, Any], Line]
    item: Callable[[Any], str]
    place: Callable[[Any], tuple[object, int] | None] = lambda _event: None


class Lapse(msgspec.Struct, frozen=True):
    """A kind of lapse, a state that ends without a step: its view, its canonical form, and its counter for coverage."""

    view: Callable[[Any], View]
    line: Callable[[Any, Any], Line]
    count: Callable[[Any, Any], None] | None = None


class ObservationRows(msgspec.Struct, frozen=True):
    """The rows of the engine, or of one service, for observers.

    `names` has functions for canonical names, by the type of the named object; `paths` removes names of the world from
    the path of a request; `steps` has functions that describe coming steps, by the name of the step's handler. For
    coverage, `request_counter` counts a request of an operation that it knows, and `delivery_assumptions` returns the
    assumptions on which a try of a delivery depends.
    """

    kinds: tuple[Kind, ...] = ()
    events: Mapping[type, Event] = msgspec.field(default_factory=dict)
    lapses: Mapping[str, Lapse] = msgspec.field(default_factory=dict)
    names: Mapping[type, Callable[[Any, Any], str]] = msgspec.field(default_factory=dict)
    paths: Callable[[Any, str], str] | None = None
    request_counter: Callable[[Any, Any, RequestRecord, object], None] | None = None
    delivery_assumptions: Callable[[Delivery], Iterable[str]] | None = None
    steps: Mapping[str, Callable[[Any], View | None]] = msgspec.field(default_factory=dict)


class KindTable:
    """All rows for observers: kinds by code, functions for their text by name, events by type, lapses by name."""

    def __init__(self, *observed: ObservationRows) -> None:
        kinds = {kind.name: kind for part in observed for kind in part.kinds}
        self.by_code: Final = {CODE[name]: kind for name, kind in kinds.items()}
        #: the names of the kinds that have the same name in views, by that name
        self.by_view_name: dict[str, tuple[str, ...]] = {}
        for kind in kinds.values():
            word = kind.shown_as or kind.name
            self.by_view_name[word] = (*self.by_view_name.get(word, ()), kind.name)
        self.narrators: Final = {kind.shown_as or kind.name: kind.narrate for kind in kinds.values()}
        self.logged: Final = {code: kind.log_lines for code, kind in self.by_code.items() if kind.log_lines is not None}
        self.advice: Final = {code: kind.advice for code, kind in self.by_code.items() if kind.advice is not None}
        self.events: Final = {type_: event for part in observed for type_, event in part.events.items()}
        self.lapses: Final = {name: lapse for part in observed for name, lapse in part.lapses.items()}
        self.names: Final = {type_: name for part in observed for type_, name in part.names.items()}
        self.paths: Final = tuple(part.paths for part in observed if part.paths is not None)
        self.steps: Final = {name: words for part in observed for name, words in part.steps.items()}
        self.request_counters: Final = tuple(
            part.request_counter for part in observed if part.request_counter is not None
        )
        self.delivery_assumptions: Final = tuple(
            part.delivery_assumptions for part in observed if part.delivery_assumptions is not None
        )

    def describe(self, entry: Entry) -> str:
        """The text of one entry; empty if the text of other entries includes it."""
        narration = Narrator(self.narrators, Names(), ()).narrate(entry)
        return "" if narration is None else narration.text


class Observer:
    """Observes a world by the rows of its kinds."""

    def __init__(self, world: World, kinds: KindTable) -> None:
        self.world = world
        self.kinds = kinds

    def entry(self, number: int) -> View:
        """One entry of the journal: `n`, `at`, `kind`, then the fields of its kind. Raises `Forgotten`."""
        journal = self.world.journal
        at, code, subject = journal.entry(number)
        kind = self.kinds.by_code[code]
        head = {"n": number, "at": iso(at), "kind": kind.shown_as or kind.name}
        view = {**head, **kind.view(self, subject), **head}
        if number in journal.order_sensitive:
            view["order_sensitive"] = True
        return view

    def event(self, event: object) -> View:
        """A short view of an event of a webhook."""
        return self.kinds.events[type(event)].view(event)
