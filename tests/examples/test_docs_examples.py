"""The examples of docs/ run: scenarios are checked and played, tests are collected from where they stand.

A python block with tests becomes part of this module: its tests and fixtures are collected by pytest as if they had
been written here, and a failure shows the line of the document. Blocks of one document share their imports.
"""

from __future__ import annotations

import itertools
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

import httpx
import pytest
import yaml

from sendbox.cli import main as cli
from sendbox.playing import play
from sendbox.settings import PORT
from tests.documentation import control, language
from tests.documentation.markdown import ROOT, Block, blocks
from tests.examples.running import Folder, need, tell
from tests.scenarios import check

if TYPE_CHECKING:
    from sendbox.fixture import Sandbox

BLOCKS: Final = [block for path in sorted((ROOT / "docs").rglob("*.md")) for block in blocks(path)]
OWN: Final = "your-own-service.md"
FIRST: Final = {"sendbox:", "# yaml-language-server:"}
#: The pages whose files build on each other, and whose own lines use them.
TUTORIALS: Final = ("scenarios.md", "compare.md")


def _scenarios() -> list[tuple[Block, list[str]]]:
    """The scenarios, and the problems that the text after them shows."""
    found = []
    for block, following in itertools.pairwise([*BLOCKS, BLOCKS[-1]]):
        if block.language == "yaml" and block.text.startswith(tuple(FIRST)) and block.document not in TUTORIALS:
            shown = following.text.splitlines() if following.language == "text" else []
            problems = [line for line in shown if re.match(r"\S+\.yaml:\d+:\d+: ", line)]
            found.append((block, problems))
    return found


SCENARIOS: Final = _scenarios()


@pytest.mark.parametrize(("block", "problems"), SCENARIOS, ids=[block.place for block, _ in SCENARIOS])
def test_scenarios_have_the_problems_that_are_shown(block: Block, problems: list[str]) -> None:
    """None, unless the text after a scenario shows them: then exactly those."""
    name = problems[0].partition(":")[0] if problems else "scenario"
    assert [str(problem) for problem in check(block.text, name=name)] == problems


GOOD: Final = [block for block, problems in SCENARIOS if not problems]


@pytest.mark.sample(3)
@pytest.mark.parametrize("block", GOOD, ids=[block.place for block in GOOD])
def test_scenarios_play(block: Block, sendbox: Sandbox) -> None:
    """A world opens with each, takes a message, and comes to rest."""
    sendbox.load(block.text)
    flow = [{"richmsg": {"sender": "Acme", "ttl": 1}}, {"sms": {}}]
    message = {"to": [{"phone_number": "420777000101"}], "body": "Hello?", "tag": "promo", "flow": flow}
    with httpx.Client(transport=sendbox.transport, headers={"x-api-key": sendbox.api_key}) as client:
        assert client.post(f"{sendbox.base_url}/message", json=message).status_code == 200
    sendbox.advance("2d")
    assert sendbox.message().attempts


TRAFFIC: Final = [block for block in GOOD if "\ntraffic:" in block.text]


@pytest.mark.sample(2)
@pytest.mark.parametrize("block", TRAFFIC, ids=[block.place for block in TRAFFIC])
def test_traffic_gets_what_it_expects(block: Block) -> None:
    """Each request gets the status that its entry names, and none is refused besides."""
    played = play(block.text)
    assert played.passed
    assert all(each.status in (200, 201, 302, *each.traffic.statuses) for each in played.asked)


def test_every_key_of_the_language_has_an_example() -> None:
    """The scenarios of docs/ use each key of the language's schema."""
    every = {(title, key) for title, node in language.mappings().items() for key in node["properties"]}
    shown = {pair for block in GOOD for pair in language.used(yaml.safe_load(block.text))}
    results = {pair for pair in every if pair[0] in ("entry", "mix")}
    assert every - results - shown == set()


SETTINGS: Final = [
    block
    for block in BLOCKS
    if block.language == "yaml" and block.document not in TUTORIALS and all(block is not each for each, _ in SCENARIOS)
]


@pytest.mark.parametrize("block", SETTINGS, ids=[block.place for block in SETTINGS])
def test_settings_of_services_are_settings(block: Block) -> None:
    """What a CI file sets is an environment variable that `serve` reads."""
    assert yaml.safe_load(block.text)
    known = {option.envvar for option in cli.COMMANDS["serve"].loaded.params}
    assert set(re.findall(r"SENDBOX_\w+", block.text)) <= known


