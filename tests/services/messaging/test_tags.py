"""Normalization of tags (§2.1 `tag`; A60)."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sendbox.services.messaging.content.tags import normalize

TAGS = [
    pytest.param("otp", ("otp",), id="one"),
    pytest.param("OTP", ("otp",), id="lower case"),
    pytest.param("a,b", ("a", "b"), id="several"),
    pytest.param("b, a ,b", ("b", "a"), id="each once, in order"),
    pytest.param("A,a", ("a",), id="equal after cleaning"),
    pytest.param("Spring Sale!", ("springsale",), id="only a-z 0-9 - . _ are kept"),
    pytest.param("x-1.2_3", ("x-1.2_3",), id="the four signs"),
    pytest.param("příliš", ("pli",), id="letters with marks go"),
    pytest.param(",,a,,", ("a",), id="empty ones go"),
    pytest.param("", ("promotional",), id="nothing is the default"),
    pytest.param(" , !", ("promotional",), id="nothing left is the default"),
    pytest.param("priority,transactional", ("priority", "transactional"), id="special ones"),
    pytest.param("a\n", ("a",), id="line break"),
]


@pytest.mark.parametrize(("text", "expected"), TAGS)
def test_s2_1_tags_are_normalized(text: str, expected: tuple[str, ...]) -> None:
    """Tags are split at commas, lowered, cleaned, and never empty."""
    assert normalize(text) == expected


@given(st.text())
def test_normalizing_twice_changes_nothing(text: str) -> None:
    """What normalization gives is normal, and there is always a tag."""
    tags = normalize(text)
    assert tags
    assert all(re.fullmatch("[a-z0-9._-]+", tag) for tag in tags)
    assert normalize(",".join(tags)) == tags
