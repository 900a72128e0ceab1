"""Sub-keys of a world: made, limited, looked up, and named without the world's own names."""

from __future__ import annotations

from sendbox.engine.world import World
from sendbox.services.account.account import Account
from sendbox.services.account.keys import MAX_SUBKEYS, Key
from sendbox.services.account.spec import AccountSpec, SubKeySpec
from tests.core.worlds import journaled, make_world


def add(world: World, *, currency: str | None = "EUR", scope: str = "full", note: str = "shop") -> Key:
    """A sub-key made by a call."""
    return Account.of(world).subkeys.add(
        b"{}", currency=currency, note=note, default_callback_url="http://client.example/sub", scope=scope
    )


def test_s2_5_a_subkey_has_what_it_was_made_with() -> None:
    """Note, callback, scope and an empty balance of its own; its key begins with the key of the world."""
    world = make_world()
    key = add(world, currency="CZK", scope="api")
    assert key.id.startswith("test-w~")
    assert (key.note, key.default_callback_url, key.scope, key.disabled) == (
        "shop",
        "http://client.example/sub",
        "api",
        False,
    )
    assert key.billing is not None
    assert (key.billing.currency, key.billing.balance) == ("CZK", 0)
    assert Account.of(world).subkeys.children == [key]
    assert journaled(world, "key") == [(0, (key, "added"))]


def test_equal_calls_make_different_keys() -> None:
    """Two calls of one content make two keys, and another world gives other names."""
    world, other = make_world("test-a"), make_world("test-b")
    keys = [add(world).id, add(world).id]
    assert len({*keys}) == 2
    assert add(other).id.partition("~")[2] != keys[0].partition("~")[2]


def test_a32_at_most_nineteen() -> None:
    """With eighteen there is room for one more, with nineteen there is not; disabled ones count."""
    world = make_world()
    full = []
    for number in range(MAX_SUBKEYS):
        full.append(Account.of(world).subkeys.full)
        add(world, note=str(number)).disabled = True
    assert full == [False] * 19
    assert Account.of(world).subkeys.full


def test_a19_scopes() -> None:
    """Every scope but `api` may change settings."""
    assert [Key("k", scope=scope).changes_settings for scope in ("full", "rest-api", "api")] == [True, True, False]


def test_a70_whose_subaccount_a_key_may_name() -> None:
    """The top key may name each of the account's; a sub-key only its own, and one that shares is `default`."""
    world = make_world()
    top, own, other, shared = (
        Account.of(world).keys["test-w"],
        add(world),
        add(world, note="b"),
        add(world, currency=None),
    )
    assert own.billing is not None
    assert other.billing is not None
    find = Account.of(world).subaccount
    assert find(top, None) is find(top, "default") is find(shared, None) is find(shared, "default") is Account.of(world)
    assert find(top, own.billing.subid) is find(own, None) is find(own, own.billing.subid) is own.billing
    assert find(own, "default") is find(own, other.billing.subid) is find(shared, own.billing.subid) is None
    assert find(top, "nobody") is None


def test_keys_of_a_scenario() -> None:
    """A scenario's sub-keys are there from the start; settled again, only what is named changes."""
    specs = (
        SubKeySpec("a", note="first", credit=5, scope="api", default_callback_url="http://client.example/a"),
        SubKeySpec("b", shared=True),
        SubKeySpec("c", currency="CZK"),
    )
    world = make_world(account=AccountSpec(subkeys=specs))
    a, b, c = Account.of(world).subkeys.children
    assert (a.id, a.note, a.scope, a.default_callback_url) == ("test-w~a", "first", "api", "http://client.example/a")
    assert (b.billing, b.scope, c.billing and c.billing.currency) == (None, "full", "CZK")
    Account.of(world).subkeys.settle([SubKeySpec("a", credit=7), SubKeySpec("b", note="now")], "EUR")
    assert a.billing is not None
    assert (a.billing.balance, a.billing.currency, a.note, a.scope, b.note) == (7, "EUR", "first", "api", "now")
    Account.of(world).subkeys.settle([SubKeySpec("d", shared=True, credit=3)], "EUR")
    assert len(Account.of(world).subkeys.children) == 4


def test_aliases_name_no_world() -> None:
    """A key or sub-account is known by its place, so that two worlds compare."""
    world = make_world()
    key = add(world)
    assert key.billing is not None
    names = ["test-w", key.id, key.billing.subid, "default", "nobody"]
    assert [Account.of(world).subkeys.alias(name) for name in names] == ["~0", "~1", "~1", "default", "~"]
