"""Mutants of the product: one small change of one place each, made by cosmic-ray's operators, and a sample of them."""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("engine", "services/messaging")


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of one file: `source` is the whole text of the changed file, `lines` are the lines that differ."""

    path: Path
    operator: str
    source: str
    lines: tuple[int, ...]

    @property
    def name(self) -> str:
        """File, first line and operator, and the changed line."""
        changed = self.source.splitlines()[self.lines[0] - 1].strip()
        operator = self.operator.removeprefix("core/")
        return f"{self.path.relative_to(ROOT / 'src' / 'sendbox')}:{self.lines[0]} {operator}: {changed}"


def sample(size: int, seed: str) -> list[Mutant]:
    """`size` mutants, drawn by a keyed hash: the same ones for the same sources and the same seed."""
    places: dict[tuple[Path, int, int], list[tuple[str, int]]] = {}
    for room in ROOMS:
        for path in sorted((ROOT / "src" / "sendbox" / room).rglob("*.py")):
            for operator, ordinal, place in _places(path):
                places.setdefault((path, *place), []).append((operator, ordinal))

    drawn: list[Mutant] = []
    for path, row, column in sorted(places, key=lambda place: rank(seed, place[0].relative_to(ROOT), *place[1:])):
        choices = places[path, row, column]
        operator, ordinal = min(choices, key=lambda choice: rank(seed, path.relative_to(ROOT), row, column, choice[0]))
        mutant = _mutant(path, operator, ordinal)
        if mutant is not None:
            drawn.append(mutant)
        if len(drawn) == size:
            break
    return drawn


def rank(*words: object) -> bytes:
    """A place in an order that looks random and is always the same."""
    return hashlib.blake2b("|".join(map(str, words)).encode(), digest_size=8).digest()


@functools.cache
def _operators() -> dict[str, Any]:
    """cosmic-ray's operators by name, without those that need to be told variables."""
    plugins = importlib.import_module("cosmic_ray.plugins")
    names = [name for name in plugins.operator_names() if not name.startswith("core/Variable")]
    return {name: plugins.get_operator(name)() for name in names}


def _places(path: Path) -> Iterator[tuple[str, int, tuple[int, int]]]:
    """Each place of a file that an operator changes: the operator, the place's ordinal for it, row and column."""
    trees = importlib.import_module("cosmic_ray.ast")
    source = path.read_text("utf-8")
    silent = _annotations(source)
    nodes = list(trees.ast_nodes(trees.get_ast(source)))
    for name, operator in sorted(_operators().items()):
        ordinal = 0
        for node in nodes:
            for start, _ in operator.mutation_positions(node):
                if not any(first <= start <= last for first, last in silent):
                    yield name, ordinal, start
                ordinal += 1


def _annotations(source: str) -> Sequence[tuple[tuple[int, int], tuple[int, int]]]:
    """Where annotations stand, and what only a type checker runs: a change of them changes nothing."""
    silent: list[ast.expr | ast.stmt] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.arg | ast.AnnAssign) and node.annotation is not None:
            silent.append(node.annotation)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.returns is not None:
            silent.append(node.returns)
        elif isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            silent.append(node)
    return [
        ((node.lineno, node.col_offset), (node.end_lineno or node.lineno, node.end_col_offset or 0)) for node in silent
    ]


def _mutant(path: Path, operator: str, ordinal: int) -> Mutant | None:
    mutating = importlib.import_module("cosmic_ray.mutating")
    source = path.read_text("utf-8")
    changed: str | None = mutating.mutate_code(source, _operators()[operator], ordinal)
    if changed is None or changed == source:
        return None
    try:
        if ast.dump(ast.parse(changed)) == ast.dump(ast.parse(source)):
            return None
    except SyntaxError:
        return None
    before, after = source.splitlines(), changed.splitlines()
    lines = tuple(row for row, (line, other) in enumerate(zip(before, after, strict=False), 1) if line != other)
    return Mutant(path, operator, changed, lines or (1,))
