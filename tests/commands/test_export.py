"""`sendbox export`, against a sandbox on this machine."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import pytest

from sendbox.cli.export import export
from sendbox.cli.outcome import CANNOT, NO, Failure
from tests.commands.sandbox import sandbox

KEY = "test-export"


async def fetch(origin: str, world: str, output: Path | None, form: str = "pytest") -> str | None:
    return await asyncio.to_thread(export, world, origin, form, output)


@pytest.mark.asyncio
async def test_export(tmp_path: Path) -> None:
    """The file is answered, or written where nothing is yet; what is wrong ends with a line."""
    async with sandbox() as served:
        async with httpx.AsyncClient(base_url=served.origin, headers={"x-api-key": KEY}) as client:
            await client.post("/v2/message", json={"to": [{"phone_number": "420777000101"}], "body": "Hello"})
            await client.patch(f"/_sandbox/worlds/{KEY}/clock", json={"mode": "manual"})
        text = await fetch(served.origin, KEY, None)
        assert text is not None
        assert "assert sendbox.digest ==" in text
        file = tmp_path / "test_it.py"
        assert await fetch(served.origin, KEY, file) is None
        assert "def test_test_export(sendbox):" in file.read_text("utf-8")
        with pytest.raises(Failure, match="cannot be written: File exists") as there:
            await fetch(served.origin, KEY, file)
        assert there.value.code == CANNOT
        with pytest.raises(Failure, match='"test-none" is no open world') as missing:
            await fetch(served.origin, "test-none", None)
        assert missing.value.code == NO
        assert "traffic:" in (await fetch(served.origin, KEY, None, "scenario") or "")
    with pytest.raises(Failure, match="cannot be reached") as gone:
        await fetch(served.origin, KEY, None)
    assert gone.value.code == CANNOT
