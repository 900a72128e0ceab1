"""Values as Python writes them, in lines that a person reads; names of a world become expressions."""

from __future__ import annotations

import keyword
from collections.abc import Mapping
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
        pieces: list[str] = [value]
        named = False
        for name in sorted(self.names, key=len, reverse=True):
            if name in value:
                named = True
                pieces = [part for piece in pieces for part in _split(piece, name)]
        if not named:
            return f'"{_escaped(value)}"'
        known = self.names
        shown = (f"{{{known[piece]}}}" if piece in known else _escaped(piece, braces=True) for piece in pieces)
        return f'f"{"".join(shown)}"'

    def value(self, value: Any, indent: int = 0, taken: int = 0) -> str:
        """A JSON value; one that does not fit into its line is broken after each item. `taken` columns are used."""
        short = self._short(value)
        if len(short) + indent + taken <= WIDTH or not isinstance(value, dict | list) or not value:
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
        """A call; arguments that are no names in Python are given as a mapping."""
        odd = {name: value for name, value in named.items() if not name.isidentifier() or keyword.iskeyword(name)}
        shown = [self.value(item, indent + 4) for item in positional]
        shown += [
            f"{name}={self.value(item, indent + 4, len(name) + 1)}" for name, item in named.items() if name not in odd
        ]
        if odd:
            shown.append(f"**{self.value(odd, indent + 4, 2)}")
        line = f"{function}({', '.join(shown)})"
        if len(line) + indent <= WIDTH and "\n" not in line:
            return line
        pad = " " * (indent + 4)
        return "\n".join([f"{function}(", *(f"{pad}{item}," for item in shown), " " * indent + ")"])


def _split(piece: str, name: str) -> list[str]:
    parts = piece.split(name)
    return [part for pair in ((part, name) for part in parts) for part in pair][:-1]


def _escaped(text: str, *, braces: bool = False) -> str:
    shown = "".join(
        char if char.isprintable() else char.encode("unicode_escape", "surrogatepass").decode()
        for char in text.replace("\\", "\\\\").replace('"', '\\"')
    )
    return shown.replace("{", "{{").replace("}", "}}") if braces else shown
