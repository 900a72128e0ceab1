"""Pieces of code that documents show as they stand: of the service of `docs/your-own-service.md`, and of examples."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Final, NamedTuple

from tests.documentation.markdown import ROOT, text_of

SERVICE: Final = "tests/locker"
TESTS: Final = "tests/test_locker.py"


class Piece(NamedTuple):
    """A piece of a file: from the definition of a name (None: its beginning) to that of another (None: its end)."""

    file: str
    first: str | None = None
    until: str | None = None


#: Clients in other languages, whole, by the language of their blocks.
CLIENTS: Final = {
    "javascript": "examples/client.mjs",
    "php": "examples/client.php",
    "go": "examples/client.go",
    "ruby": "examples/client.rb",
    "sh": "examples/client.sh",
}
#: By name. Those of the service are all of its files, whole.
PIECES: Final = {
    "lifecycle": Piece(f"{SERVICE}/parcels.py", None, "LockerRule"),
    "rules": Piece(f"{SERVICE}/parcels.py", "LockerRule", "Notice"),
    "event": Piece(f"{SERVICE}/parcels.py", "Notice", "Locker"),
    "part": Piece(f"{SERVICE}/parcels.py", "Locker"),
    "contract": Piece(f"{SERVICE}/locker.json"),
    "endpoint": Piece(f"{SERVICE}/http.py"),
    "key": Piece(f"{SERVICE}/language.py"),
    "observed": Piece(f"{SERVICE}/observed.py"),
    "operations": Piece(f"{SERVICE}/control.py"),
    "application": Piece(f"{SERVICE}/app.py"),
    "use in a test": Piece(TESTS, "sendbox_server", "announce"),
    "use in play": Piece(TESTS, "RULES", "sendbox_server"),
    **{language: Piece(file) for language, file in CLIENTS.items()},
    "helper": Piece("examples/sandbox.mjs"),
    "helper in tests": Piece("examples/sandbox.test.mjs"),
    "exploration in Node": Piece("examples/explore.mjs"),
    "tests in Java": Piece("examples/java/ShopTest.java"),
    "tests in Go": Piece("examples/go/sandbox_test.go"),
    "typescript": Piece("examples/typescript/client.ts"),
}
#: The language of a block by the end of the file's name.
_LANGUAGES: Final = {".py": "python", ".json": "json", ".ts": "typescript", ".java": "java"} | {
    f".{file.rpartition('.')[2]}": language for language, file in CLIENTS.items()
}


def piece(name: str) -> str:
    """A piece as a fenced block."""
    shown = PIECES[name]
    lines = text_of(ROOT / shown.file).splitlines()
    starts = _starts(lines) if shown.file.endswith(".py") else {}
    begin = 0 if shown.first is None else starts[shown.first]
    end = len(lines) if shown.until is None else starts[shown.until]
    text = "\n".join(lines[begin:end]).strip("\n")
    return f"```{_LANGUAGES[Path(shown.file).suffix]}\n{text}\n```"


def _starts(lines: list[str]) -> dict[str, int]:
    """Where the definition of each name at the top of a module begins, with its decorators and the comment above it."""
    starts = {}
    for node in ast.parse("\n".join(lines)).body:
        first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))]) - 1
        while lines[first - 1].startswith("#"):
            first -= 1
        for name in _names(node):
            starts[name] = first
    return starts


def _names(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    return [node.target.id] if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) else []
