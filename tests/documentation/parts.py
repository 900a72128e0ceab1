"""The generated parts, by name: each is rendered from the code that it is about.

A part whose name has two words is rendered once for each second word (`keys account`). The module is long because the
table of all parts is here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import MISSING, fields
from itertools import groupby
from operator import attrgetter
from typing import Any, Final

import click

from benchmarks import document
from sendbox.app import SERVED
from sendbox.cli.main import COMMANDS
from sendbox.cli.main import sendbox as command_line
from sendbox.cli.outcome import CODES
from sendbox.control.catalog import catalog
from sendbox.engine.lifecycle import Table
from sendbox.engine.texts import FAKES
from sendbox.exploring.families.table import FAMILIES
from sendbox.fixture.sandbox import Phone, Sandbox
from sendbox.language import LANGUAGE, SUBJECTS
from sendbox.pytest_plugin import MARKER, pytest_addoption
from sendbox.scenario import library
from sendbox.scenario.shape import schema
from sendbox.server.metrics import METRICS
from sendbox.services.account.orders import ORDER
from sendbox.services.advice import ADVICE
from sendbox.services.assumptions import CONFIDENCE, Assumption, registry
from sendbox.services.coverage.catalog import DIMENSIONS
from sendbox.services.messaging.channels import ATTEMPT
from sendbox.services.messaging.content.text import GAPS
from sendbox.services.partner.records import NUMBER, SIGNUP, TEMPLATE
from sendbox.services.verify.session import VALIDATION
from sendbox.settings import Settings
from tests.documentation import control, language
from tests.documentation.code import PIECES, piece
from tests.documentation.faults import faults_of_calls, faults_of_deliveries
from tests.documentation.markdown import ROOT, code, table
from tests.explore.zoo import running as zoo
from tests.traceability import sentences

# --- what is served


def served() -> str:
    """Every row of the emulated interfaces, with the number of assumptions it rests on."""
    rows = [
        (code(f"{row.method} {row.path}"), row.summary, row.section, f"[{len(row.assumed)}]({_RESTS})")
        for row in SERVED.routes
    ]
    return table(("request", "does", "specification", "assumptions"), rows)


_RESTS: Final = "assumptions.md#which-request-rests-on-which"


def rests() -> str:
    """Every row of the emulated interfaces with the ids of its assumptions."""
    rows = [(code(f"{row.method} {row.path}"), row.operation, ", ".join(row.assumed)) for row in SERVED.routes]
    return table(("request", "operation", "rests on"), rows)


def magic_numbers() -> str:
    """The magic numbers of the default scenario."""
    rows = [(f"**{suffix}**", code(example), meaning) for suffix, example, meaning in library.magic()]
    return table(("ends in", "for example", "what happens to a message"), rows)


def plan() -> str:
    """The files of the plan: each with its sentence, and the client that breaks it."""
    rows = []
    for path in sorted((ROOT / "docs" / "plan").glob("*.yaml")):
        blueprint = LANGUAGE.load(path)
        (counterexample,) = blueprint.counterexamples
        sentence = path.read_text("utf-8").partition("\n")[0].removeprefix("# ")
        rows.append((f"[{path.stem}]({path.name})", sentence, counterexample.name))
    return table(("file", "sentence", "breaks it"), rows)


def scenarios() -> str:
    """The scenario library: name, title, and the story that its comment tells."""
    rows = [(code(row.name), row.title, row.summary) for row in library.rows()]
    return table(("name", "title", "what happens"), rows)


# --- assumptions and advice


def assumptions(which: str) -> str:
    """The registry: the rows that are `built`, or those for `later`."""
    rows = [_assumption(row) for row in registry() if row.built == (which == "built")]
    return table(("id", "specification", "what it leaves open", "what happens here", "setting", "sure"), rows)


def _assumption(row: Assumption) -> tuple[str, ...]:
    return row.id, row.section, row.title, row.default, ", ".join(map(code, row.setting)) or "-", row.confidence


def families() -> str:
    """The families of misfortunes, with the right to each kind."""
    alike = (list(kinds) for kinds_of in FAMILIES.values() for _, kinds in groupby(kinds_of, attrgetter("relies")))
    rows = [
        (
            code(first.family),
            ", ".join(kind.name for kind in (first, *others)),
            "question" if first.changing else "bug",
            ", ".join(dict.fromkeys(cited for kind in (first, *others) for cited in kind.cites)),
            first.relies,
        )
        for first, *others in alike
    ]
    return table(("family", "kind", "a find is a", "the service may do so by", "a correct client may rely on"), rows)


def confidence() -> str:
    """The letters."""
    return table(("letter", "means"), [(code(letter), meaning) for letter, meaning in CONFIDENCE.items()])


def advice() -> str:
    """The codes."""
    rows = [
        (code(name), kind.meaning, kind.section, kind.assumed or "-", f"[page](advice/{name}.md)")
        for name, kind in ADVICE.items()
    ]
    return table(("code", "is about", "specification", "assumption", "more"), rows)


def traceability() -> str:
    """Every sentence of the specification with its tests and assumptions, and a mark on those that were drawn."""
    drawn = {each.id for each in sentences.drawn()}
    rows = [
        (
            f"§{each.section}",
            f"{each.says} **(switched off)**" if each.id in drawn else each.says,
            ", ".join([*map(code, each.tests), *each.assumed]),
        )
        for each in sentences.load()
    ]
    return table(("section", "what is said", "proved by"), rows)


def diagram(table: Table) -> str:
    """A Mermaid state diagram of a table."""
    lines = ["stateDiagram-v2", f"    [*] --> {next(iter(table))}"]
    for state, row in table.items():
        lines += [f"    {state} --> {after}: {event}" for event, after in row.items()]
        if not row:
            lines.append(f"    {state} --> [*]")
    return "\n".join(lines)


def lifecycle(channel: str) -> str:
    """The diagram of a channel's attempts; a state that the channel cannot reach is left out."""
    whole = ATTEMPT[channel]
    reached = {next(iter(whole)), *(after for row in whole.values() for after in row.values())}
    return f"```mermaid\n{diagram({state: row for state, row in whole.items() if state in reached})}\n```"


