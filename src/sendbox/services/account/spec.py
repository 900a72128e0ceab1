"""The definitions of a scenario for the account (`account:`), which the language reads without a world."""

from __future__ import annotations

from typing import Literal

import msgspec

from sendbox.engine.answer import JsonObject


class SubKeySpec(msgspec.Struct, frozen=True):
    """A sub-key `<world>~<name>` that exists from the start (§2.5, A32). `credit` in millionths, of its own balance.

    None keeps the value of an existing key, or the default.
    """

    name: str
    note: str | None = None
    shared: bool = False
    currency: Literal["EUR", "CZK"] | None = None
    credit: int | None = None
    scope: str | None = None
    default_callback_url: str | None = None


class AccountSpec(msgspec.Struct, frozen=True):
    """The account a world starts with. Money in millionths of the currency's unit (1 EUR = 1_000_000).

    `senders` maps families of channels to registered senders, or is "any". `templates` are records as §2.5
    (`name, language, category, status, components`). Lists hold normalized numbers.
    """

    credit: int = 10_000_000_000
    currency: Literal["EUR", "CZK"] = "EUR"
    country: str = "420"
    default_callback_url: str | None = None
    default_callback_secret: str | None = None
    verification_secret: str | None = None
    senders: dict[str, frozenset[str]] | Literal["any"] = "any"
    numbers: frozenset[str] = frozenset()
    domains: frozenset[str] = frozenset()
    templates: tuple[JsonObject, ...] = ()
    optout: frozenset[str] = frozenset()
    blacklist: frozenset[str] = frozenset()
    stop_words: frozenset[str] = frozenset({"STOP"})
    subkeys: tuple[SubKeySpec, ...] = ()
