"""The facts about validation sessions that a scenario may expect."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

from sendbox.engine.expect.subjects import Field, Reads, Subject
from sendbox.engine.journal import CODE
from sendbox.services.operations import CALLS
from sendbox.services.verify.session import EXPIRED, LAPSE, VALIDATION, VALIDITY_PASSED, Session

if TYPE_CHECKING:
    from sendbox.engine.commands.record import RequestRecord
    from sendbox.engine.world import World


_STATES: Final = tuple(VALIDATION)
#: What can happen to a validation session: the events of its table, and those that change nothing.
HAPPENED: Final = ("created", "code_wrong", *dict.fromkeys(event for row in VALIDATION.values() for event in row))


def _every_session(world: World) -> Iterable[Session]:
    from sendbox.services.verify.verify import Verify  # who only checks a scenario has no world

    return list(Verify.of(world).sessions.values())


def _session_of(world: World, record: RequestRecord) -> Session | None:
    from sendbox.services.verify.verify import Verify

    path = CALLS[record.operation].path if record.operation in CALLS else ""
    before, token, after = path.partition("{token}")
    return Verify.of(world).sessions.get(record.path.removeprefix(before).removesuffix(after)) if token else None


def named_session(world: World, record: RequestRecord) -> str | None:
    """The session in the path of a call; None for other calls, and where there is none."""
    session = _session_of(world, record)
    return None if session is None else session.token


def phones_of(world: World, record: RequestRecord) -> tuple[str, ...]:
    """The phone that got the code of the session in the path of a call; empty for other calls."""
    session = _session_of(world, record)
    return () if session is None else (session.phone,)


def _about(session: Callable[[Any], Session]) -> dict[str, Reads]:
    """The ids that an entry about a session belongs to: the session, its message, and the key that it was made with."""
    return {
        "session": lambda _world, entry: session(entry).token,
        "message": lambda _world, entry: session(entry).message.id,
        "key": lambda _world, entry: session(entry).key,
    }


def _changes(code: int, entry: tuple[Any, ...]) -> Iterable[tuple[Session, str, str]]:
    """The change of a session in an entry; that it expired is a lapse of the world's clock, as others are."""
    if code != CODE["lapse"]:
        return ((entry[0], entry[1], entry[2]),)
    kind, session = entry
    return ((session, VALIDITY_PASSED, EXPIRED),) if kind == LAPSE else ()


def subjects(results: tuple[str, ...]) -> dict[str, Subject]:
    """The rows; `results` are those that the message with a code may have."""
    return {
        "codes": Subject(
            "a validation session as it stands now; its time is when it began",
            {
                "phone": Field("phone", "the number", lambda _world, session: session.phone),
                "state": Field(
                    "word", "its state", lambda world, session: session.state_at(world.now), tuple(VALIDATION)
                ),
                "attempts": Field("number", "wrong codes so far", lambda _world, session: session.attempts),
                "sms": Field("word", "the result of its SMS", lambda _world, session: session.message.result, results),
                "code": Field("text", "the code", lambda _world, session: session.code),
                "rule": Field("text", "a rule that decided about it", lambda _world, session: session.rules),
            },
            lambda world, session: f"validation of {session.phone}: {session.state_at(world.now)}",
            ("request",),
            kept=_every_session,
            at=lambda session: int(session.created_at),
            made=lambda session: (session.message.cause, None),
            about=_about(lambda session: session),
            own=("session", "message"),
        ),
        "validations": Subject(
            "something that happened to a validation session",
            {
                "phone": Field("phone", "the number", lambda _world, change: change[0].phone),
                "event": Field("text", "what happened, such as code_wrong", lambda _world, change: change[1], HAPPENED),
                "state": Field("word", "the state it led to", lambda _world, change: change[2], _STATES),
            },
            lambda _world, change: f"{change[1]} of {change[0].phone}: {change[2]}",
            ("validation", "lapse"),
            _changes,
            about=_about(lambda change: change[0]),
        ),
    }
