"""`twice`: the call is carried out twice, as when a proxy makes it again after a lost connection."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from sendbox.engine.faults.fault import ApiFault
from sendbox.engine.forms import word


class Twice(ApiFault, frozen=True):
    """`first`: the client gets the answer to the first time, else that to the second."""

    first: bool = False

    kind: ClassVar = "twice"
    value: ClassVar = word(
        "The call is carried out twice; the client gets the first or the last answer.",
        ("first", "last"),
        "which of the two answers the client gets",
    )
    examples: ClassVar = {
        "twice": "the call is carried out twice, as when a proxy makes it again; the same as `{twice: last}`",
        "{twice: first}": "the same, and the client gets the answer to the first time",
    }

    @classmethod
    def of(cls, detail: Any) -> Self:
        return cls(detail == "first")

    @property
    def doubled(self) -> str:
        return "first" if self.first else "last"

    @property
    def late(self) -> bool:
        return True

    def shown(self, _time: int) -> Any:
        return {self.kind: self.doubled}
