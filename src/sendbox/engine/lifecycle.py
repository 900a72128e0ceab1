"""Lifecycles as total tables: `state -> event -> state`.

The rules that every table here keeps
-------------------------------------
1. A table is total: every state has a row, an end has an empty one. A pair that is not in the table is illegal and
   raises, naming what would have been legal.
2. A table says what may happen, never when or whether: timings and choices are the rules' (see
   `services/messaging/rules/rules.py`).
3. Nothing leaves an end. What a scenario wants beyond the table it must mark `illegal: true`; the simulator then
   bypasses the table openly and the journal says so.
"""

from __future__ import annotations

from collections.abc import Mapping

Table = Mapping[str, Mapping[str, str]]


class Lifecycle(dict[str, Mapping[str, str]]):
    """A table with what goes through it (`kind`, such as `an order`) and the place where it is written (`source`)."""

    def __init__(self, kind: str, source: str, table: Table) -> None:
        super().__init__(table)
        self.kind = kind
        self.source = source

    def after(self, state: str, event: str) -> str:
        """The state after an event. Raises `IllegalMove` for a pair that is not in the table."""
        if event not in self[state]:
            raise IllegalMove(self, state, event)
        return self[state][event]

    def following(self, state: str) -> tuple[str, ...]:
        """The states that may follow a state, each once."""
        return tuple(dict.fromkeys(self[state].values()))

    def to(self, state: str, target: str) -> str:
        """The state `target`, if an event leads there from `state`. Raises `IllegalMove`."""
        if target not in self[state].values():
            raise IllegalMove(self, state, target)
        return target


class IllegalMove(Exception):
    """A pair that is not in the table: a `state`, the `target` state or event, and the `legal` states from there."""

    def __init__(self, lifecycle: Lifecycle, state: str, target: str) -> None:
        self.state = state
        self.target = target
        self.legal = lifecycle.following(state)
        legal = ", ".join(self.legal) or "none, it is an end"
        super().__init__(
            f'"{target}" does not follow "{state}" of {lifecycle.kind}; legal: {legal} ({lifecycle.source})'
        )
