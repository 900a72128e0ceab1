"""Operations on partner management: what is connected, the steps of a hosted signup, reviews and ratings by hand."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from sendbox.control.export.rows import Done, Exported, Look, NoEntry, some
from sendbox.control.operation import Call, ControlError, operation
from sendbox.control.reading import each
from sendbox.engine.world import World
from sendbox.services.partner.http import tokens
from sendbox.services.partner.partner import Partner
from sendbox.services.partner.records import Failure, Signup
from sendbox.services.partner.states import QUALITIES, IllegalMove
from sendbox.services.partner.views import business_view, number_view, signup_view, template_view
from sendbox.services.ports import account_of

T = TypeVar("T")


async def _reader(_call: Call, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """What reads tokens is loaded off the loop, where there is one."""
    if given.get("token") is not None:
        await asyncio.get_running_loop().run_in_executor(None, tokens.preload)
    return given


@operation("GET", "/worlds/{id}/partner")
async def partner(call: Call) -> Any:
    """Signups, business accounts with their numbers, and templates."""
    world = call.here.world
    held = Partner.of(world)
    return {
        "signups": await each(list(held.signups.values()), lambda signup: signup_view(world, signup)),
        "accounts": await each(list(held.accounts.values()), lambda account: business_view(world, account)),
        "templates": await each(account_of(world).templates, lambda record: template_view(world, record)),
    }


@operation("GET", "/worlds/{id}/signups/{signup}")
async def signup(call: Call, signup: str) -> Any:
    """One signup, with the code that its number waits for."""
    return signup_view(call.here.world, _signup(call, signup))


@operation("POST", "/worlds/{id}/signups/{signup}/open", act=True, prepare=_reader)
async def open_signup(call: Call, signup: str, token: str | None = None) -> Any:
    """The client's browser shows the hosted page; a token, if one is given, must be the signup's, and valid still."""
    found = _signup(call, signup, token)
    return _done(call, found, lambda: Partner.of(call.here.world).open(found))


@operation("POST", "/worlds/{id}/signups/{signup}/number", act=True, prepare=_reader)
async def give_number(
    call: Call,
    signup: str,
    phone_number: str | None = None,
    details: dict[str, Any] | None = None,
    token: str | None = None,
) -> Any:
    """The client says who it is and, in the mode `manual`, which number it brings; a code goes to it."""
    found = _signup(call, signup, token)
    texts = {name: str(value) for name, value in (details or {}).items()}
    return _done(call, found, lambda: Partner.of(call.here.world).give_number(found, phone_number, texts))


@operation("POST", "/worlds/{id}/signups/{signup}/code", act=True, prepare=_reader)
async def enter_code(call: Call, signup: str, code: str, token: str | None = None) -> Any:
    """The client enters the code that came to its number."""
    found = _signup(call, signup, token)
    return _done(call, found, lambda: Partner.of(call.here.world).confirm(found, code))


@operation("POST", "/worlds/{id}/signups/{signup}/resend", act=True, prepare=_reader)
async def resend_code(call: Call, signup: str, token: str | None = None) -> Any:
    """The code is sent again: a new one."""
    found = _signup(call, signup, token)
    return _done(call, found, lambda: Partner.of(call.here.world).resend_code(found))


@operation("DELETE", "/worlds/{id}/signups/{signup}/number", act=True, prepare=_reader)
async def change_number(call: Call, signup: str, token: str | None = None) -> Any:
    """The client takes back the number it gave, to give another one."""
    found = _signup(call, signup, token)
    return _done(call, found, lambda: Partner.of(call.here.world).change_number(found))


@operation("POST", "/worlds/{id}/signups/{signup}/finish", act=True, prepare=_reader)
async def finish_signup(call: Call, signup: str, token: str | None = None) -> Any:
    """The client has done its part; the account is connected, as the scenario has it."""
    found = _signup(call, signup, token)
    return _done(call, found, lambda: Partner.of(call.here.world).finish(found))


@operation("POST", "/worlds/{id}/signups/{signup}/complete", act=True)
async def complete_signup(
    call: Call, signup: str, phone_number: str | None = None, details: dict[str, Any] | None = None
) -> Any:
    """All that is left to do on the hosted page, in one call."""
    found = _signup(call, signup)
    texts = {name: str(value) for name, value in (details or {}).items()}
    return _done(call, found, lambda: Partner.of(call.here.world).complete(found, phone_number, texts))


@operation("POST", "/worlds/{id}/signups/{signup}/fail", act=True)
async def fail_signup(call: Call, signup: str, reason: str | None = None) -> Any:
    """The signup comes to nothing."""
    found = _signup(call, signup)
    return _done(call, found, lambda: Partner.of(call.here.world).fail(found, reason))


@operation("PATCH", "/worlds/{id}/templates/{template}", act=True)
async def move_template(call: Call, template: str, status: str, reason: str | None = None) -> Any:
    """Moves a template, by id or name: approves, rejects, pauses it. 409 with the legal ones for an illegal status."""
    world = call.here.world
    templates = Partner.of(world).templates
    record = templates.by_id(template)
    if record is None:
        named = [each for each in account_of(world).templates if each["name"] == template]
        if len(named) != 1:
            count = f"{len(named)} templates have" if named else "no template has"
            raise ControlError(404, "no_such_template", f'{count} the name or id "{template}"')
        record = named[0]
    moved = _legal(lambda: templates.set_status(record, status, reason))
    if moved["status"] == "DELETED":
        return {"name": moved["name"], "language": moved["language"], "status": "DELETED"}
    return template_view(world, moved)


@operation("PATCH", "/worlds/{id}/numbers/{number}", act=True)
async def move_number(call: Call, number: str, status: str | None = None, quality: str | None = None) -> Any:
    """Moves a business number, by id or phone number: its status, its quality. 409 with the legal ones if illegal."""
    world = call.here.world
    found = Partner.of(world).numbers.get(number) or Partner.of(world).number_of(number)
    if found is None:
        raise ControlError(404, "no_such_number", f'"{number}" is no number of a connected business account')
    if quality is not None and quality not in QUALITIES:
        legal = ", ".join(QUALITIES)
        raise ControlError(400, "bad_argument", f'quality: "{quality}" is no rating of a number; legal: {legal}')
    _legal(lambda: Partner.of(world).move_number(found, status, quality))
    return number_view(found)


def _signup(call: Call, signup: str, token: str | None = None) -> Signup:
    """The signup of an id, if the token that came with the call is good. Raises `ControlError`."""
    world = call.here.world
    found = Partner.of(world).signups.get(signup)
    if found is None:
        raise ControlError(404, "no_such_signup", f'"{signup}" is no signup of this world')
    if token is not None:
        named = tokens.check(world, token)
        if named == "expired":
            raise ControlError(410, "expired_token", "the token has expired; it was valid for one hour (§8)")
        if named is not found:
            raise ControlError(401, "bad_token", "the token is not that of this signup (§4.3)")
    return found


def _done(call: Call, signup: Signup, act: Callable[[], None]) -> Any:
    """Does something with a signup and shows it. Raises `ControlError`."""
    try:
        act()
    except Failure as failure:
        raise ControlError(409, failure.rule.replace("-", "_"), failure.message, path=failure.path) from None
    return signup_view(call.here.world, signup)


def _legal(act: Callable[[], T]) -> T:
    try:
        return act()
    except IllegalMove as illegal:
        raise ControlError(409, "illegal_transition", str(illegal), legal=list(illegal.legal)) from None


def _template(world: World, step: Done) -> dict[str, Any]:
    """A change of the one template of that id or name."""
    detail = step.detail
    record = Partner.of(world).templates.by_id(detail["template"])
    named = [each for each in account_of(world).templates if each["name"] == detail["template"]]
    if record is None and len(named) == 1:
        record = named[0]
    if record is None:
        raise NoEntry("the template is gone")
    change = {"name": record["name"], "language": record["language"], **some(detail, "status", "reason")}
    return {"template": change}


def _number(world: World, step: Done) -> dict[str, Any]:
    """A change of a number."""
    detail = step.detail
    number = Partner.of(world).numbers.get(detail["number"]) or Partner.of(world).number_of(detail["number"])
    if number is None:
        raise NoEntry("the number is gone")
    return {"number": {"phone_number": number.phone_number, **some(detail, "status", "quality")}}


def _named(world: World, name: str) -> str | None:
    """Where the answer of `partner` shows what signups and templates are called, and what came of signups."""
    held = Partner.of(world)
    made = ("signup", "chatapp_id", "phone_number_id") if name in world.plain else ("signup",)
    for at, signup in enumerate(held.signups.values()):
        shown = signup_view(world, signup)
        for key in made:
            if shown[key] == name:
                return f"signups.{at}.{key}"
    found = held.templates.by_id(name) if name in world.plain else None
    return None if found is None else f"templates.{account_of(world).templates.index(found)}.template_id"


_SOONER: Final = frozenset({"sending", "rejected"})
EXPORTED: Final[Mapping[str, Exported]] = {
    "move_template": Exported(_template, _SOONER),
    "move_number": Exported(_number, _SOONER),
    "open_signup": Exported(look=Look("partner", _named)),
}
