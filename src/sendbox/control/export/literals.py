"""Values as Python writes them, on lines that people can read; names of a world become expressions."""

from __future__ import annotations

import keyword
from collections.abc import Mapping, Sequence
from typing import Any, Final

WIDTH: Final = 110


class Literals:
    """Writes values. `names` maps texts to the expressions that stand for them, in whole or inside of longer texts."""

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def text(self, value: str) -> str:
        """A text: a plain literal, a name, or an f-string in which names stand."""
        if value in self.names:
            return self.names[value]
        known = self.names
        pieces = [value]
        for name in sorted(known, key=len, reverse=True):
            pieces = [part for piece in pieces for part in ([piece] if piece in known else _split(piece, name))]
        if len(pieces) == 1:
            return f'"{_escaped(value)}"'
        parts = (f"{{{known[piece]}}}" if piece in known else _escaped(piece, braces=True) for piece in pieces)
        return f'f"{"".join(parts)}"'

    def value(self, value: Any, indent: int = 0, used: int = 0) -> str:
        """A JSON value; one that does not fit on its line is broken after each item. `used` columns are taken."""
        short = self._short(value)
        if len(short) + indent + used <= WIDTH or not isinstance(value, dict | list) or not value:
            return short
        pad = " " * (indent + 4)
        if isinstance(value, dict):
            lines = [f"{self.text(key)}: {self.value(item, indent + 4, len(key) + 4)}," for key, item in value.items()]
            left, right = "{}"
        else:
            lines = [f"{self.value(item, indent + 4, 1)}," for item in value]
            left, right = "[]"
        return "\n".join([left, *(pad + line for line in lines), " " * indent + right])

    def _short(self, value: Any) -> str:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return "{" + ", ".join(f"{self.text(key)}: {self._short(item)}" for key, item in value.items()) + "}"
        if isinstance(value, list):
            return "[" + ", ".join(map(self._short, value)) + "]"
        return repr(value)

    def call(self, function: str, positional: list[Any], named: Mapping[str, Any], indent: int = 4) -> str:
        """A call; arguments whose names are not identifiers of Python are given as a mapping."""
        odd = {name: value for name, value in named.items() if not name.isidentifier() or keyword.iskeyword(name)}
        arguments = [self.value(item, indent) for item in positional]
        arguments += [
            f"{name}={self.value(item, indent, len(name) + 40)}" for name, item in named.items() if name not in odd
        ]
        if odd:
            arguments.append(f"**{self.value(odd, indent, 40)}")
        return broken(function, arguments, indent)


def broken(function: str, arguments: Sequence[str], indent: int = 4, room: int = WIDTH) -> str:
    """A call of written arguments: on one line, with the last of them broken open, or each on its own line."""
    line = f"{function}({', '.join(arguments)})"
    first = line.partition("\n")[0]
    if len(first) + indent <= room and ("\n" not in line or "\n" not in "".join(arguments[:-1])):
        return line
    pad = " " * (indent + 4)
    deeper = (argument.replace("\n", "\n    ") for argument in arguments)
    return "\n".join([f"{function}(", *(f"{pad}{argument}," for argument in deeper), " " * indent + ")"])


def _split(piece: str, name: str) -> list[str]:
    parts = piece.split(name)
    return [part for pair in ((part, name) for part in parts) for part in pair][:-1]


def _escaped(text: str, *, braces: bool = False) -> str:
    escaped = "".join(
        char if char.isprintable() else char.encode("unicode_escape", "surrogatepass").decode()
        for char in text.replace("\\", "\\\\").replace('"', '\\"')
    )
    return escaped.replace("{", "{{").replace("}", "}}") if braces else escaped
