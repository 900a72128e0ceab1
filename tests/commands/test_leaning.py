"""`sendbox assumptions --leaned`: of a world of a sandbox, and of its record."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import httpx
import pytest

from sendbox.cli.export import export
from sendbox.cli.outcome import CANNOT, USAGE, Failure
from sendbox.cli.replay import lines, of_file, of_world
from tests.commands.sandbox import sandbox, sendbox

KEY = "test-leaning"
MESSAGES = [{"body": "Hi", "to": [{"phone_number": "420777000101"}, {"phone_number": "420777000102"}]}]
DIFFERS = (
    'A09: with messages_accepted: recipient, the answer to call 1, POST /v2/messages would have had "0-0" '
    'at $.accepted[0].key, not "0"'
)


@pytest.mark.asyncio
async def test_a_world_and_its_record(tmp_path: Path) -> None:
    """Both tell the same; a record that this version does not make again is refused."""
    file = tmp_path / "it.record.json"
    async with sandbox(mode="manual") as served:
        async with httpx.AsyncClient(base_url=served.origin, headers={"x-api-key": KEY}) as client:
            await client.post("/v2/messages", json=MESSAGES)
        answer = await asyncio.to_thread(of_world, served.origin, KEY)
        file.write_text(await asyncio.to_thread(export, KEY, served.origin, "record"), "utf-8")
        with pytest.raises(Failure, match='"test-none" is not an open world') as missing:
            await asyncio.to_thread(of_world, served.origin, "test-none")
        assert missing.value.code == CANNOT
    assert DIFFERS in lines(answer)
    assert await asyncio.to_thread(of_file, file) == answer
    told = await asyncio.to_thread(sendbox, "assumptions", "--leaned", str(file))
    assert (told.exit_code, told.output.splitlines()) == (0, lines(answer))
    told = await asyncio.to_thread(sendbox, "assumptions", "--leaned", "--json", str(file))
    assert json.loads(told.output) == answer
    record = json.loads(file.read_text("utf-8"))
    record["journal"][-1][2] = "other"
    file.write_text(json.dumps(record), "utf-8")
    with pytest.raises(Failure, match="this version makes another world of it") as other:
        await asyncio.to_thread(of_file, file)
    assert other.value.code == CANNOT


def test_nothing_was_relied_on() -> None:
    """That is a line of its own."""
    assert lines({"leaned": [], "why": None}) == ["no assumption was relied on"]


@pytest.mark.parametrize("arguments", [["--leaned"], ["it.json"], ["--leaned", "it.json", "--world", KEY]])
def test_a_run_is_needed(arguments: list[str]) -> None:
    """A file or a world goes with --leaned, and only with it."""
    result = sendbox("assumptions", *arguments)
    assert (result.exit_code, result.stderr) == (
        USAGE, "sendbox: --leaned needs a run: FILE or --world KEY; without --leaned there is neither\n"
    )  # fmt: skip
