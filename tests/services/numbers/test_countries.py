"""Country and operator of a number (§6; A82)."""

from __future__ import annotations

from collections import Counter
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sendbox.engine.draws import UNSEEDED
from sendbox.services.numbers.countries import codes, country, every, territories
from sendbox.services.numbers.countries import operator as operator_of

operator = partial(operator_of, chooser=UNSEEDED)

WHERE = [
    pytest.param("420777000101", "420", "CZ", 230, id="Czechia"),
    pytest.param("421905123456", "421", "SK", 231, id="Slovakia"),
    pytest.param("4915112345678", "49", "DE", 262, id="Germany, two digits"),
    pytest.param("48601123456", "48", "PL", 260, id="Poland"),
    pytest.param("436601234567", "43", "AT", 232, id="Austria"),
    pytest.param("447911123456", "44", "GG", 234, id="Guernsey by a mobile range"),
    pytest.param("447400123456", "44", "GB", 234, id="United Kingdom"),
    pytest.param("12025550123", "1", "US", 310, id="United States"),
    pytest.param("18005550123", "1", "US", 310, id="North America, no country"),
    pytest.param("14165550123", "1", "CA", 302, id="Toronto"),
    pytest.param("18765550123", "1", "JM", 338, id="Jamaica"),
    pytest.param("16585550123", "1", "JM", 338, id="Jamaica, its second code"),
    pytest.param("17875550123", "1", "PR", 330, id="Puerto Rico"),
    pytest.param("18095550123", "1", "DO", 370, id="Dominican Republic"),
    pytest.param("79161234567", "7", "RU", 250, id="Russia"),
    pytest.param("77011234567", "7", "KZ", 401, id="Kazakhstan"),
    pytest.param("390669812345", "39", "VA", 225, id="Vatican City, by Rome"),
    pytest.param("393331234567", "39", "IT", 222, id="Italy"),
    pytest.param("38344123456", "383", "XK", 221, id="Kosovo"),
    pytest.param("262639123456", "262", "YT", 647, id="Mayotte"),
    pytest.param("5993181234", "599", "BQ", 362, id="Caribbean Netherlands"),
    pytest.param("59995181234", "599", "CW", 362, id="Curacao"),
    pytest.param("881612345678", "881", "001", 901, id="satellite phone"),
    pytest.param("80012345678", "800", "001", 901, id="freephone of no country"),
    pytest.param("1", "1", "US", 310, id="a code alone"),
]


@pytest.mark.parametrize(("number", "code", "iso", "mcc"), WHERE)
def test_s6_country_is_the_mcc_of_the_number(number: str, code: str, iso: str, mcc: int) -> None:
    """The longest known prefix of a number decides its country."""
    place = country(number)
    assert place is not None
    assert (place.code, place.iso, place.mcc) == (code, iso, mcc)


@pytest.mark.parametrize("number", ["", "0", "210123456", "999123456", "x", "+420777000101"])
def test_a_number_without_a_calling_code_has_no_country(number: str) -> None:
    """Nothing is guessed for what begins with no assigned calling code."""
    assert country(number) is None
    assert operator(number) == 0


@given(st.text("0123456789", max_size=15))
def test_the_quick_table_agrees_with_the_longest_prefix(number: str) -> None:
    """The look-up by three digits is nothing but the search for the longest prefix."""
    rows = {code: row.country for code, row in codes().items()}
    rows |= {row.code + part: row.country for row in territories() for part in row.prefixes}
    prefixes = [prefix for prefix in rows if number.startswith(prefix)]
    place = country(number)
    assert (place and place.iso) == (rows[max(prefixes, key=len)] if prefixes else None)


def test_s6_operator_is_an_mnc_of_the_country() -> None:
    """Every main network of a country gets its share of numbers, and a number keeps its operator."""
    numbers = [f"4207770{index:05}" for index in range(300)]
    drawn = Counter(map(operator, numbers))
    assert set(drawn) == {1, 2, 3}
    assert min(drawn.values()) > 60
    assert [operator(number) for number in numbers] == [operator(number) for number in numbers]


def test_operators_are_the_same_for_ever() -> None:
    """The draw depends on the number alone: these values must not change from version to version."""
    assert [operator(f"42077700010{digit}") for digit in range(6)] == [2, 2, 2, 2, 3, 3]


def test_s6_operator_is_0_where_unknown() -> None:
    """A country without known networks has operator 0."""
    assert operator("80012345678") == 0


def test_the_table_holds_together() -> None:
    """MCCs have three digits, no MNC is the 0 that means unknown, no two rows name the same prefix."""
    rows = [(row.code, row.mcc, row.mncs) for row in codes().values()]
    rows += [(row.code + part, row.mcc, row.mncs) for row in territories() for part in row.prefixes]
    assert len({prefix for prefix, *_ in rows}) == len(rows)
    assert all(200 <= mcc <= 999 and 0 not in mncs and len(set(mncs)) == len(mncs) for _, mcc, mncs in rows)
    assert {row.code for row in territories()} <= codes().keys()


def test_every_country_of_the_table() -> None:
    """Each that has a mobile country code, once; services without a country have none."""
    places = every()
    assert {"CZ", "SK", "DE", "US"} <= {place.iso for place in places}
    assert all(place.mcc for place in places)
