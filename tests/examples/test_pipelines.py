"""The recipes of docs/pipelines.md, run as far as a machine without an engine for containers can run them.

Services of jobs are sandboxes of the test, Testcontainers has stand-ins; `test_nginx.py` has the recipe for nginx. What
only an engine, a cluster or a forge can run has the form that it takes, and names images, ports, settings and files
that there are.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
import yaml

from sendbox import __version__
from sendbox.cli import main as cli
from sendbox.settings import PORT
from tests.documentation.markdown import ROOT, blocks
from tests.examples.receiver import receiver
from tests.examples.running import LIMIT, need, plugin
from tests.house import House, housed
from tests.serving import free_port

RECIPES: Final = ROOT / "examples" / "pipelines"
DEPLOY: Final = ROOT / "deploy"
WORKFLOWS: Final = ROOT / ".github" / "workflows"
STANDINS: Final = Path(__file__).parent / "standins"
IMAGE: Final = "registry.example/sendbox:1"
HEALTH: Final = "/_sandbox/health"


@pytest.fixture(scope="module")
def house() -> Iterator[House]:
    with housed() as opened:
        yield opened


def ran(line: list[str], folder: Path, **environment: str) -> str:
    """What a program prints, which ends well."""
    given = os.environ | {"no_proxy": "*"} | environment
    done = subprocess.run(line, cwd=folder, env=given, capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 0, f"{line}: {done.stdout}{done.stderr}"
    return done.stdout


def read(path: Path) -> list[Any]:
    """The documents of a YAML file."""
    return list(yaml.safe_load_all(path.read_text("utf-8")))


# --- jobs


def test_the_job_sends_and_reads(house: House) -> None:
    """The lines that stand for the tests of a client, with the receiver of the world."""
    need("curl")
    printed = ran([str(RECIPES / "job.sh")], ROOT, SANDBOX=house.origin, KEY="test-job")
    assert '"accepted":[{' in printed
    assert len(house.control("GET", "/worlds/test-job/hook")["events"]) == 3
    ran([str(RECIPES / "job.sh")], ROOT, SANDBOX=house.origin, KEY="test-job")  # it can be repeated


def test_the_job_with_a_receiver_of_its_own(house: House) -> None:
    """As in compose.yaml: webhooks reach another program."""
    need("curl")
    with receiver() as got:
        ran([str(RECIPES / "job.sh")], ROOT, SANDBOX=house.origin, KEY="test-own", RECEIVER=f"{got.origin}/hooks")
    assert [event["result"] for _, event in got.events] == ["sending", "sent", "delivered"]


def test_the_job_fails_without_its_receiver(house: House) -> None:
    """The last webhook did not come."""
    need("curl")
    address = f"http://127.0.0.1:{free_port()}/hooks"
    with pytest.raises(AssertionError, match=f"the last webhook did not reach {address}"):
        ran([str(RECIPES / "job.sh")], ROOT, SANDBOX=house.origin, KEY="test-dead", RECEIVER=address)


def test_the_receiver_prints_what_comes() -> None:
    """It is a program of its own, which takes webhooks."""
    port = str(free_port())
    process = subprocess.Popen(
        [sys.executable, str(RECIPES / "receiver.py")],
        env=os.environ | {"PORT": port},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        transport = httpx.HTTPTransport(retries=8)  # it has just begun
        with httpx.Client(transport=transport, trust_env=False, timeout=60) as client:
            answer = client.post(f"http://127.0.0.1:{port}/hooks", json=[{"type": "outgoing", "result": "sent"}])
        assert answer.status_code == 200
        assert process.stdout is not None
        assert process.stdout.readline() == "outgoing sent\n"
    finally:
        process.kill()
        process.communicate()


def serve_settings() -> set[str]:
    """The variables that `serve` knows."""
    return {str(option.envvar) for option in cli.COMMANDS["serve"].loaded.params if option.envvar}


def test_a_job_of_github() -> None:
    """The service has image, port and settings; the steps run the job and keep the report."""
    (workflow,) = read(RECIPES / "github.yml")
    job = workflow["jobs"]["test"]
    service = job["services"]["sandbox"]
    assert (service["image"], service["ports"]) == (IMAGE, [f"{PORT}:{PORT}"])
    assert service["env"].keys() <= serve_settings()
    lines = [step["run"] for step in job["steps"] if "run" in step]
    assert lines[0] == "./job.sh"
    assert used("\n".join(lines)) <= job["env"].keys()
    assert kept() == lines[1].splitlines()
    assert job["steps"][-1]["with"]["path"].splitlines() == ["report.html", "record.json"]
    (block,) = (block for block in blocks(ROOT / "docs" / "pipelines.md") if block.text.startswith("steps:"))
    assert yaml.safe_load(block.text)["steps"] == job["steps"]


def kept() -> list[str]:
    """The lines that fetch the report and the record of a world."""
    return [
        'curl -fsS "$SANDBOX/_sandbox/worlds/$KEY/report?format=html&ended=true" -o report.html',
        'curl -fsS "$SANDBOX/_sandbox/worlds/$KEY/record" -o record.json',
    ]


def test_what_is_kept_of_a_job(house: House, tmp_path: Path) -> None:
    """The report is a page, the record a document; where there is no world, a message says so."""
    need("curl")
    house.control("PUT", "/worlds/test-kept", json={})
    for line in kept():
        ran(["sh", "-c", line], tmp_path, SANDBOX=house.origin, KEY="test-kept")
        with pytest.raises(AssertionError, match="error: 404"):
            ran(["sh", "-c", line], tmp_path, SANDBOX=house.origin, KEY="test-never")
    assert (tmp_path / "report.html").read_text("utf-8").startswith("<!doctype html>")
    assert json.loads((tmp_path / "record.json").read_text("utf-8"))


def used(text: str) -> set[str]:
    """The variables of a shell's lines."""
    return set(re.findall(r"\$(\w+)", text))


