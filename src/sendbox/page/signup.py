"""The hosted signup page: `/signup/<id>?token=<JWT>`, where a partner's client connects its business (§4.3).

Every step is a form that works without a script and calls an operation of control, which a test can call as well. After
each step the browser is redirected to the page, so that reloading repeats nothing.
"""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import parse_qs, quote, urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from sendbox.control.operation import Control, ControlError
from sendbox.control.routes import origin_of
from sendbox.page import answers

#: The longest form that is accepted.
MAX_FORM_BYTES: Final = 64 * 1024
#: The steps of the forms, and the operation of each.
STEPS: Final = {
    "number": "give_number",
    "code": "enter_code",
    "resend": "resend_code",
    "back": "change_number",
    "finish": "finish_signup",
}
#: The details that the client may fill in.
DETAILS: Final = ("name", "email", "website", "country")


def signup_routes(control: Control) -> list[Route]:
    """The routes of the hosted page below `/signup`."""
    runtime = control.runtime

    async def ask(request: Request, name: str, **arguments: object) -> Any:
        """Performs an operation in the world whose signup this is. Raises `ControlError`."""
        signup = request.path_params["signup"]
        hosted = await runtime.by_tag(signup)
        if hosted is None:
            raise ControlError(404, "no_such_signup", "there is no such signup")
        origin = origin_of(runtime, request.scope)
        return await control.perform(origin, name, hosted.world.id, {"signup": signup, **arguments})

    async def show(request: Request) -> Response:
        """The page in its present state."""
        token = request.query_params.get("token", "")
        try:
            # a preview by a browser or a mail program does not count as opening
            name = "open_signup" if request.method == "GET" else "signup"
            signup = await ask(request, name, **({"token": token} if name == "open_signup" else {}))
        except ControlError as error:
            return await _wrong(error)
        return await _page(control, request, signup, token)

    async def act(request: Request) -> Response:
        """One step of the client."""
        fields = await _fields(request)
        token = fields.get("token", "")
        name = STEPS.get(fields.get("step", ""))
        try:
            if name is None:
                raise ControlError(400, "bad_step", "this page has no such step")
            await ask(request, name, token=token, **_arguments(name, fields))
        except ControlError as error:
            if error.status != 409:
                return await _wrong(error)
            signup = await ask(request, "signup")
            return await _page(control, request, signup, token, fields, error)
        return RedirectResponse(f"{request.url.path}?token={quote(token, safe='')}", 303)

    return [
        Route("/{signup}", show, methods=["GET"], name="signup_page"),
        Route("/{signup}", act, methods=["POST"], name="signup_step"),
    ]


async def _fields(request: Request) -> dict[str, str]:
    """The fields of a form; none where it is too long."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_FORM_BYTES:
            return {}
    parsed = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True)
    return {name: values[-1].strip() for name, values in parsed.items()}


def _arguments(name: str, fields: dict[str, str]) -> dict[str, object]:
    """The arguments of an operation from a form."""
    if name == "give_number":
        details = {detail: fields[detail] for detail in DETAILS if detail in fields}
        return {"phone_number": fields.get("phone_number"), "details": details}
    return {"code": fields.get("code", "")} if name == "enter_code" else {}


async def _page(
    control: Control,
    request: Request,
    signup: dict[str, Any],
    token: str,
    fields: dict[str, str] | None = None,
    error: ControlError | None = None,
) -> Response:
    runtime = control.runtime
    hosted = await runtime.by_tag(signup["signup"])
    data = {
        "signup": signup,
        "partner": signup["details"].get("partner_name") or "",
        "details": dict.fromkeys((*DETAILS, "phone_number"), "") | signup["details"] | (fields or {}),
        "token": token,
        "error": None if error is None else error.message,
        "step": step_of(signup),
        "finish": _address(signup["details"].get("partner_finish_url")),
        "hints": runtime.settings.hints,
        "phone": f"{origin_of(runtime, request.scope)}{'' if hosted is None else hosted.path}/phones/",
    }
    return await answers.page("signup.html", lambda: data, 200 if error is None else error.status)


def step_of(signup: dict[str, Any]) -> str:
    """The step that the page shows: `business`, `code`, `connect`, `waiting`, or how the signup ended."""
    state: str = signup["state"]
    if state in ("completed", "failed", "expired"):
        return state
    if signup["finishing"]:
        return "waiting"
    if state == "number_verified":
        return "connect"
    return "business" if signup["code"] is None else "code"


def _address(url: str | None) -> str | None:
    """An address for a link: http or https only."""
    return url if url and urlsplit(url).scheme in ("http", "https") else None


async def _wrong(error: ControlError) -> Response:
    """The page for a link that is wrong or expired."""
    step = "expired" if error.status == 410 else "wrong"
    data = {"step": step, "partner": "", "message": error.message, "error": None, "finish": None}
    return await answers.page("signup.html", lambda: data, error.status)
