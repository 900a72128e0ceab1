"""Cases: what rules, draws and counters look at. A service says what its cases are; the engine knows no more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Case(NamedTuple):
    """One case: its `kind` (a word of its service), whom it is about, and what can be asked of it.

    `subject` is a text ("" where there is none), `request` names the request that it came with. `fields` are what
    conditions ask for by name: a text, None, or a tuple of texts of which one must fit.
    """

    kind: str
    subject: str
    request: str = ""
    fields: Mapping[str, Any] = {}

    def words(self, name: str) -> tuple[str, ...]:
        """A field as the texts of which one must fit; none where the case has no such field."""
        value = self.fields.get(name)
        return () if value is None else value if isinstance(value, tuple) else (value,)
