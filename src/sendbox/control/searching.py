"""The search language for lists: parsing of a search, and the filters that are made from it.

Words with blanks between them: `key:value`, a bare word, or a "text in quotes"; all must hold, and `-` before one says
that it must not. Which keys there are is the affair of each list.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Final, NamedTuple, TypeVar

from sendbox.control.operation import ControlError
from sendbox.engine.durations import DAY, HOUR, MINUTE, SECOND, duration, excerpt, instant
from sendbox.engine.texts import Pattern, foreign, nearest

T = TypeVar("T")
#: A filter, true for an item that a search finds.
Filter = Callable[[T], object]
#: Makes a filter from the value of a key. Raises ValueError, with the legal values, for an illegal one.
SearchKey = Callable[[str], Filter[T]]
#: The longest search, and how many words it may have.
MAX_SEARCH: Final = 1_000
WORDS: Final = 32
#: The key under which a list keeps what it does with bare words.
TEXT: Final = ""
_KEY: Final = re.compile(r"([A-Za-z_]+):")
_QUOTED: Final = re.compile(r'"((?:[^"\\]|\\.)*)"')
_BARE: Final = re.compile(r"\S*")
_CLOCK: Final = re.compile(r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?")
_TIMES: Final = "an instant (2026-03-01T09:00:00Z), a time of the world's day (09:05), or a time ago (10m)"


class Term(NamedTuple):
    """One word of a search: its key, its value, where it stands (from 1), and whether it must not hold."""

    key: str
    value: str
    place: int
    excludes: bool


def search_filter(text: str | None, keys: Mapping[str, SearchKey[T]]) -> Callable[[T], bool]:
    """The filter of a search; without a search everything fits. Raises `ControlError`.

    What texts are compared with is often made for the purpose, so that bare words are looked for last.
    """
    terms = [(term, make_filter(term, keys)) for term in parse_terms(text, keys)]
    tests = [(fits, term.excludes) for term, fits in sorted(terms, key=lambda pair: pair[0].key == TEXT)]
    return lambda item: all(bool(fits(item)) is not excludes for fits, excludes in tests)


def parse_terms(text: str | None, keys: Collection[str]) -> list[Term]:
    """The words of a search. Raises `ControlError`."""
    if text is not None and len(text) > MAX_SEARCH:
        raise ControlError(
            400, "bad_argument", f"search: {len(text)} characters are too many; legal: at most {MAX_SEARCH}"
        )
    terms = list(_terms(text or "", keys))
    if len(terms) > WORDS:
        raise ControlError(400, "bad_argument", f"search: {len(terms)} words are too many; legal: at most {WORDS}")
    return terms


def make_filter(term: Term, keys: Mapping[str, SearchKey[T]]) -> Filter[T]:
    """The filter of one word. Raises `ControlError`."""
    try:
        return keys[term.key](term.value)
    except ValueError as error:
        raise _error(term.place, str(error)) from None


def _terms(text: str, keys: Collection[str]) -> Iterator[Term]:
    place = 0
    while place < len(text):
        if text[place].isspace():
            place += 1
            continue
        excludes = text[place] == "-" and place + 1 < len(text) and not text[place + 1].isspace()
        place += excludes
        key = _KEY.match(text, place)
        word = TEXT if key is None else key[1]
        if key is not None:
            if word not in keys:
                raise _unknown(word, place, keys)
            place = key.end()
        quoted = _QUOTED.match(text, place)
        if quoted is None and text.startswith('"', place):
            raise _error(place + 1, 'the quote does not end; legal: "a text in quotes", and \\" for a quote in it')
        match = quoted or _BARE.match(text, place)
        value = re.sub(r"\\(.)", r"\1", quoted[1]) if quoted else match[0]  # type: ignore[index] # it may be empty
        if not value:
            raise _error(place + 1, f'"{word}:" has no value' if word else "the text in quotes is empty")
        yield Term(word, value, place + 1, excludes)
        place = match.end()  # type: ignore[union-attr]


def _unknown(word: str, place: int, keys: Collection[str]) -> ControlError:
    legal = [key for key in keys if key != TEXT]
    near = nearest(word, legal)
    hint = f'; did you mean "{near}:"?' if near else ""
    words = ", ".join(f"{key}:" for key in legal)
    return _error(
        place + 1, f'"{word}:" is not a key; legal: {words}{hint}; a text that has a colon is written in quotes'
    )


def _error(place: int, message: str) -> ControlError:
    return ControlError(400, "bad_argument", f"search, at place {place}: {message}")


# -- what keys are made of


def words(legal: Collection[str], of: Callable[[T], str | Collection[str]]) -> SearchKey[T]:
    """A key whose value is one of some words."""

    def key(value: str) -> Filter[T]:
        if value not in legal:
            near = nearest(value, legal)
            hint = f'; did you mean "{near}"?' if near else foreign(value)
            raise ValueError(f'"{value}" is not known; legal: {", ".join(legal)}{hint}')
        return match_texts(value.__eq__, of)

    return key


def patterns(of: Callable[[T], str | Collection[str] | None]) -> SearchKey[T]:
    """A key whose value is a text, or a pattern with `*`."""
    return lambda value: match_texts(Pattern(value).matches, of)


def match_texts(matches: Callable[[str], object], of: Callable[[T], str | Collection[str] | None]) -> Filter[T]:
    """A filter of items: true if the text of an item, or one of its texts, matches."""

    def fits(item: T) -> bool:
        item_texts = of(item)
        return bool(matches(item_texts)) if isinstance(item_texts, str) else any(map(matches, item_texts or ()))

    return fits


def texts(of: Callable[[T], str]) -> SearchKey[T]:
    """The key for bare words: the text of an item contains them, in capitals or not; `*` stands for any characters."""

    def key(value: str) -> Filter[T]:
        holds = text_filter(value)
        return lambda item: holds(of(item))

    return key


def text_filter(value: str) -> Callable[[str], object]:
    """A filter of texts: true if a text contains a word or a pattern, in capitals or not."""
    folded = value.casefold()
    if "*" in folded:
        matches = Pattern(f"*{folded}*").matches
        return lambda text: matches(text.casefold())
    return lambda text: folded in text.casefold()


def times(now: int, of: Callable[[T], int]) -> dict[str, SearchKey[T]]:
    """The keys `before` and `after`: an item of the very instant is after it."""

    def before(value: str) -> Filter[T]:
        at = moment(value, now)
        return lambda item: of(item) < at

    def after(value: str) -> Filter[T]:
        at = moment(value, now)
        return lambda item: of(item) >= at

    return {"before": before, "after": after}


def moment(value: str, now: int) -> int:
    """An instant in virtual milliseconds, as a search says it. Raises ValueError."""
    clock = _CLOCK.fullmatch(value)
    if clock is not None:
        hour, minute, second = (int(part or 0) for part in clock.groups())
        if hour > 23 or minute > 59 or second > 59:
            raise ValueError(f"{excerpt(value)} is not a time of day; legal: 00:00 to 23:59, and seconds (09:05:30)")
        return now - now % DAY + hour * HOUR + minute * MINUTE + second * SECOND
    try:
        return now - duration(value)
    except ValueError:
        pass
    try:
        return instant(value)
    except ValueError:
        raise ValueError(f"{excerpt(value)} is not a time; legal: {_TIMES}") from None
