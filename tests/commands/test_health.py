"""`scripts/health`, the health check of the image, against servers of every kind."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.commands.sandbox import sandbox
from tests.documentation.markdown import ROOT
from tests.webhooks.receiver import answering, receiving


async def well(variables: Mapping[str, Any]) -> bool:
    """Whether the check finds the sandbox of these variables well; there is no program that it could start."""
    environment = {name: str(value) for name, value in variables.items()} | {"PATH": "/nowhere"}
    check = await asyncio.create_subprocess_exec(
        str(ROOT / "scripts" / "health"),
        env=environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await check.communicate()
    assert b"command not found" not in said
    assert check.returncode in (0, 1)
    return check.returncode == 0


@pytest.mark.unmeasured
@pytest.mark.parametrize("tls", [False, True], ids=["http", "https"])
@pytest.mark.asyncio
async def test_a_sandbox_is_well(tls: bool, caplog: pytest.LogCaptureFixture) -> None:
    """A sandbox is well where the variables say that it listens, and the log says nothing about the check."""
    async with sandbox(tls_self=tls) as served:
        variables = {"SENDBOX_PORT": urlsplit(served.origin).port, **({"SENDBOX_TLS": "self"} if tls else {})}
        for host in ("", "0.0.0.0", "*", "127.0.0.1", "localhost"):
            assert await well({**variables, "SENDBOX_HOST": host})
    assert caplog.text == ""


@pytest.mark.unmeasured
@pytest.mark.parametrize("tls", [False, True], ids=["http", "https"])
@pytest.mark.asyncio
async def test_the_variables_decide_whether_it_is_https(tls: bool) -> None:
    """A server that does not speak what the variables say is not well."""
    async with sandbox(tls_self=tls) as served:
        variables = {"SENDBOX_PORT": urlsplit(served.origin).port}
        assert not await well({**variables, **({} if tls else {"SENDBOX_TLS_CERT": "certificate.pem"})})


@pytest.mark.asyncio
async def test_a_port_on_which_no_server_listens() -> None:
    """A refused connection is the answer."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        assert not await well({"SENDBOX_PORT": sock.getsockname()[1]})


FULL = b'HTTP/1.1 503 Service Unavailable\r\ncontent-length: 35\r\n\r\n{"error":"full","status":"full","":0}'


@pytest.mark.parametrize(
    "raw",
    [
        b"HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\n\r\n{}",
        b'HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\n{"status":"loading"}',
        FULL,
        b"SSH-2.0-OpenSSH\r\n",
        b"",
    ],
    ids=["missing", "loading", "full", "no-http", "closed"],
)
@pytest.mark.asyncio
async def test_something_else_answers(raw: bytes) -> None:
    """Whatever else answers there is not a sandbox that is well."""
    async with receiving(answering(raw, keep=False)) as receiver:
        assert not await well({"SENDBOX_PORT": receiver.port})


def test_the_image_uses_it() -> None:
    """The image contains the script, and its health check starts nothing else."""
    image = (ROOT / "Dockerfile").read_text("utf-8")
    (place,) = re.findall(r"^COPY scripts/health (\S+)$", image, re.MULTILINE)
    assert re.search(rf'^HEALTHCHECK .*CMD \["{re.escape(place)}"\]$', image, re.MULTILINE)
    assert "!scripts/health" in (ROOT / ".dockerignore").read_text("utf-8").splitlines()
