"""The pytest plugin: fixtures `sendbox`, `async_sendbox` and `sendbox_server`, the marker `sendbox`, the options.

Loaded in every test session of an environment that has Sendbox, so it imports nothing of it until a fixture is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from sendbox.fixture import AsyncSandbox, Sandbox, SandboxServer

_MARKER = (
    "sendbox(scenario=…, seed=…, clock=…, strict=…): how the test's world opens; strict=True (or a list of codes) "
    "fails the test when there is advice"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """The command line's options."""
    group = parser.getgroup("sendbox")
    group.addoption("--sendbox-port", type=int, default=0, help="port of the sandbox of this session (default: any)")
    group.addoption("--sendbox-url", default=None, help="use the sandbox at this address (a container) instead")


def pytest_configure(config: pytest.Config) -> None:
    """The marker is known to every session."""
    config.addinivalue_line("markers", _MARKER)


@pytest.fixture(scope="session")
def sendbox_server(request: pytest.FixtureRequest) -> Iterator[Any]:
    """The sandbox of this session: `origin`, `base_url`, `rest_url`, `verify_url`, `http_api_url`."""
    from sendbox.control.carriers import Client
    from sendbox.fixture.server import PATIENCE, SandboxServer
    from sendbox.settings import Settings

    url = request.config.getoption("--sendbox-url")
    if url is not None:
        client = Client(url)
        client.call("health", None, {})
        yield client
        client.close()
        return
    port = request.config.getoption("--sendbox-port")
    server = SandboxServer(Settings(port=port, mode="manual", patience=PATIENCE, public_url=None)).start()
    yield server
    server.stop()


@pytest.fixture
def sendbox(request: pytest.FixtureRequest, sendbox_server: Any) -> Iterator[Sandbox]:
    """A fresh world with a manual clock, in process."""
    from sendbox.fixture.sandbox import Blocking, BlockingLink, Sandbox

    handle = _handle(request, sendbox_server, Blocking, BlockingLink)
    sandbox = Sandbox(handle)
    yield sandbox
    _finish(request, handle)
    sandbox.close()


@pytest.fixture
def async_sendbox(request: pytest.FixtureRequest, sendbox_server: Any) -> Iterator[AsyncSandbox]:
    """The same with awaitables; needs no plugin of its own."""
    handle = _handle(request, sendbox_server, lambda carrier: carrier, lambda link: link)
    yield handle
    _finish(request, handle)
    handle.close()


def _handle(request: pytest.FixtureRequest, server: Any, carry: Any, link_up: Any) -> AsyncSandbox:
    from sendbox.fixture.handle import AsyncSandbox, Opening, world_id
    from sendbox.fixture.link import LocalLink, RemoteLink
    from sendbox.fixture.server import SandboxServer

    marker = request.node.get_closest_marker("sendbox")
    given = dict(marker.kwargs) if marker is not None else {}
    given.pop("strict", None)
    unknown = set(given) - {"scenario", "seed", "clock"}
    if unknown:
        raise pytest.UsageError(
            f"{', '.join(sorted(unknown))}: no argument of the marker sendbox; legal: scenario, seed, clock, strict"
        )
    node = request.node.nodeid
    if isinstance(server, SandboxServer):
        opening = Opening(_unused(server, world_id(node)), salt=node, **given)
        local = server

        def transport() -> Any:
            from sendbox.fixture.transport import SandboxTransport

            return SandboxTransport(local.app, local.thread)

        return AsyncSandbox(carry(server.carrier), link_up(LocalLink(server.carrier)), opening, transport=transport)
    opening = Opening(None, salt=node, deliveries="pull", **given)

    def remote() -> Any:
        from sendbox.fixture.transport import RemoteTransport

        return RemoteTransport()

    return AsyncSandbox(carry(server), link_up(RemoteLink(server)), opening, transport=remote)


def _unused(server: SandboxServer, wanted: str) -> str:
    """An id that no world has or had: a test that runs again gets a fresh world."""
    runtime = server.runtime
    found, n = wanted, 1
    while found in runtime.worlds or found in runtime.closed:
        n += 1
        found = f"{wanted}.{n}"
    return found


def _finish(request: pytest.FixtureRequest, handle: AsyncSandbox) -> None:
    """Whether strict mode lets the test pass."""
    marker = request.node.get_closest_marker("sendbox")
    strict = marker.kwargs.get("strict", False) if marker is not None else False
    if strict:
        codes = None if strict is True else set(strict)
        broken = [line for code, line in handle.advice_lines() if codes is None or code in codes]
        if broken:
            handle.close()
            pytest.fail("strict: the client's requests drew advice\n" + "\n".join(broken), pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    """A failed test's report says what the sandbox had to remark."""
    if call.when == "call" and call.excinfo is not None:
        for used in (getattr(item, "funcargs", {}).get(name) for name in ("sendbox", "async_sendbox")):
            if used is not None and hasattr(used, "report"):
                lines = used.report()
                if lines:
                    item.add_report_section("call", "sendbox", "\n".join(lines))
    return (yield)
