"""Sub-keys and limits of bulk files in a scenario."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sendbox.language import LANGUAGE
from sendbox.services.account.spec import SubKeySpec
from sendbox.services.assume import BulkLimits
from tests.scenarios import check, load


def account(**fields: Any) -> dict[str, Any]:
    """A scenario with that account."""
    return {"sendbox": 1, "account": fields}


def test_sub_keys_are_compiled() -> None:
    """Each field, and the defaults of what is left out; credit in millionths."""
    every = {
        "name": "a",
        "note": "shop",
        "currency": "CZK",
        "credit": 1.5,
        "scope": "api",
        "default_callback_url": "https://client.example",
    }
    found = load(account(subkeys=[every, {"name": "b", "shared": True}])).compiled["account"].subkeys
    assert found == (
        SubKeySpec("a", "shop", False, "CZK", 1_500_000, "api", "https://client.example"),
        SubKeySpec("b", shared=True),
    )


def test_a_name_stands_once_in_a_file(tmp_path: Path) -> None:
    """Twice in a file is a mistake; one of the file that builds on another replaces its namesake there."""
    twice = account(subkeys=[{"name": "a"}, {"name": "b"}, {"name": "a", "note": "x", "notes": 1}])
    assert [str(found).partition(";")[0] for found in check(twice)] == [
        '$.account.subkeys[2].notes: "notes" is not a key of a subkey',
        '$.account.subkeys[2].name: "a" is a sub-key of this account already',
    ]
    assert [found.rule for found in check(account(subkeys=[{"name": "a b"}, {"name": "a b"}]))] == ["pattern"] * 2
    (tmp_path / "base.yaml").write_text("sendbox: 1\naccount: {subkeys: [{name: a, note: theirs}, {name: b}]}\n")
    file = tmp_path / "mine.yaml"
    file.write_text("sendbox: 1\nextends: ./base.yaml\naccount: {subkeys: [{name: a, note: mine}]}\n")
    assert load(file).compiled["account"].subkeys == (SubKeySpec("a", "mine"), SubKeySpec("b"))


@pytest.mark.parametrize(
    ("subkey", "said"),
    [
        pytest.param({}, '{} has no "name"', id="no-name"),
        pytest.param({"name": "a b"}, '"a b"', id="a-space"),
        pytest.param({"name": "a~b"}, '"a~b"', id="a-tilde"),
        pytest.param({"name": "a", "scope": "all"}, '"all"', id="scope"),
        pytest.param({"name": "a", "credit": -1}, "-1", id="debt"),
        pytest.param({"name": "a", "notes": "x"}, '"notes"', id="unknown"),
        pytest.param(
            {"name": "a", "shared": True, "credit": 1},
            '"a" shares the credit of the account, so it has no credit of its own',
            id="shared-with-credit",
        ),
        pytest.param(
            {"name": "a", "shared": True, "currency": "EUR"},
            '"a" shares the credit of the account, so it has no currency of its own',
            id="shared-with-currency",
        ),
    ],
)
def test_what_is_no_sub_key(subkey: dict[str, Any], said: str) -> None:
    """Each mistake is named."""
    assert said in str(check(account(subkeys=[subkey]))[0])


def test_at_most_nineteen() -> None:
    """As many as a top key may have (A32)."""
    assert check(account(subkeys=[{"name": str(each)} for each in range(19)])) == []
    assert check(account(subkeys=[{"name": str(each)} for each in range(20)])) != []


def test_a_change_of_an_account_names_sub_keys_too() -> None:
    """Control tops one up by its name."""
    changes = LANGUAGE.compile_patch("account", {"subkeys": [{"name": "a", "credit": 2}]}, current={"currency": "EUR"})
    assert changes == {"subkeys": (SubKeySpec("a", credit=2_000_000),)}


def test_limits_of_a_bulk_file() -> None:
    """Either may be left out (A35)."""
    assert load({"sendbox": 1}).assume.bulk == BulkLimits(100_000, 67_108_864)
    assert load({"sendbox": 1, "assume": {"bulk": {"lines": 10}}}).assume.bulk == BulkLimits(10, 67_108_864)
    assert check({"sendbox": 1, "assume": {"bulk": {}}}) != []
    assert check({"sendbox": 1, "assume": {"bulk": {"lines": 0}}}) != []
