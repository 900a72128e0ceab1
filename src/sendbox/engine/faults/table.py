"""All faults of calls, by their word. The order is that of the schema and the documentation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sendbox.engine.faults.answer import Answer
from sendbox.engine.faults.bad_json import BadJson
from sendbox.engine.faults.before_answer import BeforeAnswer, BeforeRead
from sendbox.engine.faults.delay import Delay
from sendbox.engine.faults.disconnect import Disconnect
from sendbox.engine.faults.fault import by_name, keys, words
from sendbox.engine.faults.garbage import Garbage
from sendbox.engine.faults.rate_limit import RateLimit
from sendbox.engine.faults.reset import Reset
from sendbox.engine.faults.status import Status
from sendbox.engine.faults.timeout import Timeout
from sendbox.engine.faults.trickle import Trickle
from sendbox.engine.faults.twice import Twice
from sendbox.engine.forms import Node, either

if TYPE_CHECKING:
    from sendbox.engine.faults.fault import ApiFault

CALLS: Final[dict[str, type[ApiFault]]] = by_name(
    Status,
    Answer,
    Delay,
    Disconnect,
    Reset,
    Garbage,
    BadJson,
    Trickle,
    Timeout,
    RateLimit,
    BeforeAnswer,
    BeforeRead,
    Twice,
)
_SAYS: Final = "a fault such as disconnect or {status: 500}"


def definition() -> Node:
    """The faults of calls in the language's schema."""
    *others, last = (kind for kind, fault in CALLS.items() if fault.value is not None)
    legal = f"{', '.join(others)} or {last}"
    return either(
        "What goes wrong: a word, or one key with its value.",
        words(CALLS, "A fault that needs no value.", _SAYS),
        keys(
            CALLS,
            "api fault",
            "A fault with its value.",
            f"a fault with one key, such as {{status: 500}}; it has {legal}",
        ),
        _SAYS,
    ).node
