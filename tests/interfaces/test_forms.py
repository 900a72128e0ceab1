"""Parameters of queries and forms are decoded strictly, and remarks on them keep the client's names."""

from __future__ import annotations

import pytest

from sendbox.engine.bounds import PARAMETERS
from sendbox.engine.remarks import Advice, Finding
from sendbox.services.http.requests import Unreadable, media_type, read_form, relocate, unknown_parameters
from sendbox.services.messaging.http.legacy import ROUTES
from tests.interfaces.fakes import exchange


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        pytest.param(b"", {}, id="nothing"),
        pytest.param(b"a=1&b=2", {"a": "1", "b": "2"}, id="two"),
        pytest.param(b"a=b=c;d", {"a": "b=c;d"}, id="only-the-first-equals-and-no-semicolon"),
        pytest.param(b"a=x+y%2B%26", {"a": "x y+&"}, id="escapes"),
        pytest.param(b"a=%C5%BElu%C5%A5", {"a": "žluť"}, id="utf-8"),
        pytest.param("a=žluť".encode(), {"a": "žluť"}, id="raw-utf-8"),
        pytest.param(b"a=100%+sure%zz", {"a": "100% sure%zz"}, id="percent-that-is-no-escape"),
        pytest.param(b"a=&b&&=", {}, id="empty-is-as-none"),
        pytest.param(b"%61=1", {"a": "1"}, id="escaped-name"),
    ],
)
def test_s4_1_parameters_are_decoded(raw: bytes, expected: dict[str, str]) -> None:
    """Names and values come as text; an empty value is as none."""
    advice: list[Advice] = []
    assert read_form(raw, advice) == expected
    assert advice == []


@pytest.mark.parametrize(
    ("raw", "path", "message"),
    [
        pytest.param(
            b"a=%E9",
            "$.a",
            '"%E9" in the value of "a" is not UTF-8, the only encoding of parameters (§4.1)',
            id="latin-1",
        ),
        pytest.param(
            b"a=\xff",
            "$.a",
            '"ÿ" in the value of "a" is not UTF-8, the only encoding of parameters (§4.1)',
            id="raw-byte",
        ),
        pytest.param(
            b"a=%ED%A0%80",
            "$.a",
            '"%ED%A0%80" in the value of "a" is not UTF-8, the only encoding of parameters (§4.1)',
            id="surrogate",
        ),
        pytest.param(
            b"%FF=1",
            "$",
            '"%FF" in the name of a parameter is not UTF-8, the only encoding of parameters (§4.1)',
            id="name",
        ),
        pytest.param(b"&" * PARAMETERS, "$", "201 parameters are more than the 200 that are read", id="too-many"),
    ],
)
def test_s4_1_what_is_not_utf_8_is_refused(raw: bytes, path: str, message: str) -> None:
    """Bytes that are no text are a finding of their own, never an error of ours."""
    with pytest.raises(Unreadable, match=r"UTF-8|more than") as caught:
        read_form(raw, [])
    assert (caught.value.finding.path, caught.value.finding.message) == (path, message)


def test_s4_1_the_last_of_a_repeated_parameter_counts() -> None:
    """A repeated parameter has its last value, and advice says so once."""
    advice: list[Advice] = []
    assert read_form(b"a=1&a=2&a=3", advice) == {"a": "3"}
    assert advice == [
        Advice("repeated-parameter", '"a" is given more than once; the last one counts', "$.a", "§4.1", None)
    ]


def test_s2_unknown_parameters_have_no_effect() -> None:
    """Each unknown parameter is named with the nearest known one (A57), a heap of them in one line."""
    advice: list[Advice] = []
    unknown_parameters(["sendr", "zzzz", "sender", "y" * 99], frozenset({"sender"}), advice)
    assert [each.message for each in advice] == [
        '"sendr" is not a parameter here and has no effect; nearest is "sender"',
        '"zzzz" is not a parameter here and has no effect',
        f'"{"y" * 60}…" (99 characters) is not a parameter here and has no effect',
    ]
    advice.clear()
    unknown_parameters([f"{at}" for at in range(13)], frozenset(), advice)
    assert len(advice) == 11
    assert advice[-1].message == "3 more parameters are not known here and have no effect"


def test_a11_remarks_are_relocated() -> None:
    """A remark made on the Message that parameters stand for has the parameter's path."""
    finding = Finding("$.to[0].phone_number", "x", "x", "§2.1")
    other = Finding("$.sender", "x", "x", "§2.1")
    assert relocate([finding, other], {"$.to[": "$.number"}) == [Finding("$.number", "x", "x", "§2.1"), other]


@pytest.mark.parametrize(
    ("header", "expected"),
    [(b"Text/Plain ; charset=x", "text/plain"), (b"a/b", "a/b"), (None, None)],
    ids=["parameters", "plain", "none"],
)
def test_s4_1_media_type(header: bytes | None, expected: str | None) -> None:
    """The media type comes without parameters and in lower case."""
    assert media_type(exchange(ROUTES[0], content_type=header).headers) == expected
