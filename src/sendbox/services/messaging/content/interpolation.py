"""The texts that phones write: texts with gaps, filled from the message that is answered and with invented names.

A message fills some gaps (`GAPS`); for others something is invented (`FAKES`): out of a pool that was made when the
scenario was compiled, so that no world needs the library that invents, and a choice is one draw. The digest sees a
filled text in its canonical form: what differs from world to world (ids, the text with its short links) and what
differs between versions of that library (the invented words) stands in it as the gap, the invented ones with the number
that was drawn.
"""

from __future__ import annotations

import json  # `sendbox --help` reads this module, and need not load more
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from sendbox.engine.texts import Fake, Gap
from sendbox.services.messaging.content.text import text_shown

if TYPE_CHECKING:
    from sendbox.engine.draws import Chooser
    from sendbox.services.messaging.content.gaps import Line
    from sendbox.services.messaging.records import Attempt
    from sendbox.services.ports import Account

#: Gaps whose filling no two worlds share, or that say nothing which the request does not.
_OWN: Final = frozenset({"body", "message_id", "request_id"})


def fill(line: Line, chooser: Chooser, account: Account, phone: str, attempt: Attempt | None = None) -> tuple[str, str]:
    """The text with its gaps filled, and its canonical form; without an attempt only the phone is known."""
    draw = chooser.draw(line.rule, line.subject, line.number)
    texts, canonical = [], []
    for index, piece in enumerate(line.text.parts):
        if isinstance(piece, Fake):
            drawn = draw.pick(piece.pool, f"{line.purpose}.{index}")
            texts.append(piece.pool[drawn])
            canonical.append(f"{{{{fake.{piece.name} {piece.locale} {drawn}}}}}")
            continue
        value = piece if isinstance(piece, str) else _value(piece, account, phone, attempt)
        texts.append(value)
        canonical.append(f"{{{{{piece.name}}}}}" if isinstance(piece, Gap) and piece.name in _OWN else value)
    return "".join(texts), "".join(canonical)


def _value(gap: Gap, account: Account, phone: str, attempt: Attempt | None) -> str:
    if attempt is None:
        return phone if gap.name == "phone" else ""
    if gap.name == "payload":
        return _inside(json.loads(attempt.message.submission.send.payload), gap.path)
    return str(_FILLINGS[gap.name](attempt, account))


_FILLINGS: Final[dict[str, Callable[[Attempt, Account], object]]] = {
    "body": text_shown,
    "sender": lambda attempt, _account: attempt.shown_sender,
    "phone": lambda attempt, _account: attempt.message.phone,
    "channel": lambda attempt, _account: attempt.step.channel,
    "attempt": lambda attempt, _account: attempt.number + 1,
    "tags": lambda attempt, _account: ",".join(attempt.message.submission.send.tags),
    "message_id": lambda attempt, _account: attempt.message.id,
    "request_id": lambda attempt, _account: attempt.message.submission.request_id,
}


def _inside(value: Any, path: tuple[str, ...]) -> str:
    """The value at a path, as text; empty if there is no value."""
    for name in path:
        if isinstance(value, dict) and name in value:
            value = value[name]
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            return ""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
