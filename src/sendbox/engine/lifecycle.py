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

Table = dict[str, dict[str, str]]


def diagram(table: Table) -> str:
    """A Mermaid state diagram of a table, for the documentation."""
    lines = ["stateDiagram-v2", f"    [*] --> {next(iter(table))}"]
    for state, row in table.items():
        lines += [f"    {state} --> {after}: {event}" for event, after in row.items()]
        if not row:
            lines.append(f"    {state} --> [*]")
    return "\n".join(lines)
