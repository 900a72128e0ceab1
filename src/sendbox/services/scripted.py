"""Happenings: what the entries of a scenario's timeline do to a world when their instant has come."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from sendbox.engine.durations import iso
from sendbox.engine.journal import CODE
from sendbox.services.advice import HAPPENING_BEFORE_START, advise
from sendbox.services.messaging.content.interpolation import Line, Text, fill

if TYPE_CHECKING:
    from sendbox.services.blueprint import TimelineEntry
    from sendbox.services.world import ServiceWorld


def happen(world: ServiceWorld, entry: TimelineEntry) -> None:
    """An entry has come: it is journaled, then done. One that lies before the world's start comes at the start."""
    number = world.journal.add(world.clock.now, CODE["timeline"], {"kind": entry.kind, **entry.what})
    if not entry.relative and entry.at < world.start:
        message = f"{iso(entry.at)} lies before the start of the world, {iso(world.start)}; it happens at the start"
        world.advise(advise(HAPPENING_BEFORE_START, message, "$.timeline"), {"entry": number, "place": entry.place})
    _DO[entry.kind](world, entry)


def _line(entry: TimelineEntry, phone: str) -> Line | str:
    body = entry.means
    return Line(body, f"{entry.key}\0{phone}".encode()) if isinstance(body, Text) else str(entry.what["body"])


def _inbound(world: ServiceWorld, entry: TimelineEntry) -> None:
    what = entry.what
    message_id = what.get("message_id")
    if message_id not in world.by_id:
        message_id = None  # a reply to a message that never was finds its way like any other (A68)
    phone, line = what["from"], _line(entry, what["from"])
    body, canonical = (line, None) if isinstance(line, str) else fill(line, world, phone)
    inbound = world.phones.write(what["channel"], phone, what.get("to"), body, message_id=message_id)
    inbound.canonical = canonical


def _reply(world: ServiceWorld, entry: TimelineEntry) -> None:
    what = entry.what
    phone, message_id = what["phone"], what.get("message_id")
    for attempt in world.phones.held(phone, what.get("channel")):
        if message_id in (None, attempt.message.id):
            world.phones.reply_due((attempt, _line(entry, phone)))
            return
    world.phones.note(phone, "nothing_to_answer")


def _phone(world: ServiceWorld, entry: TimelineEntry) -> None:
    what = entry.what
    world.phones.act(what["number"], what["act"], link=what.get("link"), button=what.get("button"))


def _outage(world: ServiceWorld, entry: TimelineEntry) -> None:
    world.outages.begin(entry.means, entry.what)


def _account(world: ServiceWorld, entry: TimelineEntry) -> None:
    world.change_account(entry.means)


def _clock(world: ServiceWorld, entry: TimelineEntry) -> None:
    world.clock.switch(entry.what.get("mode"), entry.what.get("rate"))


def _partner(world: ServiceWorld, entry: TimelineEntry) -> None:
    world.partner.happened(entry)


_DO: Final[dict[str, Callable[[ServiceWorld, TimelineEntry], None]]] = {
    "inbound": _inbound,
    "reply": _reply,
    "phone": _phone,
    "outage": _outage,
    "account": _account,
    "clock": _clock,
    "template": _partner,
    "number": _partner,
}
#: The kinds of entries, in the order of the documentation.
KINDS: Final = tuple(_DO)
