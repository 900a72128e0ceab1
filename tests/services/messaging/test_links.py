"""Finding and replacing links (§2.1 `params._url`)."""

from __future__ import annotations

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sendbox.services.messaging.content.links import shorten


def shortened(text: str, kind: Literal["full", "all"]) -> str:
    """The text with each target in angle brackets."""
    return shorten(text, kind, lambda target: f"<{target}>")


BOTH = [
    pytest.param("", "", id="empty"),
    pytest.param("no link here", "no link here", id="none"),
    pytest.param("https://example.com", "<https://example.com>", id="alone"),
    pytest.param("a http://example.com/x?y=1#z b", "a <http://example.com/x?y=1#z> b", id="path, query, fragment"),
    pytest.param("HTTPS://Example.COM/A", "<HTTPS://Example.COM/A>", id="capitals"),
    pytest.param("See https://example.com.", "See <https://example.com>.", id="full stop"),
    pytest.param("https://example.com/a, then", "<https://example.com/a>, then", id="comma"),
    pytest.param("https://example.com?!", "<https://example.com>?!", id="question and exclamation mark"),
    pytest.param("(https://example.com/a)", "(<https://example.com/a>)", id="in brackets"),
    pytest.param("(https://example.com/a).", "(<https://example.com/a>).", id="in brackets, full stop"),
    pytest.param("https://example.com/a_(b)", "<https://example.com/a_(b)>", id="bracket of its own"),
    pytest.param("(https://example.com/a_(b))", "(<https://example.com/a_(b)>)", id="bracket of its own in brackets"),
    pytest.param('"https://example.com/a"', '"<https://example.com/a>"', id="quotes"),
    pytest.param("'https://example.com/a'", "'<https://example.com/a>'", id="single quotes"),
    pytest.param("„https://example.com/a“", "„<https://example.com/a>“", id="Czech quotes"),
    pytest.param("https://example.com/a…", "<https://example.com/a>…", id="ellipsis"),
    pytest.param("https://a.cz,https://b.cz", "<https://a.cz>,<https://b.cz>", id="a list"),
    pytest.param("https://a.cz/x,y;z", "<https://a.cz/x,y;z>", id="comma inside"),
    pytest.param("https://a.cz/?u=https://b.cz", "<https://a.cz/?u=https://b.cz>", id="a link inside a link"),
    pytest.param("texthttps://a.cz", "text<https://a.cz>", id="grown onto a word"),
    pytest.param("http://localhost:8080/x", "<http://localhost:8080/x>", id="host without a domain"),
    pytest.param("http://127.0.0.1/x", "<http://127.0.0.1/x>", id="IPv4"),
    pytest.param("http://[::1]:80/x", "<http://[::1]:80/x>", id="IPv6"),
    pytest.param("http://user:pass@example.com/", "<http://user:pass@example.com/>", id="user in the address"),
    pytest.param("https://háčky.cz/š", "<https://háčky.cz/š>", id="unicode"),
    pytest.param("http:// and https://. and http://-", "http:// and https://. and http://-", id="protocol alone"),
    pytest.param("ftp://example.com/a", "ftp://example.com/a", id="another protocol"),
    pytest.param("mail jan@example.com now", "mail jan@example.com now", id="e-mail"),
    pytest.param("one\nhttps://a.cz\ttwo", "one\n<https://a.cz>\ttwo", id="other white space"),
]


@pytest.mark.parametrize("kind", ["full", "all"])
@pytest.mark.parametrize(("text", "expected"), BOTH)
def test_s2_1_complete_urls_are_shortened(text: str, expected: str, kind: Literal["full", "all"]) -> None:
    """Both types replace complete addresses with protocol, without the punctuation behind them."""
    assert shortened(text, kind) == expected


