"""The image has what a server needs and nothing else, built in an order that keeps its layers; no engine is used here.

The build itself needs an engine. What the scripts of the build print is held against the project and this environment.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from sendbox import __version__
from sendbox.settings import PORT
from tests.documentation.markdown import ROOT
from tests.versions import FILE, OWN, project, read

IMAGE: Final = (ROOT / "Dockerfile").read_text("utf-8")
#: What only tests and builds need.
NOT_IN_IT: Final = {"pytest", "pygments", "freezegun", "coverage", "hatchling", "mypy", "rich", "hypothesis"}


def printed(*arguments: str, **environment: str) -> str:
    """What a program prints, in the folder of the repository."""
    return subprocess.run(
        arguments, cwd=ROOT, env=os.environ | environment, capture_output=True, text=True, check=True, timeout=150
    ).stdout


def lines(instruction: str) -> list[str]:
    """The arguments of an instruction wherever it stands, in order; continued lines are joined."""
    return re.findall(rf"^{instruction} (.+)$", IMAGE.replace("\\\n", ""), re.MULTILINE)


def wanted() -> list[str]:
    """The requirements that the image installs."""
    (command,) = re.findall(r"python scripts/requirements\.py ([\w ]+) >", IMAGE)
    return printed(sys.executable, "scripts/requirements.py", *command.split()).splitlines()


def test_it_installs_what_the_server_needs() -> None:
    """The script prints the dependencies of the project and of two extras, and no extra that brings pytest."""
    said = project()["project"]
    extras = said["optional-dependencies"]
    assert wanted() == [*said["dependencies"], *extras["people"], *extras["postgresql"], *extras["tls"]]


def test_it_has_nothing_of_the_tests() -> None:
    """By the table of who needs what, no package of tests is reached from what the image installs."""
    needed_by = {row.name: set(row.needed_by) - {OWN} for row in read(FILE.read_text("utf-8"))}
    reached: set[str] = {canonicalize_name(Requirement(line).name) for line in wanted()}
    while more := {name for name, who in needed_by.items() if who & reached} - reached:
        reached |= more
    assert reached & NOT_IN_IT == set()


def test_dependencies_come_before_sources() -> None:
    """What installs them copies only the versions and the project file, so a change of a source keeps their layer."""
    before, _, after = IMAGE.partition("FROM dependencies AS package\n")
    assert re.findall(r"^COPY (.+)$", before, re.MULTILINE) == [
        "constraints.txt pyproject.toml ./",
        "scripts/requirements.py scripts/",
    ]
    assert "COPY src src" in after
    assert re.findall(r"install --no-deps", after) == ["install --no-deps"]


def test_what_is_copied_is_sent_to_the_builder() -> None:
    """`.dockerignore` lets through what the stages copy, and nothing that they do not."""
    copied = {name for line in lines("COPY") if not line.startswith("--from") for name in line.split()[:-1]}
    rows = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert {row.removeprefix("!") for row in rows if row.startswith("!")} == copied
    assert [name for name in copied if not (ROOT / name).exists()] == []


def test_its_base_is_named_once() -> None:
    """One stage has the base, the others come from it; the digest of `.ci/base` is of the same tag."""
    (tag,) = (line.removesuffix(" AS base") for line in lines("FROM") if ":" in line)
    assert re.fullmatch(rf"{re.escape(tag)}@sha256:[0-9a-f]{{64}}\n", (ROOT / ".ci" / "base").read_text("utf-8"))
    assert f'base.name="docker.io/library/{tag}"' in IMAGE


def test_what_it_says_of_itself() -> None:
    """Labels of the open container initiative, both ports, a user without rights, and the host as a variable."""
    labels = re.findall(r'org\.opencontainers\.image\.([\w.]+)="(.+?)"', IMAGE)
    keys = ["title", "description", "licenses", "version", "revision", "source", "base.name"]
    assert [key for key, _ in labels] == keys
    said = dict(labels)
    assert (said["description"], said["licenses"]) == tuple(
        project()["project"][key] for key in ("description", "license")
    )
    assert {name for key in ("version", "revision", "source") for name in re.findall(r"\$(\w+)", said[key])} == {
        line.partition("=")[0] for line in lines("ARG")
    }
    assert lines("EXPOSE") == [f"{PORT} {PORT + 1}"]
    assert lines("USER") == ["10001"]
    assert lines("CMD") == ['["serve"]']


def sbom() -> Any:
    """The list of packages of this environment."""
    return json.loads(printed(sys.executable, "scripts/sbom.py"))


def test_its_list_of_packages() -> None:
    """It is a CycloneDX document: what is installed, with version, address and licence, and who needs what."""
    document = sbom()
    assert (document["bomFormat"], document["specVersion"], document["version"]) == ("CycloneDX", "1.5", 1)
    assert re.fullmatch(r"urn:uuid:[0-9a-f-]{36}", document["serialNumber"])
    assert document == sbom()  # the same environment, the same text
    parts = {part["name"]: part for part in document["components"]}
    aiohttp = parts["aiohttp"]
    assert aiohttp["purl"] == f"pkg:pypi/aiohttp@{aiohttp['version']}"
    assert aiohttp["licenses"]
    assert parts["python"]["type"] == "platform"
    needs = {row["ref"]: row["dependsOn"] for row in document["dependencies"]}
    assert parts["yarl"]["purl"] in needs[aiohttp["purl"]]
    assert {ref for each in needs.values() for ref in each} <= needs.keys()


@pytest.fixture
def docker(tmp_path: Path) -> dict[str, str]:
    """A program in place of docker: it prints its arguments, or a manifest."""
    program = tmp_path / "docker"
    manifest = json.dumps({"schemaVersion": 2, "digest": "sha256:" + "0" * 64, "size": 1})
    program.write_text(
        f"#!/bin/sh\ncase \"$2\" in imagetools) echo '{manifest}' ;; *) printf '%s\\n' \"$@\" ;; esac\n", "utf-8"
    )
    program.chmod(0o755)
    return {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}


def test_the_script_that_builds_it(docker: dict[str, str]) -> None:
    """It names the base by its digest, and the version of the package."""
    base = (ROOT / ".ci" / "base").read_text("utf-8").strip()
    given = printed("scripts/image", "--load", REVISION="r1", SOURCE="https://code.example", **docker).splitlines()
    assert given[:2] == ["buildx", "build"]
    assert f"{base.partition('@')[0]}=docker-image://docker.io/library/{base}" in given
    assert {f"VERSION={__version__}", "REVISION=r1", "SOURCE=https://code.example"} <= set(given)
    assert f"org.opencontainers.image.base.digest={base.partition('@')[2]}" in given
    assert given[-2:] == ["--load", "."]


def test_the_script_that_raises_the_base(docker: dict[str, str], tmp_path: Path) -> None:
    """It writes the digest that the registry names for the tag of the Dockerfile."""
    for name in ("scripts/base", "Dockerfile", ".ci/base"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    (tmp_path / "scripts" / "base").chmod(0o755)
    assert printed(str(tmp_path / "scripts" / "base"), **docker) == f"python:3.13-slim@sha256:{'0' * 64}\n"
    assert (tmp_path / ".ci" / "base").read_text("utf-8").endswith("0" * 64 + "\n")
