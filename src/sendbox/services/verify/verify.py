"""Verify: validation sessions, the codes they send, their limits and proofs (§3.2, §4.5, §8; A47 to A54, A72 to A74).

The code travels as an SMS through the simulator like any message, so it can be late, undelivered or refused; but it is
no message of the client's: nothing is reported about it, and what its phone answers reaches nobody (A73).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

import orjson

from sendbox.engine.durations import DAY, instant, iso, show
from sendbox.engine.journal import CODE
from sendbox.engine.part import Part
from sendbox.services.assume import Assume
from sendbox.services.numbers.normal import normalize
from sendbox.services.ports import Share, account_of, sending_of
from sendbox.services.verify import proof
from sendbox.services.verify.rules import Codes
from sendbox.services.verify.session import EXPIRED, FAILED, PENDING, VERIFIED, Session
from sendbox.services.verify.views import code_view

if TYPE_CHECKING:
    from sendbox.engine.durations import Rate
    from sendbox.engine.rules.book import Rulebook
    from sendbox.engine.world import World
    from sendbox.services.ports import Key

#: The operation that sends the SMS, for rules that ask it.
OPERATION: Final = "createValidation"
#: Sender and text of the SMS (A73).
SENDER: Final = "Verify"
TEXT: Final = "Your verification code is {}"
#: A proof older than this is not taken any more by the offline check (A51).
PROOF_VALID_MS: Final = DAY


Scope = Literal["account", "number"]
Outcome = Literal["verified", "wrong", "expired", "exhausted"]
ProofOutcome = Literal["valid", "invalid", "expired"]


class LimitReached(Exception):
    """A session that is one too many (§8): `scope` says of whom."""

    def __init__(self, scope: Scope, rate: Rate, phone: str) -> None:
        self.scope = scope
        whose = "the account" if scope == "account" else phone
        super().__init__(
            f"{whose} began {rate.count} validations within {show(rate.within)}, the most that may be (A53)"
        )


class Code:
    """An SMS with a code, as messaging carries it: not a message of the client's. `token` is its session's."""

    __slots__ = ("goal", "rule", "token", "verify")

    def __init__(self, verify: Verify, goal: str | None, rule: str) -> None:
        self.verify = verify
        self.goal = goal
        self.rule = rule
        self.token = ""

    def arrived(self) -> None:
        """The code is on its phone."""
        self.verify.arrived(self.token)


class Verify(Part):
    """The validation sessions of one world, and the rules about them. Built after messaging."""

    NAME: ClassVar[str] = "verify"
    LAPSES: ClassVar[frozenset[str]] = frozenset({"code"})

    def __init__(self, world: World) -> None:
        self.book = Codes(world.blueprint.settled["verify"], world.chooser, world.start)
        self._world = world
        self._account = account_of(world)
        self._assume = Assume.of(world)
        #: by token, oldest first
        self.sessions: dict[str, Session] = {}
        self._by_phone: dict[str, list[Session]] = {}
        #: instants of sessions that a limit counts: of the account (""), and of each number
        self._counted: dict[str, deque[int]] = {}
        #: when each limit that was reached will be free again
        self._free_at: dict[str, int] = {}

    @property
    def rulebooks(self) -> Mapping[str, Rulebook[Any]]:
        """The rules of `verify`."""
        return {"verify": self.book}

    def lapses(self, at: int, kind: str, what: Session) -> bool:
        """Whether a session really expires now; it may have come to another end since (A72)."""
        return what.lapse()

    # -- sessions

    def create(self, phone: str, payload: dict[str, Any], key: Key, content: bytes, origin: str) -> Session:
        """Begins a session and sends its code. `phone` as given, international. Raises `LimitReached`."""
        world = self._world
        now = world.clock.now
        decided = self.book.begin(phone, now)
        if decided.limited:
            self._count(phone, now)
        code, order_sensitive = self.book.code(decided)
        carrier = Code(
            self, None if decided.sms is None else decided.sms.sms, "" if decided.sms is None else decided.sms.title
        )
        message, request_id = sending_of(world).send_own(
            carrier,
            OPERATION,
            phone,
            TEXT.format(code),
            # taken as given: §4.5 wants the country code in it (A14 would read a national number into some)
            valid=normalize(phone, "") == phone,
            sender=SENDER,
            payload=orjson.dumps(payload),
            key=key,
            content=content,
            origin=origin,
        )
        carrier.token = token = world.tag + world.name("validation", request_id.encode()).hex()[:48]
        session = Session(token, phone, code, key.id, message, payload, decided.rules, now)
        self.sessions[token] = session
        self._by_phone.setdefault(phone, []).append(session)
        world.timeline.lapse(session.expires_at, "code", session)
        entry = world.journal.add(now, CODE["validation"], (session, "created", PENDING))
        if order_sensitive:
            world.journal.mark(entry)
        return session

    def find(self, token: str, key: Key) -> Session | None:
        """The session of a token, for the key that began it; None for anybody else's."""
        session = self.sessions.get(token)
        return session if session is not None and session.key == key.id else None

    def phones(self) -> tuple[str, ...]:
        """None: a code comes by a message."""
        return ()

    def on_phone(self, number: str) -> Share:
        """The codes that went to a phone, newest first."""
        now = self._world.now
        return Share(codes=[code_view(session, now) for session in reversed(self.sessions_of(number))])

    def sessions_of(self, phone: str) -> Sequence[Session]:
        """The sessions of a number, oldest first."""
        return self._by_phone.get(phone, ())

    def submit(self, session: Session, code: str) -> Outcome:
        """The user's code (§3.2, A49, A72). A wrong one uses an attempt up; at an end nothing changes any more."""
        now = self._world.clock.now
        state = session.state_at(now)
        if state == FAILED:
            return "exhausted"
        if state == EXPIRED:
            return "expired"
        if code == session.code:
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
        session = self.sessions[token]
        if session.state_at(self._world.clock.now) == PENDING:
            self._move(session, "code_arrived")

    def _move(self, session: Session, event: str) -> None:
        session.follow(event)
        self._note(session, event)

    def _note(self, session: Session, event: str) -> None:
        world = self._world
        world.journal.add(world.clock.now, CODE["validation"], (session, event, session.recorded))

    # -- limits

    def _count(self, phone: str, now: int) -> None:
        """Counts a new session against both limits. Raises `LimitReached`, and counts it then nowhere (§8, A53)."""
        limits = self._assume.verify_limits
        scopes: tuple[tuple[Scope, str, Rate | None], ...] = (
            ("account", "", limits.account),
            ("number", phone, limits.number),
        )
        counting = []
        for scope, who, rate in scopes:
            if rate is None:
                continue
            counted = self._counted.setdefault(who, deque())
            if wait := rate.wait(counted, now):
                self._refuse(scope, who, phone, now + wait)
                raise LimitReached(scope, rate, phone)
            counting.append(counted)
        for counted in counting:
            counted.append(now)

    def _refuse(self, scope: Scope, who: str, phone: str, free_at: int) -> None:
        world = self._world
        world.journal.mark(world.journal.add(world.clock.now, CODE["limited"], (scope, phone)))
        if self._free_at.get(who) != free_at:
            self._free_at[who] = free_at
            world.timeline.lapse(free_at, f"{scope}_limit", (who, free_at))

    # -- proofs

    def values(self, session: Session) -> dict[str, str]:
        """What a session's proof is made of, as answers show it."""
        return {
            "phoneNumber": session.phone,
            "token": session.token,
            "code": session.code,
            "timestamp": iso(session.created_at),
        }

    def proof(self, session: Session) -> str | None:
        """The proof of a session, None where the account has no secret (§5.5)."""
        secret = self._account.verification_secret
        return proof.sign(secret, self.values(session), self._assume.proof) if secret else None

    def confirms(self, session: Session, given: str) -> bool:
        """Whether a proof is the session's, and the session was verified (§4.5, A50)."""
        return session.recorded == VERIFIED and self._holds(given, self.values(session))

    def check(self, values: Mapping[str, str], given: str) -> ProofOutcome:
        """A proof against what it claims to be about, without any session (§4.5, A51)."""
        if not self._holds(given, values):
            return "invalid"
        try:
            age = self._world.clock.now - instant(values["timestamp"])
        except ValueError:  # signed by somebody who has the secret, and no instant
            return "invalid"
        return "expired" if age > PROOF_VALID_MS else "valid"

    def _holds(self, given: str, values: Mapping[str, str]) -> bool:
        return proof.holds(given, self._account.verification_secret, values, self._assume.proof)
