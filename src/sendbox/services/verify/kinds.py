"""The observation of Verify's journal entries: sessions, and those above a limit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from sendbox.engine.coverage import Collector
from sendbox.engine.digest import Canon
from sendbox.engine.kinds.narration import Entry, Narration, Narrator
from sendbox.engine.kinds.rows import Kind, Lapse, Line, ObservationRows, Observer, View
from sendbox.services.verify.session import EXPIRED, LAPSE, Session
from sendbox.services.verify.verify import Verify

#: The token of a session in a path: the world's name for it.
_TOKEN: Final = re.compile(r"(?<=/)[0-9a-f]{64}(?=/|$)")


def _validation(_on: Observer, change: tuple[Session, str, str]) -> View:
    session, event, state = change
    return {"token": session.token, "phone": session.phone, "event": event, "state": state}


def _validation_lines(canon: Canon, change: tuple[Session, str, str]) -> Iterator[Line]:
    session, event, state = change
    yield {"message": canon.name(session.message), "code": session.code, "event": event, "state": state}


def _count_validation(collector: Collector, change: tuple[Session, str, str]) -> None:
    _, event, state = change
    if event == "code_wrong":
        collector.lean("A72")
        return
    collector.count("states", f"validation {state}")
    if event == "attempts_used_up":
        collector.count("limits", "6 Verify attempts")


def _count_limited(collector: Collector, refused: tuple[str, str]) -> None:
    collector.count("limits", f"Verify sessions of {'the account' if refused[0] == 'account' else 'a number'}")


def _narrate_limited(_narrator: Narrator, entry: Entry) -> Narration:
    return Narration(entry["phone"], f"one session too many for the {entry['limit']}", "bad", None)


def _count_expired(collector: Collector, _session: Session) -> None:
    collector.count("states", f"validation {EXPIRED}")
    collector.lean("A72")
    collector.count("limits", "Verify session expired after 10 minutes")


def _path(canon: Canon, path: str) -> str:
    """A path with the name of its session's message in place of a token; an unknown token stays."""
    sessions = Verify.of(canon.world).sessions

    def named(token: re.Match[str]) -> str:
        session = sessions.get(token[0])
        return token[0] if session is None else canon.name(session.message)

    return _TOKEN.sub(named, path)


#: A limit that has ended.
_FREE: Final = Lapse(lambda subject: {"phone": subject[0]}, lambda _canon, subject: {"phone": subject[0]})

OBSERVED: Final = ObservationRows(
    kinds=(
        Kind(
            "validation",
            _validation,
            _validation_lines,
            _count_validation,
            lambda _narrator, entry: Narration(entry["phone"], f"session: {entry['event']}, {entry['state']}", to=None),
        ),
        Kind(
            "limited",
            lambda _on, refused: {"limit": refused[0], "phone": refused[1]},
            lambda _canon, refused: ({"limit": refused[0], "phone": refused[1]},),
            _count_limited,
            _narrate_limited,
        ),
    ),
    lapses={
        LAPSE: Lapse(
            lambda session: {"phone": session.phone, "token": session.token},
            lambda canon, session: {"message": canon.name(session.message)},
            _count_expired,
        ),
        "account_limit": _FREE,
        "number_limit": _FREE,
    },
    paths=_path,
)
