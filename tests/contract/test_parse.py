"""JSON text is read strictly, and what is wrong with it has a place."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sendbox.contract.parser import Malformed, parse_json


@pytest.mark.parametrize(
    ("expected", "raw"),
    [
        ({"a": [1, 2.5, None, True, "č"]}, '{"a": [1, 2.5, null, true, "č"]}'.encode()),
        ("x", b' "x" \n'),
        ({"a": 2}, b'{"a": 1, "a": 2}'),
        ("\U0001f600", b'"\\ud83d\\ude00"'),
        (2**63 - 1, b"9223372036854775807"),
        ({"id": -(2**63), "t": "9223372036854775808"}, b'{"id": -9223372036854775808, "t": "9223372036854775808"}'),
        (["[1, 18446744073709551616, 2]"], b'["[1, 18446744073709551616, 2]"]'),
        (0.12345678901234567890, b"0.12345678901234567890"),
        (1e30, b"1e30"),
    ],
)
def test_json(expected: object, raw: bytes) -> None:
    """Any JSON value in UTF-8, with white space around it."""
    assert parse_json(raw) == expected


@pytest.mark.parametrize(
    ("line", "column", "text", "raw"),
    [
        (1, 1, "an empty body is not JSON; legal: one JSON value in UTF-8 (§4)", b""),
        (1, 1, "an empty body is not JSON; legal: one JSON value in UTF-8 (§4)", b" \r\n\t"),
        (1, 1, "a body compressed with gzip is not JSON; legal: JSON in UTF-8, uncompressed (§4)", b"\x1f\x8b\x08"),
        (1, 1, "a byte order mark at line 1, column 1 is not JSON; legal: UTF-8 without one (§4)", b"\xef\xbb\xbf{}"),
        (1, 1, "byte 0xff at line 1, column 1 is not UTF-8; legal: JSON in UTF-8 (§4)", b"\xff\xfe{\x00}\x00"),
        (2, 3, "byte 0xff at line 2, column 3 is not UTF-8; legal: JSON in UTF-8 (§4)", b'{\n"\xc3\xa9\xff"'),
        (1, 3, "byte 0xed at line 1, column 3 is not UTF-8; legal: JSON in UTF-8 (§4)", b'["\xed\xa0\x80"]'),
    ],
)
def test_what_is_no_text(line: int, column: int, text: str, raw: bytes) -> None:
    """Empty bodies and other encodings are told apart from bad JSON."""
    with pytest.raises(Malformed) as caught:
        parse_json(raw)
    assert (caught.value.line, caught.value.column, caught.value.message) == (line, column, text)
    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("start", "raw"),
    [
        ("NaN at line 1, column 7", b'{"a": NaN}'),
        ("Infinity at line 1, column 2", b"[Infinity]"),
        ("1e400 at line 1, column 1", b"1e400"),
        ("01 at line 1, column 1", b"01"),
        (r"\ud800 at line 1, column 2", b'"\\ud800"'),
        (r"\udc00 at line 1, column 3", b'{"\\udc00": 1}'),
        ("x at line 2, column 2", b'{"a":1}\n x'),
        ("the end at line 1, column 5", b'"abc'),
        (r"\n at line 1, column 3", b'"a\nb"'),
        ("' at line 1, column 2", b"{'a':1}"),
        ("é at line 1, column 6", '{"é":é}'.encode()),
        ("tru} at line 2, column 3", b'{"a":\n  tru}'),
    ],
)
def test_bad_json_begins_with_what_stands_there(start: str, raw: bytes) -> None:
    """The message has the text found, line and column, the reason and the section; all on one line."""
    with pytest.raises(Malformed) as caught:
        parse_json(raw)
    assert re.fullmatch(re.escape(start).replace(r"tru\}", "tru") + r" is not JSON: .+ \(§4\)", caught.value.message)


@pytest.mark.parametrize(
    ("path", "raw"),
    [
        ("$", b"[" * 201 + b"]" * 201),
        ("$.a", b'{"a":' + b"[" * 200 + b"]" * 200 + b"}"),
        ("$[1].a", b'[1, {"a":' + b"[" * 1000 + b"]" * 1000 + b"}]"),
        ("$", b"[" * 2000 + b"]" * 2000),
        ("$", b"[" * 100_000),
        ("$", b'{"a":' * 100_000),
    ],
)
def test_deep_nesting_is_refused(path: str, raw: bytes) -> None:
    """However deep, it is a refusal and never a crash, and says which field it is."""
    with pytest.raises(Malformed) as caught:
        parse_json(raw)
    finding = caught.value.finding
    assert (finding.path, finding.rule) == (path, "depth")
    assert finding.message == "the value is nested deeper than 200 levels; legal: up to 200 levels (§4)"


def test_deep_nesting_within_the_limit_is_json() -> None:
    """Up to 200 levels are read; brackets inside texts are none."""
    assert isinstance(parse_json(b"[" * 200 + b"]" * 200), list)
    assert parse_json(b'["' + b"[" * 500 + b'\\"' + b"{" * 500 + b'"]') == ["[" * 500 + '"' + "{" * 500]


@pytest.mark.parametrize(
    ("path", "number", "raw"),
    [
        ("$", "9223372036854775808", b"9223372036854775808"),
        ("$.a[1].b", "-9223372036854775809", b'{"a": [1, {"b": -9223372036854775809 }]}'),
        ("$[1]", "1000000000000000000000000000000", b"[2,1000000000000000000000000000000]"),
    ],
)
def test_an_integer_beyond_64_bits_is_refused(path: str, number: str, raw: bytes) -> None:
    """It is never quietly read as a fraction; the finding has its place and what is legal."""
    with pytest.raises(Malformed) as caught:
        parse_json(raw)
    finding = caught.value.finding
    assert (finding.path, finding.rule) == (path, "range")
    legal = "-9223372036854775808 to 9223372036854775807 (64 bits)"
    assert finding.message == f"{number} is outside the range of integers; legal: {legal} (§4)"


@given(
    st.binary(max_size=40)
    | st.text('{}[]",:\\ueEt1-. \n\ud800', max_size=30).map(lambda t: t.encode("utf-8", "replace"))
)
def test_nothing_but_malformed_is_raised(raw: bytes) -> None:
    """Any bytes are a JSON value or Malformed, with a message of one line."""
    refusal = None
    try:
        parse_json(raw)
    except Malformed as malformed:
        refusal = malformed
    if refusal is not None:
        assert refusal.message.isprintable()
        assert min(refusal.line, refusal.column) >= 1
