"""`twice`: the call is carried out twice, as when a proxy makes it again after a lost connection."""

from __future__ import annotations

from typing import ClassVar

from sendbox.engine.answer import JsonObject
from sendbox.engine.faults.fault import ApiFault
from sendbox.engine.forms import word


class Twice(ApiFault, frozen=True):
    """`doubled`: the time whose answer the client gets, `first` or `last`."""

    doubled: str = "last"

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

    @property
    def late(self) -> bool:
        return True

    def shown(self, _time: int) -> JsonObject:
        return {self.kind: self.doubled}
