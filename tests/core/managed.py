"""A world in which everything was managed that can be: keys, lists, orders, bulk files."""

from __future__ import annotations

from sendbox.engine.remarks import Finding
from sendbox.engine.world import World
from sendbox.services import limits
from sendbox.services.account.account import Account
from sendbox.services.account.http import enter_numbers
from sendbox.services.account.orders import services
from sendbox.services.messaging.bulk import Bulk, DecodedLine
from sendbox.services.messaging.messaging import Messaging
from tests.core.worlds import advance, command

ORIGIN = "http://sandbox.example"
BAD = Finding("$", "json", "no is not JSON", "§4.2")


def decode(_world: World, _bulk: Bulk, raw: bytes) -> DecodedLine:
    """A line is a number to write to, or `no`."""
    if raw == b"no":
        return DecodedLine(None, b"", [BAD], ())
    return DecodedLine(command(raw.decode()), b'{"line":1}', (), ())


def manage(world: World) -> None:
    """One of everything, and then an address that nobody used."""
    subkeys = Account.of(world).subkeys
    key = subkeys.add(b"{}", currency="EUR", note="shop", default_callback_url=None, scope="full")
    assert key.billing is not None
    key.billing.balance = 10**9
    for _ in enter_numbers(world, "blacklist", key.billing, "420777000801\n420777000802"):
        pass  # two lines: it does not pause
    Account.of(world).orders.place(services()["sender_sms_420_alnum"], "Acme", "month", key.billing, b"{}")
    bulks = Messaging.of(world).bulks
    bulks.decode = decode
    bulk = bulks.begin(bulks.issue("b1", "jsonl", key, b"{}", ORIGIN).address)
    bulks.store(bulk, [_block(b"420777000803\nno\n")], 2)
    bulks.issue("b2", "gz", key, b"{}", ORIGIN)
    advance(world, limits.UPLOAD)


def _block(lines: bytes) -> bytes:
    import zlib

    return zlib.compress(lines)
