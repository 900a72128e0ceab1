"""`timeout`: no answer, ever."""

from __future__ import annotations

from typing import ClassVar

from sendbox.engine.faults.fault import Act, ApiFault, Wait


class Timeout(ApiFault, frozen=True):
    """The connection stays open."""

    kind: ClassVar = "timeout"
    effective: ClassVar = False
    examples: ClassVar = {"timeout": "no answer, ever"}

    def acts(self, _size: int, _time: int) -> tuple[Act, ...]:
        return (Wait(None),)
