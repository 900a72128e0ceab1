"""`garbage`: bytes that are not HTTP."""

from __future__ import annotations

from typing import ClassVar, Final

from sendbox.engine.faults.fault import Act, ApiFault, End

#: What a client gets that speaks HTTP to something else.
GARBAGE: Final = b"\x00\x15\xff\xfe this is no HTTP \x80\x81\r\n\r\n"


class Garbage(ApiFault, frozen=True):
    """The call has its effect."""

    kind: ClassVar = "garbage"
    examples: ClassVar = {"garbage": "bytes that are not HTTP"}

    def acts(self, _size: int, _time: int) -> tuple[Act, ...]:
        return (End(GARBAGE),)
