"""Construction of routes from the table of operations and the declarations of a service."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from sendbox.engine.commands.record import JSON_TYPE
from sendbox.services.http.exchange import BODY_CAP, About, Answer, Auth, Handler, Refusal, Route, Tokens, WorldLookup
from sendbox.services.http.requests import FORM, MAX_FORM_BYTES
from sendbox.services.operations import CALLS

JSON: Final = JSON_TYPE.decode()


def make_route(
    operation: str,
    summary: str,
    handler: Handler,
    schema: str | None,
    responses: Mapping[int, str | None],
    *,
    section: str,
    error: Refusal,
    deny: Callable[[bool], Answer],
    assumed: Iterable[str],
    auth: Auth = "header",
    tokens: Tokens | None = None,
    world_lookup: WorldLookup | None = None,
    about: About | None = None,
    refused: str | None = None,
) -> Route:
    """The route of an operation; `schema` is the schema of its body, form or query."""
    row = CALLS[operation]
    if row.part == "body":  # the answer to another content type (A75)
        responses = {**responses, 415: responses[400]}
    return Route(
        method=row.method,
        path=row.path,
        operation=operation,
        summary=summary,
        section=section,
        handler=handler,
        error=error,
        auth=auth,
        request=schema if row.part in ("body", "form") else None,
        request_type=FORM if row.part == "form" else JSON,
        query=schema if row.part == "query" else None,
        responses=responses,
        interface=row.interface,
        assumed=tuple(sorted(set(assumed))),
        deny=deny,
        tokens=tokens,
        world_lookup=world_lookup,
        about=about,
        refused=refused,
        longest=MAX_FORM_BYTES if row.part == "form" else BODY_CAP,
    )
