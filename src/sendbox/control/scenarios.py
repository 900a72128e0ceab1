"""Operations on scenarios as texts: check one, read those of the library, and that of a world with its rules.

Also the magic numbers, which the default scenario holds.
"""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import Annotated, Final, NamedTuple

from sendbox.control.answers import Clock, Problem
from sendbox.control.arguments import Count, described
from sendbox.control.export.scenario import library_name, source_of
from sendbox.control.operation import Call, ControlError, operation
from sendbox.control.reading import map_in_slices
from sendbox.control.worlds import blueprint_differences, clock_view
from sendbox.engine.answer import Answer, Instant, enum, moment, read
from sendbox.engine.blueprint import Blueprint
from sendbox.engine.bounds import LONG_BODY
from sendbox.engine.kinds.answers import Value
from sendbox.engine.rules.rule import Rule
from sendbox.scenario import cursor, library, parse, write
from sendbox.scenario.language import Language
from sendbox.scenario.model import SIZE, Source, errors, listed

#: Whose a rule is, where it is of no other file.
OWN: Final = "scenario"
PUT: Final = "control"


class LegalKey(Answer):
    """A key that is legal at the cursor."""

    key: str
    means: str
    says: str
    required: bool
    example: Value | None = None


class Checked(Answer):
    """The problems of a text, and what may be written at the cursor."""

    ok: bool
    problems: list[Problem]
    place: str | None
    keys_: list[LegalKey]
    values_: list[Value]
    examples: list[Value]


class LibraryRow(Answer):
    """A scenario of the library."""

    name: str
    title: str
    summary: str
    traffic: bool


class Library(Answer):
    """The scenarios of the library."""

    scenarios: list[LibraryRow]


class LibraryScenario(Answer):
    """A scenario of the library, as YAML."""

    name: str
    text: str


class MagicNumber(Answer):
    """The result of messages to numbers with these last digits."""

    ends: str
    example: str
    meaning: str


class MagicNumbers(Answer):
    """The magic numbers of the default scenario."""

    numbers: list[MagicNumber]


class RuleShown(Answer):
    """A rule: where it stands, and how often it decided something."""

    rule: str
    in_: str
    id: str | None
    place: str | None
    line: int | None
    of: str
    fired: int


class ScenarioSettings(Answer):
    """The settings of a world."""

    seed: int | str
    salt: str
    started: Instant
    clock: Clock


class ScenarioShown(Answer):
    """The scenario of a world as YAML, and its rules."""

    name: str
    text: str
    given: Annotated[str, enum(("library", "text", "file", "object"))]
    rules: list[RuleShown]
    at_reset: list[str]
    settings: ScenarioSettings


@operation("POST", "/check", answers=Checked, unmasked=True, unlogged=True, longest=LONG_BODY, own_scope="facts")
async def check(
    call: Call,
    text: Annotated[str, described("a scenario as YAML, which may be unfinished")],
    line: Annotated[Count | None, described("the line of the cursor, from 1")] = None,
    column: Annotated[Count | None, described("its column, from 1; the end of the line unless given")] = None,
) -> Checked:
    """The problems of a scenario as YAML, and what may be written at the cursor; nothing is opened or changed.

    `{ok, problems, place, keys, values, examples}`: `problems` as in the answer 422 to a scenario, with warnings, which
    leave it `ok`. With `line` and `column`, which count from 1 (the end of the line unless `column` is given), `place`
    is the path at the cursor, null where it is not known; `keys` are `{key, means, says, required, example}` of the
    keys that are legal there and not yet used, `values` the legal words, `examples` further values. The text may be
    unfinished. A `line` behind the text is its end, and behind the end of a line are blanks up to column 1000.
    """
    return await call.runtime.builder.build(partial(_checked, call.served.language, text, line, column))


def _checked(language: Language, text: str, line: int | None, column: int | None) -> Checked:
    problems = language.check(text if "\n" in text else f"{text}\n", paths=False, sent=True)  # one line could be a name
    too_long = any(problem.rule == SIZE for problem in problems)
    legal = cursor.NOWHERE if line is None or too_long else cursor.legal(text, line, column, language.shape)
    rows = [problem.as_json() for problem in problems]
    return read({"ok": not errors(problems), "problems": rows, **legal.as_json()}, Checked)


@operation("GET", "/scenarios", answers=Library, unmasked=True, own_scope="facts")
async def scenarios(call: Call) -> Library:
    """The scenarios of the library: `{name, title, summary, traffic}` of each.

    `traffic` says whether it has requests of its own; others are played with a message for each of their rules.
    """
    rows = await asyncio.get_running_loop().run_in_executor(None, library.rows)
    return Library(scenarios=[LibraryRow(**row._asdict()) for row in rows])