def drawn(table: Table) -> str:
    """The diagram of a lifecycle."""
    return f"```mermaid\n{diagram(table)}\n```"


# --- control


def kinds() -> str:
    """The kinds of journal entries."""
    return ", ".join(map(code, SERVED.kinds.by_view_name)) + "."


# --- the command line


def commands() -> str:
    """Every command with its options, as `--help` has them."""
    context = click.Context(command_line, info_name="sendbox", **command_line.context_settings)
    return "\n\n".join(_command(name, command.loaded, context) for name, command in sorted(COMMANDS.items()))


def exit_codes() -> str:
    """What the exit codes mean."""
    return table(("exit code", "means"), [(str(number), meaning) for number, meaning in CODES.items()])


def _command(name: str, command: click.Command, parent: click.Context) -> str:
    context = click.Context(command, info_name=name, parent=parent)
    usage = " ".join(["sendbox", name, *command.collect_usage_pieces(context)])
    text, _, example = inspect.cleandoc(command.help or "").partition("\b\n")
    parts = [f"## sendbox {name}", f"`{usage}`", " ".join(text.split("\n\n", 1)[0].split())]
    if more := text.split("\n\n", 1)[1:]:
        parts.append("\n\n".join(" ".join(paragraph.split()) for paragraph in more[0].strip().split("\n\n")))
    lines = [line.strip() for line in example.splitlines()[1:] if line.strip()]
    if lines:
        parts.append("```text\n" + "\n".join(lines) + "\n```")
    rows = [_option(each, context) for each in command.params if isinstance(each, click.Option)]
    if rows:
        parts.append(table(("option", "environment", "meaning"), rows))
    return "\n\n".join(part for part in parts if part)


