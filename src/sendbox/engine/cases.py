"""Cases: what rules, draws and counters look at. A service says what its cases are; the engine knows no more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Case:
    """One case: its `kind` (a word of its service), whom it is about, and what can be asked of it.

    `subject` is a text ("" if there is none). `ordinal` is the same whenever the same case comes, where a list of
    rules is asked about it again. `request` names the request that it came with, `instant` is when rules are asked, in
    virtual milliseconds. `fields` are what conditions ask for by name: a text, a number, None, a tuple of texts of
    which one must fit, or a function that finds one of these when it is needed.
    """

    __slots__ = ("fields", "instant", "kind", "ordinal", "request", "subject")

    def __init__(
        self,
        kind: str,
        subject: str,
        ordinal: int = 0,
        request: str = "",
        instant: int = 0,
        fields: Mapping[str, Any] | None = None,
    ) -> None:
        self.kind = kind
        self.subject = subject
        self.ordinal = ordinal
        self.request = request
        self.instant = instant
        self.fields = {} if fields is None else fields

    def value(self, name: str) -> Any:
        """A field by its name; None if the case has no such field."""
        value = self.fields.get(name)
        return value() if callable(value) else value

    def words(self, name: str) -> tuple[str, ...]:
        """A field as the texts of which one must fit; none where the case has no such field."""
        value = self.value(name)
        return () if value is None else value if isinstance(value, tuple) else (value,)
