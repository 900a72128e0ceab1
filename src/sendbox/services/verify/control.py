"""Operations on the codes of the Verify interface: the code that the user would read on the phone, and its state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sendbox.control.arguments import Last, Phone, Wait
from sendbox.control.export.rows import Exported, NameLookup
from sendbox.control.operation import Call, ControlError, operation
from sendbox.control.reading import map_in_slices, newest, select, wait_for
from sendbox.engine.answer import Answer
from sendbox.engine.world import World
from sendbox.services.numbers import notation
from sendbox.services.ports import Code, account_of
from sendbox.services.verify.session import CODE_SENT, PENDING, Session, code_view
from sendbox.services.verify.verify import Verify


class Codes(Answer):
    """Codes, newest first."""

    codes: list[Code]


@operation("GET", "/worlds/{id}/codes", answers=Codes)
async def codes(call: Call, phone: Phone = None, wait: Wait = None, last: Last = None) -> Codes:
    """Verify codes with state, attempts and expiry, newest first."""
    hosted = call.hosted

    async def look() -> tuple[World, list[Session]] | None:
        world = hosted.world
        sessions = await newest(_sessions(world, phone), lambda session: True, last)
        return (world, sessions[::-1]) if sessions else None

    answer = await wait_for(hosted, wait, look)
    if answer is None:
        return Codes(codes=[])
    world, sessions = answer
    return Codes(codes=await map_in_slices(sessions, lambda session: code_view(session, world.now)))


def _sessions(world: World, phone: str | None) -> list[Session]:
    """The sessions of a phone, in any form of its number; a session has its number as the client gave it.

    Raises `ControlError` for a pattern, and for a text that is not written like a number.
    """
    if phone is None:
        return list(Verify.of(world).sessions.values())
    verify = Verify.of(world)
    sessions = verify.sessions_of(phone)
    if not sessions and (wrong := notation.number_problem(phone)) is not None:
        raise ControlError(400, "bad_argument", f'"{phone}" {wrong}')
    return list(sessions or verify.sessions_of(notation.normalize(phone, account_of(world).country) or phone))


async def open_codes(world: World, most: int) -> list[object]:
    """The codes that can still be entered, at most `most`."""
    sessions = list(Verify.of(world).sessions.values())
    open_sessions = await select(sessions, lambda session: session.state_at(world.now) in (PENDING, CODE_SENT), most)
    return await map_in_slices(open_sessions, lambda session: code_view(session, world.now))


def _newest(world: World, name: str) -> str | None:
    """Where the answer of `codes` shows a token, as long as no session is begun after its own."""
    last = next(reversed(Verify.of(world).sessions.values()), None)
    return "codes.0.token" if last is not None and last.token == name else None


EXPORTED: Final[Mapping[str, Exported]] = {"codes": Exported(look=NameLookup("codes", _newest))}
