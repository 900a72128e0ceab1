"""The endpoints of the Verify interface (§4.5): begin a session, submit a code, check a proof with state or without."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sendbox.engine.remarks import Finding
from sendbox.services.advice import PROOF_CANNOT_HOLD, advise
from sendbox.services.http.diagnosis import beside
from sendbox.services.ports import account_of
from sendbox.services.verify.http import encode
from sendbox.services.verify.http.decode import canonical, legal, misshapen, parse, remark_number
from sendbox.services.verify.http.errors import (
    EXPIRED,
    INVALID_CODE,
    NOT_FOUND,
    PHONE_RATE_LIMIT,
    TENANT_RATE_LIMIT,
    TOO_MANY_ATTEMPTS,
    UNTOUCHED,
    refusal,
)
from sendbox.services.verify.session import VERIFIED
from sendbox.services.verify.verify import LimitReached, Verify

if TYPE_CHECKING:
    from sendbox.services.http.exchange import Answer, Exchange, Refused
    from sendbox.services.verify.session import Session

_LIMITS: Final = {"account": TENANT_RATE_LIMIT, "number": PHONE_RATE_LIMIT}
#: Outcomes of a code that are errors: code, and what the journal says of it.
_OUTCOMES: Final = {
    "wrong": (INVALID_CODE, "the code is not the one that was sent"),
    "expired": (EXPIRED, "the session is older than ten minutes; begin a new one"),
    "exhausted": (TOO_MANY_ATTEMPTS, "six wrong codes were given; begin a new session"),
}


def create_validation(exchange: Exchange) -> Answer:
    """`POST /v1/validations`: begins a session and sends its code (§4.5, A47)."""
    body = legal(exchange, parse(exchange, UNTOUCHED), UNTOUCHED)
    phone: str = body["phoneNumber"]
    remark_number(exchange, phone)
    exchange.content = canonical(body)
    verify = Verify.of(exchange.world)
    try:
        session = verify.create(phone, body.get("payload", {}), exchange.key, exchange.content, exchange.origin)
    except LimitReached as limit:
        found = Finding("$.phoneNumber", f"{limit.scope}-limit", str(limit), "§8", "A53")
        raise refusal(_LIMITS[limit.scope], [found], UNTOUCHED) from None
    return encode.created(verify, session)


def verify_code(exchange: Exchange) -> Answer:
    """`POST /v1/validations/{token}/verify`: the code that the user entered (§4.5, §7.2; A48, A49, A72)."""
    session = _session(exchange)
    body = parse(exchange, _remaining(session))
    if session is None:
        raise beside(_unknown(exchange), misshapen(exchange, body))
    body = legal(exchange, body, session.remaining)
    exchange.content = canonical(body)
    verify = Verify.of(exchange.world)
    outcome = verify.submit(session, body["code"])
    if outcome == "verified":
        return encode.verified(verify, session)
    code, why = _OUTCOMES[outcome]
    found = Finding("$.code", outcome, f'"{body["code"]}" is refused: {why}', "§7.2", "A49")
    raise refusal(code, [found], session.remaining)


def check_proof(exchange: Exchange) -> Answer:
    """`PATCH /v1/validations/{token}`: a proof against the stored session (§4.5; A50, A74)."""
    session = _session(exchange)
    body = parse(exchange, _remaining(session))
    exchange.content = b"{}"  # a proof is a name of the world: it must not tell two digests apart
    if session is None:
        raise beside(_unknown(exchange), misshapen(exchange, body))
    body = legal(exchange, body, session.remaining)
    verify = Verify.of(exchange.world)
    _remark_proof(exchange, session)
    holds = verify.confirms(session, body["proof"])
    exchange.content = canonical({"valid": holds})
    return encode.confirmed(session if holds else None)


def verify_proof(exchange: Exchange) -> Answer:
    """`POST /v1/verify-proof`: a proof by itself, without key or session (§4.5, §5.4; A51)."""
    exchange.content = b"{}"
    body = legal(exchange, parse(exchange, 0), 0)
    _remark_proof(exchange, None)
    outcome = Verify.of(exchange.world).check(body, body["proof"])
    exchange.content = canonical({"phoneNumber": body["phoneNumber"], "code": body["code"], "outcome": outcome})
    return encode.checked(outcome)


def _session(exchange: Exchange) -> Session | None:
    return Verify.of(exchange.world).find(exchange.params["token"], exchange.key)


def _remaining(session: Session | None) -> int:
    return 0 if session is None else session.remaining


def _unknown(exchange: Exchange) -> Refused:
    text = f'"{exchange.params["token"]}" is no token of a validation that this key began'
    return refusal(NOT_FOUND, [Finding("path", "token", text, "§7.1", "A49")], 0)


def _remark_proof(exchange: Exchange, session: Session | None) -> None:
    """Advice on a proof that cannot hold, whatever it is."""
    text = None
    if not account_of(exchange.world).verification_secret:
        text = "no proof can hold: the account has no verificationSecret"
    elif session is not None and session.recorded != VERIFIED:
        text = "no proof can hold: the session was not verified"
    if text is not None:
        exchange.advice.append(advise(PROOF_CANNOT_HOLD, text, "$.proof"))
