"""The condition `payload` of a rule: it is about the data that a message carries for its client."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from sendbox.engine.classes import dataclass
from sendbox.engine.rules.conditions import choices, fits, quoted
from sendbox.engine.texts import Pattern

if TYPE_CHECKING:
    from sendbox.engine.rules.conditions import Case

#: Stands for a value that the payload does not have.
_ABSENT: Final = object()


@dataclass(frozen=True, slots=True)
class Payload:
    """Values at dotted paths inside the request's payload; strings are patterns."""

    wanted: tuple[tuple[tuple[str, ...], object], ...]

    @property
    def written(self) -> dict[str, object]:
        """The values by their paths, as a scenario has them."""
        return {".".join(path): expected for path, expected in self.wanted}

    def holds(self, case: Case) -> bool:
        """True if the payload has all values."""
        return next(self._differences(case), None) is None

    def says(self, case: Case) -> str:
        """Each value that differs."""
        return "; ".join(
            f"{'.'.join(path)} is {_there(value, expected)} {' or '.join(map(quoted, choices(expected)))}"
            for path, value, expected in self._differences(case)
        )

    def _differences(self, case: Case) -> Iterator[tuple[tuple[str, ...], object, object]]:
        payload: Any = case.value("payload")
        for path, expected in self.wanted:
            value = payload
            for name in path:
                value = value[name] if isinstance(value, dict) and name in value else _ABSENT
            if not fits(value, expected):
                yield path, value, expected


def _there(value: object, expected: object) -> str:
    if value is _ABSENT:
        return "not there, wanted"
    like = all(isinstance(one, Pattern) for one in choices(expected))
    return f"{quoted(value)}, {'which does not match' if like else 'wanted'}"
