"""The timeline as a Mermaid sequence diagram, of bounded length.

Characters that have a meaning in the diagram's language are written as character references.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from sendbox.engine.durations import iso, show
from sendbox.engine.expect.verdict import proves
from sendbox.engine.kinds.narration import CLIENT, RECEIVER, WORLD, short_line
from sendbox.playing.play_result import Played
from sendbox.playing.rows import Row, rows

#: How many rows, phones with a line of their own, and characters of a row.
ROWS: Final = 200
PHONES: Final = 12
LENGTH: Final = 140

_PLAIN: Final = re.compile(r"[^\w .,:+()/→…'*?!=@-]|[^\x20-\uffff]")
_OTHERS: Final = "phones"


def mermaid(played: Played) -> str:
    """The diagram's text."""
    return "\n".join(_lines(played))


def escape(text: str) -> str:
    """A text that a diagram shows unchanged: `#`, `;`, quotes and brackets as references, on one line."""
    line = short_line(text, LENGTH)
    line = _PLAIN.sub(lambda character: f"#{ord(character[0])};", line) or "-"
    if "style" in line or "classDef" in line:  # with a colon after them they would be statements
        line = line.replace(":", "#58;")
    # a word of the language at the end of a message would end a block
    return re.sub(r"\bend\b", "#101;nd", line)


def _lines(played: Played) -> Iterator[str]:
    all_rows, _ = rows(played)
    visible = all_rows[:ROWS]
    named = {CLIENT, WORLD, RECEIVER}
    ends = (end for row in visible for end in (row.narration.who, row.narration.to) if end is not None)
    phones = [name for name in dict.fromkeys(ends) if name not in named]
    ids = {CLIENT: CLIENT, WORLD: WORLD, RECEIVER: RECEIVER}
    ids |= {phone: f"phone{number}" for number, phone in enumerate(phones[:PHONES], 1)}
    ids |= dict.fromkeys(phones[PHONES:], _OTHERS)
    yield "sequenceDiagram"
    yield f"    title {escape(played.blueprint.name)}"
    yield f"    participant {CLIENT}"
    yield f"    participant {WORLD}"
    yield from (f"    participant {ids[phone]} as {escape(phone)}" for phone in phones[:PHONES])
    if len(phones) > PHONES:
        yield f"    participant {_OTHERS} as {len(phones) - PHONES} other phones"
    yield f"    participant {RECEIVER}"
    last = -1
    for row in visible:
        if row.at != last:
            last = row.at
            clock = iso(row.at).replace("T", " ")[:-5]
            yield f"    Note over {CLIENT},{RECEIVER}: {escape(f'+{show(row.at - played.world.start)}, {clock}')}"
        yield from (f"    {line}" for line in _row(row, ids))
    if len(all_rows) > ROWS:
        yield f"    Note over {CLIENT},{RECEIVER}: and {len(all_rows) - ROWS} more"
    if played.verdict is not None:
        word = "passed" if proves(played.verdict) else "failed"
        yield f"    Note over {CLIENT},{RECEIVER}: verdict, {word}"


def _row(row: Row, ids: dict[str, str]) -> Iterator[str]:
    """A row: an arrow between two, and one back for an answer; a note for an act without a partner."""
    who, action, tone, reached, answer = row.narration
    sender, to = ids[who], ids[reached or who]
    text = escape(f"{action} [order-sensitive]" if row.marked else action)
    if reached is not None and who in (reached, RECEIVER):
        sender = WORLD  # a result comes to a phone, a webhook to its receiver: from the sandbox
    if sender == to:
        yield f"Note over {to}: {escape(row.text)}"
        return
    yield f"{sender}->>{to}: {text}"
    if answer is not None:
        arrow = "--x" if tone == "bad" else "-->>"
        yield f"{to}{arrow}{sender}: {escape(answer)}"
