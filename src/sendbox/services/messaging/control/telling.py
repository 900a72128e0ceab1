"""The text of each step in the picture of a message: its words, its assumptions, and the texts of all attempts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict

from sendbox.control.catalog import loaded
from sendbox.control.reading import each
from sendbox.engine.coverage import Collector
from sendbox.engine.kinds.narration import Names, Teller
from sendbox.services.assumptions import registry
from sendbox.services.messaging.answers import RestsOn, ToldAttempt, ToldMessage
from sendbox.services.messaging.channels import legal_next
from sendbox.services.messaging.content.shown import shown
from sendbox.services.messaging.content.text import text_shown
from sendbox.services.messaging.results import STATES
from sendbox.services.messaging.views import message_view
from sendbox.services.ports import account_of

if TYPE_CHECKING:
    from sendbox.control.operation import Call
    from sendbox.engine.world import World
    from sendbox.services.messaging.records import Message


async def told(call: Call, message: Message, numbers: Sequence[int]) -> list[dict[str, Any]]:
    """The entries of these numbers, which are about one message, as their views.

    Beside it `told` is `{who, text, tone}`, null where other entries tell it; `section` is the place in the
    specification, "" where there is none; `assumed` has the assumptions that it rests on where that is silent:
    `{id, section, title, default}`.
    """
    world, kinds = call.here.world, call.served.kinds
    reasons = Collector(world, await loaded(call.served))
    rows = {row.id: row for row in registry()}
    views = await each(numbers, reasons.entry)
    teller = Teller(kinds.told, Names({message.id: "the message"}), views)

    def entry(view: dict[str, Any]) -> dict[str, Any]:
        reasons.leaned.clear()
        reasons.look(view["n"], counting=True)
        words = teller.tell(view)
        _, code, _ = world.journal.entry(view["n"])
        return {
            **view,
            "told": None if words is None else words.as_json(),
            "section": kinds.by_code[code].section,
            "assumed": [
                RestsOn(id=row.id, section=row.section, title=row.title, default=row.default)
                for row in (rows[id_] for id_ in sorted(reasons.leaned))
            ],
        }

    return await each(views, entry)


def whole(world: World, message: Message) -> ToldMessage:
    """A message whose attempts have what the phone shows, or would show.

    That is `from`, `body`, and the parts of a template or of buttons (`content/shown.py`).
    `legal` are the results to which it can be moved by hand now.
    """
    view, account = asdict(message_view(world, message)), account_of(world)
    attempts = message.attempts
    last = attempts[-1] if attempts else None
    views = [
        ToldAttempt(
            **asdict(plain),
            from_=attempt.shown_sender,
            body=text_shown(attempt, account),
            **shown(attempt.step, account),
        )
        for plain, attempt in zip(view.pop("attempts"), attempts, strict=True)
    ]
    legal = [] if last is None else list(legal_next(last.step.channel, STATES[last.state]))
    return ToldMessage(**view, attempts=views, legal=legal)
