"""Segments and transliteration (§2.2 `type`, §6 `count`)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sendbox.services.messaging.content.text import (
    Segments,
    one_unit_over,
    only_foreign_character,
    segment,
    surely_not_over,
    to_gsm,
)

BASIC = (
    "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?"
    "¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
)
EXTENDED = "\f^{}\\[~]|€"

COUNTED = [
    pytest.param("", ("GSM-7", 0, 1, None), id="empty"),
    pytest.param("a" * 160, ("GSM-7", 160, 1, None), id="160 septets in one"),
    pytest.param("a" * 161, ("GSM-7", 161, 2, None), id="161 in two"),
    pytest.param("a" * 306, ("GSM-7", 306, 2, None), id="306 in two"),
    pytest.param("a" * 307, ("GSM-7", 307, 3, None), id="307 in three"),
    pytest.param("a" * 1000, ("GSM-7", 1000, 7, None), id="the longest body"),
    pytest.param("é" * 160, ("GSM-7", 160, 1, None), id="letters with marks of the alphabet"),
    pytest.param("é" * 161, ("GSM-7", 161, 2, None), id="161 of them"),
    pytest.param("€" * 80, ("GSM-7", 160, 1, None), id="80 euro signs are 160 septets"),
    pytest.param("€" * 81, ("GSM-7", 162, 2, None), id="81 are 162"),
    pytest.param("[" * 80, ("GSM-7", 160, 1, None), id="brackets are doubled too"),
    pytest.param("€" * 153, ("GSM-7", 306, 3, None), id="only 76 pairs fit in 153"),
    pytest.param("a" * 152 + "€" + "b" * 152, ("GSM-7", 306, 3, None), id="an escape pair moves over whole"),
    pytest.param("a" * 153 + "€" + "b" * 151, ("GSM-7", 306, 2, None), id="a pair at the edge stays"),
    pytest.param("a" * 151 + "€" + "b" * 153, ("GSM-7", 306, 2, None), id="a pair that just fits"),
    pytest.param("ě" * 70, ("UCS-2", 70, 1, "ě"), id="70 units in one"),
    pytest.param("ě" * 71, ("UCS-2", 71, 2, "ě"), id="71 in two"),
    pytest.param("ě" * 134, ("UCS-2", 134, 2, "ě"), id="134 in two"),
    pytest.param("ě" * 135, ("UCS-2", 135, 3, "ě"), id="135 in three"),
    pytest.param("abc ž ě", ("UCS-2", 7, 1, "ž"), id="the first culprit is named"),
    pytest.param("a`b", ("UCS-2", 3, 1, "`"), id="a backtick is not in the alphabet"),
    pytest.param("a\tb", ("UCS-2", 3, 1, "\t"), id="nor is a tab"),
    pytest.param("\x1b", ("UCS-2", 1, 1, "\x1b"), id="nor the escape itself"),
    pytest.param("ç", ("UCS-2", 1, 1, "ç"), id="nor the small c with cedilla"),
    pytest.param("😀" * 35, ("UCS-2", 70, 1, "😀"), id="35 emoji in one"),
    pytest.param("😀" * 36, ("UCS-2", 72, 2, "😀"), id="36 in two"),
    pytest.param("😀" * 67, ("UCS-2", 134, 3, "😀"), id="only 33 pairs fit in 67"),
    pytest.param("ě" * 66 + "😀" + "ě" * 66, ("UCS-2", 134, 3, "ě"), id="a surrogate pair moves over whole"),
    pytest.param("ě" * 65 + "😀" + "ě" * 67, ("UCS-2", 134, 2, "ě"), id="a pair that just fits"),
    pytest.param("ě" * 66 + "\ud83d" + "ě" * 67, ("UCS-2", 134, 2, "ě"), id="half a pair is a unit like any other"),
]


@pytest.mark.parametrize(("text", "expected"), COUNTED)
def test_segments_are_counted(text: str, expected: tuple[str, int, int, str | None]) -> None:
    """Alphabet, units and segments are those of GSM 03.38 and 03.40; nothing that belongs together is cut."""
    assert segment(text) == Segments(*expected)


def test_a_basic_character_is_one_septet() -> None:
    """Each character of the basic alphabet counts once."""
    assert [char for char in BASIC if segment(char) != Segments("GSM-7", 1, 1, None)] == []


def test_an_extended_character_is_two_septets() -> None:
    """Each character of the extension table counts twice."""
    assert [char for char in EXTENDED if segment(char) != Segments("GSM-7", 2, 1, None)] == []


def one_by_one(text: str) -> int:
    """Segments of a GSM-7 text, filled a character at a time: the definition, without any shortcut."""
    sizes = [2 if char in EXTENDED else 1 for char in text]
    if sum(sizes) <= 160:
        return 1
    count, room = 1, 153
    for size in sizes:
        if size > room:
            count, room = count + 1, 153
        room -= size
    return count


@given(st.text(BASIC + EXTENDED, max_size=1000))
def test_cutting_agrees_with_filling_one_by_one(text: str) -> None:
    """The count in jumps is the count by characters."""
    assert segment(text).count == one_by_one(text)


@given(
    st.text(st.characters() | st.sampled_from("ě😀"), min_size=1, max_size=400).filter(lambda text: segment(text)[3])
)
def test_ucs2_agrees_with_filling_one_by_one(text: str) -> None:
    """The same for UTF-16 units."""
    sizes = [2 if char > "\uffff" else 1 for char in text]
    count, room = 1, 67 if sum(sizes) > 70 else 70
    for size in sizes:
        if size > room:
            count, room = count + 1, 67
        room -= size
    assert segment(text)[:3] == ("UCS-2", sum(sizes), count)


CONVERTED = [
    pytest.param("Hello", "Hello", id="nothing to do"),
    pytest.param("Příliš žluťoučký kůň", "Prilis zlutoucky kun", id="Czech"),
    pytest.param("é à ö ß Ω €", "é à ö ß Ω €", id="the alphabet's own stay"),
    pytest.param("Привет", "Privet", id="Cyrillic"),
    pytest.param("„quoted“ \u2013 really…", '"quoted" - really...', id="typographic signs"),
    pytest.param("Hi 😀!", "Hi !", id="emoji are dropped"),
    pytest.param("a\u200bb\x00c", "abc", id="invisible ones are dropped"),
    pytest.param("a`b\tc", "a'b c", id="backtick and tab have a likeness"),
    pytest.param("cafe\u0301", "café", id="a mark of its own is composed"),
    pytest.param("\u2126", "Ω", id="the ohm sign is an omega"),
    pytest.param("\ud83d", "", id="half a pair is dropped"),
    pytest.param("a\xa0b", "a b", id="no-break space"),
]


@pytest.mark.parametrize(("text", "expected"), CONVERTED)
def test_s2_2_type_sms_converts_or_removes_unicode(text: str, expected: str) -> None:
    """What GSM-7 has stays, what has a likeness gets it, the rest goes."""
    assert to_gsm(text) == expected


@given(st.text())
def test_a_converted_text_is_gsm(text: str) -> None:
    """After conversion every text travels in GSM-7, and converting again changes nothing."""
    converted = to_gsm(text)
    assert segment(converted).encoding == "GSM-7"
    assert to_gsm(converted) == converted


@pytest.mark.parametrize(
    ("sent", "culprit"),
    [
        ("a" * 70 + "\u2019", ("\u2019", 71, 1)),
        ("\u2019" + "a" * 100 + "\u2019", ("\u2019", 1, 1)),
        ("a" * 50 + "\u2019", None),
        ("č" + "a" * 100 + "\u2019", None),
        ("a" * 200, None),
        ("\u2019" + "a" * 600, ("\u2019", 1, 4)),
    ],
    ids=["one", "twice the same", "costs nothing", "two", "none", "long"],
)
def test_s6_the_one_character_that_costs(sent: str, culprit: tuple[str, int, int] | None) -> None:
    """The one foreign character that makes more segments, where it is, and how many there would be without it."""
    assert only_foreign_character(sent) == culprit


@pytest.mark.parametrize(
    ("sent", "room"),
    [
        ("a" * 160, None),
        ("a" * 161, 160),
        ("a" * 162, None),
        ("a" * 307, 306),
        ("č" * 71, 70),
        ("č" * 135, 134),
        ("a", None),
    ],
)
def test_s6_a_segment_for_one_character(sent: str, room: int | None) -> None:
    """What one segment less would hold, where the text has just one unit more."""
    assert one_unit_over(segment(sent)) == room


@given(st.text(st.sampled_from("a [`ž")) | st.integers(0, 700).map(lambda size: "a" * size))
def test_what_is_told_cheaply_is_so(sent: str) -> None:
    """A text passed over has no character that makes it dearer; of plain ones all others have."""
    if surely_not_over(sent):
        assert (only_foreign_character(sent), one_unit_over(segment(sent))) == (None, None)
    elif set(sent) == {"a"}:
        assert one_unit_over(segment(sent)) is not None
