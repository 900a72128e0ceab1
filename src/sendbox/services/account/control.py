"""Operations on the account: show it, change it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Final

from sendbox.control.arguments import Body, compile_long, compiled, described
from sendbox.control.export.rows import Exported
from sendbox.control.operation import Call, json_object, operation, unreadable
from sendbox.control.reading import select
from sendbox.engine import bounds
from sendbox.engine.answer import JsonMapping, JsonObject, moment
from sendbox.engine.durations import iso
from sendbox.engine.world import World
from sendbox.scenario.model import ScenarioError
from sendbox.services.account.account import Account
from sendbox.services.account.answers import AccountView, OrderView, Subkey
from sendbox.services.account.keys import Key
from sendbox.services.account.orders import Order


@operation("GET", "/worlds/{id}/account", answers=AccountView)
async def account(call: Call) -> AccountView:
    """The present account: credit, senders, lists, templates as names, sub-keys, orders of services."""
    return account_view(call.hosted.world)


def _compile(call: Call, raw: JsonMapping, of: tuple[str, str]) -> JsonObject:
    """The changes, for an account of this country and currency. Raises `ControlError`."""
    country, currency = of
    try:
        changes: JsonObject = call.served.language.compile_patch(
            "account", _written(raw, of), country=country, current={"currency": currency}
        )
    except ScenarioError as error:
        raise unreadable(error, "bad_account") from None
    # in the order in which they are shown
    lists: JsonObject = {
        name: dict.fromkeys(sorted(changes[name]), 0) for name in ("optout", "blacklist") if name in changes
    }
    return {**changes, **lists}


def _written(raw: JsonMapping, of: tuple[str, str]) -> JsonMapping:
    """The change as a scenario has it: a credit that is a number, as `account` shows it, gets its currency."""
    credit = raw.get("credit")
    if not isinstance(credit, int | float) or isinstance(credit, bool):
        return raw
    return {**raw, "credit": {of[1].lower(): credit}}


def _kind(call: Call) -> tuple[str, str]:
    account = Account.of(call.hosted.world)
    return account.country, account.currency


async def _compiled(call: Call, arguments: JsonMapping) -> JsonMapping:
    """A long change is compiled off the loop."""
    return await compile_long(call.runtime.builder, arguments, lambda _raw: _kind(call), partial(_compile, call))


@operation(
    "PATCH",
    "/worlds/{id}/account",
    raw=True,
    act=True,
    journals=True,
    prepare=_compiled,
    answers=AccountView,
    longest=bounds.LONG_BODY,
)
async def change_account(call: Call, raw: Annotated[Body, described("keys of `account:`")] = None) -> AccountView:
    """Changes the account at once: credit, templates, senders, lists, secret."""
    world = call.hosted.world
    raw = json_object(raw, "a change of an account")
    of = _kind(call)
    changes = compiled(raw, of, partial(_compile, call))
    world.journal_act("account", {"changes": _written(raw, of)})
    Account.of(world).change(changes)
    return account_view(world)


def account_view(world: World) -> AccountView:
    """The present account. Money in units of the currency."""
    account = Account.of(world)
    senders = account.senders
    return AccountView(
        currency=account.currency,
        credit=account.balance / 1_000_000,
        spent=account.spent / 1_000_000,
        country=account.country,
        default_callback_url=account.top.default_callback_url,
        senders=senders if senders == "any" else {name: sorted(values) for name, values in senders.items()},
        numbers=sorted(account.numbers),
        domains=sorted(account.domains),
        templates=list(account.templates),
        optout=sorted(account.optout),
        blacklist=sorted(account.blacklist),
        stop_words=sorted(account.stop_words),
        subkeys=[_subkey_view(account, key) for key in account.subkeys.children],
        orders=[_order_view(order) for order in account.orders.placed],
    )


def _subkey_view(account: Account, key: Key) -> Subkey:
    billing = account.billing_of(key)
    return Subkey(
        key=key.id,
        note=key.note,
        scope=key.scope,
        disabled=key.disabled,
        shared=key.billing is None,
        subid=billing.subid,
        currency=billing.currency,
        credit=billing.balance / 1_000_000,
        default_callback_url=key.default_callback_url,
    )


def _order_view(order: Order) -> OrderView:
    return OrderView(
        order=order.id,
        service=order.service,
        subject=order.subject,
        period=order.period,
        state=order.state,
        fee=order.fee / 1_000_000,
        currency=order.billing.currency,
        subid=order.billing.subid,
        placed_at=moment(order.at),
    )


async def open_entries(world: World, most: int) -> list[JsonObject]:
    """The entries of the lists that are not in force yet (A81), at most `most`."""
    account = Account.of(world)
    billings = {billing.subid: billing for billing in (account, *account.subkeys.by_subid.values())}
    open_billings = [billing for billing in billings.values() if billing.complete_at > world.now]
    entries = [
        {"list": name, "phone": phone, "subid": billing.subid, "in_force": iso(since)}
        for billing in open_billings
        for name in ("blacklist", "optout")
        for phone, since in await select(list(getattr(billing, name).items()), lambda entry: entry[1] > world.now, most)
    ]
    return entries[:most]


EXPORTED: Final[Mapping[str, Exported]] = {
    "account": Exported(
        lambda _world, step: {"account": step.detail["changes"]},
        frozenset({"sending", "rejected"}),
        line=lambda literals, detail: literals.call("sendbox.set_account", [], detail["changes"]),
    )
}
