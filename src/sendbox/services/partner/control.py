"""Operations on partner management: a view of it, the steps of a hosted signup, reviews and ratings by hand."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final, TypeVar

from msgspec.structs import asdict

from sendbox.control.arguments import described
from sendbox.control.export.rows import ActStep, Exported, NameLookup, NoEntry, select_arguments
from sendbox.control.operation import Call, ControlError, operation
from sendbox.control.reading import map_in_slices
from sendbox.engine.answer import JsonMapping, JsonObject, enum, reference
from sendbox.engine.lifecycle import IllegalMove
from sendbox.engine.world import World
from sendbox.services.numbers import notation
from sendbox.services.partner import views
from sendbox.services.partner.http import tokens
from sendbox.services.partner.partner import Partner
from sendbox.services.partner.records import QUALITIES, Failure, Signup
from sendbox.services.ports import account_of

T = TypeVar("T")
QUALITY: Final = enum(QUALITIES)


async def _load_tokens(_call: Call, arguments: JsonMapping) -> JsonMapping:
    """Loads the module that reads tokens, off the loop, if the arguments have a token."""
    if arguments.get("token") is not None:
        await asyncio.get_running_loop().run_in_executor(None, tokens.preload)
    return arguments


Token = Annotated[str | None, described("the token of the hosted page, which must then be valid")]
PhoneNumber = Annotated[str | None, described("the number that the client brings, in the mode `manual`")]
CustomerDetails = Annotated[JsonObject | None, described("who the client is")]


@operation("GET", "/worlds/{id}/partner", answers=views.PartnerView)
async def partner(call: Call) -> views.PartnerView:
    """Signups, business accounts with their numbers, and templates.

    `legal` are the statuses that may follow, and what can be done to a signup; its `page` is the path of the hosted
    page, while its token is valid.
    """
    world = call.hosted.world
    part = Partner.of(world)
    if part.signups:
        await asyncio.get_running_loop().run_in_executor(None, tokens.preload)
    return views.PartnerView(
        signups=await map_in_slices(list(part.signups.values()), lambda signup: _signup_view(world, signup)),
        accounts=await map_in_slices(list(part.accounts.values()), lambda account: views.business_view(world, account)),
        templates=await map_in_slices(account_of(world).templates, lambda record: views.template_view(world, record)),
    )


@operation("GET", "/worlds/{id}/signups/{signup}", answers=views.SignupView)
async def signup(call: Call, signup: str) -> views.SignupView:
    """One signup, with the code that the client must enter."""
    return views.signup_view(call.hosted.world, _signup(call, signup))


@operation("POST", "/worlds/{id}/signups/{signup}/open", act=True, prepare=_load_tokens, answers=views.SignupView)
async def open_signup(call: Call, signup: str, token: Token = None) -> views.SignupView:
    """The client's browser shows the hosted page."""
    return _step(call, signup, token, Partner.open)


@operation("POST", "/worlds/{id}/signups/{signup}/number", act=True, prepare=_load_tokens, answers=views.SignupView)
async def give_number(
    call: Call,
    signup: str,
    phone_number: PhoneNumber = None,
    details: CustomerDetails = None,
    token: Token = None,
) -> views.SignupView:
    """The client says who it is and, in the mode `manual`, which number it brings; a code goes to it."""
    return _step(call, signup, token, Partner.give_number, phone_number, _texts(details))


@operation("POST", "/worlds/{id}/signups/{signup}/code", act=True, prepare=_load_tokens, answers=views.SignupView)
async def enter_code(
    call: Call, signup: str, code: Annotated[str, described("the code that came to the number")], token: Token = None
) -> views.SignupView:
    """The client enters the code that came to its number."""
    return _step(call, signup, token, Partner.confirm, code)


@operation("POST", "/worlds/{id}/signups/{signup}/resend", act=True, prepare=_load_tokens, answers=views.SignupView)
async def resend_code(call: Call, signup: str, token: Token = None) -> views.SignupView:
    """A new code is sent."""
    return _step(call, signup, token, Partner.resend_code)


@operation("DELETE", "/worlds/{id}/signups/{signup}/number", act=True, prepare=_load_tokens, answers=views.SignupView)
async def change_number(call: Call, signup: str, token: Token = None) -> views.SignupView:
    """The client removes the number that it gave, so that it can give another one."""
    return _step(call, signup, token, Partner.change_number)


@operation("POST", "/worlds/{id}/signups/{signup}/finish", act=True, prepare=_load_tokens, answers=views.SignupView)
async def finish_signup(call: Call, signup: str, token: Token = None) -> views.SignupView:
    """The client has done its part; the account is connected as the scenario says."""
    return _step(call, signup, token, Partner.finish)


@operation("POST", "/worlds/{id}/signups/{signup}/complete", act=True, answers=views.SignupView)
async def complete_signup(
    call: Call, signup: str, phone_number: PhoneNumber = None, details: CustomerDetails = None
) -> views.SignupView:
    """All remaining steps of the hosted page, in one call."""
    _check_number(phone_number)
    return _step(call, signup, None, Partner.complete, phone_number, _texts(details))


@operation("POST", "/worlds/{id}/signups/{signup}/fail", act=True, answers=views.SignupView)
async def fail_signup(
    call: Call, signup: str, reason: Annotated[str | None, described("why it fails, as the webhook says it")] = None
) -> views.SignupView:
    """The signup fails."""
    return _step(call, signup, None, Partner.fail, reason)