@operation("GET", "/scenarios/{name}", answers=LibraryScenario, unmasked=True, own_scope="facts")
async def library_scenario(call: Call, name: str) -> LibraryScenario:
    """The text of a scenario of the library."""
    if name not in library.names():
        legal = listed(library.names())
        raise ControlError(404, "no_such_scenario", f'"{name}" is not a scenario of the library; legal: {legal}')
    return LibraryScenario(name=name, text=library.text(name))


@operation("GET", "/numbers", answers=MagicNumbers, unmasked=True, own_scope="facts")
async def numbers(call: Call) -> MagicNumbers:
    """The magic numbers of the default scenario: `{ends, example, meaning}` of each, in order of their ends."""
    rows = await asyncio.get_running_loop().run_in_executor(None, library.magic)
    return MagicNumbers(numbers=[MagicNumber(**row._asdict()) for row in rows])


class _Text(NamedTuple):
    """The text of a scenario, how it was given, and what places in it begin with (None: it was written here)."""

    text: str
    given: str
    file: str | None


@operation("GET", "/worlds/{id}/scenario", answers=ScenarioShown, unmasked=True)
async def scenario(call: Call) -> ScenarioShown:
    """The scenario of a world as text, and its rules in the order in which they are tried.

    `{name, text, given, rules, at_reset, settings}`. `given` is `library`, `text`, `file` or `object`; only an object,
    and what was joined of several, is written anew in `text`. A rule is `{in, rule, id, place, line, of, fired}`:
    `line` is that in `text`, null where it stands elsewhere; `of` is `scenario`, `control` (then it has an `id`), or
    the name of another scenario or its file; `fired` is how often it decided something in this epoch. Rules of one
    name, and those without a name that are the same, are counted together. `at_reset` lists the parts that hold only
    from the next reset on. `settings` are `{seed, salt, started, clock}`.
    """
    hosted, language = call.hosted, call.served.language
    blueprint = hosted.loaded
    in_executor = asyncio.get_running_loop().run_in_executor
    view = await in_executor(None, _scenario_text, language, blueprint)
    written = await in_executor(None, _lines, language, view.text) if view.file is None else {}
    world = hosted.world
    lines: dict[int, int | None] = {}
    for name, book in world.all_rulebooks.items():
        if hosted.next_blueprint is not None and name not in world.rulebooks:
            continue  # the rules there are still those of the scenario before
        rules = book.from_scenario
        places = written.get(name, []) if view.file is None else [_line(rule, view.file) for rule in rules]
        if len(places) == len(rules):
            lines.update(zip(map(id, rules), places, strict=True))

    def row(entry: tuple[str, Rule, dict[str, int]]) -> RuleShown:
        name, rule, fired = entry
        return RuleShown(
            in_=name,
            rule=rule.title,
            id=rule.id,
            place=rule.place,
            line=lines.get(id(rule)),
            of=_of(rule, view.file),
            fired=fired.get(rule.id or rule.key, 0),
        )

    standing = [(name, rule, book.fired) for name, book in world.all_rulebooks.items() for rule in book.rules]
    return ScenarioShown(
        name=blueprint.name,
        text=view.text,
        given=view.given,
        rules=await map_in_slices(standing, row),
        at_reset=blueprint_differences(language, hosted.blueprint, blueprint),
        settings=ScenarioSettings(
            seed=world.seed_given,
            salt=world.salt,
            started=moment(world.start),
            clock=clock_view(hosted),
        ),
    )


def _scenario_text(language: Language, blueprint: Blueprint) -> _Text:
    written = blueprint.written
    if written is not None:
        return _Text(written.text, "file" if written.is_file else "text", written.file)
    name = library_name(language, blueprint)
    if name is not None:
        return _Text(library.text(name), "library", str(library.path(name)))
    return _Text(write.dump(source_of(blueprint)), "object", None)


def _lines(language: Language, text: str) -> dict[str, list[int | None]]:
    """The lines of the rules in a text that stands alone, by the names of their lists."""
    root, _ = parse.parse(text, Source(OWN))
    assert root is not None
    lines = {}
    for key in language.keys.values():
        for rules in key.lists:
            name = key.name if key.rules is not None else ".".join(rules.path)
            lines[name] = [node.line for node in write.items(root, rules.path)]
    return lines


def _line(rule: Rule, file: str) -> int | None:
    """The line of a rule that stands in a file."""
    where, _, line = (rule.place or "").rpartition(":")
    return int(line) if where == file else None


def _of(rule: Rule, file: str | None) -> str:
    """The origin of a rule: put by a tester, this scenario, a scenario of the library, or a file."""
    where = (rule.place or "").rpartition(":")[0]
    if rule.id is not None:
        return PUT
    if where in ("", file):
        return OWN
    return Path(where).stem if Path(where).parent == library.folder() else where