ALL = [
    pytest.param("example.com", "<http://example.com>", id="domain"),
    pytest.param("see example.com/x?y=1.", "see <http://example.com/x?y=1>.", id="domain with path"),
    pytest.param("www.example.com", "<http://www.example.com>", id="www"),
    pytest.param("www.shop.intranet", "<http://www.shop.intranet>", id="www of an unknown domain"),
    pytest.param("www.shop", "<http://www.shop>", id="www of a top-level domain"),
    pytest.param("www.obchod", "www.obchod", id="www and one word"),
    pytest.param("www.a.1", "www.a.1", id="www and a number"),
    pytest.param("example.com:8080/x", "<http://example.com:8080/x>", id="port"),
    pytest.param("example.com:80800000", "<http://example.com>:80800000", id="too long for a port"),
    pytest.param("example.com: yes", "<http://example.com>: yes", id="colon"),
    pytest.param("example.com?", "<http://example.com>?", id="question mark"),
    pytest.param("(example.com/a)", "(<http://example.com/a>)", id="brackets"),
    pytest.param("EXAMPLE.COM", "<http://EXAMPLE.COM>", id="capitals"),
    pytest.param("a.example.co.uk", "<http://a.example.co.uk>", id="many labels"),
    pytest.param("go.acme.example/x", "<http://go.acme.example/x>", id="reserved domain"),
    pytest.param("háčky.cz", "<http://háčky.cz>", id="unicode domain"),
    pytest.param("пример.рф/путь", "<http://пример.рф/путь>", id="unicode top-level domain"),
    pytest.param("xn--hky-fla3l.xn--p1ai", "<http://xn--hky-fla3l.xn--p1ai>", id="punycode"),
    pytest.param("-example.com-", "-<http://example.com>-", id="hyphens around"),
    pytest.param("example.com...", "<http://example.com>...", id="dots behind"),
    pytest.param("a.cz,b.cz", "<http://a.cz>,<http://b.cz>", id="a list"),
    pytest.param("a.cz/x,https://b.cz", "<http://a.cz/x>,<https://b.cz>", id="bare, then complete"),
    pytest.param("price=shop.cz", "price=<http://shop.cz>", id="behind a sign"),
    pytest.param("me@example.com", "me@example.com", id="e-mail"),
    pytest.param("a.b+c@mail.example.com", "a.b+c@mail.example.com", id="e-mail that begins like a domain"),
    pytest.param("mailto:me@example.com", "mailto:me@example.com", id="mailto"),
    pytest.param("@example.com", "@example.com", id="a handle"),
    pytest.param("ftp://example.com/b.cz", "ftp://example.com/b.cz", id="path of another protocol"),
    pytest.param("C:\\temp\\a.cz", "C:\\temp\\a.cz", id="path of a disk"),
    pytest.param("Hello.World1", "Hello.World1", id="a missing space"),
    pytest.param("12.30 e.g. 3.14", "12.30 e.g. 3.14", id="numbers and abbreviations"),
    pytest.param("a..cz a.-b.cz a_b.cz", "a..cz a.-b.cz a_b.cz", id="no host's names"),
    pytest.param("x" * 64 + ".cz", "x" * 64 + ".cz", id="label too long"),
    pytest.param("x." * 126 + "cz", "x." * 126 + "cz", id="name too long"),
    pytest.param("...", "...", id="dots"),
    pytest.param("http://-a.cz", "http://-<http://a.cz>", id="a protocol without a host, then a domain"),
]


@pytest.mark.parametrize(("text", "expected"), ALL)
def test_s2_1_all_shortens_every_domain(text: str, expected: str) -> None:
    """`all` finds bare domains too, and nothing that only looks like one."""
    assert shortened(text, "all") == expected


def test_s2_1_full_leaves_bare_domains() -> None:
    """`full` shortens only addresses with protocol."""
    text = "example.com, www.example.com and https://example.com"
    assert shortened(text, "full") == "example.com, www.example.com and <https://example.com>"


@given(
    st.lists(st.sampled_from(["http://", "https://", "a.cz", "www.", "/", ".", ",", "@", "(", ")", " ", "x", ":", "9"]))
)
def test_nothing_but_links_changes(words: list[str]) -> None:
    """Putting every target back where its link stood gives the text again, and `all` finds all that `full` finds."""
    text = "".join(words)
    found: dict[str, list[str]] = {"full": [], "all": []}
    for kind in ("full", "all"):

        def keep(target: str, kept: list[str] = found[kind]) -> str:
            kept.append(target)
            return "\0"

        rest = shorten(text, "full" if kind == "full" else "all", keep).split("\0")
        back = rest[0]
        for target, after in zip(found[kind], rest[1:], strict=True):
            bare = target.removeprefix("http://")
            back += (target if text.startswith(target, len(back)) else bare) + after
        assert back == text
    assert len(found["all"]) >= len(found["full"])


@pytest.mark.unmeasured
@pytest.mark.parametrize("part", ["a.", "http://", "a@", "http://a.cz,", "a.cz/", "a.cz:", "a.b/", "/", "(", "https:/"])
def test_time_is_linear(part: str) -> None:
    """Texts made to hurt backtracking are done in the blink of an eye: twenty thousand of each part."""
    assert len(shorten(part * 20_000, "all", lambda _: "")) <= len(part) * 20_000
    assert len(shorten(part * 20_000, "full", lambda _: "")) <= len(part) * 20_000
