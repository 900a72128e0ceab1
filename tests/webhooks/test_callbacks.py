"""Where webhooks may go: the setting as it is read, and what it allows."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from sendbox.runtime.callbacks import Callbacks, NotAllowed, literal, plain

LOCAL, PRIVATE, PUBLIC, METADATA = "127.0.0.1", "10.1.2.3", "203.0.113.5", "169.254.169.254"


def ask(setting: str | Iterable[str], host: str, *addresses: str, own: bool = False) -> None:
    """What the sender does: an address is checked, a name may have to be resolved first."""
    callbacks = Callbacks.parse(setting)
    if literal(host) is None:
        callbacks.resolves(host, 80)
    callbacks.check(host, 80, addresses or [host], own=own)


def allows(setting: str | Iterable[str], host: str, *addresses: str, own: bool = False) -> bool:
    try:
        ask(setting, host, *addresses, own=own)
    except NotAllowed:
        return False
    return True


@pytest.mark.parametrize(
    ("address", "least"),
    [
        ("127.0.0.1", "loopback"),
        ("127.8.9.10", "loopback"),
        ("::1", "loopback"),
        ("::ffff:127.0.0.1", "loopback"),
        ("0.0.0.0", "loopback"),
        ("::", "loopback"),
        ("10.255.0.1", "private"),
        ("172.16.0.1", "private"),
        ("172.31.255.254", "private"),
        ("192.168.1.1", "private"),
        ("100.64.0.1", "private"),
        ("fd12:3456::1", "private"),
        ("::ffff:10.0.0.1", "private"),
        ("64:ff9b::a00:1", "private"),
        ("172.32.0.1", "any"),
        ("100.128.0.1", "any"),
        ("8.8.8.8", "any"),
        ("2001:db8::1", "any"),
        ("169.254.169.254", None),
        ("169.254.1.1", None),
        ("::ffff:169.254.169.254", None),
        ("64:ff9b::a9fe:a9fe", None),
        ("2002:a9fe:a9fe::1", None),
        ("fe80::1%eth0", None),
        ("fd00:ec2::254", None),
        ("100.100.100.200", None),
        ("168.63.129.16", None),
        ("192.0.0.192", None),
    ],
)
def test_the_least_word_that_allows_an_address(address: str, least: str | None) -> None:
    """Each word allows what the word before it does; no word allows link-local and metadata addresses."""
    allowed = [word for word in ("loopback", "private", "any") if allows(word, address)]
    words = ["loopback", "private", "any"]
    assert allowed == ([] if least is None else words[words.index(least) :])


@pytest.mark.parametrize(
    ("setting", "host", "addresses", "allowed"),
    [
        pytest.param("loopback", "localhost", ["::1", LOCAL], True, id="localhost"),
        pytest.param("loopback", "app.localhost.", [LOCAL], True, id="under-localhost"),
        pytest.param("loopback", "localhost", [LOCAL, PUBLIC], False, id="localhost-with-another-address"),
        pytest.param("loopback", "app.test", [LOCAL], False, id="no-other-name-is-loopback"),
        pytest.param("private", "app", ["172.18.0.2"], True, id="name-that-resolves-to-private"),
        pytest.param("private", "app", ["172.18.0.2", PUBLIC], False, id="name-that-resolves-there-and-elsewhere"),
        pytest.param("private", "shop.example", [PUBLIC], False, id="public-name"),
        pytest.param("any", "shop.example", [PUBLIC], True, id="any-name"),
        pytest.param("any", "rebound.example", [PUBLIC, METADATA], False, id="any-name-with-metadata"),
        pytest.param("any,169.254.169.254", "metadata", [METADATA], True, id="metadata-listed"),
        pytest.param("any,169.254.0.0/16", METADATA, [], True, id="link-local-listed"),
        pytest.param("any,fe80::/10", "fe80::1%eth0", [], True, id="link-local-of-ipv6-listed"),
        pytest.param("loopback,shop.example", "SHOP.example.", [PUBLIC], True, id="host-listed"),
        pytest.param("loopback,shop.example", "www.shop.example", [PUBLIC], False, id="host-under-the-listed"),
        pytest.param("loopback,*.shop.example", "a.www.shop.example", [PUBLIC], True, id="hosts-under-it-listed"),
        pytest.param("loopback,*.shop.example", "shop.example", [PUBLIC], False, id="not-the-host-above"),
        pytest.param("loopback,žluťoučký.example", "xn--luouk-jva1c67b0mj.example", [], False, id="other-idn"),
        pytest.param("loopback,bücher.example", "xn--bcher-kva.example", [PUBLIC], True, id="idn-listed"),
        pytest.param("shop.example", LOCAL, [], False, id="only-what-is-listed"),
        pytest.param("203.0.113.0/24", "shop.example", [PUBLIC], True, id="network-of-a-name"),
        pytest.param("203.0.113.0/24", "shop.example", [PUBLIC, "8.8.8.8"], False, id="name-half-outside-the-network"),
        pytest.param("loopback,[2001:db8::1]", "2001:db8::1", [], True, id="address-in-brackets"),
        pytest.param("loopback,2001:db8::1", "2001:db8::2", [], False, id="another-address"),
        pytest.param(["loopback", "shop.example , 10.0.0.0/8"], "10.9.9.9", [], True, id="a-list"),
        pytest.param("loopback,shop.example:80", "shop.example", [PUBLIC], True, id="host-with-port"),
        pytest.param("loopback,shop.example:8080", "shop.example", [PUBLIC], False, id="host-with-another-port"),
        pytest.param("loopback,203.0.113.5:80", "203.0.113.5", [], True, id="address-with-port"),
        pytest.param("loopback,[2001:db8::1]:80", "2001:db8::1", [], True, id="address-in-brackets-with-port"),
    ],
)
def test_what_a_setting_allows(setting: str | list[str], host: str, addresses: list[str], allowed: bool) -> None:
    """Words allow by address, all of a name's must be allowed; a listed host is allowed wherever it is."""
    assert allows(setting, host, *(addresses or [host.partition("%")[0]])) is allowed


