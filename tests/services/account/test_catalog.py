"""The catalog: a tree whose leaves can be ordered by their flat ids."""

from __future__ import annotations

import pytest

from sendbox.services.account.orders import POOL, Price, Service, services, tree
from sendbox.services.numbers.notation import normalize


def test_s2_5_the_tree_and_the_flat_ids_name_the_same() -> None:
    """§2.5: `sender_<platform>_<calling_code>_<variant>` leads to `services.sender.<platform>.<code>.<variant>`."""
    ids = {
        f"sender_{platform}_{code}_{variant}"
        for platform, codes in tree()["sender"].items()
        for code, variants in codes.items()
        for variant in variants
    }
    assert ids == set(services())


@pytest.mark.parametrize("service", services().values(), ids=services())
def test_s2_5_every_variant_has_what_it_must(service: Service) -> None:
    """§2.5: names in several languages, a subject rule, prices in both currencies; a pool for what is assigned."""
    view = service.as_json()
    assert set(view["name"]) == {"en", "cs"}
    assert view["subject"] in ("defined", "assigned")
    assert set(view["prices"]) == {"czk", "eur"}
    assert all({"setup", "monthly"} <= price.keys() for price in view["prices"].values())
    assert bool(service.pool) is (service.subject == "assigned")
    if service.pool:
        assert [normalize(number, "420") for number in service.numbers()] == service.numbers()
        assert len(service.numbers()) == POOL


def test_every_kind_of_rule_is_in_the_catalog() -> None:
    """There is something to try for each: delay, requirements, both intervals, a monthly spend."""
    views = [service.as_json() for service in services().values()]
    prices = [price for view in views for price in view["prices"].values()]
    assert {price.get("min_interval") for price in prices} == {None, "month", "year"}
    assert any("min_monthly_spend" in price for price in prices)
    assert {view["status"] for view in views} == {"new", "active"}
    assert {"delay" in view for view in views} == {"requirements" in view for view in views} == {True, False}


def test_what_a_price_does_not_have_is_left_out() -> None:
    """Optional fields are there only where they say something."""
    assert Price(1, 2).as_json() == {"setup": 1, "monthly": 2}
    assert Price(1, 2, "year", 5).as_json() == {
        "setup": 1,
        "monthly": 2,
        "min_interval": "year",
        "min_monthly_spend": 5,
    }
