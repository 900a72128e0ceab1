"""The endpoints of the Verify interface (§4.5): begin a session, submit a code, check a proof with state or without."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import orjson

from sendbox.engine.durations import iso
from sendbox.engine.remarks import Finding
from sendbox.services.advice import PROOF_CANNOT_HOLD, advise
from sendbox.services.assume import Assume
from sendbox.services.http.diagnosis import beside
from sendbox.services.http.exchange import Answer
from sendbox.services.http.requests import canonical
from sendbox.services.ports import account_of
from sendbox.services.verify.http.decode import legal, misshapen, parse, remark_number
from sendbox.services.verify.http.errors import ERRORS, UNTOUCHED, refusal
from sendbox.services.verify.session import VERIFIED
from sendbox.services.verify.verify import LimitReached, Verify

if TYPE_CHECKING:
    from sendbox.services.http.exchange import Exchange
    from sendbox.services.verify.session import Session
    from sendbox.services.verify.verify import ProofOutcome

_LIMITS: Final = {"account": "TENANT_RATE_LIMIT", "number": "PHONE_RATE_LIMIT"}
#: Outcomes of a code that are errors: code, and what the journal says.
_OUTCOMES: Final = {
    "wrong": ("INVALID_CODE", "the code is not the one that was sent"),
    "expired": ("EXPIRED", "the session is older than ten minutes; begin a new one"),
    "exhausted": ("TOO_MANY_ATTEMPTS", "six wrong codes were given; begin a new session"),
}


def create_validation(exchange: Exchange) -> Answer:
    """`POST /v1/validations`: begins a session and sends its code (§4.5, A47)."""
    body = legal(exchange, parse(exchange, UNTOUCHED), UNTOUCHED)
    phone: str = body["phoneNumber"]
    remark_number(exchange, phone)
    exchange.content = canonical(body)
    verify = Verify.of(exchange.world)
    try:
        payload, record = body.get("payload", {}), exchange.record
        session = verify.create(phone, payload, exchange.key, exchange.content, exchange.origin, record)
    except LimitReached as limit:
        finding = Finding("$.phoneNumber", f"{limit.scope}-limit", str(limit), "§8", "A53")
        raise refusal(_LIMITS[limit.scope], [finding], UNTOUCHED) from None
    return _created(verify, session)


def verify_code(exchange: Exchange) -> Answer:
    """`POST /v1/validations/{token}/verify`: the code that the user entered (§4.5, §7.2; A48, A49, A72)."""
    session, body = _session(exchange)
    exchange.content = canonical(body)
    verify = Verify.of(exchange.world)
    outcome = verify.submit(session, body["code"])
    if outcome == "verified":
        return _verified(verify, session)
    code, reason = _OUTCOMES[outcome]
    finding = Finding("$.code", outcome, f'"{body["code"]}" is refused: {reason}', "§7.2", "A49")
    raise refusal(code, [finding], session.remaining)


def check_proof(exchange: Exchange) -> Answer:
    """`PATCH /v1/validations/{token}`: a proof against the stored session (§4.5; A50, A74)."""
    session, body = _session(exchange, b"{}")  # a proof is a name of the world: it must not tell two digests apart
    verify = Verify.of(exchange.world)
    _remark_proof(exchange, session)
    holds = verify.verifies(session, body["proof"])
    exchange.content = canonical({"valid": holds})
    return _confirmed(session if holds else None)


def verify_proof(exchange: Exchange) -> Answer:
    """`POST /v1/verify-proof`: a proof alone, without key or session (§4.5, §5.4; A51)."""
    exchange.content = b"{}"
    body = legal(exchange, parse(exchange, 0), 0)
    _remark_proof(exchange, None)
    world = exchange.world
    if not account_of(world).verification_secret and body["token"].startswith(world.tag):  # else it is in no account
        return _disabled(exchange)
    outcome = Verify.of(exchange.world).check(body, body["proof"])
    exchange.content = canonical({"phoneNumber": body["phoneNumber"], "code": body["code"], "outcome": outcome})
    return _checked(outcome)


def _disabled(exchange: Exchange) -> Answer:
    """The answer to a proof where the account has no secret (A51)."""
    if Assume.of(exchange.world).no_secret == "observed":
        return _json({"valid": False, "error": ERRORS["VERIFICATION_DISABLED"][1]})
    text = "no proof can be checked: the account has no verificationSecret (§4.5, A51)"
    raise refusal("VERIFICATION_DISABLED", [Finding("$.proof", "secret", text, "§4.5", "A51")], 0)


def _session(exchange: Exchange, content: bytes | None = None) -> tuple[Session, dict[str, Any]]:
    """The session of the path and the body of the call, whose `content` is this once it is JSON. Raises `Refused`."""
    session = Verify.of(exchange.world).find(exchange.params["token"], exchange.key)
    remaining = 0 if session is None else session.remaining
    body = parse(exchange, remaining)
    exchange.content = content
    if session is None:
        text = f'"{exchange.params["token"]}" is not the token of a validation that this key began'
        unknown = refusal("NOT_FOUND", [Finding("path", "token", text, "§7.1", "A49")], 0)
        raise beside(unknown, misshapen(exchange, body))
    return session, legal(exchange, body, remaining)


def _remark_proof(exchange: Exchange, session: Session | None) -> None:
    """Advice on a call for which no proof can hold."""
    text = None
    if not account_of(exchange.world).verification_secret:
        text = "no proof can hold: the account has no verificationSecret"
    elif session is not None and session.recorded != VERIFIED:
        text = "no proof can hold: the session was not verified"
    if text is not None:
        exchange.advice.append(advise(PROOF_CANNOT_HOLD, text, "$.proof"))


# -- answers: times are ISO 8601 with milliseconds and `Z`


def _created(verify: Verify, session: Session) -> Answer:
    """A session that was begun (A47)."""
    return _proved(
        verify,
        session,
        {
            "token": session.token,
            "status": session.recorded,
            "expiresAt": iso(session.expires_at),
            "timestamp": iso(session.created_at),
        },
    )


def _verified(verify: Verify, session: Session) -> Answer:
    """The right code, each time it is given (A48, A72)."""
    return _proved(
        verify, session, {"verified": True, **verify.values(session), "verifiedAt": iso(session.verified_at or 0)}
    )


def _confirmed(session: Session | None) -> Answer:
    """The session of a proof: None = the proof does not hold (A50, A74)."""
    if session is None:
        return _json({"valid": False})
    return _json({"valid": True, "phoneNumber": session.phone, "verifiedAt": iso(session.verified_at or 0)})


def _checked(outcome: ProofOutcome) -> Answer:
    """The result of a proof alone (A51)."""
    return _json({"valid": outcome == "valid", **({"expired": True} if outcome == "expired" else {})})


def _proved(verify: Verify, session: Session, body: dict[str, Any]) -> Answer:
    """With the proof where the account has a secret: every validation response has it then (§4.5)."""
    proof = verify.proof(session)
    return _json(body if proof is None else {**body, "proof": proof})


def _json(value: Any) -> Answer:
    return Answer(200, orjson.dumps(value))
