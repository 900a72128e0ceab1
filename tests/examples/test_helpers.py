"""The helpers of examples/ for tests in Java, Node and Go: a world for a test, its story, and exploration."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from tests.documentation.markdown import ROOT, blocks
from tests.examples.running import COMPILED, LIMIT, need
from tests.house import House, housed
from tests.tiers import DEEP, LONG

#: The seconds that a line may take.
TIMEOUT: Final = LONG if DEEP else LIMIT
JARS: Final = Path("/usr/share/java")
#: The packages of JUnit 5, as Debian installs them.
CLASSES: Final = [
    *(f"junit-jupiter-{name}" for name in ("api", "engine")),
    *(f"junit-platform-{name}" for name in ("commons", "console", "engine", "launcher", "reporting")),
    "opentest4j",
    "opentest4j-reporting-events",
    "apiguardian-api",
    "picocli",
]
PATH: Final = os.pathsep.join(["out", *(str(JARS / f"{name}.jar") for name in CLASSES)])
LAUNCHER: Final = ["java", "-cp", PATH, "org.junit.platform.console.ConsoleLauncher", "--disable-banner"]

SOURCES: Final = [file.name for file in sorted((ROOT / "examples" / "java").glob("*.java"))]


#: The files of Java that need nothing but the JDK.
_ALONE: Final = ["World.java", "Json.java"]


@dataclass(frozen=True, slots=True)
class Helper:
    """A helper: the folder of its files, what is run there, and how the client of its tests becomes wrong.

    `wrong` is a file, a text in it and another one, by which the last webhook wins. `plain` breaks an ordinary test.
    `page` is a file for the example of the page, the lines that run it, and words that they print.
    """

    folder: str
    needs: Sequence[tuple[str, Path | None]]
    lines: Sequence[Sequence[str]]
    wrong: tuple[str, str, str]
    plain: tuple[str, str, str] | None = None
    page: tuple[str, Sequence[Sequence[str]], Sequence[str]] | None = None


HELPERS: Final = {
    "node": Helper(
        "examples",
        [("node", None)],
        [["node", "explore.test.mjs"]],
        ("explore.test.mjs", "order.indexOf(result) > order.indexOf(before)", "true"),
    ),
    "java": Helper(
        "examples/java",
        [("javac", None), ("junit5", JARS / "junit-jupiter-engine.jar")],
        [
            ["javac", "-Xlint:all,-path", "-Werror", "-cp", PATH, "-d", "out", *SOURCES],
            [*LAUNCHER, "-c", "ShopTest", "--disable-ansi-colors", "--details=tree", "--details-theme=ascii"],
        ],
        ("Shop.java", "RESULTS.indexOf(result) > RESULTS.indexOf(notice.result)", "true"),
        ("ShopTest.java", '"delivered", shop', '"seen", shop'),
        (
            "Page.java",
            [["javac", "-Xlint:all", "-Werror", "-d", "out", *_ALONE, "Page.java"], ["java", "-cp", "out", "Page"]],
            ["delivered", "6"],
        ),
    ),
    "go": Helper(
        "examples/go",
        [("go", None)],
        [["go", "test", "-count=1", "-v", "./..."]],
        ("sandbox_test.go", "order[event.Result] > order[c.state]", "true"),
        ("sandbox_test.go", "!= 3", "!= 4"),
        (
            "page_test.go",
            [["go", "test", "-count=1", "-v", "-run", "TestOrder|TestCode", "."]],
            ["--- PASS: TestOrder", "--- PASS: TestCode"],
        ),
    ),
}


@pytest.fixture(scope="module")
def house() -> Iterator[House]:
    with housed() as opened:
        yield opened


class Project:
    """The files of a helper in a folder of their own, and the lines that test them."""

    def __init__(self, helper: Helper, folder: Path, origin: str) -> None:
        for program, file in helper.needs:
            need(program, file)
        self.folder = folder
        self._lines = helper.lines
        self._environment = os.environ | {"SANDBOX": origin, "no_proxy": "*"}
        for file in (ROOT / helper.folder).iterdir():
            if file.is_file():
                shutil.copy(file, folder)

    def change(self, file: str, text: str, other: str) -> None:
        """Writes another text into a file."""
        before = (self.folder / file).read_text("utf-8")
        assert before.count(text) == 1, text
        (self.folder / file).write_text(before.replace(text, other), "utf-8")

    def run(self, lines: Sequence[Sequence[str]] = ()) -> tuple[int, str]:
        """The exit code of the last line, and what it wrote."""
        for line in lines or self._lines:
            done = subprocess.run(
                line, cwd=self.folder, env=self._environment, capture_output=True, text=True, timeout=TIMEOUT
            )
        return done.returncode, done.stdout + done.stderr


@pytest.fixture
def project(house: House, tmp_path: Path, request: pytest.FixtureRequest) -> Project:
    return Project(HELPERS[request.param], tmp_path, house.origin)


ORDINARY: Final = [pytest.param(name, marks=[pytest.mark.deep] if name in COMPILED else []) for name in HELPERS]


@pytest.mark.parametrize("project", ORDINARY, indirect=True)
def test_a_correct_client_passes(house: House, project: Project) -> None:
    """Its ordinary tests, and the one that is explored; no world and no exploration is left."""
    before = house.control("GET", "/worlds")["worlds"]
    code, output = project.run()
    assert code == 0, output
    assert " single misfortunes " in output
    assert house.control("GET", "/worlds")["worlds"] == before
    assert house.control("GET", "/explorations")["explorations"] == []


@pytest.mark.deep
@pytest.mark.parametrize(("project", "name"), [(name, name) for name in COMPILED], indirect=["project"])
def test_the_example_of_the_page_runs(house: House, project: Project, name: str) -> None:
    """Without packages; no world is left."""
    before = house.control("GET", "/worlds")["worlds"]
    page = HELPERS[name].page
    assert page is not None
    file, lines, words = page
    (example,) = [block.text for block in blocks(project.folder / "README.md") if block.language == name]
    (project.folder / file).write_text(example, "utf-8")
    code, output = project.run(lines)
    assert code == 0, output
    assert [word for word in words if word not in output] == []
    assert house.control("GET", "/worlds")["worlds"] == before


@pytest.mark.sample(3)
@pytest.mark.parametrize(("project", "name"), [(name, name) for name in HELPERS], indirect=["project"])
def test_a_wrong_client_is_found(project: Project, name: str) -> None:
    """With its story, and a scenario in a file; an ordinary test that fails shows what happened in its world."""
    helper = HELPERS[name]
    project.change(*helper.wrong)
    if helper.plain is not None:
        project.change(*helper.plain)
    code, output = project.run()
    assert code != 0
    assert "bug: " in output
    assert "what breaks it:\n" in output
    assert "the run that broke:\n" in output
    files = list((project.folder / ".sendbox" / "found").glob("*.yaml"))
    assert files
    assert all(f"scenario: .sendbox/found/{file.name}" in output for file in files)
    assert helper.plain is None or "POST /v2/message -> 200 sendMessage: m1 to 420777000101 (" in output


@pytest.mark.deep
@pytest.mark.timeout(LONG)
@pytest.mark.parametrize(
    ("project", "file", "settings", "more"),
    [
        ("java", "ShopTest.java", "runs = 30", 'runs = 500, time = "30m"'),
        ("node", "explore.test.mjs", "{ families: ['delivery'], runs: 30 }", "{ runs: 500, time: '30m' }"),
    ],
    indirect=["project"],
    ids=["java", "node"],
)
def test_a_correct_application_is_not_accused(project: Project, file: str, settings: str, more: str) -> None:
    """Under the usual families, in 500 runs: a bug would fail it, a question does not."""
    project.change(file, settings, more)
    code, output = project.run()
    assert code == 0, output
    assert " single misfortunes " in output
