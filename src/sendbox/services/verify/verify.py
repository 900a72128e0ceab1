"""The validation service: sessions, their codes, limits and proofs (§3.2, §4.5, §8; A47 to A54, A72 to A74).

The code is sent as an SMS through the simulator like any message, so it can be late, undelivered or refused. But it is
not a message of the client: it causes no reports, and replies of the phone are not delivered (A73).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Mapping, Sequence
from itertools import islice
from typing import Any, ClassVar, Final, Literal

import msgspec
import orjson

from sendbox.engine.answer import JsonObject
from sendbox.engine.commands.record import RequestRecord, compact
from sendbox.engine.durations import DAY, Rate, instant, iso, show
from sendbox.engine.journal import CODE
from sendbox.engine.part import Part
from sendbox.engine.rules.book import Rulebook, explain_rules
from sendbox.engine.world import World
from sendbox.services.assume import Assume
from sendbox.services.numbers.notation import normalize
from sendbox.services.ports import Key, PhoneContent, account_of, sending_of
from sendbox.services.verify.rules import Codes
from sendbox.services.verify.session import (
    EXPIRED,
    FAILED,
    LAPSE,
    PENDING,
    VERIFIED,
    Session,
    code_view,
    proof_holds,
    sign_proof,
)

#: The operation that sends the SMS, for conditions of rules.
OPERATION: Final = "createValidation"
#: Sender and text of the SMS (A73).
SENDER: Final = "Verify"
TEXT: Final = "Your verification code is {}"
#: The offline check does not accept a proof that is older than this (A51).
PROOF_VALID_MS: Final = DAY
#: The number of sessions that are forgotten between two pauses.
_FORGET_BATCH: Final = 500


Scope = Literal["account", "number"]
Outcome = Literal["verified", "wrong", "expired", "exhausted"]
ProofOutcome = Literal["valid", "invalid", "expired"]


class LimitReached(Exception):
    """A session above a limit (§8); `scope` names the limit."""

    def __init__(self, scope: Scope, rate: Rate, phone: str) -> None:
        self.scope = scope
        owner = "the account" if scope == "account" else phone
        super().__init__(
            f"{owner} began {rate.count} validations within {show(rate.within)}, the most that are allowed (A53)"
        )


class CodeSms(msgspec.Struct, eq=False):
    """An SMS with a code, which is not a message of the client. `token` is that of its session."""

    verify: Verify
    goal: str | None
    rule: str
    token: str = ""

    def arrived(self) -> None:
        """Called when the code has arrived on its phone."""
        self.verify.arrived(self.token)


class Verify(Part):
    """The validation sessions of one world, and the rules about them. Built after messaging."""

    NAME: ClassVar[str] = "verify"
    LAPSES: ClassVar[frozenset[str]] = frozenset({LAPSE})

    def __init__(self, world: World) -> None:
        self.book = Codes(world.blueprint.compiled["verify"], world.chooser, world.start)
        self._world = world
        self._account = account_of(world)
        self._assume = Assume.of(world)
        #: by token, oldest first
        self.sessions: dict[str, Session] = {}
        self._by_phone: dict[str, list[Session]] = {}
        #: the number of sessions that were forgotten
        self._lost = 0
        #: instants of sessions that a limit counts: of the account (""), and of each number
        self._counted: dict[str, deque[int]] = {}
        #: the instant at which each reached limit ends
        self._free_at: dict[str, int] = {}

    @property
    def rulebooks(self) -> Mapping[str, Rulebook[Any]]:
        """The rules of `verify`."""
        return {"verify": self.book}

    def still_lapses(self, at: int, kind: str, session: Session) -> bool:
        """True if a session expires now; False if it has ended in another way before (A72)."""
        return session.lapse()

    @property
    def made(self) -> int:
        """The number of sessions so far, forgotten ones included."""
        return self._lost + len(self.sessions)

    def forget(self, until: int, bound: str, most: int) -> Generator[None, None, int]:
        """Forgets the expired sessions before the number `until`, and returns that number."""
        first = list(islice(self.sessions.values(), until - self._lost))
        for number, session in enumerate(first, 1):
            if session.expires_at > self._world.now:
                continue
            del self.sessions[session.token]
            sessions_of_phone = self._by_phone[session.phone]
            sessions_of_phone.remove(session)
            if not sessions_of_phone:
                del self._by_phone[session.phone]
            self._lost += 1
            if number % _FORGET_BATCH == 0:
                yield
        return until

    # -- sessions

    def create(
        self,
        phone: str,
        payload: JsonObject,
        key: Key,
        content: bytes,
        origin: str,
        record: RequestRecord | None = None,
    ) -> Session:
        """Begins a session and sends its code. `phone` is international, as in the request. Raises `LimitReached`."""
        world = self._world
        now = world.clock.now
        session_rules = self.book.begin(phone, key.id, now)
        if session_rules.limited:
            self._count_session(phone, now)
        code, order_sensitive = self.book.code(session_rules)
        sms = session_rules.sms
        code_sms = CodeSms(self, None, "") if sms is None else CodeSms(self, sms.sms, sms.title)
        message, request_id = sending_of(world).send_own(
            code_sms,
            OPERATION,
            phone,
            TEXT.format(code),
            # not normalized: §4.5 requires the country code (A14 would accept a national number)
            valid=normalize(phone, "") == phone,
            sender=SENDER,
            payload=compact(orjson.dumps(payload)),
            key=key,
            content=content,
            origin=origin,
            record=record,
        )
        code_sms.token = token = world.tag + world.name("validation", request_id.encode()).hex()[:48]
        session = Session(
            token, phone, code, key.id, message, payload, session_rules.rules, now, session_rules.case.ordinal
        )
        self.sessions[token] = session
        self._by_phone.setdefault(phone, []).append(session)
        world.timeline.lapse(session.expires_at, LAPSE, session)
        entry = world.journal.add(now, CODE["validation"], (session, "created", PENDING))
        if order_sensitive:
            world.journal.mark(entry)
        return session

    def find(self, token: str, key: Key) -> Session | None:
        """The session of a token, for the key that began it; None for any other key."""
        session = self.sessions.get(token)
        return session if session is not None and session.key == key.id else None

    def phones(self) -> tuple[str, ...]:
        """No numbers, since messaging already lists the phones of codes."""
        return ()

    def phone_content(self, number: str) -> PhoneContent:
        """The codes that went to a phone, newest first."""
        now = self._world.now
        return PhoneContent(codes=[code_view(session, now) for session in reversed(self.sessions_of(number))])

    def phone_of(self, token: str) -> str:
        """The phone that the code of a session was sent to, "" if there is no such session."""
        session = self.sessions.get(token)
        return "" if session is None else session.phone

    def sessions_of(self, phone: str) -> Sequence[Session]:
        """The sessions of a number, oldest first."""
        return self._by_phone.get(phone, ())

    def submit(self, session: Session, code: str) -> Outcome:
        """The outcome of a code that the user entered (§3.2, A49, A72). A wrong code uses up an attempt.

        A session that has ended does not change. No code is right for the test number, since none is sent to it (A89).
        """
        now = self._world.clock.now
        state = session.state_at(now)
        if state == FAILED:
            return "exhausted"
        if state == EXPIRED:
            return "expired"
        if code == session.code and not sending_of(self._world).is_test(session.phone):
            if state != VERIFIED:
                session.verified_at = now
                self._follow_event(session, "code_confirmed")
            return "verified"
        if state != VERIFIED:
            session.attempts += 1
            self._record_event(session, "code_wrong")
            if not session.remaining:
                self._follow_event(session, "attempts_used_up")
        return "wrong"

    def arrived(self, token: str) -> None:
        """Notes that the SMS of a session has arrived."""
        session = self.sessions.get(token)  # it may have ended long ago, and be forgotten
        if session is not None and session.state_at(self._world.clock.now) == PENDING:
            self._follow_event(session, "code_arrived")

    def _follow_event(self, session: Session, event: str) -> None:
        session.follow(event)
        self._record_event(session, event)

    def _record_event(self, session: Session, event: str) -> None:
        world = self._world
        world.journal.add(world.clock.now, CODE["validation"], (session, event, session.recorded))

    # -- limits

    def _count_session(self, phone: str, now: int) -> None:
        """Counts a new session for both limits. Raises `LimitReached` without counting it (§8, A53)."""
        limits = self._assume.verify_limits
        scopes: tuple[tuple[Scope, str, Rate | None], ...] = (
            ("account", "", limits.account),
            ("number", phone, limits.number),
        )
        counters = []
        for scope, holder, rate in scopes:
            if rate is None:
                continue
            instants = self._counted.setdefault(holder, deque())
            if wait := rate.wait(instants, now):
                self._record_refusal(scope, holder, phone, now + wait)
                raise LimitReached(scope, rate, phone)
            counters.append(instants)
        for instants in counters:
            instants.append(now)

    def _record_refusal(self, scope: Scope, holder: str, phone: str, free_at: int) -> None:
        world = self._world
        world.journal.mark(world.journal.add(world.clock.now, CODE["limited"], (scope, phone)))
        if self._free_at.get(holder) != free_at:
            self._free_at[holder] = free_at
            world.timeline.lapse(free_at, f"{scope}_limit", (holder, free_at))

    def explain(self, session: Session) -> JsonObject:
        """The reason why a session got its code: `{phone, code, state, rules, decided_by}`."""
        case = self.book.case(session.phone, session.key, session.created_at, session.ordinal)
        return {
            "phone": session.phone,
            "code": session.code,
            "state": session.state_at(self._world.now),
            "rules": explain_rules(self.book, self.book.rules, case),
            "decided_by": list(session.rules),
        }

    # -- proofs

    def values(self, session: Session) -> dict[str, str]:
        """The values that the proof of a session signs, in the form of answers."""
        return {
            "phoneNumber": session.phone,
            "token": session.token,
            "code": session.code,
            "timestamp": iso(session.created_at),
        }

    def proof(self, session: Session) -> str | None:
        """The proof of a session, None if the account has no secret (§5.5)."""
        secret = self._account.verification_secret
        return sign_proof(secret, self.values(session), self._assume.proof) if secret else None

    def verifies(self, session: Session, text: str) -> bool:
        """True if the proof belongs to the session, and the session was verified (§4.5, A50)."""
        return session.recorded == VERIFIED and self._is_signed(text, self.values(session))

    def check(self, values: Mapping[str, str], text: str) -> ProofOutcome:
        """The outcome of checking a proof against the values sent with it, without a session (§4.5, A51)."""
        if not self._is_signed(text, values):
            return "invalid"
        try:
            age = self._world.clock.now - instant(values["timestamp"])
        except ValueError:  # signed with the secret, but not an instant
            return "invalid"
        return "expired" if age > PROOF_VALID_MS else "valid"

    def _is_signed(self, text: str, values: Mapping[str, str]) -> bool:
        return proof_holds(text, self._account.verification_secret, values, self._assume.proof)
