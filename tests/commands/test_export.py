"""`sendbox export` and `sendbox report`, against a sandbox on this machine."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import httpx
import pytest

from sendbox.cli import address
from sendbox.cli.export import export, report
from sendbox.cli.outcome import CANNOT, Failure, write_output
from tests.commands.sandbox import sandbox, sendbox

KEY = "test-export"


async def fetch(origin: str, world: str, output: Path | None, form: str = "pytest") -> str:
    write_output(text := await asyncio.to_thread(export, world, origin, form), output, new=True)
    return text


@pytest.mark.unmeasured
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


@pytest.mark.unmeasured
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


@pytest.mark.deep
@pytest.mark.asyncio
async def test_reports_of_several_worlds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A document and a record for each world that fits, open or closed; it says what was written."""
    monkeypatch.setattr(address, "PAGE", 1)  # the list has several pages
    async with sandbox(keep_closed=2) as served:
        async with httpx.AsyncClient(base_url=f"{served.origin}/_sandbox") as client:
            for key in ("test-job1-a", "test-job1-b", "test-job2", "test-job1-c"):
                await client.put(f"/worlds/{key}", json={"clock": {"mode": "manual"}})
            await client.delete("/worlds/test-job1-b")
        folder = tmp_path / "new" / "reports"
        command = ("report", "--url", served.origin, "--world", "test-job1-*")
        result = await asyncio.to_thread(sendbox, *command, "--output", str(folder))
        names = [f"test-job1-{end}.{kind}" for end in "acb" for kind in ("report.html", "record.json")]
        assert (result.exit_code, result.output.splitlines()) == (0, [f"{folder / name} is written" for name in names])
        assert sorted(file.name for file in folder.iterdir()) == sorted(names)
        page = (folder / "test-job1-b.report.html").read_text("utf-8")
        assert "<title>test-job1-b: report of a world</title>" in page
        assert json.loads((folder / "test-job1-c.record.json").read_text("utf-8"))["world"] == "test-job1-c"
        for arguments, code, message in (
            ((*command, "--output", str(folder / names[0])), 3, "cannot be made: File exists"),
            (command, 2, "test-job1-* stands for several worlds: name a directory with --output"),
            (
                ("report", "--url", served.origin, "--world", "test-x*", "--output", str(folder)),
                3,
                "test-x* fits no world that is open or kept closed",
            ),
        ):
            failed = await asyncio.to_thread(sendbox, *arguments)
            assert (failed.exit_code, message in str(failed.output)) == (code, True), failed.output


@pytest.mark.unmeasured
@pytest.mark.asyncio
async def test_a_report_without_a_record(tmp_path: Path) -> None:
    """A world whose record was cut has its document, and it is said why there is no record."""
    async with sandbox(max_journal=3, when_full="forget") as served:
        async with httpx.AsyncClient(base_url=served.origin, headers={"x-api-key": KEY}) as client:
            await client.put(f"/_sandbox/worlds/{KEY}", json={"clock": {"mode": "manual"}})
            for _ in range(3):
                await client.post("/v2/message", json={"to": [{"phone_number": "420777000101"}], "body": "Hello"})
        command = ("report", "--url", served.origin, "--world", "test-*", "--output", str(tmp_path))
        result = await asyncio.to_thread(sendbox, *command)
        assert result.exit_code == 0
        assert f"sendbox: {KEY}.record.json is not written: " in result.output
        assert [file.name for file in tmp_path.iterdir()] == [f"{KEY}.report.html"]
