"""The Verify interface as rows (§4.5, base `{verify_url}`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Final

from sendbox.services.http.exchange import Answer, Auth, Handler, Route, WorldLookup
from sendbox.services.http.requests import token_in
from sendbox.services.http.routing import make_route
from sendbox.services.verify.http.errors import creation_error, deny, deny_creation, error
from sendbox.services.verify.http.handlers import check_proof, create_validation, verify_code, verify_proof
from sendbox.services.verify.verify import Verify

if TYPE_CHECKING:
    from sendbox.engine.world import World

_ERROR: Final = "verify.json#/$defs/VerifyError"
#: Assumptions of every row here.
_ASSUMED: Final = ("A49", "A54", "A56", "A57", "A75")


_WHOSE: Final = WorldLookup(
    lambda body: token_in(body) or "",
    ("the token in its body is of no open world", "check proofs while the world is open that gave them out"),
)


def _phone(world: World, params: Mapping[str, str]) -> str:
    """The phone that the code of a session was sent to."""
    return Verify.of(world).phone_of(params.get("token", ""))


def _route(
    operation: str,
    summary: str,
    handler: Handler,
    schema: str,
    errors: Iterable[int],
    *assumed: str,
    auth: Auth = "header",
    error: Callable[[int, str], Answer] = error,
    deny: Callable[[bool], Answer] = deny,
    world_lookup: WorldLookup | None = None,
    refused: str | None = None,
) -> Route:
    return make_route(
        operation,
        summary,
        handler,
        f"verify.json#/$defs/{schema}Request",
        {200: f"verify.json#/$defs/{schema}Response", **dict.fromkeys(errors, _ERROR)},
        section="§4.5",
        error=error,
        assumed=(*_ASSUMED, *assumed),
        auth=auth,
        deny=deny,
        world_lookup=world_lookup,
        about=_phone,
        refused=refused,
    )


ROUTES: Final = (
    _route(
        "createValidation", "Send a six-digit code to a phone", create_validation, "Validation", (400, 401, 429, 500),
        "A47", "A52", "A53", "A72", "A73", "A89", error=creation_error, deny=deny_creation,
    ),
    _route(
        "verifyCode", "Submit the code that the user entered", verify_code, "Code", (400, 401, 404, 429, 500),
        "A48", "A52", "A72",
    ),
    _route(
        "checkProof", "Check a proof against its session", check_proof, "Proof", (400, 401, 404, 500),
        "A50", "A52", "A74",
    ),
    _route(
        "verifyProof", "Check a proof by itself", verify_proof, "OfflineProof", (400, 500), "A51", "A52",
        auth="none", world_lookup=_WHOSE, refused='POST /v1/verify-proof {"token": "TOKEN"}',
    ),
)  # fmt: skip
