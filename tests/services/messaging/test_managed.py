"""What management leaves in the journal, in the digest, and in a copy of the world."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

from sendbox.engine.world import World
from sendbox.services.account.account import Account
from sendbox.services.messaging.home import BegunOutages, Handsets, Home, Movements
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.verify.verify import Verify
from tests.core.asked import asked
from tests.core.clients import sign_up
from tests.core.managed import BAD, manage
from tests.core.observed import digest, entry_view
from tests.core.worlds import HOUR, advance, make_world


def managed(world_id: str = "test-w") -> World:
    """A world in which `manage` was done."""
    world = make_world(world_id)
    manage(world)
    return world


def entries(world: World, kind: str) -> list[dict[str, Any]]:
    """The entries of a kind, as they are shown, without number and instant."""
    shown = [entry_view(world, number) for number in world.journal.numbers(frozenset({kind}))]
    return [{name: value for name, value in each.items() if name not in ("n", "at", "kind")} for each in shown]


def test_entries_of_management() -> None:
    """Each kind shows what was done."""
    world = managed()
    (key,) = Account.of(world).subkeys.children
    assert entries(world, "key") == [
        {"key": key.id, "what": "added", "scope": "full", "disabled": False, "note": "shop"}
    ]
    assert key.billing is not None
    assert entries(world, "listed") == [
        {"list": "blacklist", "subid": key.billing.subid, "count": 2, "phones": ["420777000801", "420777000802"]}
    ]
    (order,) = entries(world, "order")
    assert {**order, "order": ""} == {
        "order": "",
        "service": "sender_sms_420_alnum",
        "subject": "Acme",
        "period": "month",
        "fee": 10.0,
        "currency": "EUR",
        "state": "active",
    }
    head = {"bulk_id": "b1", "filetype": "jsonl", "lines": 2}
    assert entries(world, "bulk") == [
        {**head, "what": "stored"},
        {**head, "what": "done", "accepted": 1, "skipped": 1},
    ]
    request_id = Messaging.of(world).messages[0].submission.request_id
    assert entries(world, "bulk_line") == [
        {"bulk_id": "b1", "line": 1, "request_id": request_id, "findings": [], "advice": []},
        {"bulk_id": "b1", "line": 2, "request_id": None, "findings": [BAD.as_json()], "advice": []},
    ]
    assert {"what": "upload", "bulk_id": "b2"} in entries(world, "lapse")


def test_digests_of_worlds_that_were_managed_alike_are_equal() -> None:
    """No key, sub-account, address or order id of a world is in its digest; what was done is."""
    first, second = managed("test-a"), managed("test-b")
    assert digest(first) == digest(second) != digest(make_world())
    for change in ("scope", "note"):
        key = Account.of(first).subkeys.children[0]
        Account.of(first).subkeys.note(key, change)
    assert digest(first) != digest(second)


@pytest.mark.parametrize("path", ["/upload/0011", "/upload/2233"])
def test_upload_addresses_are_not_in_the_digest(path: str) -> None:
    """The path of an upload is a name, and names are no part of a digest."""
    world, other = make_world(), make_world()
    other.request(asked("uploadBulk", b"", method="PUT", path="/upload/ffff", key="k", answer=b""))
    world.request(asked("uploadBulk", b"", method="PUT", path=path, key="k", answer=b""))
    assert digest(world) == digest(other)


def test_a_closed_world_is_freed_by_its_counts() -> None:
    """Once it was taken apart no part keeps its world alive, and no collection of cycles is needed."""
    world = managed()
    Verify.of(world).create("420777000101", {}, Account.of(world).top, b"{}", "")
    sign_up(world)
    advance(world, HOUR)
    kept = weakref.ref(world)
    list(world.dispose())
    gc.disable()
    try:
        del world
        assert kept() is None
    finally:
        gc.enable()


def test_messaging_is_what_its_modules_see() -> None:
    """Every attribute that the modules of messaging ask of each other is there."""
    part = Messaging.of(managed())
    for port, thing in (
        (Home, part),
        (Movements, part.simulator),
        (Handsets, part.phones),
        (BegunOutages, part.outages),
    ):
        asked = {name for name in dir(port) if not name.startswith("_")} | set(port.__annotations__)
        assert {name for name in asked if not hasattr(thing, name)} == set()
