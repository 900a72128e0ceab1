"""Every operation that the two contracts name, and which of them a call is."""

from __future__ import annotations

import re
from typing import Any, Final

METHODS: Final = ("get", "put", "post", "delete", "patch")
#: Addresses that no contract lists, because they are given out, with their own names.
GIVEN_OUT: Final = {
    "uploadBulk": "PUT /upload/{name}",
    "openLink": "GET /s/{name}",
    "signupPage": "GET /signup/{name}",
    "signupStep": "POST /signup/{name}",
}


def operations(document: dict[str, Any]) -> dict[str, str]:
    """The operations of an OpenAPI document: id, and method with path."""
    return {
        operation["operationId"]: f"{method.upper()} {path}"
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if method in METHODS
    }


class Catalogue:
    """Tells which operation a call is."""

    def __init__(self, *documents: dict[str, Any]) -> None:
        self.operations = dict(GIVEN_OUT)
        for document in documents:
            self.operations |= operations(document)
        self._patterns = [
            (re.compile(re.sub(r"\{\w+\}", "[^/]+", call)), name)
            for name, call in sorted(self.operations.items(), key=lambda each: each[1].count("{"))
        ]

    def name_of(self, call: str) -> str | None:
        """The operation of `GET /some/path`; None where the call is none."""
        return next((name for pattern, name in self._patterns if pattern.fullmatch(call)), None)
