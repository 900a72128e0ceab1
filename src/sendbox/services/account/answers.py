"""Answers about the account: its lists, sub-keys and orders."""

from __future__ import annotations

from typing import Annotated

from sendbox.engine.answer import Answer, Instant, JsonObject, keywords

#: A template as a scenario has it.
TemplateRecord = Annotated[JsonObject, keywords(description="A template, as a scenario has it.")]


class Subkey(Answer):
    """A sub-key; a `shared` one uses the credit of the account."""

    key: str
    note: str | None
    scope: str
    disabled: bool
    shared: bool
    subid: str
    currency: str
    credit: float
    default_callback_url: str | None


class OrderView(Answer):
    """An order of a service."""

    order: str
    service: str
    subject: str
    period: str
    state: str
    fee: float
    currency: str
    subid: str
    placed_at: Instant


class AccountView(Answer):
    """The account of a world. Money in units of the currency."""

    currency: str
    credit: float
    spent: float
    country: str
    default_callback_url: str | None
    senders: str | dict[str, list[str]]
    numbers: list[str]
    domains: list[str]
    templates: list[TemplateRecord]
    optout: list[str]
    blacklist: list[str]
    stop_words: list[str]
    subkeys: list[Subkey]
    orders: list[OrderView]
