"""Which hosts and origins are served: a foreign site in a browser of this machine reaches no control and no page."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from sendbox.assembly import make_app
from sendbox.cli.options import parse_hosts
from sendbox.server.listener import HttpServer
from sendbox.settings import Settings
from tests.box import CONTRACT, KEY, Box
from tests.scenarios import load

PATHS = (
    "/_sandbox/worlds",
    "/_sandbox/",
    "/_sandbox",
    "/_sandbox/nothing",
    "/metrics",
    "/signup/0011223344556677",
    "/",
    "/else",
)


@pytest_asyncio.fixture
async def box() -> AsyncIterator[Box]:
    """A sandbox with a public address and a listed host."""
    settings = Settings(
        mode="manual", public_url="https://Public.example", hosts=parse_hosts("listed.example, bücher.example")
    )
    app = make_app(settings, load("default"), CONTRACT)
    yield Box(app)
    await app.runtime.aclose()


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1:7357", "127.0.0.1.", "10.1.2.3", "[::1]:7357", "[fe80::1]", "localhost", "LOCALHOST.:7357",
        "sandbox", "a.localhost", "host.docker.internal:7357", "mac.local", "box.test", "sendbox.team.svc",
        "s.t.svc.cluster.local.", "public.example", "PUBLIC.example.:8443", "listed.example:1", "bücher.example",
        "xn--bcher-kva.example",
    ],
)  # fmt: skip
@pytest.mark.asyncio
async def test_local_and_listed_hosts_are_served(box: Box, host: str) -> None:
    """Hosts that no foreign site can have, the public one and the listed ones, in each of their spellings."""
    assert (await box.get("/_sandbox/worlds", host=host)).status == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example", "evil.example:7357", "EVIL.example.", "127.0.0.1.evil.example", "localhost.evil.example",
        "evil1.example2", "xtest.eviltest", "localhost@evil.example", "evil.example@localhost", "a b", "::1", "[::1",
        "büch.example", "sub.listed.example", "localhost:port", "1.2.3.4.5", ".", "a..test", "x" * 300,
    ],
)  # fmt: skip
@pytest.mark.asyncio
async def test_foreign_hosts_are_refused(box: Box, host: str) -> None:
    """Everywhere but in the emulated interfaces, whatever the method; the answer names the host and what is legal."""
    for path in PATHS:
        for method in ("GET", "POST"):
            answer = await box.call(method, path, b"{}", {"host": host})
            assert (answer.status, answer.json["error"]) == (421, "foreign_host"), path
    message = answer.json["message"]
    assert message.startswith(repr(host))
    assert "--hosts (SENDBOX_HOSTS)" in message
    assert (await box.get("/_sandbox/worlds")).json == {"worlds": []}


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example", "null", "http://box", "http://box:1", "http://localhost:7357", "file://", "box:7357",
        "http://box:7357@evil.example", "http://box:7357 http://evil.example", "http://public.example",
        "https://listed.example",
    ],
)  # fmt: skip
@pytest.mark.asyncio
async def test_foreign_origins_are_refused(box: Box, origin: str) -> None:
    """A page of another site changes nothing here and reads nothing, `null` and GET included."""
    for method in ("GET", "POST"):
        answer = await box.call(method, "/_sandbox/worlds", b'{"id": "test-csrf"}', {"origin": origin})
        assert (answer.status, answer.json["error"]) == (403, "foreign_origin")
    assert answer.json["message"].startswith(repr(origin))
    assert "http://box:7357" in answer.json["message"]
    assert (await box.get("/_sandbox/worlds")).json == {"worlds": []}


#: What a browser says of a request, and whether it is served.
ASKED = {
    "image": ("cross-site", "no-cors", "image", False),
    "script": ("cross-site", "no-cors", "script", False),
    "frame": ("cross-site", "navigate", "iframe", False),
    "object": ("cross-site", "navigate", "object", False),
    "neighbour": ("same-site", "no-cors", "image", False),
    "capitals": ("Cross-Site", "no-cors", "image", False),
    "link": ("cross-site", "navigate", "document", True),
    "link of a neighbour": ("same-site", "navigate", "document", True),
    "own script": ("same-origin", "cors", "empty", True),
    "typed": ("none", "navigate", "document", True),
}


@pytest.mark.parametrize(("site", "mode", "destination", "served"), ASKED.values(), ids=ASKED)
@pytest.mark.asyncio
async def test_foreign_sites_are_refused(box: Box, site: str, mode: str, destination: str, served: bool) -> None:
    """What another site embeds comes without `Origin`, and is refused by what the browser says; a link is followed."""
    said = {"sec-fetch-site": site, "sec-fetch-mode": mode, "sec-fetch-dest": destination}
    for path in ("/_sandbox/worlds", "/_sandbox/", "/signup/0011223344556677", "/openapi.json"):
        answer = await box.call("GET", path, headers=said)
        assert answer.status != 403 if served else (answer.status, answer.json["error"]) == (403, "foreign_origin"), (
            path
        )
    own = site in ("same-origin", "none")
    answer = await box.call("POST", "/_sandbox/worlds", b'{"id": "test-csrf"}', said)
    assert answer.status == (201 if own else 403)  # a form that is sent is no link


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("box:7357", "http://box:7357"),
        ("BOX.:7357", "http://box:7357"),
        ("localhost", "http://localhost"),
        ("localhost", "http://localhost:80"),
        ("[::1]:7357", "http://[::1]:7357"),
        ("box:7357", "https://public.example"),
        ("box:7357", "https://public.example:443"),
        ("xn--bcher-kva.example", "http://xn--bcher-kva.example"),
    ],
)
@pytest.mark.asyncio
async def test_own_pages_are_served(box: Box, host: str, origin: str) -> None:
    """What a page of the sandbox itself sends, also behind a proxy, is no foreign request."""
    for method, status in (("GET", 200), ("POST", 201)):
        assert (await box.call(method, "/_sandbox/worlds", b"{}", {"host": host, "origin": origin})).status == status


@pytest.mark.asyncio
async def test_forms_of_the_pages_have_an_origin(box: Box) -> None:
    """A page that said `no-referrer` would make browsers send its own forms with the origin `null`."""
    for path in ("/_sandbox/", "/signup/0011223344556677"):
        assert (await box.get(path)).headers["referrer-policy"] == "same-origin"


@pytest.mark.asyncio
async def test_emulated_services_take_every_host_and_origin(box: Box) -> None:
    """Clients call the service by any name; what a browser may read of it is the service's affair."""
    foreign = {"host": "api.production.example", "origin": "https://shop.example"}
    message = b'{"to": [{"phone_number": "420777000101"}], "body": "x"}'
    assert (await box.call("POST", "/v2/message", message, {**foreign, "x-api-key": KEY})).status == 200
    for method, path, status in (
        ("GET", "/s/00", 404),
        ("PUT", "/upload/00", 403),
        ("GET", "/v2/else", 404),
    ):
        assert (await box.call(method, path, b"", {**foreign, "x-api-key": KEY})).status == status