@pytest.mark.parametrize(
    ("setting", "allowed"),
    [
        ("any", False),
        ("any,127.0.0.1", False),
        ("any,sendbox.test", False),
        ("any,sendbox.test:80", True),
        ("any,127.0.0.1:80", True),
        ("any,127.0.0.1:81", False),
    ],
)
def test_own_port_needs_an_item_with_the_port(setting: str, allowed: bool) -> None:
    """Webhooks reach the sandbox itself only where an item names it with its port."""
    assert allows(setting, "sendbox.test", LOCAL, own=True) is allowed


@pytest.mark.parametrize(
    ("host", "addresses", "message"),
    [
        (
            "shop.example",
            [],
            (
                "callbacks=loopback does not allow shop.example:80 (shop.example is not localhost)"
                "; callbacks=loopback,shop.example would"
            ),
        ),
        (
            "localhost",
            [PRIVATE],
            (
                "callbacks=loopback does not allow localhost:80 (its address is 10.1.2.3)"
                "; callbacks=loopback,localhost would"
            ),
        ),
        (
            "::ffff:10.1.2.3",
            ["::ffff:10.1.2.3"],
            (
                "callbacks=loopback does not allow [::ffff:10.1.2.3]:80 (its address is 10.1.2.3)"
                "; callbacks=loopback,10.1.2.3 would"
            ),
        ),
        ("::2", ["::2"], "callbacks=loopback does not allow [::2]:80; callbacks=loopback,[::2] would"),
    ],
)
def test_the_message_names_place_setting_and_repair(host: str, addresses: list[str], message: str) -> None:
    """A refusal says what the setting is, what it does not allow and why, and what would allow it; that is true."""
    with pytest.raises(NotAllowed) as refused:
        ask("loopback", host, *addresses)
    assert str(refused.value) == message
    assert allows(message.rpartition("callbacks=")[2].removesuffix(" would"), host, *(addresses or [PUBLIC]))


def test_the_message_for_the_own_port_names_the_port() -> None:
    """What would allow the sandbox's own port is said with the port."""
    with pytest.raises(NotAllowed, match=r"\(it is the port of the sandbox itself\); callbacks=any,localhost:80 would"):
        Callbacks.parse("any").check("localhost", 80, [LOCAL], own=True)


@pytest.mark.parametrize(
    "given",
    ["", " , ", "http://shop.example", "shop.example/hooks", "10.0.0.300", "1.2.3", "a b", "::1::", "-", "é\ud800"],
)
def test_what_is_not_a_setting_is_refused(given: str) -> None:
    """What names no place is refused, with what is legal."""
    with pytest.raises(ValueError, match="legal: loopback, private, any, a host, an address, a network"):
        Callbacks.parse(given)


def test_a_setting_is_shown_as_it_was_given() -> None:
    """The text of a setting is its items; equal settings are equal."""
    assert Callbacks.parse([" loopback ", "shop.example"]).text == "loopback,shop.example"
    assert Callbacks.parse("private") == Callbacks.parse(["private"])


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", LOCAL),
        ("::1", "::1"),
        ("fe80::1%eth0", "fe80::1"),
        ("shop.example", None),
        ("1.2.3", None),
        ("", None),
    ],
)
def test_an_address_is_told_from_a_name(host: str, address: str | None) -> None:
    """A host is an address only where it is written as one; other forms are for the resolver."""
    assert literal(host) == address


def test_an_address_is_seen_through() -> None:
    """What an IPv6 address hides is what is looked at."""
    assert [str(plain(each)) for each in ("::ffff:10.0.0.1", "fe80::1%lo", "0.0.0.0", "::")] == [
        "10.0.0.1",
        "fe80::1",
        LOCAL,
        "::1",
    ]
