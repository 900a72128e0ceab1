"""Request reading shared by the interfaces: the parsing, the canonical form, and the wording of a refusal.

Parameters of a query or a form (`application/x-www-form-urlencoded`) are decoded strictly: nothing is guessed. Text is
UTF-8 whichever charset a header names; a `%` that does not begin an escape stands for itself, as in browsers.

Unknown names of fields are told with the nearest known name; old ones still work (§9). The client is shown the first
finding of a refused call in the service's shape; the journal has all of them, with the value at the place of each, and
all other problems of the request. Nothing of that diagnosis is on the way of a call that is accepted.
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar
from urllib.parse import parse_qs, unquote_to_bytes

import orjson
from msgspec.structs import replace

from sendbox.contract.findings import QUOTED, show
from sendbox.contract.parser import GZIP, Malformed, parse_json
from sendbox.engine import bounds
from sendbox.engine.answer import JsonMapping, JsonObject
from sendbox.engine.bounds import ESCAPES, PARAMETERS
from sendbox.engine.commands.record import JSON_TYPE, compact
from sendbox.engine.remarks import Advice, Finding
from sendbox.engine.texts import regex
from sendbox.services.advice import (
    CONTENT_TYPE_MISSING,
    CONTENT_TYPE_NOT_JSON,
    DEPRECATED_NAME,
    OLD_NAME_IGNORED,
    REPEATED_PARAMETER,
    UNKNOWN_FIELD,
    advise,
)
from sendbox.services.assume import Assume
from sendbox.services.http.exchange import Exchange, Refused, header

#: Fields that hold the client's own values, in which a null means what the client says.
VALUES: Final = frozenset({"payload", "params_buttons", "parameters_buttons", "parameters_body"})
#: No field of a request is nested deeper.
FIELDS_DEEP: Final = 20


def line(finding: Finding) -> str:
    """A finding as the client reads it, in one line: value, rule, path (A11)."""
    return " ".join(f"{finding.message} at {finding.path}".split())


def refusal(findings: Sequence[Finding], status: int = 400) -> Refused:
    """The refusal that shows the client the first finding and the journal all of them (A11)."""
    return Refused(list(findings), status, line(findings[0]))


def parsed(exchange: Exchange, line: int = 1) -> Any:
    """The body of a call as JSON; under `nulls: absent` without the fields that are null (A56).

    `line` is the number of its first line. Raises `Refused` for malformed JSON (A75), for JSON out of bounds, and for
    another content type where the setting refuses it (A75).
    """
    finding = content_type_finding(exchange)
    if finding is not None:
        raise refusal([finding], 415)
    body = exchange.body
    try:
        request = parse_json(body, line)
    except Malformed as malformed:
        raise refusal([malformed.finding]) from None
    if b"null" in body and Assume.of(exchange.world).nulls == "absent":
        request = without_nulls(request)
    return request


def canonical(request: object) -> bytes:
    """The request in one form, independent of the order of its fields: names are derived from it."""
    return compact(orjson.dumps(request, option=orjson.OPT_SORT_KEYS))


def without_nulls(value: object, depth: int = FIELDS_DEEP) -> Any:
    """The request with each field left out that is `null`, for `nulls: absent` (A56).

    What is not a field stays as it is: the payload, values of template variables, and the legal nulls of
    `params_buttons` (§2.2). No field is deeper than `depth` levels.
    """
    if depth and isinstance(value, dict):
        return {
            name: item
            if name in VALUES or (name == "params" and isinstance(item, list))
            else without_nulls(item, depth - 1)
            for name, item in value.items()
            if item is not None
        }
    if depth and isinstance(value, list):
        return [without_nulls(item, depth - 1) for item in value]
    return value


def content_type_finding(exchange: Exchange) -> Finding | None:
    """The finding about a content type that is not JSON; None, with advice, if the body is read anyway (A75)."""
    value = header(exchange.headers, b"content-type")
    if value == JSON_TYPE:
        return None
    code, text = CONTENT_TYPE_MISSING, "no content type is given"
    if value is not None:
        kind = value.split(b";")[0].strip().lower()
        if kind == JSON_TYPE or (kind.startswith(b"application/") and kind.endswith(b"+json")):
            return None
        code, text = CONTENT_TYPE_NOT_JSON, f"{show(value.decode('latin-1'))} is not application/json"
    if Assume.of(exchange.world).content_type == "strict":
        text = f"{text}; legal: application/json (§7, A75)"
        return Finding("header content-type", "content-type", text, "§7", "A75")
    text = f"{text}; the body is read as {'application/json' if value is None else 'JSON anyway'}"
    exchange.advice.append(advise(code, text, "header content-type"))
    return None


def token_in(body: bytes) -> str | None:
    """The text in the field `token` of a body, None if there is none: a token names the world of its call."""
    try:
        request = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    token = request.get("token") if isinstance(request, dict) else None
    return token if isinstance(token, str) else None


#: The greatest number of unknown fields of one record that are named: the search for the nearest name is not cheap.
MAX_UNKNOWN_FIELDS: Final = 10
#: A call that has so many remarks gets no more hints, for the same reason.
HINTED: Final = 100
_EFFECT: Final = regex(" and (has|have) no effect")


def unknown_fields(
    record: Iterable[str], known: frozenset[str], path: str, section: str, advice: list[Advice], noun: str = "field"
) -> None:
    """Advice for each field of `record` that is not `known`, in the order given (A57); from the eleventh on in one."""
    unknown = [name for name in record if name not in known]
    for name in unknown[:MAX_UNKNOWN_FIELDS]:
        hint = nearest(name, known) if len(advice) < HINTED else None
        text = f"{show(name)} is not a {noun} here and has no effect{f'; nearest is {show(hint)}' if hint else ''}"
        advice.append(advise(UNKNOWN_FIELD, text, child(path, name), section))
    if len(unknown) > MAX_UNKNOWN_FIELDS:
        text = f"{len(unknown) - MAX_UNKNOWN_FIELDS} more {noun}s are not known here and have no effect"
        advice.append(advise(UNKNOWN_FIELD, text, path, section))


def refused_fields(exchange: Exchange, advice: list[Advice]) -> list[Finding]:
    """The findings that replace the advice on unknown fields, if the setting refuses such fields (A57)."""
    if Assume.of(exchange.world).unknown_fields != "refuse":
        return []
    unknown = [remark for remark in advice if remark.code == UNKNOWN_FIELD]
    advice[:] = [remark for remark in advice if remark.code != UNKNOWN_FIELD]
    return [
        Finding(
            remark.path,
            "unknown-field",
            f"{_EFFECT.sub('', remark.message)} ({remark.section}, A57)",
            remark.section,
            "A57",
        )
        for remark in unknown
    ]


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The known name that is most similar to `name`, ignoring case; None if no name is similar."""
    if len(name) > QUOTED:
        return None
    folded = {legal.lower(): legal for legal in sorted(names)}
    from difflib import get_close_matches

    close = get_close_matches(name.lower(), folded, 1)
    return folded[close[0]] if close else None


