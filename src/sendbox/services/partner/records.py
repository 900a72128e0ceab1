"""The records of partner management: signups, their notifications, business accounts, their numbers, and codes.

The lifecycles of template (A43), business number (A44) and signup (A46) are total tables. They keep the rules of
`engine/lifecycle.py`: every state has a row, an end has an empty one, and a pair that is not in a table raises
`IllegalMove`. The scenario says when things happen and how a review ends (`partner:`).

The template (§2.5, A43)
------------------------
A template begins `PENDING` and is used only while `APPROVED` (§2.2). A review approves or rejects it; an edit sends
it to review again, from each state in which it can be edited. The provider may pause an approved one (its readers
complain), and disable it; after that only an appeal can approve it again. `DELETED` is the only end.

The business number (§2.5, A44)
-------------------------------
A number begins `PENDING` and sends once it is `CONNECTED`. A low quality flags it, which is a warning only; a
restricted or disconnected one sends nothing. There is no end. The quality itself has no table: any rating may follow
any other.

The signup (§4.3, A46)
----------------------
The client opens the hosted page, confirms a number, and finishes; a programmatic registration completes at once,
from every state that is not an end. Its token lives one hour (§8): a signup that is not completed by then is `expired`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from sendbox.engine.answer import JsonObject
from sendbox.engine.delivery.batches import EventKind, Events, Outlet
from sendbox.engine.journal import enter
from sendbox.engine.lifecycle import Lifecycle
from sendbox.engine.rules.conditions import Case
from sendbox.services.ports import Key

if TYPE_CHECKING:
    from sendbox.engine.world import World


TEMPLATE: Final = Lifecycle(
    "a template",
    "A43",
    {
        "PENDING": {
            "approved": "APPROVED",
            "rejected": "REJECTED",
            "edited": "PENDING",
            "limit_reached": "LIMIT_EXCEEDED",
            "deleted": "DELETED",
        },
        "APPROVED": {
            "edited": "PENDING",
            "paused": "PAUSED",
            "disabled": "DISABLED",
            "rejected": "REJECTED",
            "deletion_began": "PENDING_DELETION",
            "deleted": "DELETED",
        },
        "REJECTED": {"edited": "PENDING", "appealed": "IN_APPEAL", "deleted": "DELETED"},
        "PAUSED": {
            "resumed": "APPROVED",
            "edited": "PENDING",
            "disabled": "DISABLED",
            "deletion_began": "PENDING_DELETION",
            "deleted": "DELETED",
        },
        "DISABLED": {"appealed": "IN_APPEAL", "deleted": "DELETED"},
        "IN_APPEAL": {"approved": "APPROVED", "rejected": "REJECTED", "deleted": "DELETED"},
        "LIMIT_EXCEEDED": {"edited": "PENDING", "approved": "APPROVED", "deleted": "DELETED"},
        "PENDING_DELETION": {"deleted": "DELETED"},
        "DELETED": {},
    },
)

NUMBER: Final = Lifecycle(
    "a number",
    "A44",
    {
        "PENDING": {"registered": "CONNECTED", "disconnected": "OFFLINE"},
        "CONNECTED": {"flagged": "FLAGGED", "restricted": "RESTRICTED", "disconnected": "OFFLINE"},
        "FLAGGED": {"recovered": "CONNECTED", "restricted": "RESTRICTED", "disconnected": "OFFLINE"},
        "RESTRICTED": {"recovered": "CONNECTED", "flagged": "FLAGGED", "disconnected": "OFFLINE"},
        "OFFLINE": {"registered": "CONNECTED"},
    },
)

SIGNUP: Final = Lifecycle(
    "a signup",
    "A46",
    {
        "created": {
            "page_opened": "opened",
            "registered": "completed",
            "broke_down": "failed",
            "token_lapsed": "expired",
        },
        "opened": {
            "number_confirmed": "number_verified",
            "registered": "completed",
            "broke_down": "failed",
            "token_lapsed": "expired",
        },
        "number_verified": {"registered": "completed", "broke_down": "failed", "token_lapsed": "expired"},
        "completed": {},
        "failed": {},
        "expired": {},
    },
)

#: States in which a number may send: a flag is a warning only.
SENDING_NUMBERS: Final = frozenset({"CONNECTED", "FLAGGED"})
#: Ratings of a number, best first (A44).
QUALITIES: Final = ("GREEN", "YELLOW", "RED", "UNKNOWN")
CATEGORIES: Final = ("MARKETING", "UTILITY", "AUTHENTICATION")
#: Ways in which a client gets its number (§4.3), the usual one first.
MODES: Final = ("manual", "preassign", "assigned")


enter("signup", "template", "number", "notice")


class Failure(Exception):
    """The failure of a partner call of correct form: 200 with `success: false` (§4.3, A37).

    `path` is the JSONPath of its field, `rule` a stable word, `section` and `assumed` say where the rule is written.
    """

    def __init__(self, message: str, path: str, rule: str, section: str = "§4.3", assumed: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.rule = rule
        self.section = section
        self.assumed = assumed


class Signup(msgspec.Struct, eq=False):
    """One embedded signup (§4.3, A38, A46). `expires_at` in virtual milliseconds: its token lives until then (§8).

    `name` is the text that its id was made of, unsalted: the same in every world (digest). `details` are the optional
    fields of the request, as they came or as the client changed them on the page.
    """

    id: str
    name: str
    key: Key
    mode: str
    client_id: str | None
    details: dict[str, str]
    #: None: no partner is told
    outlet: Outlet | None
    created_at: int
    expires_at: int
    #: how many signups came before it
    ordinal: int
    #: whether the rule that decides it depended on which signup came first
    order_sensitive: bool = False
    state: str = "created"
    #: the number that the client will use, once it is known
    phone_number: str | None = None
    #: the code that was sent to the number and not entered yet
    code: str | None = None
    #: the client has finished, and the provider has not yet answered
    finishing: bool = False
    reason: str | None = None
    account: BusinessAccount | None = None
    number: BusinessNumber | None = None
    #: how many notifications were made
    notifications: int = 0

    @property
    def ended(self) -> bool:
        """True if the signup is completed, failed or expired."""
        return self.state in ("completed", "failed", "expired")

    @property
    def legal(self) -> list[str]:
        """The actions that are possible by hand: `complete` all remaining steps, or let it `fail`."""
        return [] if self.ended else ["fail"] if self.finishing else ["complete", "fail"]


class BusinessAccount(msgspec.Struct, eq=False):
    """A client's business account at the provider (A39, A40). `id` is the `waba_id`, elsewhere called `chatapp_id`."""

    id: str
    name: str
    client_id: str | None
    owner_id: str
    currency: str
    #: ISO 3166 code
    country: str
    #: whether statistics of templates are kept (§4.3)
    analytics: bool = False


