"""The sender connects to the address that was checked, and to no other."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest

from sendbox.runtime.callbacks import Callbacks
from sendbox.runtime.policy import HttpCall, Outcome
from sendbox.runtime.sender import Sender
from sendbox.server.loop import Kind
from tests.webhooks.receiver import OK, answering, receiving
from tests.webhooks.sending import EVENTS, LONG, run


class Resolver:
    """Stands for the machine's resolver: answers each look-up of a name with the next of its addresses."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
        self.asked: list[str] = []
        self._addresses = list(addresses)
        monkeypatch.setattr(socket, "getaddrinfo", self._answer)

    def of_the_loop(self, loop: asyncio.AbstractEventLoop, monkeypatch: pytest.MonkeyPatch) -> None:
        async def answer(host: str, port: int, **_: Any) -> Any:
            return self._answer(host, port)

        monkeypatch.setattr(loop, "getaddrinfo", answer)

    def _answer(self, host: str, port: int, *_: Any, **__: Any) -> Any:
        self.asked.append(host)
        address = self._addresses.pop(0) if len(self._addresses) > 1 else self._addresses[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (address, port))]


async def tried(setting: str, url: str, own: list[tuple[str, int]] | None = None) -> Outcome:
    sender = Sender(Callbacks.parse(setting), own=own or ())
    try:
        return await sender.send(HttpCall("POST", url, [], EVENTS), LONG)
    finally:
        await sender.close()


def test_the_address_that_was_checked_is_connected_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name is resolved once: a second answer of the resolver (DNS rebinding) is never asked for."""

    async def main() -> tuple[Outcome, int, list[str]]:
        async with receiving(answering(OK)) as receiver:
            resolver = Resolver(monkeypatch, "127.0.0.1", "203.0.113.5")
            resolver.of_the_loop(asyncio.get_running_loop(), monkeypatch)
            outcome = await tried("private", receiver.url.replace("127.0.0.1", "app.test"))
            return outcome, len(receiver.requests), resolver.asked

    assert run(main(), "asyncio") == (Outcome(200), 1, ["app.test"])


@pytest.mark.parametrize(
    ("setting", "host", "address", "asked"),
    [
        pytest.param("loopback", "shop.example", "127.0.0.1", [], id="name-not-resolved"),
        pytest.param("private", "shop.example", "203.0.113.5", ["shop.example"], id="name-outside"),
        pytest.param("any", "metadata.test", "169.254.169.254", ["metadata.test"], id="metadata-by-name"),
        pytest.param("any", "169.254.169.254", "", [], id="metadata"),
        pytest.param("any", "[::ffff:169.254.169.254]", "", [], id="metadata-mapped"),
        pytest.param("loopback", "203.0.113.5", "", [], id="address"),
        pytest.param("loopback", "10.0.0.1", "", [], id="private-address"),
        pytest.param("loopback", "[fd00::1]", "", [], id="private-ipv6"),
    ],
)
def test_what_is_not_allowed_is_not_connected_to(
    setting: str, host: str, address: str, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the setting does not allow a target no socket is made, and the outcome is `not_allowed` with the reason."""
    outcome, lookups, sockets = _without_sockets(setting, f"https://{host}/hook", address, monkeypatch)
    assert (outcome, lookups, sockets) == (Outcome(None, "not_allowed"), asked, 0)
    assert f"callbacks={setting} does not allow " in str(outcome.detail)


def _without_sockets(
    setting: str, url: str, address: str, monkeypatch: pytest.MonkeyPatch
) -> tuple[Outcome, list[str], int]:
    connections: list[Any] = []

    async def main() -> tuple[Outcome, list[str], int]:
        loop = asyncio.get_running_loop()
        resolver = Resolver(monkeypatch, address)
        resolver.of_the_loop(loop, monkeypatch)

        async def connect(*given: Any, **_: Any) -> None:
            connections.append(given)
            raise OSError("no connection is made in this test")

        monkeypatch.setattr(loop, "sock_connect", connect)
        outcome = await tried(setting, url)
        return outcome, resolver.asked, len(connections)

    return run(main(), "asyncio")


@pytest.mark.parametrize("host", ["2130706433", "127.1", "0x7f000001", "0177.0.0.1"])
def test_an_address_in_another_notation_is_not_a_way_round(host: str) -> None:
    """Decimal, short, octal and hexadecimal addresses are refused or read as what they are, never let through."""
    outcome = run(tried("203.0.113.5", f"http://{host}:9/hook"))
    assert outcome.error in ("not_allowed", "unreachable")


@pytest.mark.parametrize("kind", ["uvloop", "asyncio"])
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "app.localhost", "0.0.0.0", "[::ffff:127.0.0.1]"])
def test_loopback_in_every_form_is_allowed_under_loopback(host: str, kind: Kind) -> None:
    """What leads to this machine is loopback, however it is written."""

    async def main() -> Outcome:
        async with receiving(answering(OK)) as receiver:
            return await tried("loopback", receiver.url.replace("127.0.0.1", host))

    assert run(main(), kind) == Outcome(200)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.0.0.9", "0.0.0.0", "[::ffff:127.0.0.1]"])
def test_the_own_port_is_not_allowed_by_a_word(host: str) -> None:
    """Webhooks do not go to the port of the sandbox itself unless an item names host and port."""

    async def main(setting: str) -> tuple[Outcome, int]:
        async with receiving(answering(OK)) as receiver:
            url = receiver.url.replace("127.0.0.1", host)
            listed = setting.replace("HOST", f"{host}:{receiver.port}")
            return await tried(listed, url, [("", receiver.port)]), len(receiver.requests)

    assert run(main("any")) == (Outcome(None, "not_allowed"), 0)
    assert run(main("any,HOST"))[0].error != "not_allowed"


def test_another_machines_port_of_the_same_number_is_not_the_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """The port alone is not the sandbox: an address of another machine with the same port is allowed."""

    async def main() -> Outcome:
        resolver = Resolver(monkeypatch, "203.0.113.5")
        loop = asyncio.get_running_loop()
        resolver.of_the_loop(loop, monkeypatch)

        async def connect(*_: Any, **__: Any) -> None:
            raise OSError("no connection is made in this test")

        monkeypatch.setattr(loop, "sock_connect", connect)
        return await tried("any", "http://shop.example:7357/hook", [("", 7357)])

    assert run(main(), "asyncio") == Outcome(None, "unreachable")


def test_a_public_address_of_the_sandbox_is_its_own() -> None:
    """The name by which the sandbox is called counts as the sandbox, wherever it leads."""
    outcome = run(tried("any", "http://127.0.0.1:9/hook", [("127.0.0.1", 9)]))
    assert outcome == Outcome(None, "not_allowed")
