"""The tokens of control: how a file of them is read, and which of them a header carries."""

from __future__ import annotations

import re

import pytest

from sendbox.runtime.teams import make_token, parse_tokens, token_of

SECRET = "0123456789abcdef"


def test_a_file_of_tokens() -> None:
    """A line has a name, a role, a prefix where the role takes one, and the token; comments are legal."""
    rows = ("# all", "", "ops admin", "pay team test-pay-", "all read", "some read test-pay-")
    text = "\n".join(f"{row} {SECRET}{number}" if row[:1].isalpha() else row for number, row in enumerate(rows))
    tokens = parse_tokens(text, "t")
    assert [(token.name, token.role, token.prefix) for token in tokens] == [
        ("ops", "admin", ""),
        ("pay", "team", "test-pay-"),
        ("all", "read", ""),
        ("some", "read", "test-pay-"),
    ]
    assert token_of(tokens, [f"Bearer {SECRET}3".encode()]) == tokens[1]
    assert token_of(tokens, [f"bearer  {SECRET}5 ".encode()]) == tokens[3]
    assert SECRET not in repr(tokens)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "t: it has no token; legal: lines such as NAME admin TOKEN"),
        ("# only\n", "t: it has no token"),
        (f"a/b admin {SECRET}", "t:1: the first word is not a name; legal: 1 to 64 of"),
        ("ops", "t:1: ops: the second word is not a role; legal: admin, team, read"),
        (f"ops owner {SECRET}", "t:1: ops: the second word is not a role; legal: admin, team, read"),
        ("ops admin", "t:1: ops: 2 words are no line of a token; legal: NAME admin TOKEN"),
        (f"ops admin test-a- {SECRET}", "t:1: ops: 4 words are no line of a token"),
        (f"pay team {SECRET}", "t:1: pay: 3 words are no line of a token"),
        (f"\npay team a,b {SECRET}", "t:2: 'a,b' is not the beginning of ids of worlds; legal: 1 to 54"),
        ("ops admin short", "t:1: ops: 5 characters that are no token; legal: 16 to 200 visible ASCII characters"),
        (f"a admin {SECRET}\na admin {SECRET}1", "t:2: a: another line has this name or this token"),
        (f"a admin {SECRET}\nb read {SECRET}", "t:2: b: another line has this name or this token"),
        (
            f"a team test-a {SECRET}\nb team test-ab {SECRET}1",
            "t: 'test-ab' begins with 'test-a', so worlds would be of both; legal: prefixes of which none begins with",
        ),
    ],
)
def test_a_line_that_is_no_token(text: str, message: str) -> None:
    """The error says the line and what is legal, and shows no token."""
    with pytest.raises(ValueError, match=f"^{re.escape(message)}") as caught:
        parse_tokens(text, "t")
    assert SECRET not in str(caught.value)


def test_headers_without_a_token() -> None:
    """No header, two of them, another scheme, an empty token."""
    tokens = [make_token("ops", "admin", SECRET)]
    good = f"Bearer {SECRET}".encode()
    assert token_of(tokens, [good]) == tokens[0]
    for headers in ([], [good, good], [b"Basic " + SECRET.encode()], [b"Bearer"], [b"Bearer "], [SECRET.encode()]):
        assert token_of(tokens, headers) is None
