"""The Verify interface (§4.5, base `{verify_url}`): begin a session, submit a code, check a proof.

Bodies are parsed, checked against their schema, and remarked on first (A57, A72, A75). Its refusals and its rows stand
here, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

import orjson
from msgspec.structs import replace

from sendbox.contract.parser import Malformed, parse_json
from sendbox.engine.answer import JsonObject
from sendbox.engine.durations import iso
from sendbox.engine.remarks import Finding
from sendbox.engine.world import World
from sendbox.services import limits
from sendbox.services.advice import NATIONAL_NUMBER, NUMBER_INVALID, PROOF_CANNOT_HOLD, advise
from sendbox.services.assume import Assume
from sendbox.services.http.exchange import Answer, Exchange, Interface, Refused, WorldLookup
from sendbox.services.http.numbers import remark_number
from sendbox.services.http.requests import (
    add_findings,
    canonical,
    content_type_finding,
    refused_fields,
    token_in,
    unknown_fields,
    without_nulls,
)
from sendbox.services.http.routing import RouteFamily
from sendbox.services.numbers.notation import normalize
from sendbox.services.ports import account_of
from sendbox.services.verify.session import VERIFIED, Session
from sendbox.services.verify.verify import OPERATION, LimitReached, Verify

#: HTTP status and text of each error code (§7.2, A49, A54); the text of `MISSING_FIELD` names the field.
ERRORS: Final = {
    "MISSING_FIELD": (400, "Missing required field: {}"),
    "INVALID_PHONE": (400, "Invalid phone number"),
    "INVALID_CODE": (400, "Invalid code"),
    "EXPIRED": (400, "Validation expired"),
    "VERIFICATION_DISABLED": (400, "Tenant does not have verification enabled"),
    "NOT_FOUND": (404, "Validation not found"),
    "UNSUPPORTED_MEDIA_TYPE": (415, "Unsupported media type"),
    "MISSING_API_KEY": (401, "Missing X-API-Key header"),
    "INVALID_API_KEY": (401, "Invalid or disabled API key"),
    "TENANT_RATE_LIMIT": (429, "Tenant rate limit exceeded"),
    "PHONE_RATE_LIMIT": (429, "Too many attempts for this phone number"),
    "TOO_MANY_ATTEMPTS": (429, "Too many attempts"),
}
#: Error codes of refusals outside the handlers, by status (A75).
_BY_STATUS: Final = {
    401: "INVALID_API_KEY",
    404: "NOT_FOUND",
    405: "METHOD_NOT_ALLOWED",
    413: "PAYLOAD_TOO_LARGE",
    415: "UNSUPPORTED_MEDIA_TYPE",
    429: "TENANT_RATE_LIMIT",
}

#: The attempts that remain after a refused creation (A49).
UNTOUCHED: Final = limits.ATTEMPTS


def _answer(status: int, code: str, text: str, remaining: int) -> Answer:
    return Answer(status, orjson.dumps({"error": code, "message": text, "attemptsRemaining": remaining}))


def error(status: int, text: str, remaining: int = 0) -> Answer:
    """The answer to a refusal outside the handlers: unknown path, long body, internal error (A75)."""
    code = "INTERNAL_ERROR" if status >= 500 else _BY_STATUS.get(status, "MISSING_FIELD")
    return _answer(status, code, text, remaining)


#: The same where a session would have begun: it would have all its attempts (A49).
creation_error = partial(error, remaining=UNTOUCHED)

INTERFACE: Final = Interface("Verify", ("/v1/validations", "/v1/verify-proof"), error)


def deny(with_key: bool, remaining: int = 0) -> Answer:
    """The answer to a missing key, or to one that is not admitted (§5.4, §7.2)."""
    code = "INVALID_API_KEY" if with_key else "MISSING_API_KEY"
    return _answer(401, code, ERRORS[code][1], remaining)


#: The same where a session would have begun (A49).
deny_creation = partial(deny, remaining=UNTOUCHED)


def refusal(
    code: str, findings: Sequence[Finding], remaining: int, *, field: str = "", text: str | None = None
) -> Refused:
    """A refusal by error code. `field` is the missing field; `text` replaces the text of the code (malformed JSON)."""
    status, form = ERRORS[code]
    message = form.format(field) if text is None else text
    return Refused(list(findings), status, message, _answer(status, code, message, remaining))


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
    _remark_phone(exchange, phone)
    exchange.content = canonical(body)
    verify = Verify.of(exchange.world)
    try:
        payload, record = body.get("payload", {}), exchange.record
        session = verify.create(phone, payload, exchange.key, exchange.content, exchange.origin, record)
    except LimitReached as limit:
        finding = Finding("$.phoneNumber", f"{limit.scope}-limit", str(limit), "§8", "A53")
        raise refusal(_LIMITS[limit.scope], [finding], UNTOUCHED) from None
    return _creation_answer(verify, session)


def verify_code(exchange: Exchange) -> Answer:
    """`POST /v1/validations/{token}/verify`: the code that the user entered (§4.5, §7.2; A48, A49, A72)."""
    session, body = _session(exchange)
    exchange.content = canonical(body)
    verify = Verify.of(exchange.world)
    outcome = verify.submit(session, body["code"])
    if outcome == "verified":
        return _verification_answer(verify, session)
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
    return _proof_answer(session if holds else None)


def verify_proof(exchange: Exchange) -> Answer:
    """`POST /v1/verify-proof`: a proof alone, without key or session (§4.5, §5.4; A51)."""
    exchange.content = b"{}"
    body = legal(exchange, parse(exchange, 0), 0)
    _remark_proof(exchange, None)
    world = exchange.world
    if not account_of(world).verification_secret and body["token"].startswith(world.tag):  # else it is in no account
        return _disabled_refusal(exchange)
    outcome = Verify.of(exchange.world).check(body, body["proof"])
    exchange.content = canonical({"phoneNumber": body["phoneNumber"], "code": body["code"], "outcome": outcome})
    return _json({"valid": outcome == "valid", **({"expired": True} if outcome == "expired" else {})})


def _disabled_refusal(exchange: Exchange) -> Answer:
    """The answer to a proof where the account has no secret (A51)."""
    if Assume.of(exchange.world).no_secret == "observed":
        return _json({"valid": False, "error": ERRORS["VERIFICATION_DISABLED"][1]})
    text = "no proof can be checked: the account has no verificationSecret (§4.5, A51)"
    raise refusal("VERIFICATION_DISABLED", [Finding("$.proof", "secret", text, "§4.5", "A51")], 0)


def _session(exchange: Exchange, content: bytes | None = None) -> tuple[Session, JsonObject]:
    """The session of the path and the body of the call, whose `content` is this once it is JSON. Raises `Refused`."""
    session = Verify.of(exchange.world).find(exchange.params["token"], exchange.key)
    remaining = 0 if session is None else session.remaining
    body = parse(exchange, remaining)
    exchange.content = content
    if session is None:
        text = f'"{exchange.params["token"]}" is not the token of a validation that this key began'
        unknown = refusal("NOT_FOUND", [Finding("path", "token", text, "§7.1", "A49")], 0)
        raise add_findings(unknown, shape_findings(exchange, body))
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


def _creation_answer(verify: Verify, session: Session) -> Answer:
    """A session that was begun (A47)."""
    return _with_proof(
        verify,
        session,
        {
            "token": session.token,
            "status": session.recorded,
            "expiresAt": iso(session.expires_at),
            "timestamp": iso(session.created_at),
        },
    )


def _verification_answer(verify: Verify, session: Session) -> Answer:
    """The right code, each time it is given (A48, A72)."""
    return _with_proof(
        verify, session, {"verified": True, **verify.values(session), "verifiedAt": iso(session.verified_at or 0)}
    )


def _proof_answer(session: Session | None) -> Answer:
    """The session of a proof: None = the proof does not hold (A50, A74)."""
    if session is None:
        return _json({"valid": False})
    return _json({"valid": True, "phoneNumber": session.phone, "verifiedAt": iso(session.verified_at or 0)})


def _with_proof(verify: Verify, session: Session, body: JsonObject) -> Answer:
    """With the proof where the account has a secret: every validation response has it then (§4.5)."""
    proof = verify.proof(session)
    return _json(body if proof is None else {**body, "proof": proof})


def _json(value: object) -> Answer:
    return Answer(200, orjson.dumps(value))


def parse(exchange: Exchange, remaining: int) -> object:
    """The JSON value of the body. Raises `Refused` for malformed JSON, and another content type (A75)."""
    finding = content_type_finding(exchange)
    if finding is not None:
        raise refusal("UNSUPPORTED_MEDIA_TYPE", [finding], remaining, text=finding.message)
    try:
        body = parse_json(exchange.body)
    except Malformed as malformed:
        raise refusal("MISSING_FIELD", [malformed.finding], remaining, text=str(malformed)) from None
    return without_nulls(body) if Assume.of(exchange.world).nulls == "absent" else body


def legal(exchange: Exchange, body: object, remaining: int) -> JsonObject:
    """The known fields of a body, legal by the route's schema. Raises `Refused`.

    A required field that is absent or null is missing, and so is one of a wrong form (A72), except the phone number of
    a new session, which is invalid (§7.2).
    """
    schema = exchange.route.request or ""
    checker = exchange.contract.checker(schema)
    node = exchange.contract.definitions[schema.rpartition("/")[2]]
    properties = node["properties"]
    fields: JsonObject = body if isinstance(body, dict) else {}
    unknown_fields(fields, frozenset(properties), "$", exchange.route.section, exchange.advice)
    if not checker.is_valid(body):
        findings = checker.findings(body)
        name = findings[0].path.removeprefix("$").removeprefix(".").partition(".")[0]
        present = fields.get(name) is not None
        if present and name == "phoneNumber" and exchange.route.operation == OPERATION:
            raise refusal("INVALID_PHONE", findings, remaining)
        if name and name not in node["required"]:
            raise refusal("MISSING_FIELD", findings, remaining, text=findings[0].message)
        raise refusal("MISSING_FIELD", findings, remaining, field=name or node["required"][0])
    if exchange.advice and (unknown := refused_fields(exchange, exchange.advice)):
        raise refusal("MISSING_FIELD", unknown, remaining, text=unknown[0].message)
    return {name: value for name, value in fields.items() if name in properties}


def shape_findings(exchange: Exchange, body: object) -> list[Finding]:
    """The findings of the schema on a body that is refused for another reason."""
    checker = exchange.contract.checker(exchange.route.request or "")
    return [] if checker.is_valid(body) else checker.findings(body)


def _remark_phone(exchange: Exchange, phone: str) -> None:
    """Advice on a number that its SMS will not reach as intended."""
    if normalize(phone, "") is None:
        text = f'"{phone}" has no assigned calling code, or fewer than 8 digits; its SMS will be rejected'
        exchange.advice.append(advise(NUMBER_INVALID, text, "$.phoneNumber"))
    elif normalize(phone, account_of(exchange.world).country) != phone:
        text = f'"{phone}" looks like a national number; include the country code, since numbers are not converted here'
        exchange.advice.append(advise(NATIONAL_NUMBER, text, "$.phoneNumber"))
    else:
        remark_number(phone, "$.phoneNumber", exchange.advice)


#: Assumptions of every row here.
_ASSUMED: Final = ("A49", "A54", "A56", "A57", "A75")


_WHOSE: Final = WorldLookup(
    lambda body: token_in(body) or "",
    ("the token in its body is of no open world", "check proofs while the world is open that gave them out"),
)


def _phone(world: World, params: Mapping[str, str]) -> str:
    """The phone that the code of a session was sent to."""
    return Verify.of(world).phone_of(params.get("token", ""))


_FAMILY: Final = RouteFamily("§4.5", "verify.json", "VerifyError", error, deny, _ASSUMED, about=_phone)
ROUTES: Final = (
    replace(
        _FAMILY.route(
            "createValidation", "Send a six-digit code to a phone", create_validation,
            "ValidationRequest", "ValidationResponse", "A47", "A52", "A53", "A72", "A73", "A89",
            errors=(400, 401, 429, 500),
        ),
        error=creation_error, deny=deny_creation,
    ),
    _FAMILY.route(
        "verifyCode", "Submit the code that the user entered", verify_code, "CodeRequest", "CodeResponse",
        "A48", "A52", "A72", errors=(400, 401, 404, 429, 500),
    ),
    _FAMILY.route(
        "checkProof", "Check a proof against its session", check_proof, "ProofRequest", "ProofResponse",
        "A50", "A52", "A74", errors=(400, 401, 404, 500),
    ),
    replace(
        _FAMILY.route(
            "verifyProof", "Check a proof by itself", verify_proof, "OfflineProofRequest", "OfflineProofResponse",
            "A51", "A52", errors=(400, 500),
        ),
        auth="none", world_lookup=_WHOSE, refused='POST /v1/verify-proof {"token": "TOKEN"}',
    ),
)  # fmt: skip
