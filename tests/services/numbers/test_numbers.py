"""Normalization of phone numbers (§2.1, §7.3; A14)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sendbox.services.numbers.countries import Code, codes
from sendbox.services.numbers.notation import doubt, doubtful, normalize
from sendbox.services.tables import table

WRITTEN = [
    pytest.param("420777000101", "420", "420777000101", id="normal already"),
    pytest.param("+420777000101", "420", "420777000101", id="plus"),
    pytest.param("00420777000101", "420", "420777000101", id="two zeros"),
    pytest.param("+420 777-000.101", "420", "420777000101", id="separators"),
    pytest.param("tel:+420(777)000101", "420", "420777000101", id="anything around the digits"),
    pytest.param("+687123456", "420", "687123456", id="New Caledonia, with as many digits as a Czech mobile"),
    pytest.param("00672123456", "420", "672123456", id="Norfolk Island, after two zeros"),
    pytest.param("tel: (+681) 123-456", "420", "681123456", id="Wallis and Futuna, as people write it"),
    pytest.param("(00) 688 123456", "420", "688123456", id="Tuvalu, with zeros in brackets"),
    pytest.param("+777000101", "420", "777000101", id="plus before a Czech mobile: a number of the code 7"),
    pytest.param("+222123456", "420", "222123456", id="plus before a Czech landline"),
    pytest.param("0 687 123456", "420", "420687123456", id="one zero and blanks: a trunk prefix"),
    pytest.param("777000101", "420", "420777000101", id="Czech mobile, 7"),
    pytest.param("602 123 456", "420", "420602123456", id="Czech mobile, 6"),
    pytest.param("0777000101", "420", "420777000101", id="trunk zero"),
    pytest.param("672123456", "420", "420672123456", id="Czech mobile that could be Norfolk Island's"),
    pytest.param("222123456", "420", "420222123456", id="Czech landline: 222 wants eight digits behind it"),
    pytest.param("312345678", "420", "420312345678", id="Czech landline: 31 wants nine"),
    pytest.param("800123456", "420", "420800123456", id="Czech free number: 800 wants eight"),
    pytest.param("123456789", "420", "420123456789", id="begins with 1, which wants ten"),
    pytest.param("466123456", "420", "466123456", id="a possible Swedish number stays"),
    pytest.param("352123456", "420", "352123456", id="a possible number of Luxembourg stays"),
    pytest.param("12025550123", "420", "12025550123", id="US number in a Czech account"),
    pytest.param("12025550123", "421", "12025550123", id="US number in a Slovak account"),
    pytest.param("12025550123", "49", "12025550123", id="US number as long as a German one"),
    pytest.param("+1 (202) 555-0123", "420", "12025550123", id="US number as people write it"),
    pytest.param("2025550123", "1", "2025550123", id="a possible Egyptian number stays in a US account"),
    pytest.param("9175550123", "1", "19175550123", id="91 wants ten digits behind it"),
    pytest.param("905123456", "421", "421905123456", id="Slovak account: 90 wants ten digits behind it"),
    pytest.param("912345678", "421", "421912345678", id="Slovak account, 91"),
    pytest.param("777000101", "421", "421777000101", id="7 wants ten digits behind it, also in Slovakia"),
    pytest.param("4915123456789", "49", "4915123456789", id="German number in a German account"),
    pytest.param("01512 3456789", "49", "15123456789", id="what could be American is, in a German account too"),
    pytest.param("01761234567", "49", "491761234567", id="German number that could be nothing else"),
    pytest.param("420777000101", "999", "420777000101", id="prefix that is no calling code"),
    pytest.param("777000101", "999", "777000101", id="a nine-digit number stays without a known prefix"),
    pytest.param("88612345678", "420", "88612345678", id="Taiwan"),
    pytest.param("420000000000", "420", "420000000000", id="unassigned numbers are numbers"),
    pytest.param("42077700", "420", "42077700", id="eight digits, the shortest"),
    pytest.param("420777000101234", "420", "420777000101234", id="fifteen digits, the longest"),
]


@pytest.mark.parametrize(("raw", "prefix", "expected"), WRITTEN)
def test_s2_1_other_formats_are_converted_to_international_format(raw: str, prefix: str, expected: str) -> None:
    """A text that can be read as a number becomes its international form, digits only."""
    assert normalize(raw, prefix) == expected


REFUSED = [
    pytest.param("", id="empty"),
    pytest.param("abc", id="no digits"),
    pytest.param("0000000000", id="zeros only"),
    pytest.param("4207770", id="seven digits"),
    pytest.param("4207770001012345", id="sixteen digits"),
    pytest.param("2100000000", id="210 is assigned to nobody"),
    pytest.param("99912345678", id="999 is assigned to nobody"),
    pytest.param("٤٢٠٧٧٧٠٠٠١٠١", id="digits of another script"),
    pytest.param("4207770\u0660\u0660", id="digits of two scripts"),
    pytest.param("²²²²²²²²²²", id="superscripts"),
]


@pytest.mark.parametrize("raw", REFUSED)
def test_s7_3_what_cannot_be_normalized_is_invalid(raw: str) -> None:
    """A text without 8 to 15 ASCII digits behind an assigned calling code is no number."""
    assert normalize(raw) is None


def test_digits_of_other_scripts_do_not_count() -> None:
    """They are dropped like any other character, also between the digits of a number."""
    assert normalize("4\u06622077\u066070\u066000101") == "420777000101"


@given(st.sampled_from([*codes().values()]), st.data())
def test_an_international_number_stays(row: Code, data: st.DataObject) -> None:
    """A number of a known country with a possible length is never changed, whatever the account's country (A14)."""
    code = row.code
    fitting = [length for length in row.lengths if 8 <= len(code) + length <= 15]
    if not fitting:
        return
    rest = data.draw(st.text("0123456789", min_size=max(fitting), max_size=max(fitting)))
    prefix = data.draw(st.sampled_from([*codes()]))
    number = code + rest
    expected = f"420{number}" if prefix == "420" and len(number) == 9 and number[0] in "67" else number
    assert normalize(number, prefix) == expected


