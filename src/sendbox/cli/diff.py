"""`sendbox diff`: two journals, and the first entry in which they differ.

They are compared in canonical form (`control/replicas/journals.py`), in which a name is replaced by the content
that it was derived from. A journal that was saved in the form for people is brought close to that form: its names are
numbered in the order of their first use.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Final
from urllib.parse import unquote

import click
import msgspec
import orjson

from sendbox.cli.address import call
from sendbox.cli.options import TOKEN, format_option
from sendbox.cli.outcome import CANNOT, NO, OK, USAGE, Failure, format_json, json_of, one_line
from sendbox.control.replicas import journals
from sendbox.control.replicas.journals import Difference, Entry, Journal, as_text, comparable_entries, notes
from sendbox.engine.answer import JsonObject
from sendbox.engine.durations import instant

_WORLD: Final = re.compile(r"(.*)/_sandbox/worlds/([^/]+)(?:/journal)?/?")
#: Entries that the digest leaves out.
_CONTROL: Final = frozenset({"opened", "reset", "restored", "control", "timeline"})
#: Names that a world makes: UUIDs (and -index), tokens and codes with its tag, ids of digits, signed tokens.
_NAME: Final = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|eyJ[\w-]*\.[\w-]*\.[\w-]*|\b[0-9a-f]{16}[\w-]{4,}|\b[0-9]{15,16}\b"
)
_ORIGIN: Final = re.compile(r"https?://[^/\s\"]+(?=/(?:s|upload|signup|_sandbox)/)")


@click.command()
@click.argument("a")
@click.argument("b")
@TOKEN
@format_option("text", "json")
def diff_command(a: str, b: str, format: str) -> int:
    """A and B are files that hold what /_sandbox/worlds/ID/journal?form=canonical answered, or what play --format json
    printed, or addresses of worlds. Names, receivers and the order within one instant do not count. Where entries were
    forgotten (--max-journal), what is left is compared, and that is said. Exit code 1 when they differ.

    \b
    Examples:
      sendbox diff monday.json tuesday.json
      sendbox diff http://127.0.0.1:7357/_sandbox/worlds/test-a http://127.0.0.1:7357/_sandbox/worlds/test-b
    """
    first, second, difference = diff(a, b)
    if format == "json":
        click.echo(format_json(as_object(first, second, difference)))
    else:
        for line in as_text(first, second, difference):
            click.echo(one_line(line))
    return OK if difference is None else NO


def diff(first: str, second: str) -> tuple[Journal, Journal, Difference | None]:
    """The journals, and their first difference. Raises `Failure` where one cannot be read."""
    a, b = read(first), read(second)
    if a.canonical != b.canonical:
        without, plain = (b, a) if a.canonical else (a, b)
        raise Failure(
            USAGE, f"{without.name} was saved without form=canonical, {plain.name} with it; save both in the same form"
        )
    return a, b, journals.compare(*comparable_entries(a, b))


# --- reading


def read(source: str) -> Journal:
    """The journal of a world at an address, or of a file. Raises `Failure`."""
    if source.startswith(("http://", "https://")):
        return _fetch_journal(source)
    value = json_of(Path(source))
    canonical = isinstance(value, dict) and ("canonical" in value or value.get("form") == "canonical")
    try:
        saved = msgspec.convert(value, _Saved)
        entries: Any = saved.entries if saved.canonical is msgspec.UNSET else saved.canonical
        msgspec.convert(entries, list[_CanonicalEntry] if canonical else list[_Entry])
        comparable = entries if canonical else _normalize_entries(entries)
    except ValueError as error:  # msgspec.ValidationError is one
        message = f"{source} holds no journal; legal: what /worlds/ID/journal answers, or sendbox play --format json"
        raise Failure(CANNOT, f"{message}{_place(error)}") from None
    lost = saved.first or 0
    if lost and not canonical:
        message = f"{source}: the first {lost} entries were forgotten, so the start is not known; save it with form="
        raise Failure(CANNOT, f"{message}canonical")
    return Journal(source, comparable, canonical, lost, saved.bound, saved.more)


class _Saved(msgspec.Struct):
    """A journal as it was saved; `canonical` is that of `sendbox play --format json`."""

    canonical: list[Entry] | msgspec.UnsetType = msgspec.UNSET
    entries: list[Entry] | msgspec.UnsetType = msgspec.UNSET
    first: int | None = 0
    more: bool = False
    bound: str = "--max-journal"


class _Entry(msgspec.Struct):
    """The fields that each entry has."""

    n: int
    at: str
    kind: Annotated[str, msgspec.Meta(min_length=1)]


class _CanonicalEntry(_Entry):
    """The same in canonical form: `at` is in milliseconds from the start."""

    at: int  # type: ignore[assignment]  # another form


def _place(error: ValueError) -> str:
    """The place of a value that no journal has, or the problem with it."""
    place = re.search(r"`\$(.*)`", str(error))
    if place is not None:
        return f"; {'entries' if place[1].startswith('[') else ''}{place[1].removeprefix('.')} is something else"
    return "" if isinstance(error, msgspec.ValidationError) else f"; {error}"


def _fetch_journal(address: str) -> Journal:
    match = _WORLD.fullmatch(address.partition("?")[0])
    if match is None:
        raise Failure(USAGE, f"{address} is not the address of a world; legal: http://HOST:PORT/_sandbox/worlds/ID")
    answer = call(match[1], "journal", unquote(match[2]), {"form": "canonical"})
    return Journal(address, answer["entries"], lost=answer["first"], bound=answer.get("bound", ""))


def _normalize_entries(entries: list[Entry]) -> list[Entry]:
    """Entries in the form for people, with instants from the start and numbered names."""
    start = instant(entries[0]["at"]) if entries else 0
    keys = {entry["key"].partition("~")[0] for entry in entries if isinstance(entry.get("key"), str)}
    worlds = re.compile("|".join(re.escape(key) for key in sorted(keys, key=len, reverse=True)) or r"(?!)")
    numbers: dict[str, str] = {}

    def named(text: str) -> str:
        text = worlds.sub("WORLD", _ORIGIN.sub("ORIGIN", text))
        return _NAME.sub(lambda match: numbers.setdefault(match[0], f"NAME{len(numbers) + 1}"), text)

    return [
        {**_map_texts(_decode_bodies(entry), named), "at": instant(entry["at"]) - start}
        for entry in entries
        if entry.get("kind") not in _CONTROL
    ]


def _decode_bodies(entry: Entry) -> Entry:
    """A request with body and answer as values, where they are JSON."""
    decoded = dict(entry)
    for name in ("body", "answer"):
        if entry.get("kind") == "request" and isinstance(entry.get(name), str):
            with contextlib.suppress(orjson.JSONDecodeError):
                decoded[name] = orjson.loads(entry[name])
    return decoded


def _map_texts(value: object, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: _map_texts(item, change) for key, item in value.items()}
    return [_map_texts(item, change) for item in value] if isinstance(value, list) else value


# --- showing


def as_object(a: Journal, b: Journal, difference: Difference | None) -> JsonObject:
    """The same as a plain object."""
    first = None
    if difference is not None:
        first = {
            "at": difference.at,
            "a": difference.a,
            "b": difference.b,
            "fields": [{"path": path, "a": left, "b": right} for path, left, right in difference.fields],
            "before": difference.context,
        }
    return {
        "equal": difference is None,
        "left_out": notes(a, b),
        "a": {"name": a.name, "entries": len(a.entries), "only": 0 if difference is None else len(difference.only_a)},
        "b": {"name": b.name, "entries": len(b.entries), "only": 0 if difference is None else len(difference.only_b)},
        "first": first,
    }
