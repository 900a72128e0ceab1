"""Operations on the account: show it, change it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sendbox.control.export.rows import Exported
from sendbox.control.operation import Call, ControlError, json_object, operation
from sendbox.scenario.model import ScenarioError
from sendbox.services.account.account import Account
from sendbox.services.account.views import account_view


@operation("GET", "/worlds/{id}/account")
async def account(call: Call) -> Any:
    """The account as it stands."""
    return account_view(call.here.world)


@operation("PATCH", "/worlds/{id}/account", raw=True, act=True, journals=True)
async def change_account(call: Call, raw: Any = None) -> Any:
    """Changes the account at once: credit, templates, senders, lists, secret."""
    world = call.here.world
    raw = json_object(raw, "a change of an account")
    try:
        account = Account.of(world)
        current = {"currency": account.currency}
        changes = call.runtime.language.compile_patch("account", raw, country=account.country, current=current)
    except ScenarioError as error:
        raise ControlError(
            422, "bad_account", str(error), problems=[problem.as_json() for problem in error.problems]
        ) from None
    world.control("account", {"changes": raw})
    Account.of(world).change(changes)
    return account_view(world)


EXPORTED: Final[Mapping[str, Exported]] = {
    "account": Exported(
        lambda _world, step: {"account": step.detail["changes"]},
        frozenset({"sending", "rejected"}),
        line=lambda literals, detail: literals.call("sendbox.set_account", [], detail["changes"]),
    )
}
