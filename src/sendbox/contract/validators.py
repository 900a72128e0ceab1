"""The check of a value against the contract, with the reasons if it fails.

Two engines share one schema. `jsonschema-rs` decides, in microseconds; `jsonschema` is imported when the first value
is refused and finds every reason. They disagree on nothing that the schemas use (a test holds them together); should
they after all, the decision stands and the decider's own words are the finding.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sendbox import data
from sendbox.contract import schemas
from sendbox.contract.findings import Problem, explain, foreign
from sendbox.engine.answer import JsonMapping
from sendbox.engine.remarks import Finding

if TYPE_CHECKING:
    from jsonschema import ValidationError
    from jsonschema.protocols import Validator


#: So many reasons are looked for in one value.
MAX_PROBLEMS: Final = 100
#: So many entries of an array are looked into for reasons, so that a refusal takes little time.
MAX_ENTRIES: Final = 200


class NotLoaded(Exception):
    """Something was not imported yet, and importing it here would hold an event loop.

    `load` imports it, off the loop; unless another is named, what explains refusals (`preload`). Imported at a start,
    that would cost 0.4 times the processor time of a bare server's start; at the first refusal, it would hold the loop
    as long.
    """

    def __init__(self, load: Callable[[], None] | None = None) -> None:
        super().__init__()
        self.load = load or preload


class Checker:
    """One schema, ready to check values. `ref` names it (`sending.json#/$defs/Message`)."""

    __slots__ = ("_decide", "_deferred", "_engine", "_schema", "ref")

    def __init__(self, ref: str, schema: schemas.Node, *, deferred: bool = False) -> None:
        # Imported for the first schema: a server that starts has asked for none, and the library has 8 MB.
        from jsonschema_rs import Draft202012Validator, RegexOptions

        self.ref = ref
        self._deferred = deferred
        self._schema = schema
        # Linear time for every text; formats are patterns, because engines differ on what a format is.
        self._decide = Draft202012Validator(schema, validate_formats=False, pattern_options=RegexOptions())
        self._engine: Any = None

    def is_valid(self, value: object) -> bool:
        """True if the value is legal; False also if no JSON text can hold it (NaN, a key that is not a string)."""
        try:
            return self._decide.is_valid(value)
        except ValueError:
            return False

    def findings(self, value: object) -> list[Finding]:
        """The reasons why the value is illegal, in the order of its parts, the one to show first; empty if it is legal.

        Raises `NotLoaded` where the contract defers its explainer and it was not loaded yet.
        """
        try:
            if self._decide.is_valid(value):
                return []
        except ValueError as refusal:
            return [foreign([], "json", str(refusal))]
        if self._deferred and not _engine_class.cache_info().currsize:
            raise NotLoaded
        if self._engine is None:
            self._engine = _engine_class()(self._schema)
        problems = (problem for error in self._engine.iter_errors(value) for problem in _nearest_problems(error))
        findings = explain(islice(problems, MAX_PROBLEMS), value, self._schema)
        if findings:
            return findings
        error = next(self._decide.iter_errors(value))  # gathers all of them, so it is the last resort
        return [foreign(error.instance_path, str(error.schema_path[-1]), error.message)]


class Contract:
    """The schemas, loaded once, and a checker for each that is asked for.

    They are read from `folders`, or from where the package keeps them (`sendbox.data`). `definitions` are the schemas
    by name. With `deferred` the first refusal raises `NotLoaded` instead of importing for 60 ms where it stands, and
    only the files are read whose schemas are asked for.
    """

    def __init__(self, *folders: Path, deferred: bool = False) -> None:
        self._deferred = deferred
        self._files = schemas.SchemaFiles(*(folders or (data.folder("schemas"),)))
        self._checkers: dict[tuple[str, bool], Checker] = {}
        if not deferred:
            _ = self.definitions

    @property
    def definitions(self) -> dict[str, schemas.Node]:
        """The schemas by name. Raises `ValueError` where a file is wrong."""
        return self._files.definitions

    def checker(self, ref: str, *, recorded: bool = False) -> Checker:
        """The checker of a schema; `KeyError` for a reference to none.

        What a setting can relax (`x-setting`) is left to code. With `recorded` it judges by the specification alone
        what others answered (A98).
        """
        checker = self._checkers.get((ref, recorded))
        if checker is None:
            schema = schemas.without_settings(self._files.inlined(ref))
            if recorded:
                schema = schemas.as_recorded(schema)
            checker = self._checkers[ref, recorded] = Checker(ref, schema, deferred=self._deferred)
        return checker


@cache
def contract_of(*folders: Path) -> Contract:
    """The contract in some folders, read once in a process: for what opens one world after another."""
    return Contract(*folders)


def preload() -> None:
    """Imports the modules that explain a refusal (60 ms), before the first refusal: call it off the event loop."""
    import_module("difflib")
    _engine_class()


def _nearest_problems(error: ValidationError) -> Iterator[Problem]:
    """The error, or for a union those of the branch that comes nearest: of the value's type, with the fewest errors."""
    if not error.context:
        yield Problem(
            str(error.validator),
            error.instance,
            error.schema,
            list(error.absolute_path),
            list(error.absolute_schema_path),
        )
        return
    branches: dict[object, list[ValidationError]] = {}
    for inner in error.context:
        branches.setdefault(inner.schema_path[0], []).append(inner)
    for inner in min(branches.values(), key=_distance):
        yield from _nearest_problems(inner)


def _distance(branch: list[ValidationError]) -> tuple[bool, int]:
    """The order of branches of a union: one whose type is another comes last, then the number of errors counts."""
    return any(error.validator == "type" and len(error.path) == 0 for error in branch), len(branch)


@cache
def _engine_class() -> type[Validator]:
    """The explaining engine: draft 2020-12 with `$` as the standard has it, and with a limit for long arrays."""
    import jsonschema

    @cache
    def compiled(pattern: str) -> re.Pattern[str]:
        # Python's `$` also matches before a last line break, ECMA's and Rust's do not
        return re.compile(pattern[:-1] + r"\Z" if pattern.endswith("$") else pattern)

    def check_pattern(_: object, pattern: str, instance: object, __: object) -> Iterator[ValidationError]:
        if isinstance(instance, str) and not compiled(pattern).search(instance):
            yield jsonschema.ValidationError(f"{instance!r} does not match {pattern!r}")

    def check_items(validator: Any, items: object, instance: object, schema: JsonMapping) -> Iterator[ValidationError]:
        if isinstance(instance, list) and len(instance) <= schema.get("maxItems", len(instance)):
            for index, item in enumerate(instance[:MAX_ENTRIES]):
                yield from validator.descend(item, items, path=index)

    engine: type[Validator] = jsonschema.validators.extend(  # type: ignore[no-untyped-call]
        jsonschema.Draft202012Validator, {"pattern": check_pattern, "items": check_items}
    )
    return engine
