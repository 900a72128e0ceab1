"""The addresses for webhooks in the requests of a client, and those of the recorder that take their place."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import quote_plus, unquote_plus, urlsplit

import orjson

from sendbox.engine.regex import regex

#: The beginning of the paths that the recorder gives out.
PATH: Final = "/_record/webhooks/"
#: So many addresses are replaced; further ones stay as they are.
MAX_ADDRESSES: Final = 10_000
_NAME: Final = "callback"
_PARAMETER: Final = regex(r"(?<![^&])([^&=]*callback[^&=]*=)([^&]+)", re.IGNORECASE)


class Callbacks:
    """Replaces addresses by ones that begin with `origin`. `say` is told once that no more are replaced."""

    def __init__(self, origin: str, say: Callable[[str], None]) -> None:
        self._origin = origin
        self._say = say
        #: the addresses of the client with their numbers, and in the order of these
        self._numbers: dict[str, int] = {}
        self._addresses: list[str] = []
        self._full = False

    def replace(self, body: bytes) -> bytes:
        """A request with our addresses; the same bytes where it has no address to replace."""
        if _NAME.encode() not in body.lower():
            return body
        try:
            value = orjson.loads(body)
        except orjson.JSONDecodeError:
            text = body.decode("latin-1")
            replaced = self.replace_parameters(text)
            return body if replaced == text else replaced.encode("latin-1")
        replaced = self._in_value(value, "")
        return body if replaced == value else orjson.dumps(replaced)

    def replace_parameters(self, text: str) -> str:
        """A query or a form with our addresses."""
        return _PARAMETER.sub(self._in_parameter, text)

    def original(self, path: str, query: str) -> str | None:
        """The address of the client that a path stands for, with the query that came; None for no such path."""
        number = path.removeprefix(PATH)
        if number == path or not number.isdecimal() or int(number) >= len(self._addresses):
            return None
        address = self._addresses[int(number)]
        return f"{address}{'&' if '?' in address else '?'}{query}" if query else address

    def _in_parameter(self, match: re.Match[str]) -> str:
        value = unquote_plus(match[2])
        try:
            replaced = orjson.dumps(self._in_value(orjson.loads(value), _NAME)).decode()
        except orjson.JSONDecodeError:
            replaced = self._address(value)
        return match[0] if replaced == value else match[1] + quote_plus(replaced)

    def _in_value(self, value: Any, name: str) -> Any:
        if isinstance(value, str):
            return self._address(value) if _NAME in name.lower() else value
        if isinstance(value, dict):
            inside = _NAME in name.lower()
            return {
                key: self._in_value(item, _NAME if inside and key == "url" else "" if inside else key)
                for key, item in value.items()
            }
        return [self._in_value(item, name) for item in value] if isinstance(value, list) else value

    def _address(self, address: str) -> str:
        """Our address for one of the client; user and password stay, so that the service sends them."""
        try:
            parsed = urlsplit(address)
        except ValueError:  # brackets that do not close
            return address
        if parsed.scheme not in ("http", "https") or not parsed.netloc or address.startswith(f"{self._origin}{PATH}"):
            return address
        user, at, host = parsed.netloc.rpartition("@")
        target = parsed._replace(netloc=host, fragment="").geturl()
        if target not in self._numbers:
            if len(self._addresses) >= MAX_ADDRESSES:
                if not self._full:
                    self._full = True
                    self._say(f"{MAX_ADDRESSES} callback addresses are replaced; further ones stay as they are")
                return address
            self._numbers[target] = len(self._addresses)
            self._addresses.append(target)
        scheme, separator, ours = self._origin.partition("://")
        return f"{scheme}{separator}{user}{at}{ours}{PATH}{self._numbers[target]}"
