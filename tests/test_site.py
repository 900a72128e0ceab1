"""The site has every page of docs/ in its navigation. `scripts/site` builds it, as continuous integration does."""

from __future__ import annotations

import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Final

import pytest

from sendbox import fixture, playing
from tests.documentation.markdown import DOCUMENTS, ROOT

CONFIG: Final = ROOT / "docs" / "site" / "config.yml"


@pytest.fixture
def site() -> ModuleType:
    """The script that puts the pages together, as a module."""
    spec = spec_from_file_location("site_of_the_documents", ROOT / "scripts" / "site.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_page_is_in_the_navigation(site: ModuleType) -> None:
    """Each document once, in the order of the file; a pattern stands for the pages of a folder."""
    text: str = site.expanded(CONFIG.read_text("utf-8"))
    entries = re.findall(r"^ +- (?:[\w ]+: )?(\S+\.md)$", text.partition("\nnav:\n")[2], re.MULTILINE)
    assert sorted(entries) == sorted(path.relative_to(ROOT).as_posix() for path in DOCUMENTS)
    assert sorted(entries) == sorted(path.relative_to(ROOT).as_posix() for path in site.documents())


def test_pages_stand_where_their_links_lead(site: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A document keeps its place; a file that it links to goes with it, and a folder stands for its first file."""
    monkeypatch.setattr(site, "PAGES", tmp_path)
    site.put(ROOT / "docs" / "pipelines.md")
    text = (tmp_path / "docs" / "pipelines.md").read_text("utf-8")
    linked = [name for name in re.findall(r"\]\((\.\./[^)#]+)\)", text) if not name.endswith(".md")]
    assert "../deploy/nginx.conf" in linked
    assert [name for name in linked if not (tmp_path / "docs" / name).is_file()] == []


def test_the_site_is_strict() -> None:
    """A dead link is an error, and nothing is fetched from other hosts when a page is read."""
    text = CONFIG.read_text("utf-8")
    assert "\nstrict: true\n" in text
    assert "\n  font: false" in text


def test_what_it_makes_is_not_committed() -> None:
    """Its environment and its pages are ignored."""
    ignored = (ROOT / ".gitignore").read_text("utf-8").splitlines()
    assert {"/.venv-site/", "/build/"} <= set(ignored)


def test_the_reference_has_every_public_member(site: ModuleType) -> None:
    """What is exported is in the reference; a built page without a member of it is an error that names the member."""
    names: list[str] = site.objects()
    exported = {f"{module.__name__}.{name}" for module in (fixture, playing) for name in module.__all__}
    assert exported <= set(names)
    lacking: list[str] = site.missing("".join(f'<h2 id="{name}" class="doc">' for name in names))
    assert {
        "sendbox.fixture.Sandbox.advance",
        "sendbox.fixture.Sandbox.base_url",
        "sendbox.fixture.SandboxServer.carrier",
        "sendbox.fixture.SandboxServer.sandbox",
        "sendbox.fixture.sandbox.Phone.number",
        "sendbox.control.carriers.Client.acall",
        "sendbox.control.operation.ControlError.status",
        "sendbox.playing.Played.digest",
    } <= set(lacking)
    assert not set(lacking).intersection(names)
    assert site.missing("".join(f'<h3 id="{name}">' for name in (*names, *lacking))) == []


def test_a_built_site_is_checked_and_needs_a_server() -> None:
    """`scripts/site` looks through what it has built, and says how to look at it so that the search works."""
    script = (ROOT / "scripts" / "site").read_text("utf-8")
    assert "scripts/site.py check\n" in script.partition("/bin/mkdocs")[2]
    assert "python3 -m http.server" in script
