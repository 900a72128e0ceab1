"""The boundaries of `boundaries.py`, proved on the syntax trees of the code.

It is long because a rule and the proof that it finds a breach stand together. Imports inside functions and under
`TYPE_CHECKING` count like any other, except where a rule is about what a start costs.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from tests.boundaries import (
    BANNED,
    ENDS,
    MOST_FILES,
    NOT_PURE,
    NOT_TO_START,
    OBSERVERS,
    OWNERS,
    PARTS,
    PURE,
    PURE_BUT,
    PURE_PACKAGES,
    SERVER,
    STARTS,
    STDLIB,
    Part,
)

ROOT: Final = Path(__file__).resolve().parent.parent
SRC: Final = ROOT / "src" / "sendbox"

# --- reading the code -------------------------------------------------------------------------------------------------


class Import(NamedTuple):
    """One imported name, full and dotted (`from a import b` is `a.b`); `eager` when importing the module runs it."""

    line: int
    name: str
    eager: bool


class Module(NamedTuple):
    """A module of the package: its dotted name without `sendbox.`, where it is, its tree."""

    name: str
    path: Path
    tree: ast.Module


@cache
def modules() -> tuple[Module, ...]:
    found = []
    for path in sorted(SRC.rglob("*.py")):
        relative = path.relative_to(SRC).with_suffix("")
        names = relative.parts[:-1] if relative.name == "__init__" else relative.parts
        found.append(Module(".".join(names), path, ast.parse(path.read_text("utf-8"), str(path))))
    return tuple(found)


@cache
def imports(tree: ast.Module) -> tuple[Import, ...]:
    """Every import of a module, in order."""

    def walk(node: ast.AST, eager: bool) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                yield from (Import(child.lineno, alias.name, eager) for alias in child.names)
            elif isinstance(child, ast.ImportFrom):
                yield from (Import(child.lineno, f"{child.module}.{alias.name}", eager) for alias in child.names)
            elif isinstance(child, ast.If) and (spelled(child.test) or "").endswith("TYPE_CHECKING"):
                for inner in child.body:
                    yield from walk(ast.Module([inner], []), False)
                for inner in child.orelse:
                    yield from walk(ast.Module([inner], []), eager)
            else:
                function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
                yield from walk(child, eager and not function)

    return tuple(walk(tree, True))


def touched(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Every name with dots in a module, resolved through its imports: `dt.now` is `datetime.datetime.now`."""
    known: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            known |= {
                a.asname or a.name.partition(".")[0]: a.name if a.asname else a.name.partition(".")[0]
                for a in node.names
            }
        elif isinstance(node, ast.ImportFrom):
            known |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute | ast.Name) and (dotted := spelled(node)):
            head, dot, rest = dotted.partition(".")
            if head in known:
                yield node.lineno, known[head] + dot + rest


def spelled(node: ast.expr) -> str | None:
    """`a.b.c` as text, None for anything that is not names and dots."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (before := spelled(node.value)):
        return f"{before}.{node.attr}"
    return None


def under(name: str, prefix: str) -> bool:
    return name == prefix or name.startswith(prefix + ".")


def inside(module: str, parts: frozenset[str] | tuple[str, ...]) -> bool:
    return any(under(module, each) for each in parts)


def part_of(module: str) -> Part | None:
    """The part a module belongs to, None for the shell."""
    fitting = [each for each in PARTS if under(module, each.name)]
    return max(fitting, key=lambda each: len(each.name), default=None)


def ours(name: str) -> str | None:
    """What an import takes from the package, without `sendbox.`; None for an import of something else."""
    return name.removeprefix("sendbox").removeprefix(".") if under(name, "sendbox") else None


# --- the rules --------------------------------------------------------------------------------------------------------


def crossings(module: str, tree: ast.Module) -> Iterator[str]:
    """Imports that `PARTS` does not allow."""
    mine = part_of(module)
    top = module.partition(".")[0]
    for line, name, _ in imports(tree):
        reached = ours(name)
        if not reached or reached == "__version__":
            continue
        theirs = part_of(reached)
        label = theirs.name if theirs else reached.partition(".")[0]
        if label in ENDS and top not in (label, "__main__"):
            yield f"line {line}: {label} is an end of the program: started, never imported"
        elif mine and label not in mine.may | {mine.name}:
            yield f"line {line}: {mine.name} imports {label}, and may {sorted(mine.may) or 'nothing'}: {mine.why}"


def impurities(module: str, tree: ast.Module) -> Iterator[str]:
    """Imports of a pure part from outside its short list."""
    if not inside(module, PURE) or inside(module, NOT_PURE):
        return
    allowed = STDLIB | PURE_PACKAGES | PURE_BUT.get(module, frozenset()) | {"sendbox"}
    for line, name, _ in imports(tree):
        if not any(under(name, each) for each in allowed):
            yield f"line {line}: {name} is not on the list of what the pure parts may import"


def strangers(module: str, tree: ast.Module) -> Iterator[str]:
    """Third-party imports that nobody declared, or that belong to another part."""
    owners = {each.package: each for each in OWNERS}
    for line, name, _ in imports(tree):
        top = name.partition(".")[0]
        if top in sys.stdlib_module_names or top == "sendbox":
            continue
        if top not in owners:
            yield f"line {line}: {top} has no row in OWNERS: who may import it, and why?"
        elif owners[top].parts and not inside(module, owners[top].parts):
            yield f"line {line}: {top} belongs to {sorted(owners[top].parts)}: {owners[top].why}"


def banned(module: str, tree: ast.Module) -> Iterator[str]:
    """Uses of names that `BANNED` holds, imported or spelled out."""
    uses = {(line, name) for line, name, _ in imports(tree)} | set(touched(tree))
    for line, name in sorted(uses):
        for each in BANNED:
            if under(name, each.name) and not inside(module, each.but):
                yield f"line {line}: {name}: {each.why}"


def sleeps(tree: ast.Module) -> Iterator[str]:
    """Calls of anything named sleep; `asyncio.sleep(0)` gives way to others and does not wait."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (name := spelled(node.func)) and name.rpartition(".")[2] == "sleep":
            gives_way = [ast.dump(arg) for arg in node.args] == [ast.dump(ast.Constant(0))]
            if not gives_way or name == "time.sleep":
                yield f"line {node.lineno}: {name}(…): wait for what must become true, or move a world's clock"


