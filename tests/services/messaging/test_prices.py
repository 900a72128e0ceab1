"""Prices of a segment (§6; A61)."""

from __future__ import annotations

import pytest

from sendbox.services.assume import Prices
from sendbox.services.messaging.channels import FAMILIES
from sendbox.services.messaging.prices import combine_prices, prices
from sendbox.services.numbers.countries import codes

COUNTRY = Prices({("sms", "420"): (1, 2)})
CHANNEL = Prices({("sms", ""): (3, 4)})
BOTH = Prices({("sms", "420"): (1, 2), ("sms", ""): (3, 4)})

ASKED = [
    pytest.param("sms", "420", None, prices()["sms", "420"], id="built in, country"),
    pytest.param("sms", "998", None, prices()["sms", ""], id="built in, any other country"),
    pytest.param("richmsg", "", None, prices()["richmsg", ""], id="no country"),
    pytest.param("sms", "420", COUNTRY, (1, 2), id="scenario's country"),
    pytest.param("sms", "421", COUNTRY, prices()["sms", "421"], id="a country the scenario leaves out"),
    pytest.param("sms", "998", COUNTRY, prices()["sms", ""], id="any other that the scenario leaves out"),
    pytest.param("sms", "420", CHANNEL, (3, 4), id="scenario's any other beats our country"),
    pytest.param("chatapp", "420", CHANNEL, prices()["chatapp", "420"], id="a channel the scenario leaves out"),
    pytest.param("sms", "420", BOTH, (1, 2), id="more specific first"),
    pytest.param("sms", "421", BOTH, (3, 4), id="less specific second"),
    pytest.param("sms", "420", Prices({("sms", "420"): (0, 0)}), (0, 0), id="free of charge"),
]


def price(channel: str, code: str, table: Prices | None) -> tuple[int, int]:
    """The price as A61 says it: a scenario's for the country, its for any other country, then ours likewise."""
    own = {} if table is None else table.table
    every = [own.get((channel, code)), own.get((channel, "")), prices().get((channel, code)), prices()[channel, ""]]
    return next(entry for entry in every if entry is not None)


@pytest.mark.parametrize(("channel", "code", "table", "expected"), ASKED)
def test_the_scenario_wins_entry_by_entry(
    channel: str, code: str, table: Prices | None, expected: tuple[int, int]
) -> None:
    """The scenario's entries come first, more specific before less; the merged table answers the same."""
    assert price(channel, code, table) == expected
    merged = combine_prices(table)
    assert merged.get((channel, code), merged[channel, ""]) == expected


def test_merging_changes_no_table() -> None:
    """The merged table is the caller's own."""
    before = dict(prices())
    combine_prices(None).clear()
    combine_prices(BOTH).clear()
    assert before == prices()
    assert len(BOTH.table) == 2


def test_the_built_in_table_is_sound() -> None:
    """Every channel has a price for any other country, codes are calling codes, prices are positive."""
    known = codes().keys() | {""}
    assert {channel for channel, code in prices() if not code} == set(FAMILIES)
    assert {channel for channel, _ in prices()} == set(FAMILIES)
    assert {code for _, code in prices()} <= known
    assert all(eur > 0 and czk == 25 * eur for eur, czk in prices().values())