@operation(
    "PATCH",
    "/worlds/{id}/templates/{template}",
    act=True,
    answers=Annotated[Any, reference("MovedTemplate", views.TemplateView, views.DeletedTemplate)],
)
async def move_template(
    call: Call,
    template: str,
    status: Annotated[str, described("one of the statuses that may follow")],
    reason: Annotated[str | None, described("why it was rejected or paused")] = None,
) -> views.TemplateView | views.DeletedTemplate:
    """Moves a template, by id or name: approves, rejects, pauses it. 409 with the legal statuses for an illegal one."""
    world = call.hosted.world
    templates = Partner.of(world).templates
    records = _templates_called(world, template)
    if len(records) != 1:
        count = f"{len(records)} templates have" if records else "no template has"
        raise ControlError(404, "no_such_template", f'{count} the name or id "{template}"')
    moved = _legal(lambda: templates.set_status(records[0], status, reason))
    if moved["status"] == "DELETED":
        return views.DeletedTemplate(name=moved["name"], language=moved["language"], status="DELETED")
    return views.template_view(world, moved)


@operation("PATCH", "/worlds/{id}/numbers/{number}", act=True, answers=views.NumberView)
async def move_number(
    call: Call,
    number: str,
    status: Annotated[str | None, described("one of the statuses that may follow")] = None,
    quality: Annotated[str | None, QUALITY] = None,
) -> views.NumberView:
    """Moves the status or quality of a business number, by id or phone number. 409 with the legal ones otherwise."""
    world = call.hosted.world
    business_number = Partner.of(world).numbers.get(number)
    if business_number is None and notation.number_problem(number) is None:
        business_number = Partner.of(world).number_of(number)
    if business_number is None:
        raise ControlError(404, "no_such_number", f'"{number}" is not the number of a connected business account')
    _legal(lambda: Partner.of(world).move_number(business_number, status, quality))
    return views.number_view(business_number)


def _check_number(text: str | None) -> None:
    """Raises `ControlError` for a pattern, and for a text that is not written like a number."""
    if text is not None and (wrong := notation.number_problem(text)) is not None:
        raise ControlError(400, "bad_argument", f'"{text}" {wrong}')


def _signup(call: Call, signup_id: str, token: Token = None) -> Signup:
    """The signup of an id, if the token of the call is valid. Raises `ControlError`."""
    world = call.hosted.world
    signup = Partner.of(world).signups.get(signup_id)
    if signup is None:
        raise ControlError(404, "no_such_signup", f'"{signup_id}" is not a signup of this world')
    if token is not None:
        bearer = tokens.check(world, token)
        if bearer == "expired":
            raise ControlError(410, "expired_token", "the token has expired; it was valid for one hour (§8)")
        if bearer is not signup:
            raise ControlError(401, "bad_token", "the token is not the token of this signup (§4.3)")
    return signup


def _signup_view(world: World, signup: Signup) -> views.ListedSignup:
    """A signup with the path of its hosted page, which is None if the token does not open it."""
    is_open = Partner.of(world).valid(signup)
    page = f"/signup/{signup.id}?token={tokens.issue(world, signup)}" if is_open else None
    return views.ListedSignup(**asdict(views.signup_view(world, signup)), page=page)


def _step(
    call: Call, signup_id: str, token: str | None, step: Callable[..., None], *values: object
) -> views.SignupView:
    """Does a step of a signup with these values, and shows the signup. Raises `ControlError`."""
    signup = _signup(call, signup_id, token)
    try:
        step(Partner.of(call.hosted.world), signup, *values)
    except Failure as failure:
        raise ControlError(409, failure.rule.replace("-", "_"), failure.message, path=failure.path) from None
    return views.signup_view(call.hosted.world, signup)


def _texts(details: JsonObject | None) -> dict[str, str]:
    return {name: str(value) for name, value in (details or {}).items()}


def _legal(act: Callable[[], T]) -> T:
    try:
        return act()
    except IllegalMove as illegal:
        raise ControlError(409, "illegal_transition", str(illegal), legal=list(illegal.legal)) from None


def _templates_called(world: World, text: str) -> list[JsonObject]:
    """The template of this id, else those of this name."""
    record = Partner.of(world).templates.by_id(text)
    return (
        [template for template in account_of(world).templates if template["name"] == text]
        if record is None
        else [record]
    )


def _template(world: World, step: ActStep) -> JsonObject:
    """A change of the one template of that id or name."""
    detail = step.detail
    records = _templates_called(world, detail["template"])
    if len(records) != 1:
        raise NoEntry("the template is gone")
    change = {
        "name": records[0]["name"],
        "language": records[0]["language"],
        **select_arguments(detail, "status", "reason"),
    }
    return {"template": change}


def _number(world: World, step: ActStep) -> JsonObject:
    """A change of a number."""
    detail = step.detail
    number = Partner.of(world).numbers.get(detail["number"]) or Partner.of(world).number_of(detail["number"])
    if number is None:
        raise NoEntry("the number is gone")
    return {"number": {"phone_number": number.phone_number, **select_arguments(detail, "status", "quality")}}


def _named(world: World, name: str) -> str | None:
    """The place in the answer of `partner` that shows a name: of a signup, of a template, or of a signup's result."""
    partner = Partner.of(world)
    keys = ("signup", "chatapp_id", "phone_number_id") if name in world.plain else ("signup",)
    for at, signup in enumerate(partner.signups.values()):
        view = views.signup_view(world, signup)
        for key in keys:
            if view[key] == name:
                return f"signups.{at}.{key}"
    template = partner.templates.by_id(name) if name in world.plain else None
    return None if template is None else f"templates.{account_of(world).templates.index(template)}.template_id"


_SOONER: Final = frozenset({"sending", "rejected"})
EXPORTED: Final[Mapping[str, Exported]] = {
    "move_template": Exported(_template, _SOONER),
    "move_number": Exported(_number, _SOONER),
    "open_signup": Exported(look=NameLookup("partner", _named)),
}
