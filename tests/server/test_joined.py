"""The head of an answer leaves together with its body, and never waits longer than a turn of the loop."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from sendbox.server.wire import JoiningTransport

HEAD = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n"


class Wire(asyncio.Transport):
    """Notes what reaches it."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Any] = []

    def write(self, data: Any) -> None:
        self.seen.append(bytes(data))

    def close(self) -> None:
        self.seen.append("close")

    def abort(self) -> None:
        self.seen.append("abort")

    def is_closing(self) -> bool:
        return "close" in self.seen

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return (name, default)

    def get_write_buffer_size(self) -> int:
        return 5

    def pause_reading(self) -> None:
        self.seen.append("pause")

    def resume_reading(self) -> None:
        self.seen.append("resume")


@pytest.mark.parametrize(
    ("acts", "expected"),
    [
        pytest.param([("write", HEAD), ("write", b"OK")], [HEAD + b"OK"], id="head-and-body"),
        pytest.param([("write", HEAD), ("writelines", [b"O", b"K"])], [HEAD + b"OK"], id="pieces"),
        pytest.param([("write", b"raw"), ("write", b"more")], [b"raw", b"more"], id="no-head"),
        pytest.param([("write", HEAD), ("close",)], [HEAD, "close"], id="closed-before-the-body"),
        pytest.param([("write", HEAD), ("abort",)], ["abort"], id="aborted-before-the-body"),
        pytest.param([("write", HEAD), ("turn",), ("write", b"OK")], [HEAD, b"OK"], id="body-comes-later"),
        pytest.param(
            [("write", HEAD), ("write", b"OK"), ("write", HEAD), ("write", b"OK")], [HEAD + b"OK"] * 2, id="two-answers"
        ),
        pytest.param([("pause_reading",), ("resume_reading",)], ["pause", "resume"], id="reading"),
    ],
)
def test_what_reaches_the_wire(acts: list[tuple[Any, ...]], expected: list[Any]) -> None:
    """Every order of writing, closing and turns ends in the writes that are expected."""

    async def run() -> list[Any]:
        wire = Wire()
        joined = JoiningTransport(wire, asyncio.get_running_loop())
        for name, *arguments in acts:
            if name == "turn":
                await asyncio.sleep(0)
            else:
                getattr(joined, name)(*arguments)
        await asyncio.sleep(0)
        return wire.seen

    assert asyncio.run(run()) == expected


def test_what_is_asked_of_the_transport() -> None:
    """Questions go through; what is held counts as still to be sent."""

    async def run() -> None:
        wire = Wire()
        joined = JoiningTransport(wire, asyncio.get_running_loop())
        assert joined.get_extra_info("peername") == ("peername", None)
        joined.write(HEAD)
        assert joined.get_write_buffer_size() == len(HEAD) + 5
        assert not joined.is_closing()
        joined.close()
        assert joined.is_closing()

    asyncio.run(run())
