"""The class of answers: attributes and keys, what is left out, JSON in both directions."""

from __future__ import annotations

import copy
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from sendbox.engine.answer import Answer, Instant, encoded, milliseconds, moment, moment_or_none, plain, read
from sendbox.engine.bounds import BEGINNING, END


class Part(Answer):
    """A part of an answer."""

    at: Instant
    info: str | None
    rule: str | None = None


class Whole(Answer):
    """An answer with parts."""

    from_: str
    parts: list[Part]


NOON = moment(1_772_366_400_000)
PART = Part(at=NOON, info=None)
WHOLE = Whole(from_="a", parts=[PART, Part(at=NOON, info="x", rule="r")])
JSON = {
    "from": "a",
    "parts": [
        {"at": "2026-03-01T12:00:00.000Z", "info": None},
        {"at": "2026-03-01T12:00:00.000Z", "info": "x", "rule": "r"},
    ],
}


def test_keys_have_the_json_and_attributes_the_values() -> None:
    """A field that may be left out is no key while it is None; one that must be there is null."""
    assert (PART["at"], PART.at) == ("2026-03-01T12:00:00.000Z", datetime(2026, 3, 1, 12, tzinfo=UTC))
    assert (list(PART), len(PART), PART["info"], PART.get("rule"), "rule" in PART) == (
        ["at", "info"],
        2,
        None,
        None,
        False,
    )
    with pytest.raises(KeyError, match="rule"):
        _ = PART["rule"]
    with pytest.raises(KeyError, match="none"):
        _ = PART["none"]
    assert dict(WHOLE) == WHOLE.json == {**WHOLE} == JSON


def test_an_answer_equals_its_json() -> None:
    """And nothing else; a copy is the answer itself."""
    assert WHOLE == JSON
    assert PART != WHOLE
    assert PART != 1
    assert copy.copy(PART) is copy.deepcopy(PART) is PART
    assert repr(PART) == "Part(at='2026-03-01T12:00:00.000Z', info=None)"


@pytest.mark.parametrize(
    ("name", "message"), [("mood", r'^"mood" is not a field here; legal: at, info$'), ("_x", "^_x$")]
)
def test_a_name_that_is_no_field(name: str, message: str) -> None:
    """The error says which there are."""
    with pytest.raises(AttributeError, match=message):
        getattr(PART, name)


def test_json_in_both_directions() -> None:
    """What is encoded can be read again; fields that services add stand beside the others."""
    assert msgspec.json.decode(encoded({"all": [WHOLE]})) == {"all": [JSON]}
    assert msgspec.json.decode(encoded(NOON)) == "2026-03-01T12:00:00.000Z"
    assert read(JSON, Whole) == WHOLE
    assert PART.extended({"more": 1}) == {**JSON["parts"][0], "more": 1}  # type: ignore[dict-item]
    assert plain({"a": (PART, NOON)}) == {"a": [JSON["parts"][0], "2026-03-01T12:00:00.000Z"]}


@pytest.mark.parametrize("value", [{"at": 5, "info": None}, {"at": "2026-03-01T12:00:00.000Z"}])
def test_what_is_no_answer_is_not_read(value: Any) -> None:
    """A wrong type, a missing field."""
    with pytest.raises((msgspec.ValidationError, NotImplementedError)):
        read(value, Part)


def test_what_json_does_not_have_is_not_encoded() -> None:
    """The error of the encoder leads to the type."""
    with pytest.raises(TypeError):
        encoded({"a": {1}})


def test_instants_stay_in_the_calendar() -> None:
    """What lies outside is its first or last instant."""
    assert plain(moment(END + 1)) == plain(moment(END)) == "9999-12-31T23:59:59.999Z"
    assert plain(moment(BEGINNING - 1)) == "0001-01-01T00:00:00.000Z"
    assert (moment_or_none(None), moment_or_none(0)) == (None, moment(0))
    assert milliseconds(NOON) == 1_772_366_400_000
