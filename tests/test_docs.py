"""The documentation says what is so, and leaves nothing out: what it lists is held against where it comes from.

Its examples are run by `tests/examples/`.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

import pytest

import sendbox
from benchmarks import command as benchmarks
from benchmarks import soak
from sendbox.app import SERVED
from sendbox.assembly import make_app
from sendbox.cli import main as cli
from sendbox.contract.validators import Contract
from sendbox.services.advice import ADVICE
from sendbox.services.assumptions import registry
from sendbox.settings import Settings
from tests.boundaries import OWNERS
from tests.documentation import language
from tests.documentation.control import OPERATIONS, TAGS
from tests.documentation.language import LANGUAGE, with_tables
from tests.documentation.markdown import DOCUMENTS, ROOT, anchors, filled, links, parts, prose, text_of
from tests.documentation.parts import names, render
from tests.routes import listed
from tests.scenarios import load

DOCS: Final = ROOT / "docs"
#: Variables that show what is not a setting.
NOT_SETTINGS: Final = frozenset({"SENDBOX_CLOKC", "SENDBOX_IMAGE"})
#: Options of programs that are not ours, and of scripts.
FOREIGN: Final = {
    *("--add-host", "--cacert", "--data-binary", "--load", "--health-interval", "--health-start-interval"),
    *("--health-start-period", "--help", "--name", "--network", "--rm", "--upgrade"),
}
#: Options that only the tests of Sendbox itself read.
OF_TESTS: Final = {"--show", "SENDBOX_BROWSER"}
#: Files of the image.
OF_IMAGE: Final = ("/opt/sendbox/sbom.json",)
#: Packages that are imported under another name.
IMPORTED_AS: Final = {
    "pyjwt": "jwt",
    "pyyaml": "yaml",
    "jsonschema-rs": "jsonschema_rs",
    "prometheus-client": "prometheus_client",
}


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
    [
        (None, "What `pip install sendbox` brings"),
        ("people", "Extra `people`"),
        ("postgresql", "Extra `postgresql`"),
        ("test", "Extra `test`"),
        ("tls", "Extra `tls`"),
        ("dev", "Extra `dev`"),
        ("site", "Extra `site`"),
        ("mutation", "Extra `mutation`"),
    ],
    ids=["main", "people", "postgresql", "test", "tls", "dev", "site", "mutation"],
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
    headings = (
        "What `pip install sendbox` brings",
        *(f"Extra `{extra}`" for extra in ("people", "postgresql", "test", "tls")),
    )
    for name, _, where, lazily in (row for heading in headings for row in rows(heading)):
        if not where.startswith("nowhere"):
            listed[IMPORTED_AS.get(name, name)] = (where, lazily)
    assert listed == {
        package: (", ".join(f"`{each}`" for each in sorted(owner.parts)) or "everywhere", "yes" if owner.lazy else "no")
        for package, owner in owners.items()
    }


def test_changelog_has_a_short_entry_for_each_version() -> None:
    """The first entry is that of the version of the package, and an entry has sixty lines at most."""
    _, *entries = re.split(r"^## ", (ROOT / "CHANGELOG.md").read_text("utf-8"), flags=re.MULTILINE)
    assert entries[0].startswith(f"[{sendbox.__version__}]")
    assert [entry.splitlines()[0] for entry in entries if len(entry.splitlines()) > 60] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_line_is_doubled_and_no_sentence_is_half(document: Path) -> None:
    """Outside blocks and tables no longer line stands twice, and each paragraph ends as a sentence or a list does."""
    text = re.sub(r"^```.*?^```$", "", document.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    paragraphs = [
        part.strip() for part in re.split(r"\n\s*\n", text) if not part.lstrip().startswith(("|", "#", "<", ":::"))
    ]
    lines = Counter(line.strip() for part in paragraphs for line in part.splitlines() if len(line.strip()) > 40)
    assert [line for line, count in lines.items() if count > 1] == []
    ends = re.compile(r"[.:!?)`|>]$|^(-|\d+\.) .*\Z", re.MULTILINE)
    assert [part for part in paragraphs if part and not ends.search(part)] == []


# --- generated parts


def test_generated_parts_are_fresh() -> None:
    """What is generated is what the code says now; `scripts/docs` writes it anew."""
    stale = [path.name for path in DOCUMENTS if text_of(path) != filled(text_of(path), render)]
    assert stale == [], "stale: run scripts/docs"


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


def test_rows_of_the_interfaces_are_documented() -> None:
    """docs/served.md has each row, and the assumptions page says what it rests on."""
    rows = [f"| `{route.method} {route.path}` |" for route in SERVED.routes]
    for text in (documented("served.md"), documented("assumptions.md")):
        assert [row for row in rows if row not in text] == []


@pytest.mark.asyncio
async def test_all_other_routes_are_documented() -> None:
    """Each path that the application serves stands in a document, by its whole path or by that under /_sandbox."""
    app = make_app(Settings(), load("default"), Contract(), SERVED)
    paths = {path for path, _ in listed(app.routes)} - {route.path for route in SERVED.routes}
    await app.runtime.aclose()
    text = documented()
    assert len(paths) > len(SERVED.by_name) // 2
    missing = [
        path
        for path in sorted(paths)
        if not re.search(rf"[` ]({re.escape(path)}|{re.escape(path.removeprefix('/_sandbox'))})[`?,]", text)
    ]
    assert missing == []


def test_operations_of_control_are_documented() -> None:
    """The index of docs/control leads to the heading of each operation, on the page of its tag."""
    index = DOCS / "control" / "README.md"
    places = {f"{row.tag}.md#{row.name}" for row in OPERATIONS}
    assert places - set(links(index)) == set()
    assert {f"{tag}.md" for tag in TAGS} | {"README.md", "answers.md"} == {path.name for path in index.parent.glob("*")}


def options() -> Iterator[tuple[str, Any]]:
    """Each option of each command."""
    for name, command in cli.COMMANDS.items():
        yield from ((name, option) for option in command.loaded.params if option.param_type_name == "option")


def test_options_are_documented() -> None:
    """docs/commands.md has each option under its command, with its environment variable."""
    text = documented("commands.md")
    missing = []
    for command, option in options():
        section = text.partition(f"\n## sendbox {command}\n")[2].partition("\n## ")[0]
        listed = re.search(rf"^\| `{option.opts[0]}[ `]", section, re.MULTILINE)
        if listed is None or (option.envvar is not None and f"`{option.envvar}`" not in section):
            missing.append(f"{command} {option.opts[0]}")
    assert missing == []


def test_settings_are_documented() -> None:
    """docs/commands.md has each field of the settings."""
    text = documented("commands.md")
    assert [field.name for field in fields(Settings) if f"| `{field.name}` |" not in text] == []


KEYS: Final = [(title, key) for title, node in language.mappings().items() for key in node["properties"]]


def test_keys_of_scenarios_are_documented() -> None:
    """docs/language has each key of the language's schema in a table, or in the text where there is none."""
    missing = []
    reference = documented(*(f"language/{path.name}" for path in (DOCS / "language").glob("*.md")))
    for title, key in KEYS:
        text = reference
        if title in language.listed():
            text = text.partition(f"<!-- begin: keys {title} -->")[2].partition("<!-- end -->")[0]
        if f"`{key}`" not in text and not re.search(rf"`{{[^`]*\b{key}: [^`]*}}`", text):
            missing.append(f"{title}.{key}")
    assert missing == []


