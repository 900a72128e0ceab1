"""Clients that generators make of the two contracts compile and work, and a linter finds nothing in the contracts.

Each client opens a world by control, sends a message as the service takes it, moves the clock, and reads the result.
`tests/examples/generated` has their programs, and stand-ins for packages that only the generated code names.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from tests.documentation.markdown import ROOT
from tests.examples.generators import LINTER, LONGEST, PYTHON, need_program, node_tools, python_tools
from tests.house import House, housed
from tests.tiers import LONG

PROGRAMS: Final = Path(__file__).parent / "generated"
CONTRACTS: Final = {"service": "/openapi.json", "control": "/_sandbox/openapi.json"}
#: The jars of okhttp-gson, as Debian installs them.
_JARS: Final = [f"/usr/share/java/{name}.jar" for name in ("gson", "okhttp", "okio")]
#: The options of a generator that name the packages of a contract, and those that leave out what nobody compiles.
_JAVA_NAMES: Final = "invokerPackage={contract},apiPackage={contract}.api,modelPackage={contract}.model"
_LEAN: Final = "models,apis,supportingFiles,apiTests=false,modelTests=false,apiDocs=false,modelDocs=false"
_JAVA: Final = "openApiNullable=false,useJakartaEe=true,containerDefaultToNull=true"
#: Debian's okhttp has the arguments of version 3, the generated code those of version 4: the second one, and the file.
_MEDIA: Final = r"(contentType == null \? null : )?MediaType\.parse\([^)]*\)|mediaType"
_SENDER: Final = "*/src/main/java/*/ApiClient.java"
_COMPILER: Final = "javac -J-Xmx1g -nowarn -d out -cp {jar}:%s $(find . -name '*.java')"


@dataclass(frozen=True, slots=True)
class Client:
    """A generated client: the folders of its program, what it needs, its generator of openapi-generator with the
    options that the page names and others, the lines that compile it, and the one that runs it.
    """

    folders: Sequence[str]
    needs: Sequence[str]
    generator: str
    options: str
    names: str
    build: Sequence[str]
    run: str

    @property
    def line(self) -> str:
        """The line that generates it of a contract."""
        return (
            f"java -Xmx1g -jar {{jar}} generate -i {{contract}}.json -o {{contract}} -g {self.generator} "
            f"-p {self.options},{self.names} --global-property {_LEAN}"
        )


class PythonClient(Client):
    """A client of openapi-python-client."""

    @property
    def line(self) -> str:
        """The line that generates it; a warning is a part that it left out."""
        return (
            "{python}/openapi-python-client generate --path {contract}.json --output-path {contract} --meta none"
            " --fail-on-warning"
        )


CLIENTS: Final = {
    "java-native": Client(
        ["java", "native"],
        ["java", "javac"],
        "java",
        f"library=native,{_JAVA}",
        _JAVA_NAMES,
        [_COMPILER % ""],
        "java -cp out:{jar} Run",
    ),
    "java-okhttp-gson": Client(
        ["java", "okhttp"],
        ["java", "javac", *_JARS],
        "java",
        f"library=okhttp-gson,{_JAVA}",
        _JAVA_NAMES,
        [
            rf"sed -i -E 's/RequestBody\.create\((.*), ({_MEDIA})\)/RequestBody.create(\2, \1)/' {_SENDER}",
            _COMPILER % ":".join(_JARS),
        ],
        f"java -cp out:{{jar}}:{':'.join(_JARS)} Run",
    ),
    "typescript-axios": Client(
        ["typescript"],
        ["java", "node"],
        "typescript-axios",
        "importFileExtension=.js",
        "npmName={contract}",
        [
            "ln -s {node}/.. node_modules",
            "{node}/tsc --strict --target es2022 --module nodenext --types node --skipLibCheck --outDir out run.ts",
        ],
        "node out/run.js",
    ),
    "go": Client(
        ["go"],
        ["java", "go"],
        "go",
        "enumClassPrefix=true",
        "withGoMod=false,packageName={contract}",
        ["GOFLAGS=-mod=mod GOPROXY=off go build -p 1 -o run ."],
        "./run",
    ),
    "python": PythonClient(["python"], [], "", "", "", [], "{python}/python run.py"),
}


@pytest.fixture(scope="module")
def house() -> Iterator[House]:
    with housed() as opened:
        yield opened


@pytest.fixture
def folder(house: House, tmp_path: Path) -> Path:
    """A folder with the two contracts."""
    for name, path in CONTRACTS.items():
        (tmp_path / f"{name}.json").write_text(house.call("socket", "GET", path).text, "utf-8")
    return tmp_path


@pytest.mark.deep
@pytest.mark.timeout(LONG)
@pytest.mark.parametrize("name", CLIENTS)
def test_a_generated_client_compiles_and_works(house: House, folder: Path, name: str) -> None:
    client = CLIENTS[name]
    need_program(*client.needs)
    tools = python_tools()
    (jar,) = tools.glob("lib/*/site-packages/openapi_generator_cli/openapi-generator.jar")
    places = {"jar": str(jar), "python": str(tools / "bin")}
    if any("{node}" in line for line in client.build):
        places["node"] = str(node_tools())
    environment = os.environ | {"SANDBOX": house.origin, "KEY": f"test-{name}", "no_proxy": "*"}
    environment["PATH"] = f"{tools / 'bin'}{os.pathsep}{os.environ['PATH']}"

    def run(line: str, contract: str = "") -> str:
        command = line
        for place, path in {**places, "contract": contract}.items():
            command = command.replace(f"{{{place}}}", path)
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=LONGEST,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
        return done.stdout + done.stderr

    for contract in CONTRACTS:
        run(client.line, contract)
    for part in client.folders:
        shutil.copytree(PROGRAMS / part, folder, dirs_exist_ok=True)
    for line in client.build:
        run(line)
    assert run(client.run).splitlines() == ["clock: manual", "webhooks: 3", "420777000101: delivered"]
    assert f"test-{name}" not in {world["id"] for world in house.control("GET", "/worlds")["worlds"]}


def test_the_page_names_the_generators() -> None:
    """A line of its table has a generator with its options, and the versions are those of the tests."""
    text = (ROOT / "docs" / "clients.md").read_text("utf-8")
    for client in CLIENTS.values():
        assert not client.generator or f"| `{client.generator}` | `{client.options}` |" in text, client.generator
    assert [package for package in (*PYTHON, LINTER) if f"`{package}`" not in text] == []


@pytest.mark.deep
@pytest.mark.timeout(LONG)
def test_a_linter_finds_nothing_in_the_contracts(folder: Path) -> None:
    """By the rules that redocly recommends."""
    line = [str(node_tools() / "redocly"), "lint", "--extends", "recommended", "--format", "json"]
    for name in CONTRACTS:
        done = subprocess.run(
            [*line, f"{name}.json"],
            cwd=folder,
            env=os.environ | {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"},
            capture_output=True,
            text=True,
            timeout=LONGEST,
        )
        assert (done.returncode, json.loads(done.stdout)["problems"]) == (0, []), name
