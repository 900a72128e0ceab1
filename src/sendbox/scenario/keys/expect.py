"""Compiles `expect:` into the expectations that the engine checks."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Final

from msgspec.structs import replace

from sendbox.engine.durations import Rate, duration
from sendbox.engine.expect.expectation import (
    INSTANT,
    SOME,
    Condition,
    Expectation,
    Hours,
    Not,
    OfPart,
    Range,
    Share,
    Where,
)
from sendbox.engine.expect.subjects import CONTENT, Field, Subject
from sendbox.engine.texts import Pattern
from sendbox.scenario.keys.when import hours
from sendbox.scenario.model import Node, listed, nearest, plain, show
from sendbox.scenario.values import Reader, items, whole_number, words

#: How many legal words are listed even when one of them is similar.
_LISTED: Final = 13
#: What `same` says of a thing that needs to agree in nothing, and the key of conditions that must not all hold.
NONE: Final = "none"
NOT: Final = "not"
#: Fields that name who or what a thing is about, of all kinds.
_IDENTITIES: Final = ("phone", "key")
_DURATION: Final = r"[0-9P][0-9A-Za-z]*(?:\.[0-9][0-9A-Za-z]*)?"
_ANY: Final = Field("number", "how many", lambda _world, value: value)


def compile_expectation(node: Node, reader: Reader, subjects: Mapping[str, Subject]) -> Expectation:
    """An expectation about one of the subjects."""
    names = _names(node, "each", subjects, reader)
    share_low, share_high = (_share(node.get(key), reader) for key in ("at_least", "at_most"))
    expectation = _entry(node, reader, subjects, judged=bool(names))
    that = expectation.that
    then, among, subject_count = node.get("then"), node.get("among"), node.get("subjects")
    if then is not None and expectation.high == 0:
        message = f"{show(plain(then))} follows something that must not happen"
        reader.add_problem(node, "then", message, key="then")
    if subject_count is not None and not names:
        reader.add_problem(node, "each", '"subjects" counts what each finds, and there is no each', key="subjects")
    share = share_low is not None or share_high is not None
    if share and then is not None and not names:
        message = "a share of the things says nothing about what follows; with each it is a share of the subjects"
        reader.add_problem(node, "share", message, key="at_least" if share_low is not None else "at_most")
    if among is not None and names and then is not None:
        message = '"among" stands beside then: with then, those that where finds are judged'
        reader.add_problem(node, "among", message, key="among")
    elif among is not None and not (names or share):
        message = '"among" says for whom each is judged, or of what a share is a part; there is neither'
        reader.add_problem(node, "among", message, key="among")
    population: tuple[tuple[str, tuple[Where, ...]], ...] = ()
    if names and then is None:
        population = _population(among, that, names, subjects, reader)
    elif share and not names:
        population = ((that, _where(among, that, subjects[that], reader)),)
    shared: tuple[Where, ...] = () if names or not population else population[0][1]
    if shared and subjects[that].parts is not None:
        shared = (OfPart("", shared),)
    expectation = replace(
        expectation,
        each=names,
        among=population,
        where=(*shared, *expectation.where),
        subjects=SOME if subject_count is None else _number(subject_count, "subjects", _ANY, reader),
        share_low=share_low,
        share_high=share_high,
    )
    return expectation if then is None else replace(expectation, then=_compile_then(node, names, subjects, reader))


def _compile_then(
    node: Node, names: tuple[str, ...], subjects: Mapping[str, Subject], reader: Reader
) -> tuple[Expectation, ...]:
    """The expectations of `then`, in order; each is about the same subject of these names unless it names others."""
    before = [node.entries()["that"]]
    steps = []
    for item in node.entries()["then"].items():
        step = _entry(item, reader, subjects, follows=True)
        same = _names(item, "same", subjects, reader)
        if item.get("same") is None:
            same = names
        for name in same:
            for thing in (item.entries()["that"], *before):
                _known(name, thing, item if item.get("same") is not None else node, subjects, reader)
        steps.append(replace(step, same=tuple(name for name in same if name in subjects[step.that].names)))
        if step.low:
            before = []
        before.append(item.entries()["that"])
    return tuple(steps)


def _entry(
    node: Node, reader: Reader, subjects: Mapping[str, Subject], *, follows: bool = False, judged: bool = False
) -> Expectation:
    """The part that an expectation and an entry of its `then` have in common."""
    entries = node.entries()
    that = str(entries["that"].value)
    low, high, rate = _counts(node, reader, judged=judged)
    name, within, pauses = node.get("name"), node.get("within"), node.get("pauses")
    after, before = (None if bound is None else reader.moment(bound) for bound in map(node.get, ("after", "before")))
    if after is not None and before is not None and after.relative == before.relative and after.at > before.at:
        message = (
            f"after {show(plain(entries['after']))} and before {show(plain(entries['before']))}: no instant is both"
        )
        reader.add_problem(node, "moment", message, key="after")
    length = None if within is None else reader.duration(within)
    if after is not None and after.relative and length is not None and after.at > length:
        message = (
            f"after {show(plain(entries['after']))} and within {show(plain(entries['within']))}: no instant is both"
        )
        reader.add_problem(node, "moment", message, key="after")
    wait = node.get("not_before")
    earliest = None if wait is None else reader.duration(wait)
    if earliest is not None and length is not None and earliest > length:
        message = (
            f"not_before {show(plain(entries['not_before']))} and within {show(plain(entries['within']))}: "
            "no instant is both"
        )
        reader.add_problem(node, "moment", message, key="not_before")
    least = None if pauses is None else pauses.entries()["at_least"]
    return Expectation(
        that=that,
        where=() if entries["that"].incomplete else _where(node.get("where"), that, subjects[that], reader),
        low=low,
        high=high,
        within=length,
        not_before=earliest,
        after=after,
        before=before,
        name=None if name is None else str(name.value),
        place=node.place,
        rate=rate,
        in_order=()
        if node.get("in_order") is None or entries["that"].incomplete
        else tuple(_where(item, that, subjects[that], reader) for item in items(node.get("in_order"))),
        ignoring=_ignoring(node, reader),
        pauses=() if least is None else tuple(reader.duration(item) for item in least.items() or [least]),
    )


def _ignoring(node: Node, reader: Reader) -> tuple[tuple[str, ...], ...]:
    """The paths in the content of calls that may differ."""
    paths = words(node.get("ignoring")) or ()
    names = {*(words(node.get("each")) or ()), *(words(node.get("same")) or ())}
    if paths and CONTENT not in names:
        message = f'"ignoring" says what may differ in the {CONTENT}, and neither each nor same has {CONTENT}'
        reader.add_problem(node, "ignoring", message, key="ignoring")
    for path in paths:
        if not all(path.split(".")):
            message = f"{show(path)} is not a dotted path such as reference or to.0.params"
            reader.add_problem(node, "ignoring", message, key="ignoring")
    return tuple(tuple(path.split(".")) for path in paths)


def _counts(node: Node, reader: Reader, *, judged: bool) -> tuple[int | None, int | None, Rate | None]:
    """The least count, the greatest count, and the greatest count per time; `judged`: a share counts subjects."""
    count, low, high = (_whole(node.get(key)) for key in ("count", "at_least", "at_most"))
    most = node.get("at_most")
    rate = None if most is None else most.get("count")
    if most is not None and rate is not None:
        within = reader.duration(most.entries()["within"])
        if not within:
            reader.add_problem(most, "rate", "within 0 is not a time: 1ms and longer are legal", key="within")
        return low, count, Rate(whole_number(rate), within or 1)
    shares = [key for key in ("at_least", "at_most") if isinstance(getattr(node.get(key), "value", None), str)]
    if count is not None:
        if low is not None or high is not None or (shares and not judged):
            message = '"count" stands beside at_least or at_most; it says both'
            reader.add_problem(node, "count", message, key="count")
        return count, count, None
    if low is not None and high is not None and low > high:
        reader.add_problem(node, "count", f"at_least {low} is more than at_most {high}", key="at_least")
    ordered = node.get("pauses") is not None or node.get("in_order") is not None
    bounded = high is not None or ordered or (bool(shares) and not judged)
    return (None if bounded else 1) if low is None else low, high, None


def _whole(node: Node | None) -> int | None:
    return None if node is None or not isinstance(node.value, int) else node.value


def _share(node: Node | None, reader: Reader) -> Share | None:
    if node is None or not isinstance(node.value, str):
        return None
    reader.share(node)
    return Share(node.value, Fraction(node.value[:-1]) / 100)


def _names(node: Node, key: str, subjects: Mapping[str, Subject], reader: Reader) -> tuple[str, ...]:
    """The names of `each` or `same`; none if there are none."""
    names = words(node.get(key)) or ()
    if NONE in names and len(names) > 1:
        reader.add_problem(node, "same", f'"{NONE}" stands beside another name', key=key)
    if key == "each":
        for name in names:
            _known(name, node.entries()["that"], node, subjects, reader)
        names = tuple(name for name in names if name in subjects[str(node.entries()["that"].value)].names)
    return tuple(name for name in names if name != NONE)


def _known(name: str, that: Node, node: Node, subjects: Mapping[str, Subject], reader: Reader) -> None:
    """Complains where things of a kind do not know a name."""
    key = "each" if node.get("each") is not None else "same"
    names = subjects[str(that.value)].names
    if name not in names and not that.incomplete:
        message = f"{show(name)} is not a field of {that.value}, nor what they belong to; legal: {listed(names)}"
        if key == "each" and node.get("that") is not that:
            message = f"{message}; say by same what it must agree in, or {NONE}"
        reader.add_problem(node, "each", message, key=key, near=nearest(name, names))


def _population(
    node: Node | None, that: str, names: tuple[str, ...], subjects: Mapping[str, Subject], reader: Reader
) -> tuple[tuple[str, tuple[Where, ...]], ...]:
    """Every kind of thing that knows the subjects and of which the conditions can be asked, with its conditions.

    What a field says that is not an identity, such as a text, is known by things of the kind that is counted only.
    """
    population = []
    identities = {*_IDENTITIES, *(name for subject in subjects.values() for name in subject.about)}
    identities -= {*subjects[that].apart}
    for kind, subject in subjects.items():
        if kind != that and not (identities >= {*names} and {*names}.isdisjoint(subject.apart)):
            continue
        if all(name in subject.names for name in names):
            trial = replace(reader, problems=[])
            where = _where(node, kind, subject, trial)
            if not trial.problems:
                population.append((kind, where))
    if not population:
        _where(node, that, subjects[that], reader)  # to say what is wrong
    return tuple(population)


def _where(node: Node | None, that: str, subject: Subject, reader: Reader) -> tuple[Where, ...]:
    if node is None:
        return ()
    fields = subject.fields
    conditions: list[Where] = []
    for key, item in node.entries().items():
        field = fields.get(key)
        if key == NOT:
            conditions += [Not(_where(group, that, subject, reader)) for group in item.items() or [item]]
        elif key == INSTANT:
            windows = tuple(hours(window, reader) for window in item.items() or [item])
            conditions.append(Hours(windows, show(plain(item))))
        elif key in subject.words:
            conditions.append(OfPart(key, _of_part(item, key, that, subject, reader)))
        elif field is None:
            names = (*fields, *subject.words)
            message = f"{show(key)} is not a field of {that}; legal: {listed(names)}"
            reader.add_problem(node, "field", message, key=key, near=nearest(key, names))
        elif field.kind == "payload":
            conditions += _payload(key, item, reader)
        else:
            values = tuple(_READ[field.kind](choice, key, field, reader) for choice in item.items() or [item])
            means = tuple(
                choice for word in values if isinstance(word, str) for choice in reader.families.get(word, ())
            )
            conditions.append(Condition(key, values, means=means))
    return tuple(conditions)


def _of_part(node: Node, word: str, that: str, subject: Subject, reader: Reader) -> tuple[Where, ...]:
    """The conditions that one part of a thing must meet."""
    names = subject.parts.names if subject.parts is not None else ()
    fields = {name: field for name, field in subject.fields.items() if name in names}
    strange = [name for name in node.entries() if name not in (*fields, NOT)]
    for name in strange:
        message = f"{show(name)} is not a field that {word} of {that} asks; legal: {listed((*fields, NOT))}"
        reader.add_problem(node, "field", message, key=name, near=nearest(name, fields))
    if not node.entries() and not node.incomplete:
        reader.add_problem(
            node, "field", f"{show(plain(node))} asks nothing of {word}; legal: {listed((*fields, NOT))}"
        )
    return () if strange else _where(node, that, subject._replace(fields=fields, parts=None), reader)


def _payload(key: str, node: Node, reader: Reader) -> list[Condition]:
    conditions = []
    for path, item in node.entries().items():
        if not all(path.split(".")):
            reader.add_problem(node, "payload", f"{show(path)} is not a dotted path such as order.id", key=path)
        values = [
            Pattern(choice.value) if isinstance(choice.value, str) else choice.value
            for choice in item.items() or [item]
        ]
        conditions.append(Condition(key, tuple(values), tuple(path.split("."))))  # type: ignore[arg-type] # scalars
    return conditions


def _text(node: Node, key: str, field: Field, reader: Reader) -> Pattern:
    pattern = reader.key(node) if key == "key" else reader.pattern(node)
    if field.words and not any(pattern.matches(word) for word in field.words):
        _no_word(node, key, field, reader)
    return pattern


def _word(node: Node, key: str, field: Field, reader: Reader) -> str:
    word = str(node.value)
    if word not in field.words:
        _no_word(node, key, field, reader)
    return word


def _no_word(node: Node, key: str, field: Field, reader: Reader) -> None:
    near = nearest(node.value, field.words)
    message = f"{show(plain(node))} is not a value of {key}"
    if near is None or len(field.words) <= _LISTED:
        message = f"{message}; legal: {listed(field.words)}"
    reader.add_problem(node, "word", message, near=near)


def _number(node: Node, key: str, _field: Field, reader: Reader) -> Range:
    if isinstance(node.value, int) and not isinstance(node.value, bool):
        return Range(str(node.value), node.value, node.value)
    bounds = _bounds(str(node.value), "[0-9]+")
    if bounds is None:
        message = f'{show(plain(node))} is not a number for {key}: 2, ">=2", "<2", 2..5 or 2.. are legal'
        reader.add_problem(node, "range", message)
    return _has_any(_range(str(node.value), bounds, int), node, reader)


def _time(node: Node, key: str, _field: Field, reader: Reader) -> Range:
    bounds = _bounds(str(node.value), _DURATION)
    try:
        if bounds is not None:
            return _has_any(_range(str(node.value), bounds, duration), node, reader)
    except ValueError:
        pass
    message = f'{show(plain(node))} is not a time for {key}: "<=1s", ">500ms", 1s..5s or 1s.. are legal'
    reader.add_problem(node, "range", message)
    return Range(str(node.value))


def _bounds(text: str, value: str) -> tuple[str, str, str] | None:
    """The sign of a bound and the values from and to, "" if there is none; a single value is both."""
    if bounds := re.fullmatch(rf"({value})(?:(\.\.)({value})?)?", text):
        return "", bounds[1], (bounds[3] or "") if bounds[2] else bounds[1]
    if bound := re.fullmatch(rf"(>=|<=|>|<) *({value})", text):
        return bound[1], *((bound[2], "") if ">" in bound[1] else ("", bound[2]))
    return None


def _range(text: str, bounds: tuple[str, str, str] | None, read: Callable[[str], int]) -> Range:
    sign, low, high = bounds or ("", "", "")
    return Range(text, read(low) + (sign == ">") if low else None, read(high) - (sign == "<") if high else None)


def _has_any(span: Range, node: Node, reader: Reader) -> Range:
    if span.low is not None and span.high is not None and span.low > span.high:
        low, _, high = span.text.partition("..")
        reader.add_problem(node, "range", f"{show(span.text)} begins after its end; {high}..{low} is legal")
    return span


def _flag(node: Node, key: str, _field: Field, reader: Reader) -> bool:
    if not isinstance(node.value, bool):
        reader.add_problem(node, "flag", f"{show(plain(node))} is not a value of {key}; legal: true, false")
    return node.value is True


_READ: Final[dict[str, Callable[[Node, str, Field, Reader], Pattern | Range | str | bool]]] = {
    "phone": lambda node, _key, _field, reader: reader.phones(node),
    "text": _text,
    "word": _word,
    "number": _number,
    "time": _time,
    "flag": _flag,
}