def test_advice_is_documented() -> None:
    """docs/advice.md has each code."""
    text = documented("advice.md")
    assert [code for code in ADVICE if f"| `{code}` |" not in text] == []


#: The headings of a page about a code of advice.
HEADINGS: Final = [
    "What it means",
    "A test that causes it",
    "What the service does",
    "How to fix it",
    "How to ignore it",
]


def test_advice_has_a_page() -> None:
    """docs/advice has a page for each code, with its section, its headings and a test that asserts the code."""
    for code in ADVICE:
        text = text_of(DOCS / "advice" / f"{code}.md")
        assert text.startswith(f"# `{code}`\n")
        assert ADVICE[code].section in text, code
        assert re.findall(r"^## (.+)$", text, re.MULTILINE) == HEADINGS, code
        assert f"def test_{code.replace('-', '_')}(sendbox):" in text, code
        assert f'"{code}" in [advice.code for advice in sendbox.advice]' in text


def test_every_page_about_advice_has_a_code() -> None:
    """No page is left of a code that is gone."""
    assert {path.stem for path in (DOCS / "advice").glob("*.md")} == set(ADVICE)


def test_assumptions_are_documented() -> None:
    """docs/assumptions.md has each assumption."""
    text = documented("assumptions.md")
    assert [row.id for row in registry() if f"| {row.id} |" not in text] == []


