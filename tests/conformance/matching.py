"""What a case expects against what came: patterns, placeholders, and the difference of two JSON values."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

#: `<uuid>`, `<int=name>`, `<match [0-9]+>`; the README beside this file says what they mean.
_PATTERN: Final = re.compile(
    r"<(any|absent|uuid|int|number|string|object|(?P<size>[0-9]+) items|match (?P<regex>.+?))(?:=(?P<name>\w+))?>"
)
_PLACEHOLDER: Final = re.compile(r"\{(?:(\w+)|([^{}]+)\*([0-9]+))\}")
_UUID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")

ABSENT: Final = object()


class Names:
    """What `{name}` stands for in one case: the key, the origin, and what patterns have kept so far."""

    def __init__(self, **known: str) -> None:
        self._known: dict[str, Any] = dict(known)

    def fill(self, value: Any) -> Any:
        """The value with each placeholder of its strings replaced; what is no known name stays as it is."""
        if isinstance(value, str):
            whole = _PLACEHOLDER.fullmatch(value)
            if whole is not None and whole[1] in self._known:
                return self._known[whole[1]]
            return _PLACEHOLDER.sub(self._replace, value)
        if isinstance(value, dict):
            return {self.fill(name): self.fill(item) for name, item in value.items()}
        if isinstance(value, list):
            return [self.fill(item) for item in value]
        return value

    def _replace(self, found: re.Match[str]) -> str:
        if found[2] is not None:
            return found[2] * int(found[3])
        return str(self._known.get(found[1], found[0]))

    def keep(self, name: str, value: Any) -> bool:
        """Keeps a value under a name; False when another value has the name already."""
        return bool(self._known.setdefault(name, value) == value)


def difference(expected: Any, actual: Any, names: Names, *, exact: bool, path: str = "$") -> list[str]:
    """In what `actual` is not as expected, a line each with its path; empty when it is.

    `exact` allows no fields but those named, else objects may have more. Lists are always compared whole and in order.
    Patterns that keep a value do so in `names`.
    """
    if isinstance(expected, str):
        found = _PATTERN.fullmatch(expected)
        if found is not None:
            return list(_misses(found, actual, names, path))
        expected = names.fill(expected)
    if actual is ABSENT:
        return [f"{path} is absent, expected {expected!r}"]
    if isinstance(expected, dict) and isinstance(actual, dict):
        lines = []
        for name, item in expected.items():
            lines += difference(item, actual.get(name, ABSENT), names, exact=exact, path=f"{path}.{name}")
        if exact:
            lines += [f"{path}.{name} is there, but not expected" for name in actual if name not in expected]
        return lines
    if isinstance(expected, list) and isinstance(actual, list):
        lines = []
        if len(expected) != len(actual):
            lines.append(f"{path} has {len(actual)} items, expected {len(expected)}: {actual}")
        for index, (item, each) in enumerate(zip(expected, actual, strict=False)):
            lines += difference(item, each, names, exact=exact, path=f"{path}[{index}]")
        return lines
    if expected != actual or isinstance(expected, bool) != isinstance(actual, bool):
        return [f"{path} is {actual!r}, expected {expected!r}"]
    return []


def _misses(pattern: re.Match[str], actual: Any, names: Names, path: str) -> Iterable[str]:
    kind, name = pattern[1], pattern["name"]
    if kind == "absent":
        if actual is not ABSENT:
            yield f"{path} is {actual!r}, expected to be absent"
        return
    if actual is ABSENT:
        yield f"{path} is absent, expected {pattern[0]}"
    elif not _is(pattern, actual, names):
        yield f"{path} is {actual!r}, expected {pattern[0]}"
    elif name is not None and not names.keep(name, actual):
        yield f"{path} is {actual!r}, expected what was kept as {name} before"


def _is(pattern: re.Match[str], actual: Any, names: Names) -> bool:
    if pattern["regex"] is not None:
        return isinstance(actual, str) and re.search(names.fill(pattern["regex"]), actual) is not None
    if pattern["size"] is not None:
        return isinstance(actual, list) and len(actual) == int(pattern["size"])
    number = isinstance(actual, int | float) and not isinstance(actual, bool)
    return {
        "any": True,
        "uuid": isinstance(actual, str) and _UUID.fullmatch(actual) is not None,
        "int": number and isinstance(actual, int),
        "number": number,
        "string": isinstance(actual, str),
        "object": isinstance(actual, dict),
    }[pattern[1]]
