"""Traffic: the table of operations is that of the interfaces, and references lead to fields of answers."""

from __future__ import annotations

from typing import Any

import pytest

from sendbox.app import SERVED
from sendbox.engine.traffic import field, parse_reference, resolve
from sendbox.services.operations import CALLS, EMULATED


def test_every_operation_of_the_table_is_served() -> None:
    """Each operation of an interface has one row, in the order of the table."""
    table = [name for name in EMULATED if name != "uploadBulk"]
    assert [row.operation for row in SERVED.routes] == table
    assert [name for name in CALLS if name not in table] == ["uploadBulk", "openLink"]


@pytest.mark.parametrize(
    ("operation", "expected"),
    [("sendMessage", ()), ("verifyCode", ("token",)), ("uploadBulk", ("url",))],
    ids=["none", "in the path", "the whole path"],
)
def test_parameters_stand_in_the_path(operation: str, expected: tuple[str, ...]) -> None:
    """What is in braces is a parameter."""
    assert CALLS[operation].params == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("$login.token", ("login", ("token",))),
        ("$a-1.accepted.0.message_id", ("a-1", ("accepted", "0", "message_id"))),
        ("$login", None),
        ("$5.00", None),
        (" $login.token", None),
        ("see $login.token", None),
        ("$login.token.", None),
        (5, None),
    ],
    ids=str,
)
def test_references(value: object, expected: object) -> None:
    """A reference is a whole text: a dollar sign, a name, and a path of at least one step."""
    assert parse_reference(value) == expected


ANSWER: dict[str, Any] = {"token": "t", "accepted": [{"message_id": "m"}], "none": None}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("$a.token", "t"),
        ("$a.accepted.0.message_id", "m"),
        ("$a.accepted", [{"message_id": "m"}]),
        ({"x": ["$a.token", 1]}, {"x": ["t", 1]}),
        (("$a.token",), ["t"]),
        (None, None),
    ],
    ids=str,
)
def test_references_are_replaced(value: Any, expected: Any) -> None:
    """Wherever they stand, by what they lead to, whatever it is."""
    assert resolve(value, {"a": ANSWER}) == expected


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("$b.token", '"$b.token" refers to "b", which got no answer'),
        ("$a.tokn", '"tokn" is not in the answer, which has token, accepted, none'),
        ("$a.accepted.1.message_id", '"1" is not in accepted, which has 1 items'),
        ("$a.accepted.first", '"first" is not in accepted, which has 1 items'),
        ("$a.none.x", '"x" is not in none, which has nothing'),
    ],
    ids=["no answer", "no field", "no item", "no number", "no value"],
)
def test_references_that_lead_nowhere(value: str, said: str) -> None:
    """The error says where the path ends, and what is there."""
    with pytest.raises(LookupError) as error:
        resolve(value, {"a": ANSWER})
    assert error.value.args == (said,)


def test_field_takes_the_whole_path() -> None:
    """Keys and indexes, in order."""
    assert field(ANSWER, ("accepted", "0")) == {"message_id": "m"}