def child(path: str, name: str) -> str:
    """The path of a field: `$.to`, or `$['a b']` for a name that is not an identifier."""
    return f"{path}.{name}" if name.isidentifier() and len(name) <= QUOTED else f"{path}[{name[:QUOTED]!r}]"


def choose_name(fields: JsonMapping, name: str, alias: str, section: str, advice: list[Advice]) -> str:
    """The name under which a field that has two names is given; beside its own name the alias is ignored (A86)."""
    if alias not in fields:
        return name
    if name not in fields:
        return alias
    text = f"{show(alias)} stands beside {show(name)}, of which it is another name, and is ignored"
    advice.append(advise(OLD_NAME_IGNORED, text, f"$.{alias}", section))
    return name


def renamed(record: JsonObject, old: str, new: str, path: str, advice: list[Advice]) -> Any:
    """The value of a field that has a deprecated name, None if the record has neither name (§9).

    The old name works with advice (A85); beside the new one it is ignored, with advice (A86).
    """
    value = record.get(new)
    if old in record:
        if value is not None:
            text = f"{show(old)} stands beside {show(new)} and is ignored: the new name wins"
            advice.append(advise(OLD_NAME_IGNORED, text, f"{path}.{old}"))
            return value
        text = f"{show(old)} is a deprecated name; the name is now {show(new)}"
        advice.append(advise(DEPRECATED_NAME, text, f"{path}.{old}"))
        return record[old]
    return value


