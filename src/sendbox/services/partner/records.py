"""The records of partner management: signups, business accounts and their numbers, and what is told about a signup."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sendbox.engine.journal import enter
from sendbox.services.partner.states import SENDING_NUMBERS

if TYPE_CHECKING:
    from sendbox.engine.delivery.batches import Outlet
    from sendbox.services.ports import Key

enter("signup", "template", "number", "notice")


class Failure(Exception):
    """Why a partner call fails in business, not in form: 200 with `success: false` (§4.3, A37).

    `path` of the field it is about as JSONPath, `rule` a stable word, `section` and `assumed` where it is written.
    """

    def __init__(self, message: str, path: str, rule: str, section: str = "§4.3", assumed: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.rule = rule
        self.section = section
        self.assumed = assumed


class Signup:
    """One embedded signup (§4.3, A38, A46). `expires_at` in virtual milliseconds: its token lives until then (§8).

    `details` are the optional fields of the request, as they came or as the client changed them on the page.
    """

    __slots__ = (
        "account", "client_id", "code", "created_at", "details", "expires_at", "finishing", "id", "key", "mode", "name",
        "number", "ordinal", "outlet", "phone_number", "reason", "state", "told",
    )  # fmt: skip

    def __init__(
        self,
        signup_id: str,
        name: str,
        key: Key,
        mode: str,
        client_id: str | None,
        details: dict[str, str],
        outlet: Outlet,
        now: int,
    ) -> None:
        self.id = signup_id
        #: what it was named by, unsalted: the same in every world (digest)
        self.name = name
        self.key = key
        self.mode = mode
        self.client_id = client_id
        self.details = details
        self.created_at = now
        self.expires_at = now
        self.state = "created"
        self.outlet = outlet
        #: how many signups came before it
        self.ordinal = 0
        #: number that the client will use, as far as it is known
        self.phone_number: str | None = None
        #: code that was sent to it and not entered yet
        self.code: str | None = None
        #: the client has finished, and the provider has not yet answered
        self.finishing = False
        self.reason: str | None = None
        self.account: BusinessAccount | None = None
        self.number: BusinessNumber | None = None
        #: how many notifications were made
        self.told = 0

    @property
    def ended(self) -> bool:
        """Whether nothing becomes of it any more."""
        return self.state in ("completed", "failed", "expired")


class BusinessAccount:
    """A client's business account at the provider (A39, A40). `id` is the `waba_id`, elsewhere called `chatapp_id`."""

    __slots__ = ("analytics", "client_id", "country", "currency", "id", "name", "owner_id")

    def __init__(
        self, account_id: str, name: str, client_id: str | None, owner_id: str, currency: str, country: str
    ) -> None:
        self.id = account_id
        self.name = name
        self.client_id = client_id
        self.owner_id = owner_id
        self.currency = currency
        #: ISO 3166 code
        self.country = country
        #: whether statistics of templates are kept (§4.3)
        self.analytics = False


class BusinessNumber:
    """A number of a business account (§2.5, A44). `id` is the Phone Number ID, the sender of chatapp steps (§2.2)."""

    __slots__ = ("account_id", "id", "name", "phone_number", "quality", "status")

    def __init__(self, number_id: str, account_id: str, phone_number: str, name: str) -> None:
        self.id = number_id
        self.account_id = account_id
        self.phone_number = phone_number
        self.name = name
        self.status = "PENDING"
        self.quality = "UNKNOWN"

    @property
    def sends(self) -> bool:
        """Whether messages can be sent from it."""
        return self.status in SENDING_NUMBERS


class Onboarding:
    """What is told about a signup: one POST for each of its states (§6, A24). `fields` as they stood then."""

    __slots__ = ("fields", "number", "signup")

    def __init__(self, signup: Signup, number: int, fields: dict[str, Any]) -> None:
        self.signup = signup
        self.number = number
        self.fields = fields

    @property
    def reason(self) -> str | None:
        """Why the signup failed; None of the states before that."""
        return self.signup.reason if self.fields["status"] == "failed" else None