def breaches(rule: Callable[[str, ast.Module], Iterator[str]]) -> list[str]:
    """What all modules of the package do against a rule, each with its module."""
    return [f"{module.name}: {breach}" for module in modules() for breach in rule(module.name, module.tree)]


def test_imports_stay_within_the_parts() -> None:
    """A part of the package imports only the parts that its row names."""
    assert breaches(crossings) == []


def test_what_is_observed_is_not_known_to_what_happens() -> None:
    """Of the engine and the services only what observes imports what observes."""
    found = [
        f"{module.name}, line {line}: {name}"
        for module in modules()
        if inside(module.name, ("engine", "services")) and not inside(module.name, OBSERVERS)
        for line, name, _ in imports(module.tree)
        if inside(ours(name) or "", OBSERVERS)
    ]
    assert found == []


def test_no_module_imports_itself_in_a_circle() -> None:
    """Modules do not import each other in a circle, nor for the type checker."""
    assert circles() == []


def circles() -> list[list[str]]:
    """The sets of modules that import each other in a circle (Tarjan's strongly connected components)."""
    known = {module.name: module for module in modules()}
    reached = {name: sorted(_reached(module, known)) for name, module in known.items()}
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        order[name] = lowest[name] = len(order)
        stack.append(name)
        for other in reached[name]:
            if other not in order:
                visit(other)
                lowest[name] = min(lowest[name], lowest[other])
            elif other in stack:
                lowest[name] = min(lowest[name], order[other])
        if lowest[name] == order[name]:
            circle = stack[stack.index(name) :]
            del stack[stack.index(name) :]
            if len(circle) > 1:
                found.append(circle)

    for name in known:
        if name not in order:
            visit(name)
    return found


def _reached(module: Module, known: dict[str, Module]) -> set[str]:
    """The modules of ours that a module imports; of a package itself only what its `__init__` is asked for."""
    found = set()
    for _, name, _ in imports(module.tree):
        reached = ours(name)
        while reached and reached not in known:
            reached = reached.rpartition(".")[0]
        if reached and reached != module.name:
            found.add(reached)
    return found


def test_no_folder_is_crowded() -> None:
    """A folder of the package holds so many modules at most; a fuller one is two folders."""
    folders: dict[Path, int] = {}
    for module in modules():
        if module.path.name != "__init__.py":
            folders[module.path.parent] = folders.get(module.path.parent, 0) + 1
    assert {str(folder): count for folder, count in folders.items() if count > MOST_FILES} == {}


def test_each_room_says_what_lives_there() -> None:
    """Each package of the product says in its `__init__` what lives in it."""
    silent = [m.name for m in modules() if m.path.name == "__init__.py" and not ast.get_docstring(m.tree)]
    assert silent == []


def test_the_core_is_pure() -> None:
    """The pure parts import nothing that could do I/O, read a clock or draw."""
    assert breaches(impurities) == []


def test_third_party_packages_are_imported_by_their_owners() -> None:
    """A third-party package is imported where its row says, and nowhere else."""
    assert breaches(strangers) == []


def test_nothing_reads_the_machine_clock_or_draws() -> None:
    """Nothing in the product reads the wall clock or an unseeded source, `sendbox.runtime.wall` apart."""
    assert breaches(banned) == []


@pytest.mark.parametrize("start", STARTS)
def test_a_start_loads_nothing_lazy(start: str) -> None:
    """What only some runs need is imported when they need it: starting costs neither its time nor its memory."""
    lazy = {each.package for each in OWNERS if each.lazy}
    assert [way for name, way in led_to(start) if name.partition(".")[0] in lazy] == []


