"""The digest of a world: proof that two runs were the same.

It is taken over the journal in canonical form: each entry becomes lines of (relative instant, phone, content) in which
names are replaced by what they were derived from, unsalted, and receivers, origins and the world's id do not appear.
The lines' hashes are summed modulo 2^256, which is the same for every order of the lines: order within one instant,
which no client can control from several threads, does not count, and the sum can be taken in slices.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Generator, Hashable, Iterator
from hashlib import blake2b
from typing import Final, TypeVar

import orjson

from sendbox.engine import bounds
from sendbox.engine.commands.record import RequestRecord
from sendbox.engine.kept import empty
from sendbox.engine.kinds.rows import KindTable, Line, Observer
from sendbox.engine.world import World

T = TypeVar("T")

_MODULUS: Final = 2**256
_SLICE: Final = 200
#: The key in the form of a legacy call, which is the world's id.
_KEY: Final = re.compile(rb"(?:^|(?<=&))apikey=[^&]*")
#: Names of partner management where a request quotes them: ids of digits, and tokens.
_QUOTED: Final = re.compile(rb'"(?:([0-9]{15,16})|eyJ[A-Za-z0-9_-]*\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]*)"')


def digest(world: World, kinds: KindTable) -> str:
    """The digest of all that happened so far, 64 hex digits."""
    return finished(digest_in_slices(world, kinds))


def digest_in_slices(world: World, kinds: KindTable) -> Generator[None, None, str]:
    """The same, with a pause every few hundred lines, so that a loop can do other work; the generator returns it."""
    total = 0
    for numbered in _numbered_lines(Canon(world, kinds)):
        if numbered is None:
            yield
        else:
            raw = orjson.dumps(numbered[1], option=orjson.OPT_SORT_KEYS)
            total += int.from_bytes(blake2b(raw, digest_size=32).digest(), "big")
    return f"{total % _MODULUS:064x}"


def canonical_in_slices(world: World, kinds: KindTable) -> Generator[None, None, list[Line]]:
    """All lines that the digest is taken over, in the journal's order, to be compared and read.

    Each with `n`, the number of its entry; `at` in milliseconds from the start; a request with its canonical content as
    `body`. Two worlds with equal lines, in any order, have equal digests.
    """
    lines: list[Line] = []
    for numbered in _numbered_lines(Canon(world, kinds, readable=True)):
        if numbered is None:
            yield
        else:
            lines.append({"n": numbered[0], **numbered[1]})
    return lines


def _numbered_lines(canon: Canon) -> Iterator[tuple[int, Line] | None]:
    """Every line with the number of its entry; None if it is time for a pause. The canon is of no more use after it."""
    journal, work = canon.world.journal, 0
    for number in range(journal.first, len(journal)):
        for line in _lines_of(canon, number):
            yield number, line
            work += 1
            if work >= _SLICE:  # a batch of events has a line each, and so has a list of numbers
                work = 0
                yield None
        work += 1
    yield from canon.clear()


def _lines_of(canon: Canon, number: int) -> Iterator[Line]:
    """The lines of one entry, none of what a tester did."""
    at, code, subject = canon.world.journal.entry(number)
    kind = canon.kinds.by_code[code]
    if kind.canonical_lines is not None:
        head = {"at": at - canon.world.start, "kind": kind.shown_as or kind.name}
        for line in kind.canonical_lines(canon, subject):
            yield {**line, **head}


class Canon(Observer):
    """Turns names into what they were derived from; numbers equal requests in the order in which they are met."""

    def __init__(self, world: World, kinds: KindTable, *, readable: bool = False) -> None:
        super().__init__(world, kinds)
        #: True if a request shows its content, instead of a hash of it
        self._readable = readable
        #: ids that the world gave out, and what they were derived from
        self._plain = world.plain
        self.alias = world.alias
        self._ignore = [tuple(path.split(".")) for path in world.blueprint.digest_ignore]
        #: hashed content of a request -> how many of its kind were met
        self._equal: Counter[str] = Counter()
        #: what a request was named by -> its content, and its ordinal among equal ones
        self._requests: dict[Hashable, str] = {}

    def clear(self) -> Iterator[None]:
        """Forgets the requests, with pauses."""
        yield from empty(self._requests, self._equal)

    def plain(self, name: str) -> str:
        """The text that a name was derived from; any other text unchanged."""
        return self._plain.get(name, name)

    def name(self, named: object) -> str:
        """The canonical name of a thing that the world named."""
        return self.kinds.names[type(named)](self, named)

    def path(self, path: str) -> str:
        """A request's path without names of the world."""
        for replaced in self.kinds.paths:
            path = replaced(self, path)
        return path

    def body(self, record: RequestRecord) -> object:
        """A request's canonical content: as a value or text where it is to be read, else hashed."""
        canonical = record.canonical
        content = self._refused_content(record.body) if canonical is None else self._content(canonical)
        return _decoded_content(content) if self._readable else blake2b(content, digest_size=16).hexdigest()

    def request(self, named: Hashable, operation: str, content: Callable[[], bytes]) -> str:
        """A request's name, by what the world named it: its content, and its ordinal among equal ones."""
        name = self._requests.get(named)
        if name is None:
            whole = operation.encode() + b"\0" + self._content(content())
            hashed = blake2b(whole, digest_size=16).hexdigest()
            name = self._requests[named] = f"{hashed}:{self._equal[hashed]}"
            self._equal[hashed] += 1
        return name

    def event(self, event: object) -> Line:
        """An event of a webhook in canonical form."""
        return self.kinds.events[type(event)].line(self, event)

    def _content(self, raw: bytes) -> bytes:
        """A request's canonical content, without the paths that the scenario ignores."""
        return self._unsalted(_without(orjson.loads(raw), self._ignore) if self._ignore else raw)

    def _refused_content(self, body: bytes) -> bytes:
        """A refused request's content as far as it can be read: without callback, key, and what is ignored."""
        try:
            value = _value(body)
        except ValueError:
            return _KEY.sub(b"", body)
        return self._unsalted(_without(value, [*_REFUSED, *self._ignore]))

    def _unsalted(self, raw: bytes) -> bytes:
        """A request in which names of partner management are replaced by what they were derived from."""
        return _QUOTED.sub(self._stand_in, raw) if self._plain or b'"eyJ' in raw else raw

    def _stand_in(self, match: re.Match[bytes]) -> bytes:
        quoted = match[1]
        return b'"token"' if quoted is None else orjson.dumps(self.plain(quoted.decode()))


#: What a refused request may hold of receivers and of the world's own names.
_REFUSED: Final = tuple((name,) for name in ("callback", "apikey", "subid", "default_callback_url"))


def _decoded_content(content: bytes) -> object:
    """A request's canonical content as a value, as text where it is none."""
    try:
        return _value(content)
    except ValueError:
        return content.decode("utf-8", "replace")


def _value(raw: bytes) -> object:
    """The JSON value of a body. Raises ValueError if it is not JSON, or nested too deep to be written again."""
    if bounds.deeper(raw):
        raise ValueError("nested too deep")
    return orjson.loads(raw)


def _without(value: object, paths: list[tuple[str, ...]]) -> bytes:
    """A request's content in canonical form without some paths; in each object of it, when it is an array."""
    for item in value if isinstance(value, list) else [value]:
        for path in paths:
            _remove(item, path)
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def _remove(value: object, path: tuple[str, ...]) -> None:
    for name in path[:-1]:
        value = value.get(name) if isinstance(value, dict) else None
    if isinstance(value, dict):
        value.pop(path[-1], None)


def finished(work: Generator[None, None, T]) -> T:
    """Does work in slices without a pause, and returns what it returns."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            result: T = end.value
            return result
