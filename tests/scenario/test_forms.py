"""Patterns of the schema, by which editors check texts, held against the parsers that read these texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from sendbox.engine import durations
from sendbox.engine.durations import duration, instant, rate, span
from sendbox.engine.expect.subjects import Field
from sendbox.language import SUBJECTS
from sendbox.scenario import library
from sendbox.scenario.keys.expect import _time
from sendbox.scenario.model import Node, Source, plain
from sendbox.scenario.parse import parse
from sendbox.scenario.shape import schema
from sendbox.scenario.values import Reader
from sendbox.services.numbers import notation
from tests.scenarios import check
from tests.tiers import examples


def _read(reading: Callable[[Reader], Callable[[Node], Any]], text: str) -> bool:
    reader = Reader()
    reading(reader)(Node(text, Source("a.yaml"), "$"))
    return not reader.problems


def _by(parser: Callable[[str], Any], text: str) -> bool:
    try:
        parser(text)
    except ValueError:
        return False
    return True


ANY: Final = Field("time", "how long", lambda _world, what: what)
PARSERS: Final[dict[str, Callable[[str], bool]]] = {
    "duration": lambda text: _by(duration, text),
    "span": lambda text: _by(span, text),
    "instant": lambda text: _by(instant, text),
    "moment": lambda text: _read(lambda reader: reader.moment, text),
    "rate": lambda text: _by(rate, text),
    "limit": lambda text: text == "off" or _by(rate, text),
    "times": lambda text: _read(lambda reader: lambda node: _time(node, "took", ANY, reader), text),
    "number": lambda text: _read(lambda reader: reader.number, text),
    "numberPattern": lambda text: _read(lambda reader: reader.phones, text),
}
LENGTHS: Final = ["500ms", "2s", "1m30s", "1.5h", "2d", "PT1M30S", "P1W", "P1DT0,5S", "1d2h3m4s5ms", "0", "0.0", "0s"]
DATES: Final = ["2026-03-01T09:00:00Z", "2026-03-01t09:00:00.123456+01:00", "2024-02-29 23:59:60z"]
NUMBERS: Final = ["420777000101", "+420 777 000 101", "00420777000101", "777000101", " (420) 777-000/101"]
LEGAL: Final[dict[str, list[str]]] = {
    "duration": LENGTHS,
    "span": [*LENGTHS, "1s..5s", "1s .. 5s", " 0..PT5S "],
    "instant": DATES,
    "moment": [*LENGTHS, *DATES],
    "rate": ["10/s", "5/10m", "1/ms", "007/1h30m", "2/PT1M"],
    "limit": ["off", "10/s", "5/10m"],
    "times": ["500ms", "2s", "1m30s", "1.5h", "PT1M30S", "0", "1s..5s", "1s..", "<=1s", "> 500ms", ">=1m", "<2s"],
    "number": NUMBERS,
    "numberPattern": [*NUMBERS, "420777*", "420777????02", "*", "?"],
}
NO_LENGTHS: Final = [
    *("10 min", "10min", "2 s", "2S", "s", "1s2m", "1h30", "5", "1.5", "-1s", "+1s", "P", "PT", "P1", "PT1", "p1d"),
    *("1s\n", "", " ", "two seconds", "1s..", "0 s", ".5s", "5.s"),
]
NO_DATES: Final = ["2026-03-01", "2026-03-01T09:00", "2026-03-01T09:00:00", "2026-3-1T09:00:00Z", "09:00", "noon"]
NO_NUMBERS: Final = ["420 777 x", "++420777000101", "420+777", "tel:420777000101", "420777000101#"]
ILLEGAL: Final[dict[str, list[str]]] = {
    "duration": [*NO_LENGTHS, "1s..5s"],
    "span": [*NO_LENGTHS, "1s...5s", "1s..5", "..5s", "1s-5s", "1s..5s..9s"],
    "instant": [*NO_DATES, "5m", "0"],
    "moment": [*NO_LENGTHS, *NO_DATES],
    "rate": ["10", "10 / s", "10/min", "0/s", "-1/s", "s", "/s", "10/", "10/s/s", "1.5/s", "10/0", "10 per s"],
    "limit": ["10", "10/min", "of", "0/s"],
    "times": ["10 min", "..5s", "=>1s", "1s...5s", "1s..5s..9s", "s", "<=", "soon"],
    "number": [*NO_NUMBERS, "420777*"],
    "numberPattern": [*NO_NUMBERS, "+420777*", "420 777*", "420777[0-9]*"],
}
#: What looks right, and is refused by a rule that no pattern has.
BEYOND: Final[dict[str, list[str]]] = {
    "duration": ["36501d", "0.5ms", "0" * 40 + "s"],
    "span": ["5s..1s"],
    "instant": ["2026-02-30T09:00:00Z", "2026-03-01T24:00:00Z", "0000-01-01T00:00:00Z"],
    "moment": ["36501d", "2026-02-30T09:00:00Z"],
    "rate": ["10/0s"],
    "limit": ["10/0s"],
    "times": ["36501d", "P1DT0,5S"],
    "number": ["", "1", "99977700010"],
    "numberPattern": ["1"],
}


def _nodes(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
    for inner in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from _nodes(inner)


def _patterns() -> dict[str, str]:
    return {node["x-form"]: node["pattern"] for node in _nodes(schema()) if "x-form" in node}


def test_every_form_has_examples() -> None:
    """No pattern of the schema is without a parser and examples, and each form of the code is in the schema."""
    forms = durations.FORMS.keys() | notation.FORMS.keys()
    assert forms == _patterns().keys() == PARSERS.keys() == LEGAL.keys() == ILLEGAL.keys() == BEYOND.keys()


@pytest.mark.parametrize("form", PARSERS)
def test_the_pattern_is_that_of_the_parser(form: str) -> None:
    """What is legal fits, what does not look right does not; parser and pattern agree."""
    fits, reads = re.compile(_patterns()[form]).search, PARSERS[form]
    assert [text for text in LEGAL[form] if not (fits(text) and reads(text))] == []
    assert [text for text in ILLEGAL[form] if fits(text) or reads(text)] == []
    assert [text for text in BEYOND[form] if not fits(text) or reads(text)] == []


@pytest.mark.parametrize("form", PARSERS)
@settings(max_examples=examples(60, 7_500))
@given(data=st.data())
def test_what_is_read_is_never_underlined(form: str, data: st.DataObject) -> None:
    """Whatever the parser takes, the pattern takes too."""
    pieces = st.sampled_from([*"0123456789PTWDHMSdhmsZ.:-+*? /", "ms", "..", "2026-03-01T09:00:00"])
    text = data.draw(st.lists(pieces, max_size=8).map("".join) | st.sampled_from(LEGAL[form]))
    assert not PARSERS[form](text) or re.search(_patterns()[form], text)


@pytest.mark.parametrize("name", library.names())
def test_the_library_has_no_underlined_text(name: str) -> None:
    """The schema with its patterns accepts each scenario of the library."""
    text = Path(library.path(name)).read_text("utf-8")
    assert list(Draft202012Validator(schema()).iter_errors(_value(text))) == []


def test_a_value_of_the_environment_is_not_underlined() -> None:
    """What will stand there is not known yet."""
    assert [form for form, pattern in _patterns().items() if not re.search(pattern, "${X:1}")] == []


def test_the_errors_are_those_of_the_parsers() -> None:
    """An editor underlines it; `check` says what would be legal."""
    text = "sendbox: 1\nattempts: [{then: [sending, sent: {after: 10 min}]}]\n"
    (error,) = Draft202012Validator(schema()).iter_errors(_value(text))
    assert [leaf.validator for leaf in _leaves(error)].count("pattern") == 1
    assert list(map(str, check(text, name="a.yaml"))) == [
        'a.yaml:2:43: "10 min" is not a duration: 500ms, 2s, 1m30s, 1.5h, 2d or PT1M30S are legal; did you mean "10m"?'
    ]


def _value(text: str) -> Any:
    node, _ = parse(text, Source("a.yaml"))
    assert node is not None
    return plain(node)


def _leaves(error: Any) -> Iterator[Any]:
    if not error.context:
        yield error
    for inner in error.context:
        yield from _leaves(inner)


def _accepts(scenario: dict[str, Any]) -> bool:
    return Draft202012Validator(schema()).is_valid({"sendbox": 1, **scenario})


@pytest.mark.parametrize(("that", "name"), [(that, name) for that, row in SUBJECTS.items() for name in row.fields])
def test_the_words_of_where_are_those_of_the_subject(that: str, name: str) -> None:
    """Editors take every word of a field, alone and in a list, and underline a word that no subject has."""
    field = SUBJECTS[that].fields[name]
    for word in field.words:
        assert _accepts({"expect": [{"that": that, "where": {name: word}}]})
    assert _accepts({"expect": [{"that": that, "where": {name: [*field.words, "${NAME}"]}}]}) or not field.words
    wrong = {"expect": [{"that": that, "where": {name: "no such word"}}]}
    refused = {problem.rule for problem in check({"sendbox": 1, **wrong})} & {"word", "range", "flag"}
    everywhere = [row.fields[name] for row in SUBJECTS.values() if name in row.fields]
    free = any(row.kind in ("text", "phone", "payload") and not row.words for row in everywhere)
    assert free or (refused and not _accepts(wrong))


@pytest.mark.parametrize(
    ("rule", "legal"),
    [
        ({"attempts": [{"when": {"operation": "sendMesage"}, "then": "sent"}]}, False),
        ({"attempts": [{"when": {"operation": "blacklist"}, "then": "sent"}]}, False),
        ({"attempts": [{"when": {"operation": ["sendMessage", "${NAME}"]}, "then": "sent"}]}, True),
        ({"api": [{"when": {"operation": "blacklist"}, "fault": "reset"}]}, True),
        ({"api": [{"when": {"operation": "send*"}, "fault": "reset"}]}, False),
        ({"traffic": [{"operation": "sendMesage"}]}, False),
        ({"expect": [{"that": "requests", "where": {"operation": "send*", "status": [202, ">=500"]}}]}, True),
        ({"expect": [{"that": "messages", "where": {"result": "deliver*"}}]}, False),
        ({"expect": [{"that": "messages", "where": {"last": {"channel": "smss"}}}]}, False),
        ({"expect": [{"that": "messages", "each": ["phone", "body"]}]}, True),
        ({"expect": [{"that": "messages", "each": "customer"}]}, False),
    ],
)
def test_editors_underline_what_check_refuses(rule: dict[str, Any], legal: bool) -> None:
    """Operations, results, channels and the names of `each` are words in the schema, too."""
    assert _accepts(rule) is legal
    assert legal or check({"sendbox": 1, **rule})