def _option(option: click.Option, context: click.Context) -> tuple[str, str, str]:
    kind = "" if option.is_flag else f" {option.make_metavar(context)}"
    meaning = option.help or ""
    given = option.get_default(context, call=False)
    if option.show_default and given is not None and "[default" not in meaning:
        meaning = f"{meaning} [default: {', '.join(given) if isinstance(given, list) else given}]"
    if option.required:
        meaning = f"{meaning} [required]"
    variable = option.envvar if isinstance(option.envvar, str) else None
    return code(option.opts[0] + kind), code(variable) if variable else "-", " ".join(meaning.split())


#: The settings of a container that are used most, and the bounds of a server, by their fields.
_CONTAINER: Final = (
    "clock scenario watch seed keys strict_keys control_token control_token_file coverage public_url hosts log_format "
    "only_warnings tls"
)
_BOUNDS: Final = "max_worlds world_ttl keep_closed max_messages max_journal max_memory when_full quotas"


def options(fields: str) -> str:
    """Some options of `serve`."""
    command = COMMANDS["serve"].loaded
    context = click.Context(command)
    known = {option.name: option for option in command.params if isinstance(option, click.Option)}
    return table(("option", "environment", "meaning"), [_option(known[field], context) for field in fields.split()])


def metrics() -> str:
    """The metrics of a server, with their labels."""
    rows = [
        (code(f"{row.name}{{{','.join(row.labels)}}}" if row.labels else row.name), row.kind, row.words)
        for row in METRICS
    ]
    return table(("metric", "type", "what it is"), rows)


#: The options of `serve` that set a field of another name.
_OPTIONS: Final = {"mode": "clock"}


def settings() -> str:
    """The fields of `Settings`, and the option of `serve` that sets each."""
    known = {option.name: option.opts[0] for option in COMMANDS["serve"].loaded.params}
    rows = []
    for field in fields(Settings):
        option = known.get(_OPTIONS.get(field.name, field.name))
        default = field.default_factory() if field.default_factory is not MISSING else field.default
        default = None if default is MISSING else default
        shown = "empty" if default == frozenset() else code(default)
        rows.append((code(field.name), str(field.type).replace("Mode", "str"), shown, code(option) if option else "-"))
    return table(("field", "type", "default", "option of `serve`"), rows)


# --- the fixture


def fixture(which: str) -> str:
    """The members of what the fixture `sendbox` is, or of a `phone` of it."""
    owner: type = Sandbox if which == "sandbox" else Phone
    prefix = "sendbox" if which == "sandbox" else "phone"
    members = {name: member for each in reversed(owner.mro()) for name, member in vars(each).items()}
    rows = [
        (code(f"{prefix}.{name}{_signature(member)}"), _first_sentence(member))
        for name, member in members.items()
        if not name.startswith("_") and (callable(member) or isinstance(member, property))
    ]
    return table(("member", "is"), rows)


def _signature(member: Any) -> str:
    if isinstance(member, property):
        return ""
    shown = []
    for name, parameter in list(inspect.signature(member).parameters.items())[1:]:
        star = "**" if parameter.kind is parameter.VAR_KEYWORD else ""
        keyword = "=" if parameter.kind is parameter.KEYWORD_ONLY else ""
        shown.append(f"{star}{name}{keyword}{'…' if keyword else ''}")
    return f"({', '.join(shown)})"


def _first_sentence(member: Any) -> str:
    """The first paragraph of a docstring."""
    return " ".join((inspect.getdoc(member) or "").partition("\n\n")[0].split())


