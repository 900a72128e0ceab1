"""The conditions `after` and `payload` of a rule: earlier attempts and the message before, and a message's data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec
from msgspec.structs import asdict

from sendbox.engine.rules.conditions import Case, choices, fits, quoted, several
from sendbox.engine.texts import Pattern
from sendbox.services.messaging.channels import STATES
from sendbox.services.messaging.events import info_of
from sendbox.services.messaging.records import Attempt, Message

#: Stands for a value that the payload does not have.
_ABSENT: Final = object()


class After(msgspec.Struct, frozen=True):
    """The events that must have happened before; None = no condition.

    One earlier attempt of the message has a result in `result`, a channel in `channel`, and a `result_info` that
    matches `info`. The message before this one to the phone has a result in `message`.
    """

    result: tuple[str, ...] | None = None
    channel: tuple[str, ...] | None = None
    info: Pattern | tuple[Pattern, ...] | None = None
    message: tuple[str, ...] | None = None

    @property
    def written(self) -> dict[str, object]:
        """All that is asked, as a scenario has it."""
        return asdict(self)

    def holds(self, case: Case) -> bool:
        """True if it happened; anything that the case leaves out did not happen."""
        return self._message_holds(case) and self._attempt_holds(case)

    def says(self, case: Case) -> str:
        """A text that says what happened instead."""
        differences = []
        if not self._message_holds(case):
            earlier = _message_before(case)
            was = "there is no message before this one"
            if earlier is not None:
                was = f"the message before is {earlier.result_at(case.instant)}"
            differences.append(f"{was}, wanted one that is {' or '.join(self.message or ())}")
        if not self._attempt_holds(case):
            # an explanation asks once more, later
            before = [
                f"{attempt.step.channel} {STATES[attempt.state_at(case.instant)]}" for attempt in _attempts_before(case)
            ]
            conditions = [" or ".join(words) for words in (self.channel, self.result) if words]
            if self.info is not None:
                conditions.append(f"with an info like {' or '.join(map(quoted, several(self.info)))}")
            were = (
                f"the attempts before are {', '.join(before[::-1])}"
                if before
                else "there is no attempt before this one"
            )
            differences.append(f"{were}, wanted one {' '.join(conditions)}")
        return "; ".join(differences)

    def raced(self, case: Case) -> bool:
        """True if the message before this one to the phone could also have come after it."""
        earlier = None if self.message is None else _message_before(case)
        return (
            earlier is not None
            and earlier.accepted_at == case.fields["accepted_at"]
            and earlier.submission.request_id != case.request
        )

    def _message_holds(self, case: Case) -> bool:
        if self.message is None:
            return True
        earlier = _message_before(case)
        return earlier is not None and earlier.result_at(case.instant) in self.message

    def _attempt_holds(self, case: Case) -> bool:
        if self.result is None and self.channel is None and self.info is None:
            return True
        return any(
            (self.result is None or STATES[state] in self.result)
            and (self.channel is None or attempt.step.channel in self.channel)
            and (self.info is None or any(one.matches(info_of(attempt, state) or "") for one in several(self.info)))
            for attempt in _attempts_before(case)
            for state in (attempt.state_at(case.instant),)
        )


def _message_before(case: Case) -> Message | None:
    earlier = case.fields.get("earlier")
    return None if earlier is None else earlier(case.subject, case.ordinal)


def _attempts_before(case: Case) -> Iterator[Attempt]:
    """The earlier attempts of the message, the newest first."""
    attempt = case.fields.get("before")
    while attempt is not None:
        yield attempt
        attempt = attempt.previous


class Payload(msgspec.Struct, frozen=True):
    """Values at dotted paths inside the request's payload; strings are patterns."""

    expected: tuple[tuple[tuple[str, ...], object], ...]

    @property
    def written(self) -> dict[str, object]:
        """The values by their paths, as a scenario has them."""
        return {".".join(path): value for path, value in self.expected}

    def holds(self, case: Case) -> bool:
        """True if the payload has all values."""
        return next(self._differences(case), None) is None

    def says(self, case: Case) -> str:
        """Each value that differs."""
        return "; ".join(
            f"{'.'.join(path)} is {_there(value, expected)} {' or '.join(map(quoted, choices(expected)))}"
            for path, value, expected in self._differences(case)
        )

    def _differences(self, case: Case) -> Iterator[tuple[tuple[str, ...], object, object]]:
        payload = case.value("payload")
        for path, expected in self.expected:
            value = payload
            for name in path:
                value = value[name] if isinstance(value, dict) and name in value else _ABSENT
            if not fits(value, expected):
                yield path, value, expected


def _there(value: object, expected: object) -> str:
    if value is _ABSENT:
        return "not there, wanted"
    like = all(isinstance(one, Pattern) for one in choices(expected))
    return f"{quoted(value)}, {'which does not match' if like else 'wanted'}"
