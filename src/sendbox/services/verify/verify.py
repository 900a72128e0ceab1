"""Verify: validation sessions, the codes they send, their limits and proofs (§3.2, §4.5, §8; A47 to A54, A72 to A74).

The code travels as an SMS through the simulator like any message, so it can be late, undelivered or refused; but it is
not a message of the client: nothing is reported about it, and answers of its phone are not delivered (A73).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

import msgspec
import orjson

from sendbox.engine.commands.record import compact
from sendbox.engine.durations import DAY, instant, iso, show
from sendbox.engine.journal import CODE
from sendbox.engine.part import Part
from sendbox.engine.rules.book import tried
from sendbox.services.assume import Assume
from sendbox.services.numbers.normal import normalize
from sendbox.services.ports import Share, account_of, sending_of
from sendbox.services.verify import proof
from sendbox.services.verify.rules import Codes
from sendbox.services.verify.session import EXPIRED, FAILED, LAPSE, PENDING, VERIFIED, Session, code_view

if TYPE_CHECKING:
    from sendbox.engine.commands.record import RequestRecord
    from sendbox.engine.durations import Rate
    from sendbox.engine.rules.book import Rulebook
    from sendbox.engine.world import World
    from sendbox.services.ports import Key

#: The operation that sends the SMS, for rules that ask it.
OPERATION: Final = "createValidation"
#: Sender and text of the SMS (A73).
SENDER: Final = "Verify"
TEXT: Final = "Your verification code is {}"
#: The offline check does not accept a proof that is older than this (A51).
PROOF_VALID_MS: Final = DAY
#: So many sessions are forgotten between two pauses.
_FORGOTTEN: Final = 500


Scope = Literal["account", "number"]
Outcome = Literal["verified", "wrong", "expired", "exhausted"]
ProofOutcome = Literal["valid", "invalid", "expired"]


class LimitReached(Exception):
    """A session above a limit (§8): `scope` says which limit."""

    def __init__(self, scope: Scope, rate: Rate, phone: str) -> None:
        self.scope = scope
        whose = "the account" if scope == "account" else phone
        super().__init__(
            f"{whose} began {rate.count} validations within {show(rate.within)}, the most that are allowed (A53)"
        )


class Code(msgspec.Struct, eq=False):
    """An SMS with a code, as messaging carries it: not a message of the client. `token` is its session's."""

    verify: Verify
    goal: str | None
    rule: str
    token: str = ""

    def arrived(self) -> None:
        """The code is on its phone."""
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
        #: how many of them were forgotten
        self._lost = 0
        #: instants of sessions that a limit counts: of the account (""), and of each number
        self._counted: dict[str, deque[int]] = {}
        #: when each limit that was reached ends
        self._free_at: dict[str, int] = {}

    @property
    def rulebooks(self) -> Mapping[str, Rulebook[Any]]:
        """The rules of `verify`."""
        return {"verify": self.book}

    def lapses(self, at: int, kind: str, session: Session) -> bool:
        """True if a session really expires now; it may have reached another end in the meantime (A72)."""
        return session.lapse()

    @property
    def made(self) -> int:
        """The number of sessions so far, forgotten ones included."""
        return self._lost + len(self.sessions)

    def forget(self, until: int, bound: str, most: int) -> Generator[None, None, int]:
        """Forgets the sessions before a number whose time is over."""
        first = list(islice(self.sessions.values(), until - self._lost))
        for number, session in enumerate(first, 1):
            if session.expires_at > self._world.now:
                continue
            del self.sessions[session.token]
            same = self._by_phone[session.phone]
            same.remove(session)
            if not same:
                del self._by_phone[session.phone]
            self._lost += 1
            if number % _FORGOTTEN == 0:
                yield
        return until

    # -- sessions

    def create(
        self,
        phone: str,
        payload: dict[str, Any],
        key: Key,
        content: bytes,
        origin: str,
        record: RequestRecord | None = None,
    ) -> Session:
        """Begins a session and sends its code. `phone` as given, international. Raises `LimitReached`."""
        world = self._world
        now = world.clock.now
        decided = self.book.begin(phone, key.id, now)
        if decided.limited:
            self._count(phone, now)
        code, order_sensitive = self.book.code(decided)
        sms = decided.sms
        carrier = Code(self, None, "") if sms is None else Code(self, sms.sms, sms.title)
        message, request_id = sending_of(world).send_own(
            carrier,
            OPERATION,
            phone,
            TEXT.format(code),
            # taken as given: §4.5 wants the country code in it (A14 would read a national number into some)
            valid=normalize(phone, "") == phone,
            sender=SENDER,
            payload=compact(orjson.dumps(payload)),
            key=key,
            content=content,
            origin=origin,
            record=record,
        )
        carrier.token = token = world.tag + world.name("validation", request_id.encode()).hex()[:48]
        session = Session(token, phone, code, key.id, message, payload, decided.rules, now, decided.case.ordinal)
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
        """None: a code comes as a message."""
        return ()

    def on_phone(self, number: str) -> Share:
        """The codes that went to a phone, newest first."""
        now = self._world.now
        return Share(codes=[code_view(session, now) for session in reversed(self.sessions_of(number))])

    def phone_of(self, token: str) -> str:
        """The phone that the code of a session was sent to, "" if there is no such session."""
        session = self.sessions.get(token)
        return "" if session is None else session.phone

    def sessions_of(self, phone: str) -> Sequence[Session]:
        """The sessions of a number, oldest first."""
        return self._by_phone.get(phone, ())

    def submit(self, session: Session, code: str) -> Outcome:
        """The user's code (§3.2, A49, A72). A wrong one uses an attempt up; an ended session does not change.

        No code is right for the test number, since none is sent to it (A89).
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
                self._move(session, "code_confirmed")
            return "verified"
        if state != VERIFIED:
            session.attempts += 1
            self._note(session, "code_wrong")
            if not session.remaining:
                self._move(session, "attempts_used_up")
        return "wrong"

    def arrived(self, token: str) -> None:
        """The SMS of a session is on its phone."""
        session = self.sessions.get(token)  # it may have ended long ago, and be forgotten
        if session is not None and session.state_at(self._world.clock.now) == PENDING:
            self._move(session, "code_arrived")

    def _move(self, session: Session, event: str) -> None:
        session.follow(event)
        self._note(session, event)

    def _note(self, session: Session, event: str) -> None:
        world = self._world
        world.journal.add(world.clock.now, CODE["validation"], (session, event, session.recorded))

    # -- limits

    def _count(self, phone: str, now: int) -> None:
        """Counts a new session for both limits. Raises `LimitReached` without counting it (§8, A53)."""
        limits = self._assume.verify_limits
        scopes: tuple[tuple[Scope, str, Rate | None], ...] = (
            ("account", "", limits.account),
            ("number", phone, limits.number),
        )
        reached = []
        for scope, holder, rate in scopes:
            if rate is None:
                continue
            instants = self._counted.setdefault(holder, deque())
            if wait := rate.wait(instants, now):
                self._refuse(scope, holder, phone, now + wait)
                raise LimitReached(scope, rate, phone)
            reached.append(instants)
        for instants in reached:
            instants.append(now)

    def _refuse(self, scope: Scope, holder: str, phone: str, free_at: int) -> None:
        world = self._world
        world.journal.mark(world.journal.add(world.clock.now, CODE["limited"], (scope, phone)))
        if self._free_at.get(holder) != free_at:
            self._free_at[holder] = free_at
            world.timeline.lapse(free_at, f"{scope}_limit", (holder, free_at))

    def explain(self, session: Session) -> dict[str, Any]:
        """The reason why a session got its code: `{phone, code, state, rules, decided_by}`."""
        case = self.book.case(session.phone, session.key, session.created_at, session.ordinal)
        return {
            "phone": session.phone,
            "code": session.code,
            "state": session.state_at(self._world.now),
            "rules": tried(self.book, self.book.rules, case),
            "decided_by": list(session.rules),
        }

    # -- proofs

    def values(self, session: Session) -> dict[str, str]:
        """The values that a session's proof signs, as answers show them."""
        return {
            "phoneNumber": session.phone,
            "token": session.token,
            "code": session.code,
            "timestamp": iso(session.created_at),
        }

    def proof(self, session: Session) -> str | None:
        """The proof of a session, None if the account has no secret (§5.5)."""
        secret = self._account.verification_secret
        return proof.sign(secret, self.values(session), self._assume.proof) if secret else None

    def confirms(self, session: Session, text: str) -> bool:
        """True if a proof is that of the session, and the session was verified (§4.5, A50)."""
        return session.recorded == VERIFIED and self._holds(text, self.values(session))

    def check(self, values: Mapping[str, str], text: str) -> ProofOutcome:
        """A proof, checked against the values that came with it, without a session (§4.5, A51)."""
        if not self._holds(text, values):
            return "invalid"
        try:
            age = self._world.clock.now - instant(values["timestamp"])
        except ValueError:  # signed with the secret, but not an instant
            return "invalid"
        return "expired" if age > PROOF_VALID_MS else "valid"

    def _holds(self, text: str, values: Mapping[str, str]) -> bool:
        return proof.holds(text, self._account.verification_secret, values, self._assume.proof)
