"""The account as a plain object, for control; made when asked, never kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sendbox.services.account.account import Account

if TYPE_CHECKING:
    from sendbox.engine.world import World


def account_view(world: World) -> dict[str, Any]:
    """The account as it stands. Money in units of the currency."""
    account = Account.of(world)
    key = Account.of(world).keys[world.id]
    senders = account.senders
    return {
        "currency": account.currency,
        "credit": account.balance / 1_000_000,
        "spent": account.spent / 1_000_000,
        "country": account.country,
        "default_callback_url": key.default_callback_url,
        "senders": senders if senders == "any" else {name: sorted(values) for name, values in senders.items()},
        "numbers": sorted(account.numbers),
        "domains": sorted(account.domains),
        "templates": list(account.templates),
        "optout": sorted(account.optout),
        "blacklist": sorted(account.blacklist),
        "stop_words": sorted(account.stop_words),
    }