class _Options:
    """Stands for pytest's parser, and remembers the options that a plugin adds to it."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, str]] = []

    def getgroup(self, _name: str) -> _Options:
        return self

    def addoption(self, name: str, **more: Any) -> None:
        self.rows.append((code(name), str(more["help"])))

    def addini(self, name: str, help: str, _type: str = "", **_more: Any) -> None:
        self.rows.append((f"{code(name)} in the ini file", help))


def pytest_options() -> str:
    """The options of the plugin."""
    parser = _Options()
    pytest_addoption(parser)  # type: ignore[arg-type] # as much of a parser as the plugin uses
    return table(("option", "meaning"), parser.rows)


def marker() -> str:
    """The marker of tests with its arguments."""
    return code(f"@pytest.mark.{MARKER}")


def gaps() -> str:
    """Gaps of texts that a message fills."""
    rows = [(code("payload.…" if name == "payload" else name), meaning) for name, meaning in GAPS.items()]
    return table(("gap", "is filled with"), rows)


def fakes() -> str:
    """Gaps of texts for which something is invented."""
    return table(("gap", "is filled with"), [(code(f"fake.{name}"), meaning) for name, meaning in FAKES.items()])


def locales() -> str:
    """The locales that may be named."""
    return ", ".join(map(code, schema()["$defs"]["locale"]["enum"])) + "."


def expectable() -> str:
    """What can be expected, with the fields that a condition may ask, and what else tells such things apart."""
    rows = [
        (code(name), thing.says, *(", ".join(map(code, names)) or "-" for names in (thing.fields, thing.about)))
        for name, thing in SUBJECTS.items()
    ]
    return table(("that", "is", "fields of `where`", "more names for `each` and `same`"), rows)


def coverage() -> str:
    """Every dimension of coverage with the number of its items, and one of them."""
    items = catalog(SERVED).items
    rows = []
    for name, heading in DIMENSIONS.items():
        mine = [item for item in items if item.dimension == name]
        example = mine[len(mine) // 2]
        rows.append((code(name), heading, str(len(mine)), code(example.name), code(example.snippet)))
    return table(("dimension", "is about", "items", "for example", "how to try it"), rows)


PARTS: Final[dict[str, Callable[[], str]]] = {
    **document.PARTS,
    "served": served,
    "rests": rests,
    "magic numbers": magic_numbers,
    "library": scenarios,
    "assumptions built": lambda: assumptions("built"),
    "confidence": confidence,
    "advice": advice,
    "coverage": coverage,
    "traceability": traceability,
    "lifecycle sms": lambda: lifecycle("sms"),
    "lifecycle others": lambda: lifecycle("richmsg"),
    "lifecycle validation": lambda: drawn(VALIDATION),
    "lifecycle template": lambda: drawn(TEMPLATE),
    "lifecycle number": lambda: drawn(NUMBER),
    "lifecycle signup": lambda: drawn(SIGNUP),
    "lifecycle orders": lambda: drawn(ORDER),
    "operations": control.index,
    "roles": control.roles,
    "answers": control.answers,
    "journal kinds": kinds,
    "commands": commands,
    "exit codes": exit_codes,
    "settings": settings,
    "settings of a container": lambda: options(_CONTAINER),
    "bounds": lambda: options(_BOUNDS),
    "metrics": metrics,
    "fixture sandbox": lambda: fixture("sandbox"),
    "fixture phone": lambda: fixture("phone"),
    "pytest options": pytest_options,
    "marker": marker,
    "assume": language.settings,
    "expectable": expectable,
    "faults of calls": faults_of_calls,
    "faults of deliveries": faults_of_deliveries,
    "families": families,
    "zoo": zoo.document,
    "plan": plan,
    "gaps": gaps,
    "fakes": fakes,
    "locales": locales,
}


def render(name: str) -> str:
    """A part by its name. Raises `KeyError` for a name that no part has."""
    if name in PARTS:
        return PARTS[name]()
    kind, _, which = name.partition(" ")
    return {"keys": language.keys, "control": control.reference, "code": piece}[kind](which)


def names() -> Iterable[str]:
    """The name of every part that must stand in some document."""
    return [
        *PARTS,
        *(f"control {tag}" for tag in control.TAGS),
        *(f"keys {title}" for title in language.listed()),
        *(f"code {name}" for name in PIECES),
    ]
