"""Construction of routes from the table of operations and the declarations of an interface."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

import msgspec

from sendbox.engine.commands.record import JSON_TYPE
from sendbox.services.http.exchange import BODY_CAP, About, Answer, Auth, Handler, Refusal, Route
from sendbox.services.http.requests import FORM, MAX_FORM_BYTES
from sendbox.services.operations import CALLS

JSON: Final = JSON_TYPE.decode()


class RouteFamily(msgspec.Struct, frozen=True):
    """The declarations that routes of an interface have in common.

    `file` has the schemas of their requests and answers. A refusal has one of `errors`, and the schema `failure`.
    `assumed` are the assumptions that all of them rest on; the rest is as in `Route`.
    """

    section: str
    file: str
    failure: str
    error: Refusal
    deny: Callable[[bool], Answer]
    assumed: tuple[str, ...]
    errors: tuple[int, ...] = (400,)
    auth: Auth = "header"
    about: About | None = None

    def route(
        self,
        operation: str,
        summary: str,
        handler: Handler,
        request: str | None,
        answer: str,
        *assumed: str,
        errors: Iterable[int] | None = None,
    ) -> Route:
        """The route of an operation; `request` is the schema of its body, form or query."""
        row = CALLS[operation]
        schema = None if request is None else self.schema(request)
        statuses = [*(self.errors if errors is None else errors)]
        if row.part == "body":  # the answer to another content type (A75)
            statuses.append(415)
        return Route(
            method=row.method,
            path=row.path,
            operation=operation,
            summary=summary,
            section=self.section,
            handler=handler,
            error=self.error,
            auth=self.auth,
            request=schema if row.part in ("body", "form") else None,
            request_type=FORM if row.part == "form" else JSON,
            query=schema if row.part == "query" else None,
            responses={200: self.schema(answer), **dict.fromkeys(statuses, self.schema(self.failure))},
            interface=row.interface,
            assumed=tuple(sorted({*self.assumed, *assumed})),
            deny=self.deny,
            about=self.about,
            longest=MAX_FORM_BYTES if row.part == "form" else BODY_CAP,
        )

    def schema(self, name: str) -> str:
        """The reference of a schema."""
        return f"{self.file}#/$defs/{name}"