def test_a_job_of_gitlab() -> None:
    """The service has image, alias and settings; the variables name it by the alias."""
    (pipeline,) = read(RECIPES / "gitlab.yml")
    job = pipeline["test"]
    (service,) = job["services"]
    assert service["name"] == IMAGE
    assert service["variables"].keys() <= serve_settings()
    assert job["variables"]["SANDBOX"] == f"http://{service['alias']}:{PORT}"
    assert (job["script"], job["after_script"]) == (["./job.sh"], kept())
    assert job["artifacts"] == {"when": "always", "paths": ["report.html", "record.json"]}


def test_the_services_of_compose() -> None:
    """Three services, which name each other and mount files that there are."""
    (composed,) = read(RECIPES / "compose.yaml")
    services = composed["services"]
    assert services.keys() == {"sandbox", "receiver", "client"}
    sandbox, client = services["sandbox"], services["client"]
    assert (sandbox["image"], sandbox["read_only"]) == (IMAGE, True)
    assert sandbox["environment"].keys() <= serve_settings()
    assert client["environment"]["SANDBOX"] == f"http://sandbox:{PORT}"
    assert client["environment"]["RECEIVER"].startswith("http://receiver:3000/")
    assert client["depends_on"].keys() == {"sandbox", "receiver"}
    assert services["receiver"]["init"] is True
    for service in (client, services["receiver"]):
        (mount,) = service["volumes"]
        assert (RECIPES / mount.split(":")[0]).is_file()


def test_the_image_has_one_name() -> None:
    """Whatever pulls or pushes it names the tag too."""
    places = [
        ROOT / "README.md",
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "examples").rglob("*.*"),
        *DEPLOY.glob("*.*"),
    ]
    named = {
        name
        for path in places
        if path.suffix != ".pyc"
        for name in re.findall(r"registry\.example/sendbox[\w:.-]*", path.read_text("utf-8"))
    }
    assert named == {IMAGE}


# --- Testcontainers


@pytest.fixture
def standin(house: House) -> dict[str, str]:
    """What a stand-in for Testcontainers "starts"."""
    address = httpx.URL(house.origin)
    return {"STANDIN_HOST": address.host, "STANDIN_PORT": str(address.port)}


CONTAINERS: Final = RECIPES / "testcontainers"


def test_testcontainers_in_python(tmp_path: Path, standin: dict[str, str]) -> None:
    """The example passes in pytest."""
    example = shutil.copy(CONTAINERS / "test_sandbox.py", tmp_path)
    line = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:sendbox", str(example)]
    assert "1 passed" in ran(line, tmp_path, PYTHONPATH=str(STANDINS / "python"), **standin)


@pytest.mark.deep
def test_testcontainers_in_node(tmp_path: Path, standin: dict[str, str]) -> None:
    """The example passes in the test runner of Node."""
    need("node")
    shutil.copytree(STANDINS / "node", tmp_path / "node_modules")
    shutil.copy(CONTAINERS / "sandbox.test.mjs", tmp_path)
    assert "# pass 1" in ran(["node", "--test", "--test-reporter=tap"], tmp_path, **standin)


@pytest.mark.deep
def test_testcontainers_in_go(tmp_path: Path, standin: dict[str, str]) -> None:
    """The example compiles, and passes in the test runner of Go."""
    need("go")
    shutil.copy(CONTAINERS / "sandbox_test.go", tmp_path)
    name = "github.com/testcontainers/testcontainers-go"
    module = (
        f"module sandbox\n\ngo 1.18\n\nrequire {name} v0.0.0\n\nreplace {name} => {STANDINS / 'go/testcontainers-go'}\n"
    )
    (tmp_path / "go.mod").write_text(module, "utf-8")
    environment = {"GOFLAGS": "-mod=mod", "GOPROXY": "off", "GOWORK": "off", "GOTOOLCHAIN": "local"}
    assert "ok " in ran(["go", "test", "-count=1", "./..."], tmp_path, **environment, **standin)


