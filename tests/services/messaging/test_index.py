"""The index of messages by their ids: made as far as it is asked for, in slices, and without what was forgotten."""

from __future__ import annotations

import pytest

from sendbox.engine.kept import ITEMS_PER_PAUSE
from sendbox.services.messaging.messaging import Messaging
from tests.box import KEY, WORLD, boxed
from tests.core.worlds import make_world, send
from tests.runtime.scenes import fill


def test_messages_are_found_as_they_come() -> None:
    """An id leads to its message, also one that came after the index was asked."""
    world = make_world()
    index = Messaging.of(world).by_id
    fill(world, 1)
    (first,) = Messaging.of(world).messages
    assert (index.behind, index[first.id], index.behind) == (1, first, 0)
    (second,) = send(world, "420777000102")
    assert (index.get("none"), list(index), len(index)) == (None, [first.id, second.id], 2)


def test_what_was_forgotten_is_not_found() -> None:
    """Messages that were read into the index leave it, and others are not missed."""
    world = make_world()
    messages, index = Messaging.of(world).messages, Messaging.of(world).by_id
    read = send(world, "420777000101", "420777000102")
    assert index.get(read[0].id) is read[0]
    new = send(world, "420777000103", "420777000104")
    gone = [read[0], new[0]]
    assert messages.forget(0, len(messages), gone.__contains__).gone == gone
    index.forget(gone)
    assert [index.get(each.id) for each in (*read, *new)] == [None, read[1], None, new[1]]


def test_it_is_read_in_slices() -> None:
    """Between two pauses so many are read."""
    world = make_world()
    fill(world, 2 * ITEMS_PER_PAUSE + 1)
    assert sum(1 for _ in Messaging.of(world).by_id.read()) == 3


@pytest.mark.asyncio
async def test_s4_4_a_message_of_many_is_found() -> None:
    """`GET /message` and control find a message of a large world that was not asked yet."""
    async with boxed() as box:
        await box.open()
        world = box.runtime.worlds[KEY].world
        fill(world, ITEMS_PER_PAUSE + 1)
        wanted = Messaging.of(world).messages[-1]
        row = await box.call("GET", f"/v1/message?id={wanted.id}", b"", {"x-api-key": KEY})
        assert row.json["message"]["request_id"] == wanted.submission.request_id
        assert (await box.get(f"{WORLD}/messages/{wanted.id}")).json["phone"] == wanted.phone