#: Pages whose lines for a shell are run, one after the other.
STORIES = ("http.md", "management.md", "receiver.md")
#: The pages of control, in the order in which their lines are run on one server.
CONTROL = tuple(f"control/{tag}.md" for tag in control.TAGS)


@pytest.mark.parametrize("page", STORIES)
def test_the_story_of_a_page_runs(tmp_path: Path, page: str) -> None:
    """Its lines, one after the other, print what the text shows."""
    need("curl")
    folder = Folder(tmp_path)
    with folder.serving("sendbox serve") as served:
        tell(folder, blocks(ROOT / "docs" / page), served.origin)


def test_the_pages_of_control_run(tmp_path: Path) -> None:
    """Their lines, page after page, print what the text shows; each page has lines."""
    need("curl")
    folder = Folder(tmp_path)
    with folder.serving("sendbox serve") as served:
        for page in CONTROL:
            found = blocks(ROOT / "docs" / page)
            assert any(block.language == "bash" for block in found), page
            tell(folder, found, served.origin)


@pytest.mark.sample(2)
@pytest.mark.parametrize("page", TUTORIALS)
def test_a_tutorial_prints_what_it_shows(tmp_path: Path, page: str) -> None:
    """Its files are played by its lines, which print the lines that are shown; "…" stands for other lines."""
    folder = Folder(tmp_path)
    tutorial = blocks(ROOT / "docs" / page)
    for block in tutorial:
        if block.file is not None:
            (folder.path / block.file).write_text(block.text, "utf-8")
    for block, following in itertools.pairwise(tutorial):
        if block.language == "bash":
            printed = iter(folder.run(block.text, COLUMNS="120").splitlines())
            shown = [line for line in following.text.splitlines() if line != "…"]
            assert [line for line in shown if line not in printed] == [], block.place


#: Programs of lines that are shown and not run.
PROGRAMS = frozenset({"docker", "curl", "kubectl", "mkdir", "npm", "nginx", "sendbox", ".venv/bin/python"})


def test_commands_of_other_pages_are_there() -> None:
    """Lines for a shell use the image's port, scripts and modules of the repository, and options that exist."""
    lines = [
        line
        for block in BLOCKS
        if block.language == "bash" and block.document not in (*STORIES, *CONTROL, *TUTORIALS)
        for line in block.text.splitlines()
    ]
    known = {option.envvar for option in cli.COMMANDS["serve"].loaded.params}
    options = {name for option in cli.COMMANDS["serve"].loaded.params for name in option.opts}
    for line in lines:
        program, *arguments = (word for word in line.split() if not re.match(r"[A-Z]+=", word))
        assert program in PROGRAMS or (ROOT / program).is_file(), line
        assert set(re.findall(r"SENDBOX_\w+", line)) <= known
        if program == "docker" and "run" in arguments and "--entrypoint" not in arguments:
            assert f"{PORT}:{PORT}" in arguments
            ours = arguments[arguments.index("sendbox") + 1 :]
            assert {word for word in ours if word.startswith("--")} <= options
        if "-m" in arguments and program == ".venv/bin/python":
            module = ROOT / arguments[1].replace(".", "/")
            assert module.with_suffix(".py").is_file() or (module / "__main__.py").is_file()


def _collect(names: dict[str, Any]) -> None:
    """Runs the python blocks that have tests, each document in a module of its own, and takes over their tests."""
    for document, found in itertools.groupby(BLOCKS, lambda block: block.document):
        stem = document.removesuffix(".md").replace("-", "_").replace("/", "_")
        module = ModuleType(f"{__name__}_{stem}")
        module.__dict__.update(pytest=pytest, httpx=httpx)
        sys.modules[module.__name__] = module  # where freezers look for what they replace
        for block in found:
            if document == OWN:  # pieces of code that has its tests where it stands
                continue
            if block.language == "python" and "def test_" in block.text:
                text = "\n" * (block.line - 1) + block.text
                exec(compile(text, str(ROOT / "docs" / document), "exec"), module.__dict__)
        for name, value in vars(module).items():
            if name.startswith("test_"):
                names[f"test_{stem}__{name.removeprefix('test_')}"] = value
            elif type(value).__name__ == "FixtureFunctionDefinition" or hasattr(value, "_pytestfixturefunction"):
                names[name] = value


_collect(globals())
