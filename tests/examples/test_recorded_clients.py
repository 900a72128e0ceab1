"""The clients of examples/ go through the recorder as they go to the sandbox, and are recorded."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Final

import httpx
import pytest

from sendbox.comparing.recording import read
from tests.commands.sandbox import sandbox
from tests.documentation.markdown import ROOT
from tests.examples.running import LIMIT, need
from tests.examples.test_clients import PAGE, RUNS
from tests.recording.recording import recording
from tests.serving import free_port

pytestmark = [pytest.mark.deep, pytest.mark.asyncio]
#: The order of the calls of each client that are of an interface.
PATHS: Final = ["/v2/message", "/v1/message", "/v2/message", "/v1/validations", "verify", "verify"]


@pytest.mark.parametrize("secure", [False, True], ids=["http", "tls"])
@pytest.mark.parametrize("language", RUNS)
async def test_a_client_goes_through_the_recorder(tmp_path: Path, language: str, secure: bool) -> None:
    """It prints what the page shows, over HTTP and over TLS on our side, and the file has its calls."""
    program, line, trust = RUNS[language]
    need(program)
    key, authority, ca_port = f"test-recorded-{language}", tmp_path / "ca.pem", free_port()
    async with (
        sandbox() as service,
        recording(service.origin, tmp_path / "a.har", tls_self=secure, ca_port=ca_port if secure else None) as recorder,
    ):
        given = {"SANDBOX": recorder.origin.replace("http", "https" if secure else "http"), "KEY": key, "no_proxy": "*"}
        if secure:
            async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
                authority.write_text((await client.get(f"http://127.0.0.1:{ca_port}/_sandbox/ca.pem")).text, "utf-8")
            given[trust] = str(authority)
        running = await asyncio.create_subprocess_exec(
            *line, cwd=ROOT, env=os.environ | given, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        async with asyncio.timeout(LIMIT):
            printed, errors = await running.communicate()
    (shown,) = [block.text for block in PAGE if block.language == "text"]
    assert (running.returncode, printed.decode()) == (0, shown), errors
    raw = recorder.file.read_bytes()
    calls = [call for call in read(raw) if "/_sandbox" not in call.path]
    assert [end for call, end in zip(calls, PATHS, strict=True) if not call.path.endswith(end)] == []
    assert key.encode() not in raw