A = TypeVar("A")
B = TypeVar("B")
#: A body of more bytes is not read again for what stood in it.
READ_AGAIN: Final = 1 << 18
#: Headers whose value is shown; keys are not.
_SHOWN: Final = frozenset({"content-type"})
_STEP: Final = regex(r"\.([^.\[]+)|\[([0-9]+)\]|\[('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")\]")

Step = str | int


def add_values(findings: Sequence[Finding], exchange: Exchange) -> list[Finding]:
    """The findings with the values at their paths, shortened; None if a path has no value."""
    request = _request(exchange)
    return [replace(finding, value=_value(finding.path, request, exchange)) for finding in findings]


def together(first: Callable[[], A], second: Callable[[], B]) -> tuple[A, B]:
    """The results of both. Raises `Refused`: the refusal of the first, with the findings of the second as well."""
    try:
        value = first()
    except Refused as refused:
        try:
            second()
        except Refused as other:
            refused.findings += other.findings
        raise
    return value, second()


def add_findings(refused: Refused, findings: Iterable[Finding]) -> Refused:
    """The refusal with more findings, of places for which it has none yet."""
    places = {finding.path for finding in refused.findings}
    refused.findings += [finding for finding in findings if finding.path not in places]
    return refused


def steps_of(path: str) -> list[Step]:
    """The steps of a path: `$.flow[1].sms.ttl` is `flow`, 1, `sms`, `ttl`."""
    return [name or (int(index) if index else str(literal_eval(quoted))) for name, index, quoted in _STEP.findall(path)]


def _request(exchange: Exchange) -> object:
    """The request as an object: its JSON, or its parameters; None if it is too long or neither."""
    body = exchange.body
    if len(body) > READ_AGAIN:
        return None
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        raw = body or exchange.query
        fields = {} if bounds.has_too_many_parameters(raw) else parse_qs(raw.decode("latin-1"), keep_blank_values=True)
        return {name: values[-1] for name, values in fields.items()}


def _value(path: str, request: object, exchange: Exchange) -> str | None:
    if path.startswith("header "):
        name = path.removeprefix("header ")
        content = exchange.header(name.encode()) if name in _SHOWN else None
        return None if content is None else show(content.decode("latin-1"))
    steps = steps_of(path)
    if not steps:
        return None
    value = request
    for step in steps:
        items = dict(enumerate(value)) if isinstance(value, list) else value
        if not isinstance(items, dict) or step not in items:
            return None
        value = items[step]
    return show(value)


K = TypeVar("K")
V = TypeVar("V")
#: The greatest number of things of one kind that are remembered.
MAX_CACHED: Final = 1024


class BoundedCache(dict[K, V]):
    """A dictionary that begins anew when it is full, with `most` entries."""

    __slots__ = ("_most",)

    def __init__(self, most: int = MAX_CACHED) -> None:
        super().__init__()
        self._most = most

    def store(self, key: K, value: V) -> V:
        """Stores a value, and returns it."""
        if len(self) >= self._most:
            self.clear()
        self[key] = value
        return value


#: Media type of a form (§4.1).
FORM: Final = "application/x-www-form-urlencoded"

