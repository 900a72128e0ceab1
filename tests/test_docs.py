"""The documentation says what is so, and leaves nothing out: what it lists is held against where it comes from.

Its examples are run by `tests/examples/`.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

import pytest
from starlette.routing import Route

from sendbox.app import PARTS, SERVED, make_app
from sendbox.cli import main as cli
from sendbox.contract.validators import Contract
from sendbox.runtime.worlds import Runtime
from sendbox.services.advice import ADVICE
from sendbox.services.assumptions import registry
from sendbox.settings import Settings
from tests.boundaries import OWNERS
from tests.documentation import language
from tests.documentation.language import LANGUAGE, with_tables
from tests.documentation.markdown import DOCUMENTS, ROOT, anchors, filled, links, parts, prose, text_of
from tests.documentation.parts import names, render
from tests.scenarios import load

DOCS: Final = ROOT / "docs"
#: Options of programs that are not ours, and of scripts.
FOREIGN: Final = {"--add-host", "--cacert", "--data-binary", "--help", "--rm"}
#: Options and variables that only the tests of Sendbox itself read.
OF_TESTS: Final = {"--show", "SENDBOX_DEEP"}
#: Packages that are imported under another name.
IMPORTED_AS: Final = {"pyjwt": "jwt", "pyyaml": "yaml", "jsonschema-rs": "jsonschema_rs"}


def declared(extra: str | None) -> dict[str, str]:
    """What pyproject.toml names, of the package itself or of an extra: distribution to the comment beside it."""
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    project = tomllib.loads(text)["project"]
    found = {}
    for requirement in project["dependencies"] if extra is None else project["optional-dependencies"][extra]:
        name = re.split(r"[^A-Za-z0-9_.-]", requirement)[0]
        comment = re.search(rf'^ *"{re.escape(requirement)}", *# (.+)$', text, re.MULTILINE)
        if name != "sendbox":
            found[name] = comment[1] if comment else ""
    return found


def rows(heading: str) -> Iterator[list[str]]:
    """The cells of the table under a heading of docs/dependencies.md, without its head."""
    text = (ROOT / "docs" / "dependencies.md").read_text("utf-8")
    section = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    table = [line for line in section.splitlines() if line.startswith("|")]
    yield from ([cell.strip() for cell in line.strip("|").split("|")] for line in table[2:])


@pytest.mark.parametrize(
    ("extra", "heading"),
    [(None, "What `pip install sendbox` brings"), ("tls", "Extra `tls`"), ("dev", "Extra `dev`")],
    ids=["main", "tls", "dev"],
)
def test_dependencies_have_one_reason_in_both_places(extra: str | None, heading: str) -> None:
    """docs/dependencies.md lists exactly what pyproject.toml names, with the same reason, and no reason is missing."""
    expected = declared(extra)
    assert all(expected.values()), [name for name, reason in expected.items() if not reason]
    assert {cells[0]: cells[1] for cells in rows(heading)} == expected


def test_dependencies_say_where_they_are_imported() -> None:
    """The columns `where` and `lazily` say what the boundaries hold the code to."""
    owners = {each.package: each for each in OWNERS}
    listed = {}
    for name, _, where, lazily in [*rows("What `pip install sendbox` brings"), *rows("Extra `tls`")]:
        if not where.startswith("nowhere"):
            listed[IMPORTED_AS.get(name, name)] = (where, lazily)
    assert listed == {
        package: (", ".join(f"`{each}`" for each in sorted(owner.parts)) or "everywhere", "yes" if owner.lazy else "no")
        for package, owner in owners.items()
    }


def test_changelog_keeps_a_place_for_the_next_change() -> None:
    """The first heading of the changelog is what is not released yet."""
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert headings[0] == "[Unreleased]"


# --- generated parts


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_generated_parts_are_fresh(path: Path) -> None:
    """What is generated is what the code says now; `scripts/docs` writes it anew."""
    assert text_of(path) == filled(text_of(path), render), "stale: run scripts/docs"


def test_the_generated_part_of_the_schema_is_fresh() -> None:
    """Faults and settings of the language's schema are those of the tables; `scripts/docs` writes them anew."""
    assert text_of(LANGUAGE) == with_tables(text_of(LANGUAGE)), "stale: run scripts/docs"


def test_every_part_has_its_place() -> None:
    """Whatever can be generated stands in exactly one document, once."""
    assert sorted(part for path in DOCUMENTS for part in parts(path)) == sorted(names())


# --- nothing is left out


def documented(*pages: str) -> str:
    """The text of pages of docs/, of all documents if none is named."""
    return "\n".join(map(text_of, [DOCS / page for page in pages] or DOCUMENTS))


@pytest.mark.parametrize("route", SERVED.routes, ids=lambda route: f"{route.method} {route.path}")
def test_rows_of_the_interfaces_are_documented(route: Any) -> None:
    """The README's table has each row, and the assumptions page says what it rests on."""
    row = f"| `{route.method} {route.path}` |"
    assert row in text_of(ROOT / "README.md")
    assert row in documented("assumptions.md")


@pytest.mark.asyncio
async def test_all_other_routes_are_documented() -> None:
    """Each path that the application serves stands in a document, by its whole path or by that under /_sandbox."""
    runtime = Runtime(Settings(), load("default"), PARTS)
    routes = [route for route in make_app(runtime, Contract()).routes if isinstance(route, Route)]
    await runtime.aclose()
    text = documented()
    assert len(routes) > len(SERVED.by_name)
    missing = [
        route.path
        for route in routes
        if not re.search(rf"[` ]({re.escape(route.path)}|{re.escape(route.path.removeprefix('/_sandbox'))})[`?,]", text)
    ]
    assert missing == []


