"""What measures: the load generator against a server on loopback, slopes, the health check as the image has it."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

import pytest

from benchmarks.load import Load, measure
from benchmarks.processes import Broken, output_of
from benchmarks.report import number, spread
from benchmarks.scenes.commands import health_command
from benchmarks.scenes.memory import slope
from benchmarks.trees import ROOT, Tree, here

ANSWERS = {
    "with a length": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
    "in chunks": b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "once a connection": b"HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\n{}",
}


async def run(answer: bytes, load: Load) -> tuple[list[bytes], int, float]:
    """The bodies that came, how many connections there were, and the bytes that the load counts as sent."""
    bodies: list[bytes] = []
    serving: list[asyncio.Task[None] | None] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving.append(asyncio.current_task())
        with contextlib.suppress(ConnectionError):
            while head := await reader.readline():
                assert head == b"POST /v2/message HTTP/1.1\r\n"
                length = 0
                while (line := await reader.readline()) != b"\r\n":
                    if line.startswith(b"content-length: "):
                        length = int(line[16:])
                bodies.append(await reader.readexactly(length))
                writer.write(answer)
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        try:
            result = await measure(server.sockets[0].getsockname()[1], load)
        finally:
            await asyncio.gather(*filter(None, serving))
    return bodies, len(serving), result.sent


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_the_load_sends_each_request_once(answer: bytes) -> None:
    load = Load(5, connections=2, body="<@n @7>", first=8, among=10)
    bodies, connections, sent = asyncio.run(run(answer, load))
    assert sorted(bodies) == [b"<%d %07d>" % (n, n) for n in (0, 1, 2, 8, 9)]
    assert sent == sum(map(len, bodies))
    assert connections >= 2


def test_an_answer_that_is_no_200_ends_the_load() -> None:
    with pytest.raises(SystemExit, match=r"not a 200: .*429"):
        asyncio.run(run(b"HTTP/1.1 429 Too Many\r\ncontent-length: 0\r\n\r\n", Load(3, connections=1)))


def test_a_slope_is_the_growth_for_each_more() -> None:
    assert slope([(1, 10.0), (2, 13.0), (4, 19.0)]) == pytest.approx(3.0)


def test_figures_have_three_digits() -> None:
    assert [number(value) for value in (0.61234, 1.0, 98.76, 1234.5)] == ["0.612", "1", "98.8", "1,234"]
    assert spread([3.0, 1.0, 2.0]) == (1.0, 3.0)


@pytest.mark.parametrize(
    ("check", "command"),
    [
        ('["sh", "-c", "ask 7357"]', ["sh", "-c", "ask 4000"]),
        ("ask localhost:7357 || exit 1", ["/bin/sh", "-c", "ask localhost:4000 || exit 1"]),
    ],
)
def test_the_health_check_is_that_of_the_image(tmp_path: Path, check: str, command: list[str]) -> None:
    """Both forms of a Dockerfile, at the port that is measured; a script of the package runs from the sources."""
    (tmp_path / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text("utf-8"), "utf-8")
    (tmp_path / "Dockerfile").write_text(f"FROM a\nHEALTHCHECK --interval=2s \\\n  CMD {check}\nUSER 1\n", "utf-8")
    found, env = health_command(Tree("here", tmp_path, "0"), 4000)
    assert found == command
    assert env["SENDBOX_PORT"] == "4000"


def test_a_file_that_the_image_copies_runs_from_the_tree(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text("utf-8"), "utf-8")
    (tmp_path / "Dockerfile").write_text(
        'FROM a\nCOPY scripts/ask /bin/ask\nHEALTHCHECK CMD ["/bin/ask", "7357"]\n', "utf-8"
    )
    found, _ = health_command(Tree("here", tmp_path, "0"), 4000)
    assert found == [str(tmp_path / "scripts/ask"), "4000"]


def test_a_script_of_the_package_runs_from_the_sources() -> None:
    tree = here()
    assert tree.command("ready")[0] == tree.python
    assert tree.command("ready")[-1] == "ready"
    assert tree.env["PYTHONPATH"].split(":")[0].endswith("src")


def test_a_command_that_fails_says_why() -> None:
    with pytest.raises(Broken, match=r"ended with 1: .*no such thing"):
        output_of([here().python, "-c", "raise SystemExit('no such thing')"], env={})