#: The greatest number of bytes of a form that are read: a hundred numbers and a text take a few thousand.
MAX_FORM_BYTES: Final = 64 * 1024

Remark = TypeVar("Remark", Finding, Advice)


class Unreadable(Exception):
    """The bytes are not parameters; `finding` says why."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding


def media_type(headers: Iterable[tuple[bytes, bytes]]) -> str | None:
    """The media type of a body, in lower case and without parameters; None if the headers name none."""
    value = header(headers, b"content-type")
    if value is None:
        return None
    return value.decode("latin-1").partition(";")[0].strip().lower()


def form_problem(headers: Iterable[tuple[bytes, bytes]], body: bytes) -> str | None:
    """The reason why a body is not a form: it is XML, or of another content type; None for a form.

    Clients send XML as a form, too, as it stands or in its field XMLDATA; a body without a content type is a form.
    """
    kind = media_type(headers)
    if body.lstrip().startswith((b"<", b"XMLDATA=")):
        return f"XML is not read: the XML interface is deprecated (§9) and not emulated; legal: {FORM} (§4.1)"
    if kind not in (None, FORM):
        return f"{show(kind)} is not the content type of this call; legal: {FORM} (§4.1)"
    return None


def read_form(raw: bytes, advice: list[Advice]) -> dict[str, str]:
    """The parameters of a raw query or form body, by name.

    Of a repeated one the last counts, with advice. An empty value counts as absent: forms send every field they have.
    Raises `Unreadable` for bytes that are not UTF-8.
    """
    if raw.startswith(GZIP):
        text = "a body compressed with gzip is not a form; legal: a form in UTF-8, uncompressed (§4.1)"
        raise Unreadable(Finding("$", "encoding", text, "§4.1"))
    if bounds.has_too_many_parameters(raw):
        count = raw.count(b"&") + 1
        text = f"{count} parameters are more than the {PARAMETERS} that are read"
        if count <= PARAMETERS:
            text = f"more than {ESCAPES} escapes (%XX) are not read"
        raise Unreadable(Finding("$", "count", text, "§4.1"))
    fields: dict[str, str] = {}
    repeated: dict[str, None] = {}
    for piece in raw.split(b"&"):
        name, _, value = piece.partition(b"=")
        key = _text(name, "$", "the name of a parameter")
        if key in fields:
            repeated[key] = None
        if key or value:
            fields[key] = _text(value, f"$.{key}", f"the value of {show(key)}")
    for key in repeated:
        text = f"{show(key)} is given more than once; the last one counts"
        advice.append(advise(REPEATED_PARAMETER, text, f"$.{key[:QUOTED]}"))
    return {key: value for key, value in fields.items() if value}


def unknown_parameters(fields: Iterable[str], known: frozenset[str], advice: list[Advice]) -> None:
    """Advice for each parameter that is not known (A57), with the nearest name that is."""
    unknown_fields(fields, known, "$", "§4.1", advice, "parameter")


def relocate(remarks: Iterable[Remark], places: Mapping[str, str]) -> list[Remark]:
    """The remarks with paths that begin with a key of `places` turned into its value.

    For parameters that are read by the rules of a Message: `$.to[0].phone_number` is `$.phone_number` to the client.
    """
    moved = []
    for remark in remarks:
        place = next((place for prefix, place in places.items() if remark.path.startswith(prefix)), remark.path)
        moved.append(remark if place == remark.path else replace(remark, path=place))
    return moved


def _text(raw: bytes, path: str, place: str) -> str:
    try:
        return unquote_to_bytes(raw.replace(b"+", b" ")).decode()
    except UnicodeDecodeError:
        text = f"{show(raw.decode('latin-1'))} in {place} is not UTF-8, the only encoding of parameters (§4.1)"
        raise Unreadable(Finding(path[:QUOTED], "encoding", text, "§4.1")) from None
