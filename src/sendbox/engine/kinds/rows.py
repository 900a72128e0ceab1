"""The form of a row: everything that is said about a kind of entries, or about what an entry holds.

The engine's rows stand in `own.py`, those of a service in its module `kinds`, and `app.py` puts them together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

import msgspec

from sendbox.engine.durations import iso
from sendbox.engine.journal import CODE
from sendbox.engine.kinds.narration import Names, Teller

if TYPE_CHECKING:
    from sendbox.engine.delivery.batches import Delivery
    from sendbox.engine.kinds.narration import Entry, Tell
    from sendbox.engine.remarks import Advice
    from sendbox.engine.world import World

#: What an entry, or something in it, shows.
View = dict[str, Any]
#: A line of an entry in canonical form.
Line = dict[str, Any]


def nothing(*_: Any) -> tuple[Line, ...]:
    """The canonical form of an entry that is only bookkeeping, or that other entries tell."""
    return ()


class Kind(msgspec.Struct, frozen=True):
    """A kind of entry. Its functions take who observes, and what the entry is about.

    - `view` makes the plain object, for an `Observer`.
    - `lines` makes the canonical form, for a `Canon`. None: a tester did it, the digest passes it over. `nothing`: it
      is only bookkeeping, or other entries tell it.
    - `count` counts it for coverage, for a `Collector`.
    - `tell` puts a view of it into words, for a `Teller`. None: other entries tell it.
    - `log` has the lines for a server's log.
    - `shown` is the kind as views name it, where several are one.
    - `advice` are the remarks that an entry carries.
    - `section` is where the specification has what it is about.
    - `shows` is the type of its views, a typed dictionary; None: they may have any fields.
    """

    name: str
    view: Callable[[Observer, Any], View]
    lines: Callable[[Any, Any], Iterable[Line]] | None
    count: Callable[[Any, Any], None] | None = None
    tell: Tell | None = None
    shown: str = ""
    log: Callable[[Any, Any], Iterable[str]] | None = None
    advice: Callable[[Any], Iterable[Advice]] | None = None
    section: str = ""
    shows: type | None = None


class Event(msgspec.Struct, frozen=True):
    """A kind of event in a webhook, by the type of its record.

    `item` is its name for coverage; `place` is the thread that it belongs to and its place there, None if it has no
    order.
    """

    view: Callable[[Any], View]
    line: Callable[[Any, Any], Line]
    item: Callable[[Any], str]
    place: Callable[[Any], tuple[Any, int] | None] = lambda _event: None


class Lapse(msgspec.Struct, frozen=True):
    """A kind of lapse, a state that ends without a step: its view, its canonical form, and its counter for coverage."""

    view: Callable[[Any], View]
    line: Callable[[Any, Any], Line]
    count: Callable[[Any, Any], None] | None = None


class Observed(msgspec.Struct, frozen=True):
    """The rows of the engine, or of one service, for observers.

    `names` are canonical names by the type of what they name; `paths` gives a request's path without names of the
    world; `steps` put what is still to come into words, by the name of the step's handler. For coverage, `called`
    counts a request of an operation that it knows, and `posted` names the assumptions that a try of a delivery rests
    on.
    """

    kinds: tuple[Kind, ...] = ()
    events: Mapping[type, Event] = msgspec.field(default_factory=dict)
    lapses: Mapping[str, Lapse] = msgspec.field(default_factory=dict)
    names: Mapping[type, Callable[[Any, Any], str]] = msgspec.field(default_factory=dict)
    paths: Callable[[Any, str], str] | None = None
    called: Callable[[Any, Any, Any, Any], None] | None = None
    posted: Callable[[Delivery], Iterable[str]] | None = None
    steps: Mapping[str, Callable[[Any], View | None]] = msgspec.field(default_factory=dict)


class Kinds:
    """The rows of all that is observed: kinds by code, their words by name, events by type, lapses by name."""

    def __init__(self, *observed: Observed) -> None:
        kinds = {kind.name: kind for part in observed for kind in part.kinds}
        self.by_code: Final = {CODE[name]: kind for name, kind in kinds.items()}
        #: the kinds of journal that are shown under a word, by that word
        self.shown: dict[str, tuple[str, ...]] = {}
        for kind in kinds.values():
            word = kind.shown or kind.name
            self.shown[word] = (*self.shown.get(word, ()), kind.name)
        self.told: Final = {kind.shown or kind.name: kind.tell for kind in kinds.values()}
        self.logged: Final = {code: kind.log for code, kind in self.by_code.items() if kind.log is not None}
        self.advice: Final = {code: kind.advice for code, kind in self.by_code.items() if kind.advice is not None}
        self.events: Final = {type_: event for part in observed for type_, event in part.events.items()}
        self.lapses: Final = {name: lapse for part in observed for name, lapse in part.lapses.items()}
        self.names: Final = {type_: name for part in observed for type_, name in part.names.items()}
        self.paths: Final = tuple(part.paths for part in observed if part.paths is not None)
        self.steps: Final = {name: words for part in observed for name, words in part.steps.items()}
        self.called: Final = tuple(part.called for part in observed if part.called is not None)
        self.posted: Final = tuple(part.posted for part in observed if part.posted is not None)

    def words(self, entry: Entry) -> str:
        """One entry in words, by itself; nothing if other entries tell it."""
        narration = Teller(self.told, Names(), ()).tell(entry)
        return "" if narration is None else narration.text


class Observer:
    """Observes a world by the rows of its kinds."""

    def __init__(self, world: World, kinds: Kinds) -> None:
        #: the rows of a service know what its worlds have
        self.world: Any = world
        self.kinds = kinds

    def entry(self, number: int) -> View:
        """One entry of the journal: `n`, `at`, `kind`, then what its kind shows. Raises `Forgotten`."""
        journal = self.world.journal
        at, code, subject = journal.entry(number)
        kind = self.kinds.by_code[code]
        head = {"n": number, "at": iso(at), "kind": kind.shown or kind.name}
        view = {**head, **kind.view(self, subject), **head}
        if number in journal.order_sensitive:
            view["order_sensitive"] = True
        return view

    def event(self, event: Any) -> View:
        """A short view of an event of a webhook."""
        return self.kinds.events[type(event)].view(event)
