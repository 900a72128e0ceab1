"""The timeline as a Mermaid sequence diagram, of bounded length.

What would end a line or a name of the diagram's language is written as a character reference.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from sendbox.engine.durations import iso, show
from sendbox.engine.kinds.narration import CLIENT, RECEIVER, WORLD, cut
from sendbox.playing.played import Played
from sendbox.playing.rows import Row, rows

#: So many rows, phones with a line of their own, and characters of a row.
ROWS: Final = 200
PHONES: Final = 12
LENGTH: Final = 140

_PLAIN: Final = re.compile(r"[^\w .,:+()/→…'*?!=@-]|[^\x20-\uffff]")
_OTHERS: Final = "phones"


def mermaid(played: Played) -> str:
    """The diagram's text."""
    return "\n".join(_lines(played))


def escaped(text: str) -> str:
    """A text that stands in a diagram as it is: `#`, `;`, quotes and brackets as references, on one line."""
    line = cut(text, LENGTH)
    line = _PLAIN.sub(lambda found: f"#{ord(found[0])};", line) or "-"
    if "style" in line or "classDef" in line:  # with a colon after them they would be taken for statements
        line = line.replace(":", "#58;")
    # a word of the language at the end of a message would end a block
    return re.sub(r"\bend\b", "#101;nd", line)


def _lines(played: Played) -> Iterator[str]:
    told, _ = rows(played)
    shown = told[:ROWS]
    named = {CLIENT, WORLD, RECEIVER}
    phones = [
        who for who in dict.fromkeys(each for row in shown for each in (row.who, row.to or row.who)) if who not in named
    ]
    ids = {CLIENT: CLIENT, WORLD: WORLD, RECEIVER: RECEIVER}
    ids |= {phone: f"phone{number}" for number, phone in enumerate(phones[:PHONES], 1)}
    ids |= dict.fromkeys(phones[PHONES:], _OTHERS)
    yield "sequenceDiagram"
    yield f"    title {escaped(played.blueprint.name)}"
    yield f"    participant {CLIENT}"
    yield f"    participant {WORLD}"
    yield from (f"    participant {ids[phone]} as {escaped(phone)}" for phone in phones[:PHONES])
    if len(phones) > PHONES:
        yield f"    participant {_OTHERS} as {len(phones) - PHONES} other phones"
    yield f"    participant {RECEIVER}"
    last = -1
    for row in shown:
        if row.at != last:
            last = row.at
            clock = iso(row.at).replace("T", " ")[:-5]
            yield f"    Note over {CLIENT},{RECEIVER}: {escaped(f'+{show(row.at - played.world.start)}, {clock}')}"
        yield from (f"    {line}" for line in _row(row, ids))
    if len(told) > ROWS:
        yield f"    Note over {CLIENT},{RECEIVER}: and {len(told) - ROWS} more"
    if played.verdict is not None:
        word = "passed" if played.verdict["passed"] else "failed"
        yield f"    Note over {CLIENT},{RECEIVER}: verdict, {word}"


def _row(row: Row, ids: dict[str, str]) -> Iterator[str]:
    """A row: an arrow between two, and one back for an answer; a note over who only does something."""
    who, to = ids[row.who], ids[row.to or row.who]
    what = escaped(f"{row.what} [order-sensitive]" if row.marked else row.what)
    if row.to is not None and row.who in (
        row.to,
        RECEIVER,
    ):  # a result comes to a phone, a webhook to its receiver: from the sandbox
        who = WORLD
    if who == to:
        yield f"Note over {to}: {escaped(row.text)}"
        return
    yield f"{who}->>{to}: {what}"
    if row.answer is not None:
        arrow = "--x" if row.tone == "bad" else "-->>"
        yield f"{to}{arrow}{who}: {escaped(row.answer)}"