# --- nothing is said that is not so


def test_links_lead_somewhere() -> None:
    """A relative link names a file of the repository, and a heading that it has."""
    broken = []
    for path in DOCUMENTS:
        for link in links(path):
            if not link.startswith(("http://", "https://")):
                name, _, anchor = link.partition("#")
                target = (path.parent / name).resolve() if name else path
                if not target.exists() or (anchor and anchor not in anchors(target)):
                    broken.append(f"{path.name}: {link}")
    assert broken == []


def test_every_page_is_in_the_index() -> None:
    """docs/README.md leads to each page; so is it in docs/language."""
    language_pages = {path.name for path in (DOCS / "language").glob("*.md")} - {"README.md"}
    assert language_pages <= {link.partition("#")[0] for link in links(DOCS / "language" / "README.md")}
    pages = {path.name for path in DOCS.glob("*.md")} - {"README.md"}
    assert pages <= {link.partition("#")[0] for link in links(DOCS / "README.md")}


#: The pages that a beginner reads; from the heading *Reference* on a page is for looking things up.
PATH: Final = ("README.md", "docs/scenarios.md", "docs/receiver.md", "docs/page.md")


@pytest.mark.parametrize("first", ["docs/pytest.md", "docs/http.md"])
def test_a_beginner_reads_ten_minutes(first: str) -> None:
    """Both indexes name these pages, which have 2,500 words besides examples, generated parts and addresses."""
    way = [ROOT / page for page in (*PATH, first)]
    for index in (ROOT / "README.md", DOCS / "README.md"):
        named = {(index.parent / link.partition("#")[0]).resolve() for link in links(index)}
        assert set(way) - {index} <= named
    texts = [re.sub(r"<!-- begin.*?<!-- end -->|\]\(\S+\)", "", prose(page), flags=re.DOTALL) for page in way]
    assert sum(len(text.partition("\n## Reference\n")[0].split()) for text in texts) <= 2_500


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


def test_no_page_is_about_a_machine() -> None:
    """No absolute path of one machine, and no option or variable that does not exist."""
    known = {name for _, option in options() for name in (*option.opts, option.envvar)} | OF_TESTS | NOT_SETTINGS
    legal = (
        known
        | FOREIGN
        | {
            option
            for program in (benchmarks, soak)
            for option in re.findall(r"--[a-z-]+", program.parser().format_help())
        }
        | set(re.findall(r"`(--sendbox-[a-z-]+)`", documented("fixture.md")))
    )
    for path in DOCUMENTS:
        text = text_of(path)
        for file in OF_IMAGE:
            text = text.replace(f" {file}\n", "\n")
        assert re.findall(r"(?<![\w.:}/])/(?:home|mnt|opt|root|tmp|Users|var|work)\b", text) == [], path.name
        assert set(re.findall(r"\bSENDBOX_[A-Z_]+\b", text)) - known == set(), path.name
        assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", prose(path))) - legal == set(), path.name
