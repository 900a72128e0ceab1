"""`sendbox export` and `sendbox report`, against a sandbox on this machine."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import httpx
import pytest

from sendbox.cli.export import export, report
from sendbox.cli.main import write
from sendbox.cli.outcome import CANNOT, Failure
from tests.commands.sandbox import sandbox, sendbox

KEY = "test-export"


async def fetch(origin: str, world: str, output: Path | None, form: str = "pytest") -> str:
    write(text := await asyncio.to_thread(export, world, origin, form), output, new=True)
    return text


@pytest.mark.asyncio
async def test_export(tmp_path: Path) -> None:
    """The file is answered, or written where nothing is yet; what is wrong ends with a line."""
    async with sandbox() as served:
        async with httpx.AsyncClient(base_url=served.origin, headers={"x-api-key": KEY}) as client:
            await client.post("/v2/message", json={"to": [{"phone_number": "420777000101"}], "body": "Hello"})
            await client.patch(f"/_sandbox/worlds/{KEY}/clock", json={"mode": "manual"})
        text = await fetch(served.origin, KEY, None)
        assert "assert sendbox.digest ==" in text
        file = tmp_path / "test_it.py"
        await fetch(served.origin, KEY, file)
        assert "def test_test_export(sendbox):" in file.read_text("utf-8")
        with pytest.raises(Failure, match="cannot be written: File exists") as there:
            await fetch(served.origin, KEY, file)
        assert there.value.code == CANNOT
        with pytest.raises(Failure, match='"test-none" is not an open world') as missing:
            await fetch(served.origin, "test-none", None)
        assert missing.value.code == CANNOT
        assert "traffic:" in (await fetch(served.origin, KEY, None, "scenario"))
    with pytest.raises(Failure, match="cannot be reached") as gone:
        await fetch(served.origin, KEY, None)
    assert gone.value.code == CANNOT


@pytest.mark.asyncio
async def test_report(tmp_path: Path) -> None:
    """The document about the only open world, or the one that is named, as a page or as JSON."""
    async with sandbox() as served:
        async with httpx.AsyncClient(base_url=served.origin, headers={"x-api-key": KEY}) as client:
            await client.post("/v2/message", json={"to": [{"phone_number": "420777000101"}], "body": "Hello"})
            await client.patch(f"/_sandbox/worlds/{KEY}/clock", json={"mode": "manual"})
        file = tmp_path / "report.html"
        command = ("report", "--url", served.origin, "--output", str(file))
        result = await asyncio.to_thread(sendbox, *command)
        assert (result.exit_code, result.output) == (0, "")
        assert f"<title>{KEY}: report of a world</title>" in file.read_text("utf-8")
        shown = json.loads(await asyncio.to_thread(report, KEY, served.origin, "json"))
        assert (shown["world"]["id"], shown["digest"]["trusted"]) == (KEY, True)
        with pytest.raises(Failure, match='"test-none" is not an open world'):
            await asyncio.to_thread(report, "test-none", served.origin, "html")