@pytest.mark.parametrize("path", ["/v2/message", "/_sandbox/health", "/s/00", "/else"])
@pytest.mark.parametrize(
    ("version", "lines", "refused"),
    [
        ("1.1", "", True),
        ("1.1", "host: a\r\nHost: a\r\n", True),
        ("1.0", "host: a\r\nhost: b\r\n", True),
        ("1.0", "", False),
        ("1.1", "host: a\r\n", False),
    ],
    ids=["none", "two", "two-1.0", "none-1.0", "one"],
)
@pytest.mark.asyncio
async def test_one_host_is_required(box: Box, path: str, version: str, lines: str, refused: bool) -> None:
    """HTTP/1.1 wants exactly one Host, HTTP/1.0 at most one (RFC 9112 3.2)."""
    server = HttpServer(box.app)
    reader, writer = await asyncio.open_connection("127.0.0.1", await server.start())
    writer.write(f"GET {path} HTTP/{version}\r\nconnection: close\r\n{lines}\r\n".encode())
    answer = await reader.read()
    writer.close()
    await server.stop()
    assert (answer.split()[1] == b"400", b'"error":"bad_host"' in answer) == (refused, refused)


@pytest.mark.parametrize("wrong", ["*.example", "sandbox.example:7357", "10.0.0.1", "a b", "https://sandbox.example"])
def test_hosts_are_names(wrong: str) -> None:
    """An entry that would never be met is refused, and the message shows one that is legal."""
    with pytest.raises(ValueError, match="is not a host name: names without a port are legal") as caught:
        parse_hosts(f"good.example,{wrong}")
    assert str(caught.value).startswith(repr(wrong))