class BusinessNumber(msgspec.Struct, eq=False):
    """A number of a business account (§2.5, A44). `id` is the Phone Number ID, the sender of chatapp steps (§2.2)."""

    id: str
    account_id: str
    phone_number: str
    name: str
    status: str = "PENDING"
    quality: str = "UNKNOWN"

    @property
    def sends(self) -> bool:
        """True if messages can be sent from the number."""
        return self.status in SENDING_NUMBERS


class Onboarding(msgspec.Struct, eq=False):
    """The notification of a signup: one POST for each of its states (§6, A24). `fields` as they were then."""

    signup: Signup
    number: int
    fields: JsonObject

    @property
    def reason(self) -> str | None:
        """The reason why the signup failed; None for the states before that."""
        return self.signup.reason if self.fields["status"] == "failed" else None


class Notice(msgspec.Struct, eq=False):
    """A text on a handset that is not a message of the account: a code from the provider (A41)."""

    at: int
    phone: str
    sender: str
    body: str


def _case(onboarding: Onboarding) -> Case:
    phone = str(onboarding.fields.get("phone_number") or "")
    return Case("partnerOnboarding", phone, fields={"event": "partnerOnboarding", "gateway": "", "phone": phone})


def _key(world: World, onboarding: Onboarding, _at: int) -> str:
    name = onboarding.signup.id.removeprefix(world.tag)  # equal salts give equal ids, in any world
    return f"onboarding {name} {onboarding.number}"


#: The notification of a signup: one object for each of its states (§6, A24).
EVENTS: Final[Events] = {
    Onboarding: EventKind(
        _case,
        lambda _onboarding: None,
        lambda onboarding: onboarding.signup,
        _key,
        lambda _world, onboarding, _until: onboarding.fields,
        single=True,
    )
}
