"""Operations that say who calls, and who has changed what through control."""

from __future__ import annotations

from sendbox.control.arguments import Last
from sendbox.control.operation import Call, operation
from sendbox.engine.answer import Answer, Instant, moment
from sendbox.runtime.teams import Role


class QuotaUse(Answer):
    """The most that worlds may use of something, and how much they keep of it; calls are counted for a second only."""

    most: int
    used: int | None


class Holder(Answer):
    """The token of a call: its worlds are those whose ids begin with `prefix`. Without tokens its `name` is null.

    `quota` says what these worlds may use together, by name, where there is a quota for the prefix.
    """

    name: str | None
    role: Role
    prefix: str
    quota: dict[str, QuotaUse] | None = None


class AuditRow(Answer):
    """A call that changed something: the token's name, the address of the caller, the operation and its world.

    `world` ends with `*` where worlds were meant by the beginning of their ids, and is null where none was.
    """

    at: Instant
    token: str | None
    caller: str
    operation: str
    world: str | None


class Audit(Answer):
    """Calls that changed something, newest last."""

    calls: list[AuditRow]


@operation("GET", "/token", answers=Holder, own_scope="facts")
async def token(call: Call) -> Holder:
    """The token of this call, and what it is for."""
    quotas, prefix = call.runtime.quotas, call.token.prefix
    usage = None if quotas is None or not prefix else quotas.of(prefix)
    quota = None
    if usage is not None:
        quota = {name: QuotaUse(most=most, used=usage.kept.get(name)) for name, most in usage.quota.most.items()}
    return Holder(name=call.token.name or None, role=call.token.role, prefix=prefix, quota=quota)


@operation("GET", "/audit", answers=Audit, own_scope="worlds")
async def audit(call: Call, last: Last = None) -> Audit:
    """The newest calls of control that changed something, up to 1000, in real time; newest last.

    A token with a prefix sees its own calls, and those about its worlds. What a client repeats all the time, such as
    the calls of `sendbox forward`, is not in it.
    """
    own = [
        AuditRow(
            at=moment(row.at),
            token=row.token or None,
            caller=row.caller,
            operation=row.operation,
            world=row.world or None,
        )
        for row in call.runtime.audit
        if row.concerns(call.token)
    ]
    return Audit(calls=own if last is None else own[max(0, len(own) - last) :])