@pytest.mark.parametrize("name", SERVED.by_name)
def test_operations_of_control_are_documented(name: str) -> None:
    """docs/control.md has each operation, with what it takes."""
    operation = SERVED.by_name[name]
    assert f"| `{operation.method} {operation.path}` |" in documented("control.md")


def options() -> Iterator[tuple[str, Any]]:
    """Each option of each command."""
    for name, command in cli.sendbox.commands.items():
        yield from ((name, option) for option in command.params if option.param_type_name == "option")


@pytest.mark.parametrize(("command", "option"), list(options()), ids=lambda each: getattr(each, "name", each))
def test_options_are_documented(command: str, option: Any) -> None:
    """docs/commands.md has each option under its command, with its environment variable."""
    section = documented("commands.md").partition(f"\n## sendbox {command}\n")[2].partition("\n## ")[0]
    assert re.search(rf"^\| `{option.opts[0]}[ `]", section, re.MULTILINE)
    assert option.envvar is None or f"`{option.envvar}`" in section


@pytest.mark.parametrize("field", [each.name for each in fields(Settings)])
def test_settings_are_documented(field: str) -> None:
    """docs/commands.md has each field of the settings."""
    assert f"| `{field}` |" in documented("commands.md")


KEYS: Final = [(title, key) for title, node in language.mappings().items() for key in node["properties"]]


def test_keys_of_scenarios_are_documented() -> None:
    """docs/scenarios.md has each key of the language's schema in a table, or in the text where there is none."""
    missing = []
    for title, key in KEYS:
        text = documented("scenarios.md")
        if title in language.listed():
            text = text.partition(f"<!-- begin: keys {title} -->")[2].partition("<!-- end -->")[0]
        if f"`{key}`" not in text and not re.search(rf"`{{[^`]*\b{key}: [^`]*}}`", text):
            missing.append(f"{title}.{key}")
    assert missing == []


@pytest.mark.parametrize("code", ADVICE)
def test_advice_is_documented(code: str) -> None:
    """docs/advice.md has each code."""
    assert f"| `{code}` |" in documented("advice.md")


#: The headings of a page about a code of advice.
HEADINGS: Final = [
    "What it means",
    "A test that draws it",
    "What the service does",
    "How to mend it",
    "How to silence it",
]


@pytest.mark.parametrize("code", ADVICE)
def test_advice_has_a_page(code: str) -> None:
    """docs/advice has a page for each code, with its section, its headings and a test that asserts the code."""
    text = text_of(DOCS / "advice" / f"{code}.md")
    assert text.startswith(f"# `{code}`\n")
    assert ADVICE[code].section in text
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == HEADINGS
    assert f"def test_{code.replace('-', '_')}(sendbox):" in text
    assert f'"{code}" in [advice.code for advice in sendbox.advice]' in text


def test_every_page_about_advice_has_a_code() -> None:
    """No page is left of a code that is gone."""
    assert {path.stem for path in (DOCS / "advice").glob("*.md")} == set(ADVICE)


@pytest.mark.parametrize("id_", [row.id for row in registry()])
def test_assumptions_are_documented(id_: str) -> None:
    """docs/assumptions.md has each assumption."""
    assert f"| {id_} |" in documented("assumptions.md")


# --- nothing is said that is not so


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    """A relative link names a file of the repository, and a heading that it has."""
    for link in links(path):
        if link.startswith(("http://", "https://")):
            continue
        name, _, anchor = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_every_page_is_in_the_index() -> None:
    """docs/README.md leads to each page, and so does the README of the repository."""
    pages = {path.name for path in DOCS.glob("*.md")} - {"README.md"}
    assert pages <= {link.partition("#")[0] for link in links(DOCS / "README.md")}
    assert {f"docs/{page}" for page in pages} <= {link.partition("#")[0] for link in links(ROOT / "README.md")}


def test_every_package_is_in_the_architecture() -> None:
    """docs/architecture.md says once what each package is, and each module beside them, and names no other."""
    source = ROOT / "src" / "sendbox"
    packages = [path.parent.name for path in source.glob("*/__init__.py")]
    modules = [path.stem for path in source.glob("*.py") if path.stem != "__init__"]
    rows = re.findall(r"^\| (`.*?) \|", documented("architecture.md"), re.MULTILINE)
    assert sorted(name for row in rows for name in re.findall(r"`(\w+)`", row)) == sorted(packages + modules)


def test_scripts_are_there() -> None:
    """Each script that a document names can be run."""
    named = set(re.findall(r"\bscripts/\w+", documented()))
    assert {"scripts/serve", "scripts/test", "scripts/docs"} <= named
    assert [name for name in named if not os.access(ROOT / name, os.X_OK)] == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_no_page_is_about_a_machine(path: Path) -> None:
    """No absolute path of somebody's machine, and no option or variable that does not exist."""
    text = text_of(path)
    assert re.findall(r"(?<![\w.:}/])/(?:home|mnt|opt|root|tmp|Users|var|work)\b", text) == []
    known = {name for _, option in options() for name in (*option.opts, option.envvar)}
    pytest_options = set(re.findall(r"`(--sendbox-[a-z-]+)`", documented("pytest.md")))
    assert set(re.findall(r"\bSENDBOX_[A-Z_]+\b", text)) <= known | OF_TESTS
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", prose(path))) <= known | FOREIGN | OF_TESTS | pytest_options
