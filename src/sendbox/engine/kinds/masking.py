"""Masking: what people read shows no key of a real service, no secret, no password, and of a callback no header's value
and no token in the query.

It is applied where words and answers leave: in the log (`runtime/worlds.py`), in words about entries
(`narration.Narrator`), and in the answers of control over HTTP (`control/routes.py`), of which the page is made. What
must repeat (exports, records, the outbox, digests) is made of the world itself, and does not pass here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeGuard
from urllib.parse import quote_plus, unquote_plus

import orjson

from sendbox.engine.answer import JsonMapping, builtins
from sendbox.engine.texts import regex

#: The end of everything that is masked.
MARK: Final = "…"
#: Names of fields that hold a secret, and of those that hold an API key, in lower case.
SECRETS: Final = frozenset(
    "authorization cookie default_callback_secret password proxy-authorization secret verification_secret "
    "verificationsecret".split()
)
KEYS: Final = frozenset({"apikey", "api_key", "x-api-key"})
#: The field of a view that holds an API key; in what a client sends it is something else.
KEY: Final = "key"
#: Fields of a view that hold the id of a world, which is its address too.
IDS: Final = frozenset({"id", "world"})
#: Headers of webhooks whose value Sendbox makes.
OWN: Final = frozenset(
    {"content-type", "traceparent", "tracestate", "user-agent", "x-request-id", "x-request-signature"}
)
#: A shorter secret is masked only where a name says that it is one: it may be a part of other words.
SHORTEST: Final = 8
#: One of these is in every JSON text that has something to mask.
_SIGNS: Final = (b"@", b"%40", b"ecret", b"assword", b"eaders", b"pikey", b"pi_key", b"pi-key", b"uthoriz", b"ookie")
_REAL_KEY: Final = regex(rb'"key":"(?!test-)')
#: `user:password@` of an address, plain and in a query or form. Webhooks go to http and https, where a user alone may
#: be a token; elsewhere, as in x://y@z, it takes a password.
_USER: Final = regex(
    r"(?:(?:(?<=http://)|(?<=https://))[^/\s?#\"'<>\\]*|(?<=://)[^/\s?#\"'<>\\:@]*:[^/\s?#\"'<>\\]*)@", re.IGNORECASE
)
_QUOTED_USER: Final = regex(
    r"(?:(?<=http%3A%2F%2F)|(?<=https%3A%2F%2F))(?:(?!%2F|%3F|%23)[^&\s\"'<>\\])*%40", re.IGNORECASE
)
#: Parameters of a query whose names say that they prove who asks; and such a query, in the bytes of a view.
_PROOF: Final = (
    r"[^=&#?\s\"'<>]*?(?:auth|code|cookie|credential|jwt|key|passw|pwd|secret|session|sig|token)[^=&#?\s\"'<>]{0,99}"
)
_PROVING: Final = regex(r"auth|cookie|credential|jwt|key|passw|pwd|secret|session|sig|token", re.IGNORECASE)
_QUERY: Final = regex(rf"(?<=[?&])({_PROOF}=)([^&#\s\"'<>\\]+)", re.IGNORECASE)
_QUERIED: Final = regex(rb"[?&]" + _PROOF.encode() + rb"=", re.IGNORECASE)
#: The address of a webhook in a text: a form, YAML, an object that is not whole, or words.
_CALLBACK: Final = regex(
    r"((?:callback\w*\W{1,12}(?:url\W{1,8})?|webhooks?(?: \d+)? to )https?://[^?\s\"'<>]*)(\?[^\s\"'<>]*)",
    re.IGNORECASE,
)
_QUOTE: Final = r"(?:\\*[\"']|&quot;|&#3[49];)?"
_KEYED: Final = regex(
    rf"(?<![\w-])((?:apikey|api_key|x-api-key){_QUOTE}\s*[:=]\s*{_QUOTE})([^\s\"'&,;}}\\]+)", re.IGNORECASE
)
_NAMED: Final = regex(rf"(?<![\w-])((?:\w*secret|password){_QUOTE}\s*[:=]\s*{_QUOTE})([^\s\"'&,;}}\\]+)", re.IGNORECASE)
#: Headers of a callback, in an object that is not whole, and in YAML.
_HEADERS: Final = regex(r"(headers[\"']?\s*:\s*\{)([^{}]*)", re.IGNORECASE)
_HEADER: Final = regex(r"(:\s*[\"']?)([^\"',]+)")
_BLOCK: Final = regex(r"^([ -]*)(headers:[ ]*\n)((?:\1[ ]+[^\n]*(?:\n|\Z))+)", re.MULTILINE)
_ENTRY: Final = regex(r"^(\s*[\w-]+:\s*)([^\n]+)$", re.MULTILINE)
#: The field of a form that holds a callback, encoded.
_FIELD: Final = regex(r"(?<![^&?\s])(callback=)([^&\s]*)")
#: A path of a finding that leads to a header of a callback, or to a secret.
_PLACE: Final = rf"\$\S*(?:callback\S*\.headers\b|[.'\"](?:{'|'.join(sorted(SECRETS))})\b)"
_SECRET: Final = regex(_PLACE, re.IGNORECASE)
_AT_SECRET: Final = regex(rf" at (?={_PLACE})", re.IGNORECASE)
_AT_CALLBACK: Final = regex(r" at (?=\$\S*callback(?: |$))")
#: What stands before the value in a line about a finding, and the words of a finding behind the value.
_LEAD: Final = regex(r"(?:refused|rejected) \w+: |line \d+ of [\w-]+: ")
_WORDS: Final = regex(
    r"(.*)( (?:is (?:not|longer|shorter|above|below|missing)\b|has fewer |entries are |holds ).*)", re.DOTALL
)
_THERE: Final = regex(r" \(there is .*\)$", re.DOTALL)


def masked(secret: str) -> str:
    """The beginning of a secret: enough to recognize it, too little to use it. What is masked stays as it is."""
    if not secret or secret.endswith(MARK):
        return secret
    return f"{secret[:4]}{MARK}" if len(secret) > 8 else MARK


def key_shown(key: str) -> str:
    """An API key: whole where it begins with `test-`, else masked, as it may be one of the real service."""
    return key if key.startswith("test-") else masked(key)


def _without_value(message: str) -> str:
    """The message of a finding, which begins with a value that is a secret."""
    match = _WORDS.fullmatch(message)
    if match is None:
        return MARK
    return message if match[2].startswith(" is missing") else masked(match[1]) + match[2]


def _line(text: str) -> str:
    """A line about a finding, `VALUE is not … at PATH`, without the value where it is a secret."""
    places = [*_AT_SECRET.finditer(text)] or ("eaders" in text and [*_AT_CALLBACK.finditer(text)])
    if not places:
        return text
    lead, at = _LEAD.match(text), places[-1].start()
    begin = 0 if lead is None else lead.end()
    return text[:begin] + _without_value(text[begin:at]) + _THERE.sub("", text[at:])


def _finding(finding: JsonMapping) -> JsonMapping:
    """A finding without the value of a secret; anything else as it is."""
    path, value, message = finding["path"], finding.get("value"), finding["message"]
    if not isinstance(path, str) or not isinstance(message, str):
        return finding
    if not _SECRET.match(path) and not (path.endswith("callback") and "eaders" in f"{value}{message}"):
        return finding
    return {**finding, "value": value and masked(str(value)), "message": _without_value(message)}


#: The first characters of objects and arrays of JSON.
OPENING: Final = ("{", "[")


class Mask:
    """Masks views. `known` are secrets of the world, which are masked wherever they stand; `world` is its id.

    A recording hides the same places in another way: it has methods of its own for a secret, a key and a parameter.
    """

    #: in place of user and password in an address
    user = MARK

    def __init__(self, known: Iterable[str] = (), world: str = "") -> None:
        words = {word for word in known if len(word) >= SHORTEST}
        self._world = "" if world.startswith("test-") else world
        if len(self._world) >= SHORTEST:
            words.add(self._world)
        either = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
        #: an id in the path of control stays, as an address
        self._known = re.compile(rf"(?<![\w-])(?<!/worlds/)(?:{either})(?![\w-])") if words else None
        self._signs = (*_SIGNS, *(orjson.dumps(word)[1:-1] for word in words))

    def encoded(self, value: object) -> bytes:
        """A view as JSON, masked."""
        raw = orjson.dumps(value, default=builtins)
        hides = any(sign in raw for sign in self._signs) or any(
            pattern.search(raw) for pattern in (_REAL_KEY, _QUERIED)
        )
        return orjson.dumps(self.view(orjson.loads(raw))) if hides else raw

    def view(self, value: object, name: str = "") -> Any:
        """A view, masked; `name` is that of its field."""
        return self.field(value, name, {KEY, *KEYS})

    def text(self, text: str) -> str:
        """A text, masked: JSON, a form, an address, or words."""
        if text[:1] in OPENING and (hidden := self.json(text)) is not None:
            return hidden
        if "@" in text:  # a search for a word is much faster than one for a pattern
            text = _USER.sub(self.user + "@", text)
        if "%40" in text:
            text = _QUOTED_USER.sub(self.user + "%40", text)
        lower = text.lower()
        if "api" in lower:
            text = _KEYED.sub(self.parameter, text)
        if "secret" in lower or "password" in lower:
            text = _NAMED.sub(self._second, text)
        if " at $" in text:
            text = _line(text)
        if "callback" in lower:
            text = _FIELD.sub(self._field, text)
        if "?" in text and ("callback" in lower or "webhook" in lower):
            text = _CALLBACK.sub(lambda match: match[1] + self.address(match[2]), text)
        if "callback" in lower and "headers" in lower:
            text = _HEADERS.sub(lambda match: match[1] + _HEADER.sub(self._second, match[2]), text)
            text = _BLOCK.sub(lambda match: match[1] + match[2] + _ENTRY.sub(self._second, match[3]), text)
        return text if self._known is None else self._known.sub(lambda match: masked(match[0]), text)

    def json(self, text: str) -> str | None:
        """A text that is JSON, masked; None if it is not."""
        try:
            value = orjson.loads(text)
        except orjson.JSONDecodeError:
            return None
        hidden = self.field(value, "", KEYS)
        return text if hidden == value else orjson.dumps(hidden).decode()

    def line(self, text: str) -> str:
        """A line of a log, masked; the addresses in it are those of webhooks."""
        return self.address(self.text(text))

    def secret(self, secret: str) -> str:
        """A secret, masked."""
        return masked(secret)

    def key(self, key: str) -> str:
        """An API key, masked."""
        return key_shown(key)

    def parameter(self, match: re.Match[str]) -> str:
        """A name and its value as they stand in a query or a form, with the value masked."""
        return match[1] + self.key(match[2])

    def address(self, text: str) -> str:
        """The address of a webhook, or a text with such addresses, without the values that prove who asks."""
        return _QUERY.sub(self.parameter, text) if "?" in text else text

    def _second(self, match: re.Match[str]) -> str:
        return match[1] + self.secret(match[2])

    def _field(self, match: re.Match[str]) -> str:
        """The callback of a form: decoded, masked, and encoded again if it has something to hide."""
        text = unquote_plus(match[2])
        try:
            value = orjson.loads(text)
        except orjson.JSONDecodeError:
            masked_text = self.address(self.text(f"callback: {text}").removeprefix("callback: "))
        else:
            hidden = self.field(value, "callback", KEYS)
            masked_text = text if hidden == value else orjson.dumps(hidden).decode()
        return match[0] if masked_text == text else match[1] + MARK.join(map(quote_plus, masked_text.split(MARK)))

    def field(self, value: object, name: str, keys: Iterable[str]) -> object:
        """The value of a field, masked; `keys` are the names of fields that hold a key."""
        if isinstance(value, str):
            lower = name.lower()
            if lower in SECRETS:
                return self.secret(value)
            if lower in keys:
                return self.key(value)
            if lower in IDS and value == self._world:
                return value
            return self.address(self.text(value)) if lower == "targets" or "callback" in lower else self.text(value)
        if isinstance(value, Mapping):
            if "path" in value and "rule" in value and "message" in value:
                value = _finding(value)
            called = "url" in value or "callback" in name.lower()
            view = {
                key: self._headers(item) if called and key == "headers" else self.field(item, str(key), keys)
                for key, item in value.items()
            }
            if {"status", "headers", "body"} <= value.keys() and (answered := self._answered(value["headers"])):
                view["headers"] = answered
            for field in _addresses(value, name):
                if isinstance(address := view.get(field), str):
                    view[field] = self.address(address)
            return view
        return [self.field(item, name, keys) for item in value] if isinstance(value, list | tuple) else value

    def _headers(self, headers: object) -> object:
        """Headers of a callback, or of a webhook: by name, or as pairs."""
        if isinstance(headers, Mapping):
            return {name: self._header(name, value) for name, value in headers.items()}
        if _are_pairs(headers):
            return [[name, self._header(name, value)] for name, value in headers]
        return self.secret(str(headers))

    def _answered(self, headers: object) -> object:
        """The headers of an answer, by name where a rule has it, else as pairs; None for what is neither.

        Those are masked of which the name says that they are secret.
        """
        if isinstance(headers, Mapping):
            return {name: self._answered_value(name, value) for name, value in headers.items()}
        if _are_pairs(headers):
            return [[name, self._answered_value(name, value)] for name, value in headers]
        return None

    def _answered_value(self, name: object, value: object) -> object:
        if _PROVING.search(str(name)):
            return self.secret(str(value))
        return self.text(value) if isinstance(value, str) else value

    def _header(self, name: object, value: object) -> object:
        return value if str(name).lower() in OWN else self.secret(str(value))


def _are_pairs(headers: object) -> TypeGuard[Sequence[Sequence[object]]]:
    """True for a list of names with their values."""
    return isinstance(headers, list | tuple) and all(
        isinstance(pair, list | tuple) and len(pair) == 2 for pair in headers
    )


def _addresses(value: JsonMapping, name: str) -> Iterable[str]:
    """The fields of a view that hold the address of a webhook. A view of a short link has `url` and `target` too."""
    if "callback" in name.lower() or ("url" in value and "headers" in value):
        yield "url"
    if "url" not in value:
        yield "target"


#: Masks what is of no world, or of a world whose secrets need not be known.
MASK: Final = Mask()
