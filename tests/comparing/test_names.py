"""Entries of arrays that are the same thing in both answers: by names and texts, never by their place."""

from __future__ import annotations

from typing import Any

import pytest

from sendbox.comparing.differences import is_id
from sendbox.comparing.names import Names

A, B = "420777000101", "420777000102"


def known(**names: str) -> Names:
    names_of_both = Names()
    for recorded, ours in names.items():
        names_of_both.learn(recorded, ours)
    return names_of_both


def row(id_: str, phone: str = A, **fields: str) -> dict[str, str]:
    return {"message_id": id_, "phone_number": phone, **fields}


@pytest.mark.parametrize(
    ("recorded", "here", "same", "similar"),
    [
        # a name that is known, wherever it stands
        ([row("r2", B)], [row("h1"), row("h2", B)], [(0, 1)], []),
        ([row("r2"), row("r1")], [row("h1"), row("h2")], [(0, 1), (1, 0)], []),
        ([row("r1-0")], [row("h2-0"), row("h1-0")], [(0, 1)], []),
        # one that the other side does not have is of nothing else
        ([row("r1")], [row("h2")], [], []),
        ([row("r1")], [row("new")], [], []),
        ([row("new")], [row("h1")], [], []),
        # texts that no other entry has
        ([row("x", B)], [row("y"), row("z", B)], [(0, 1)], []),
        (
            [{"key": "1", "message_id": "x"}],
            [{"key": "0", "message_id": "y"}, {"key": "1", "message_id": "z"}],
            [(0, 1)],
            [],
        ),
        # one on each side, unless the phones differ; then only the form is compared
        ([row("x", body="Hi")], [row("y", body="Ho")], [(0, 0)], []),
        ([row("x", A)], [row("y", B)], [], [(0, 0)]),
        # the sender of several rows says nothing of one of them
        (
            [row("x", A, sender="r3"), row("r2", B, sender="r3")],
            [row("h2", B, sender="h3")],
            [(1, 0)],
            [],
        ),
        # what nothing identifies
        ([row("x"), row("y")], [row("u"), row("v"), row("w")], [], [(0, 0), (1, 1)]),
        ([1, 2], [3], [], [(0, 0)]),
        (["r1", "x"], ["y", "h1"], [(0, 1), (1, 0)], []),
    ],
)
def test_pairs(recorded: list[Any], here: list[Any], same: list[Any], similar: list[Any]) -> None:
    """The places of the entries that are the same thing, and of those whose form is compared beside them."""
    names = known(r1="h1", r2="h2", r3="h3")
    assert [(place, here.index(ours)) for place, _, ours in names.same(recorded, here)] == same
    assert [(place, here.index(ours)) for place, _, ours in names.similar(recorded, here)] == sorted(same + similar)


def test_names() -> None:
    """The first name counts; an id may have an index behind it."""
    names = known(r1="h1")
    names.learn("r1", "h9")
    assert (names.ours("r1"), names.ours("r1-12"), names.ours("r9"), names.ours("plain")) == ("h1", "h1-12", None, None)


@pytest.mark.parametrize(
    ("name", "text", "id_"),
    [
        ("phone_number", A, False),
        ("to", A, False),
        ("", A, False),
        ("phone_number_id", "109876543210987", True),
        ("id", "1098765432", True),
        ("anything", "f92bfde5-3d39-4a91-ab82-a23aab0ae9b7", True),
        ("message_id", "Hi", False),
    ],
)
def test_a_phone_number_is_no_id(name: str, text: str, id_: bool) -> None:
    """Digits are an id only in a field of ids."""
    assert is_id(name, text) is id_