@pytest.mark.parametrize("start", SERVER)
def test_a_server_starts_with_little(start: str) -> None:
    """The modules that a server starts with lead to none of those that are imported later."""
    assert [way for name, way in led_to(start) if inside(name, NOT_TO_START)] == []


def test_a_start_of_a_server_is_checked_where_it_is() -> None:
    """The modules of the table are there, so that the test above does not pass for want of them."""
    known = {module.name for module in modules()}
    assert [name for name in SERVER if name not in known] == []
    later = [name.removeprefix("sendbox.") for name in NOT_TO_START if name.startswith("sendbox.")]
    assert [name for name in later if not any(under(each, name) for each in known)] == []


def led_to(start: str) -> Iterator[tuple[str, str]]:
    """What importing a module imports, and the way there; ours with their whole names."""
    known = {module.name: module for module in modules()}
    todo, route = [start] if start in known else [], {start: start}
    while todo:
        here = todo.pop()
        for line, name, eager in imports(known[here].tree):
            if not eager:
                continue
            yield name, f"{route[here]} (line {line}) -> {name}"
            reached = ours(name)
            while reached:  # importing `a.b` runs `a` too
                if reached in known and reached not in route:
                    route[reached] = f"{route[here]} -> {reached}"
                    todo.append(reached)
                reached = reached.rpartition(".")[0]


@cache
def sources() -> tuple[tuple[str, str], ...]:
    """Every file of product, tests and benchmarks: its path and its text."""
    folders = ("src", "tests", "benchmarks")
    files = sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    return tuple((str(path.relative_to(ROOT)), path.read_text("utf-8")) for path in files)


def test_nothing_sleeps() -> None:
    """Neither product nor tests wait by the clock on the wall."""
    trees = [(name, ast.parse(text)) for name, text in sources() if "sleep" in text]
    assert [f"{name}: {breach}" for name, tree in trees for breach in sleeps(tree)] == []


# --- the rules catch what they are for --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("module", "code", "said"),
    [
        ("engine.clock", "from sendbox.runtime import worlds", "engine imports runtime"),
        ("engine.clock", "def f():\n    from sendbox.contract import x", "engine imports contract"),
        ("engine.clock", "from sendbox.services.messaging import records", "engine imports services.messaging"),
        ("services.verify.session", "from sendbox.services.partner import records", "imports services.partner"),
        ("services.verify.session", "from sendbox.runtime import worlds", "services.verify imports runtime"),
        ("page.routes", "from sendbox.engine.world import World", "page imports engine"),
        ("app", "import sendbox.cli", "an end of the program"),
        ("engine.clock", "import asyncio", "asyncio is not on the list"),
        ("engine.clock", "if TYPE_CHECKING:\n    import socket", "socket is not on the list"),
        ("engine.clock", "from urllib import request", "urllib.request is not on the list"),
        ("engine.clock", "from io import open", "io.open is not on the list"),
        ("engine.clock", "from pkgutil import get_data", "pkgutil.get_data is not on the list"),
        ("runtime.policy", "import logging", "logging is not on the list"),
        ("control.routes", "import aiohttp", "aiohttp belongs to"),
        ("app", "import requests", "requests has no row"),
        ("app", "import time", "the machine's clock"),
        ("engine.clock", "from datetime import datetime as dt\nx = dt.now", "datetime.datetime.now"),
        ("engine.clock", "import datetime\nx = datetime.date.today()", "datetime.date.today"),
        ("app", "from random import choice", "derived from the seed"),
        ("app", "import uuid\nx = uuid.uuid4()", "uuid.uuid4"),
        ("app", "import asyncio\nasyncio.sleep(0.1)", "asyncio.sleep(…)"),
        ("app", "from time import sleep\nsleep(0)\nsleep(1)", "line 3: sleep(…)"),
        ("app", "import time\ntime.sleep(0)", "time.sleep(…)"),
    ],
)
def test_a_breach_is_found(module: str, code: str, said: str) -> None:
    """Each rule finds a breach of it and names it."""
    tree = ast.parse(code)
    found = [
        *crossings(module, tree),
        *impurities(module, tree),
        *strangers(module, tree),
        *banned(module, tree),
        *sleeps(tree),
    ]
    assert any(said in line for line in found), found


@pytest.mark.parametrize(
    ("module", "code"),
    [
        ("engine.world", "from sendbox.engine.part import Part\nfrom datetime import UTC, datetime\nimport orjson"),
        ("engine.timeline", "from urllib.parse import quote"),
        ("runtime.wall", "import time\ntime.time()"),
        ("services.verify.http", "from sendbox.services.http.exchange import Route"),
        ("app", "import asyncio\nfrom sendbox.page import answers\nasyncio.sleep(0)"),
        ("app", "clock.now()\nself.clock.today()"),
        ("runtime.sender", "import aiohttp"),
    ],
)
def test_what_is_allowed_is_not_found(module: str, code: str) -> None:
    """The rules let pass what the tables allow."""
    tree = ast.parse(code)
    found = [
        *crossings(module, tree),
        *impurities(module, tree),
        *strangers(module, tree),
        *banned(module, tree),
        *sleeps(tree),
    ]
    assert found == []
