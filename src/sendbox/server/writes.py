"""A transport that sends the head of an answer together with its body.

uvicorn writes the two apart, and on a fresh buffer each write is a system call of its own: a fifth of the time that a
small answer takes. A head is held until the body comes, at the latest until the loop's next turn.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any, Final

#: How the head of an answer begins; nothing else that is written does, bodies follow their heads.
_HEAD: Final = b"HTTP/1.1 "


class Joined(asyncio.Transport):
    """In front of a transport; everything but writing goes straight through."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._transport = transport
        self._loop = loop
        self._held = b""
        self._waits = False

    def write(self, data: Any) -> None:
        """Sends, with what is held in front of it; holds the head of an answer."""
        if self._held:
            data, self._held = self._held + bytes(data), b""
        elif data.startswith(_HEAD):
            self._held = data
            if not self._waits:
                self._waits = True
                self._loop.call_soon(self._send_held)
            return
        self._transport.write(data)

    def whole(self, data: bytes) -> None:
        """Sends an answer that has its head."""
        if self._held:
            self._send_held()
        self._transport.write(data)

    def _send_held(self) -> None:
        self._waits = False
        if self._held:
            held, self._held = self._held, b""
            self._transport.write(held)

    def writelines(self, list_of_data: Iterable[Any]) -> None:
        """Sends several pieces."""
        self.write(b"".join(list_of_data))

    def close(self) -> None:
        """Closes once everything is sent."""
        self._send_held()
        self._transport.close()

    def abort(self) -> None:
        """Closes at once."""
        self._held = b""
        self._transport.abort()

    def is_closing(self) -> bool:
        """True if the connection is closing or closed."""
        return self._transport.is_closing()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """A piece of information about the connection."""
        return self._transport.get_extra_info(name, default)

    def get_write_buffer_size(self) -> int:
        """Bytes that are still to be sent."""
        return len(self._held) + self._transport.get_write_buffer_size()

    def pause_reading(self) -> None:
        """No more data for now."""
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Data again."""
        self._transport.resume_reading()