@given(st.text(st.characters() | st.sampled_from("0123456789+ ")), st.sampled_from(["420", "421", "1", "49", "86"]))
def test_a_result_is_eight_to_fifteen_ascii_digits(raw: str, prefix: str) -> None:
    """The result has a number's form, and holds the digits of the input, with or without the prefix."""
    number = normalize(raw, prefix)
    if number is not None:
        digits = "".join(char for char in raw if char in "0123456789").lstrip("0")
        assert number in (digits, prefix + digits)
        assert 8 <= len(number) <= 15
        assert number.isascii()
        assert number.isdigit()
        assert number[0] != "0"


def test_no_calling_code_begins_with_another() -> None:
    """Three digits decide the calling code: codes are prefix-free and at most three digits long."""
    known = [row["code"] for row in table("sendbox.services.numbers.countries", "codes.json")]
    assert len(set(known)) == len(known)
    assert all(len(code) <= 3 for code in known)
    assert not [(one, other) for one in known for other in known if one != other and other.startswith(one)]


def test_a_national_number_fits_behind_its_code() -> None:
    """No length in the table makes a number longer than E.164 allows."""
    assert all(len(code) + length <= 15 for code, row in codes().items() for length in row.lengths)


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        ("420777000101", None),
        ("12025550123", None),
        ("447700900123", None),
        ("42077700010", "has 8 digits behind 420, where numbers of Czechia have 9"),
        ("420612345678", "begins with 61 behind 420, as no number of Czechia does"),
        ("120255501234", "has 11 digits behind 1, where numbers of United States have 10"),
        ("37912345678", None),
        ("99912345678", None),
    ],
)
def test_a14_numbers_that_look_wrong(number: str, expected: str | None) -> None:
    """A number is doubtful by its length, then by its first two digits; where no plan is known nothing is."""
    assert doubtful(number) is (expected is not None)
    if expected is not None:
        assert doubt(number) == expected
