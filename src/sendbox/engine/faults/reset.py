"""`reset`: the connection ends by a TCP RST."""

from __future__ import annotations

from typing import ClassVar

from sendbox.engine.faults.fault import Act, ApiFault, End


class Reset(ApiFault, frozen=True):
    """The client learns that the connection was reset; the call has no effect."""

    kind: ClassVar = "reset"
    examples: ClassVar = {"reset": "the connection is reset (`ECONNRESET`), without an answer"}
    effective: ClassVar = False

    def acts(self, _size: int, _time: int) -> tuple[Act, ...]:
        return (End(reset=True),)