@pytest.mark.deep
def test_testcontainers_in_java(tmp_path: Path, standin: dict[str, str]) -> None:
    """The example compiles, and runs."""
    need("javac")
    sources = [str(path) for path in (STANDINS / "java").rglob("*.java")]
    ran(["javac", "-Xlint:all", "-Werror", "-d", str(tmp_path), *sources, str(CONTAINERS / "SandboxTest.java")], ROOT)
    ran(["java", "-cp", str(tmp_path), "SandboxTest"], ROOT, **standin)


# --- the workflows of the repository


@pytest.mark.sample(2)
@pytest.mark.parametrize("path", sorted(WORKFLOWS.glob("*.yml")), ids=lambda path: path.stem)
def test_workflows(path: Path) -> None:
    """Jobs wait for jobs that there are, and lines name scripts of the repository."""
    (workflow,) = read(path)
    assert workflow["permissions"] == {"contents": "read"}
    assert True in workflow  # `on`, as YAML 1.1 reads it
    jobs = workflow["jobs"]
    for job in jobs.values():
        needs = job.get("needs", [])
        assert set([needs] if isinstance(needs, str) else needs) <= jobs.keys()
        for step in job.get("steps", ()):
            assert ("uses" in step) != ("run" in step)
            for name in re.findall(r"(?:^|[\s/])((?:scripts|(?<!tests/)examples|\.ci)/[\w./-]+)", step.get("run", "")):
                assert (ROOT / name).is_file(), name


def test_actions_are_named_by_digest() -> None:
    """Everywhere by the same one, with its version behind it: a tag can be moved."""
    files = [*WORKFLOWS.glob("*.yml"), RECIPES / "github.yml", ROOT / "docs" / "pipelines.md", ROOT / "README.md"]
    uses = [use for path in files for use in re.findall(r"uses: ([\w-]+/.*)", path.read_text("utf-8"))]
    parts = {re.fullmatch(r"([\w-]+/[\w-]+)@[0-9a-f]{40} # v\d+\.\d+\.\d+", use) for use in uses}
    assert None not in parts
    assert len({match[0] for match in parts if match}) == len({match[1] for match in parts if match})


def test_a_job_compiles_the_clients_of_typescript() -> None:
    """It runs the deep test, which needs npm."""
    (workflow,) = read(WORKFLOWS / "ci.yml")
    steps = workflow["jobs"]["typescript"]["steps"]
    assert "actions/setup-node" in [step.get("uses", "").partition("@")[0] for step in steps]
    place = "tests/examples/test_typescript.py"
    assert steps[-1]["run"] == f"scripts/test deep {place}"
    assert (ROOT / place).is_file()


def test_lines_end_alike_on_every_system() -> None:
    """Git leaves no other ends of lines in a checkout, and pictures as they are."""
    rules = (ROOT / ".gitattributes").read_text("utf-8").splitlines()
    assert "* text=auto eol=lf" in rules
    pictures = {path.suffix for path in (ROOT / "docs" / "images").iterdir() if b"\0" in path.read_bytes()}
    assert {f"*{suffix} binary" for suffix in pictures} <= set(rules)


def test_a_release_has_the_tags_of_its_version(tmp_path: Path) -> None:
    """The line that tags the image makes `1`, `1.4` and the commit of a tag such as v1.4.0."""
    (workflow,) = read(WORKFLOWS / "release.yml")
    (line,) = (step["run"] for step in workflow["jobs"]["image"]["steps"] if "scripts/image" in step.get("run", ""))
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "image").write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n', "utf-8")
    (tmp_path / "scripts" / "image").chmod(0o755)
    given = {"GITHUB_REPOSITORY": "Acme/Sendbox", "GITHUB_REF_NAME": "v1.4.0", "GITHUB_SHA": "0123456789abcdef" * 2}
    printed = ran(["bash", "-euo", "pipefail", "-c", line], tmp_path, **given).splitlines()
    tags = [printed[number + 1] for number, word in enumerate(printed) if word == "--tag"]
    assert tags == [f"ghcr.io/acme/sendbox:{tag}" for tag in ("1", "1.4", "sha-0123456789ab")]


def test_a_release_is_of_the_version_of_the_package() -> None:
    """The line that compares them finds the version where it stands."""
    (workflow,) = read(WORKFLOWS / "release.yml")
    line = workflow["jobs"]["version"]["steps"][-1]["run"]
    ran(["bash", "-c", line], ROOT, GITHUB_REF_NAME=f"v{__version__}")


def test_the_smoke_of_a_release() -> None:
    """The test that each system runs passes here."""
    line = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(RECIPES)]
    assert "1 passed" in ran([*line, *plugin(), str(RECIPES / "test_smoke.py")], RECIPES)
