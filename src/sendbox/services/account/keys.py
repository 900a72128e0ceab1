"""API keys of a world: the parent key is the world's id, sub-keys are `<world>~<suffix>` (§2.5, §5.6; A19, A32)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sendbox.engine.classes import dataclass
from sendbox.engine.journal import enter

if TYPE_CHECKING:
    from sendbox.services.account.billing import Billing

enter("key", "listed", "order")


@dataclass(slots=True)
class Key:
    """One key of a world and its settings. `default_callback_secret` signs deliveries (A21).

    `billing` is its own balance and lists, None if it shares those of the account. A disabled key is denied.
    """

    id: str
    note: str = ""
    default_callback_url: str | None = None
    default_callback_secret: str | None = None
    default_sender: str | None = None
    #: what it may do (A19): `full` everything, `rest-api` change settings, `api` send, and look at what was sent
    scope: str = "full"
    disabled: bool = False
    #: whether it was made to share the senders of its parent, and for which user (A32); shown, without other effect
    share_senders: bool = False
    app_userid: str | None = None
    billing: Billing | None = None

    @property
    def changes_settings(self) -> bool:
        """True if the key's scope lets it change settings (A19)."""
        return self.scope != "api"
