"""Field names: what an unknown one may have meant."""

from __future__ import annotations

from sendbox.engine.remarks import Advice
from sendbox.services.http.requests import child, nearest, unknown_fields

KNOWN = frozenset({"body", "messageTag", "payload"})


def test_nearest_name_ignores_case() -> None:
    """A name that differs by case or a letter is found; one that is like nothing is not."""
    assert nearest("BODY", KNOWN) == "body"
    assert nearest("messagetag", KNOWN) == "messageTag"
    assert nearest("paylod", KNOWN) == "payload"
    assert nearest("zzz", KNOWN) is None
    assert nearest("payload" * 10, KNOWN) is None


def test_unknown_fields_are_named_up_to_ten() -> None:
    """Ten unknown fields are named one by one and the others counted: remarks cost no more than a call is worth."""
    advice: list[Advice] = []
    unknown_fields([f"f{n}" for n in range(13)] + ["body"], KNOWN, "$", "§2.1", advice)
    assert [item.path for item in advice] == [f"$.f{n}" for n in range(10)] + ["$"]
    assert advice[0].message == '"f0" is not a field here and has no effect'
    assert advice[-1].message == "3 more fields are not known here and have no effect"
    assert {item.section for item in advice} == {"§2.1"}


def test_hints_end_after_a_hundred_remarks() -> None:
    """A call full of unknown fields is told each one, but the search for what they meant ends."""
    advice: list[Advice] = []
    for _ in range(101):
        unknown_fields(["paylod"], KNOWN, "$", "§2.1", advice)
    assert len(advice) == 101
    assert advice[99].message.endswith('nearest is "payload"')
    assert advice[100].message == '"paylod" is not a field here and has no effect'


def test_child_paths() -> None:
    """Names that are no identifiers stand in brackets, long ones cut."""
    assert child("$", "body") == "$.body"
    assert child("$.to[0]", "phone number") == "$.to[0]['phone number']"
    assert child("$", "x" * 70) == f"$['{'x' * 60}']"
