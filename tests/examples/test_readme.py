"""The README does what it says: every block of it is run, or held against what it is about."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
import yaml

from sendbox import __version__
from sendbox.cli import main as cli
from sendbox.settings import PORT
from tests.documentation.markdown import ROOT, Block, blocks, prose
from tests.examples.receiver import receiver
from tests.examples.running import DOCUMENTED, LIMIT, Folder, missing, need, tell

README: Final = ROOT / "README.md"
BLOCKS: Final = blocks(README)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def bash(word: str) -> list[Block]:
    """The bash blocks that begin with a word."""
    return [block for block in BLOCKS if block.language == "bash" and block.text.startswith(word)]


def file(name: str) -> Block:
    """The block that the text before it gives this file's name."""
    (block,) = (block for block in BLOCKS if block.file == name)
    return block


def job() -> dict[str, Any]:
    """The job of the CI block."""
    (text,) = (block.text for block in BLOCKS if block.language == "yaml" and not block.file)
    (job,) = yaml.safe_load(text)["jobs"].values()
    assert isinstance(job, dict)
    return job


def test_every_block_is_run() -> None:
    """No block is of a kind that the tests of this module pass over."""
    kinds = {(block.language, block.text.split()[0]) for block in BLOCKS if block.language == "bash"}
    assert kinds == {("bash", word) for word in ("pip", "scripts/serve", "curl", "pytest", "sendbox")}
    others = [block.language for block in BLOCKS if block.language != "bash"]
    assert sorted(set(others)) == ["json", "python", "text", "yaml"]
    assert others.count("python") == 2
    assert others.count("text") == 1
    assert others.count("yaml") == 2


def test_it_is_installed_and_served_by_these_names(folder: Folder) -> None:
    """The package and its command are called so, and what is served by default has the address of the examples."""
    block, with_pytest = bash("pip")
    assert block.text.splitlines() == ["pip install sendbox", "sendbox serve"]
    assert with_pytest.text.splitlines() == ["pip install 'sendbox[test]'"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["name"] == "sendbox"
    assert "test" in project["optional-dependencies"]
    assert project["scripts"] == {"sendbox": "sendbox.cli.main:main"}
    assert project["requires-python"] == ">=3.11"
    assert "Python 3.11 or newer" in prose(README)
    port = next(option for option in cli.COMMANDS["serve"].loaded.params if option.name == "port")
    assert port.default == PORT
    with folder.serving("sendbox serve") as served:
        assert served.banner == f"Sendbox {__version__} at {served.origin}, scenario default\n"


def test_two_commands_do_everything_in_a_checkout() -> None:
    """The scripts are there, can be run, and are bash."""
    (block,) = bash("scripts/serve")
    assert block.text.split() == ["scripts/serve", "scripts/test"]
    for line in block.text.split():
        assert os.access(ROOT / line, os.X_OK)
        subprocess.run(["bash", "-n", str(ROOT / line)], check=True)


def test_a_message_and_its_webhooks_are_seen_with_curl(folder: Folder) -> None:
    """The lines of the first section, one after the other, print what the text shows."""
    need("curl")
    with folder.serving("sendbox serve") as served:
        tell(folder, [block for block in BLOCKS if block.language == "json" or block in bash("curl")], served.origin)
        (page,) = re.findall(rf"<{DOCUMENTED}(\S+)>", prose(README))
        answer = httpx.get(served.origin + page)
        assert answer.status_code == 200
        assert "420777000101" in answer.text


@pytest.mark.deep
def test_the_pytest_example_passes_as_it_stands(folder: Folder) -> None:
    """The file alone in a folder, with pytest and nothing else; with coverage it says what was never tried."""
    (folder.path / "test_otp.py").write_text(file("test_otp.py").text, "utf-8")
    command, _ = bash("pytest")
    assert " 1 passed" in folder.run(command.text)
    assert "`pytest --sendbox-coverage`" in README.read_text("utf-8")
    assert "never tried" in folder.run(f"{command.text.strip()} --sendbox-coverage")


@pytest.mark.deep
def test_the_example_of_exploration_finds_what_it_shows(folder: Folder) -> None:
    """The file alone in a folder; the lines that are shown are printed, in their order."""
    (folder.path / "test_order.py").write_text(file("test_order.py").text, "utf-8")
    _, command = bash("pytest")
    printed = iter(folder.run(command.text, code=1).splitlines())
    (shown,) = (block.text.splitlines() for block in BLOCKS if block.language == "text")
    assert [line for line in shown if line != "…" and line not in printed] == []
    assert folder.run("sendbox check .sendbox/found").count(": ok") == 5
    assert "still breaks it" in folder.run("pytest --sendbox-found", code=1)


def test_the_ci_job_is_one_that_github_takes() -> None:
    """The service has the image's port, settings that `serve` knows, and the steps have the names they use."""
    service = job()["services"]["sandbox"]
    assert service["ports"] == [f"{PORT}:{PORT}"]
    known = {option.envvar for option in cli.COMMANDS["serve"].loaded.params}
    assert service["env"].keys() <= known
    used = {name for step in job()["steps"] for name in re.findall(r"\$(\w+)", step["run"])}
    assert used == job()["env"].keys()
    assert f"scripts/image --tag {service['image']} --load" in prose(README)
    image = (ROOT / "Dockerfile").read_text("utf-8")
    assert f"EXPOSE {PORT}" in image
    assert "HEALTHCHECK" in image
    assert "SENDBOX_HOST=0.0.0.0" in image  # not an argument, which others would replace
    assert 'ENTRYPOINT ["sendbox"]\nCMD ["serve"]\n' in image


@pytest.mark.deep
def test_the_steps_of_the_ci_job_run(folder: Folder) -> None:
    """Against a sandbox with the service's settings; webhooks reach a receiver on the job's side."""
    need("curl")
    service, steps = job()["services"]["sandbox"], [step["run"] for step in job()["steps"]]
    assert steps[0] == "pip install sendbox"
    with folder.serving("sendbox serve", **service["env"]) as served, receiver() as got:
        environment = {
            name: value.replace(DOCUMENTED, served.origin).replace("${{ github.run_id }}", "1")
            for name, value in job()["env"].items()
        }
        assert "$" not in "".join(environment.values())
        opening, forwarding = steps[1].strip().splitlines()
        folder.run(opening, **environment)
        line = forwarding.removesuffix(" &").replace("http://127.0.0.1:3000", got.origin)
        with folder.started(line, **environment) as process:
            folder.run(steps[2], **environment)  # at once, as in the job: whether anybody forwards yet does not matter
            assert process.stdout is not None
            assert process.stdout.readline().startswith(f"webhooks of {environment['KEY']} at ")
        assert [(path, event["result"]) for path, event in got.events] == [
            ("/hooks", "sending"),
            ("/hooks", "sent"),
            ("/hooks", "undelivered"),
        ]


def test_the_scenario_is_right_and_plays(folder: Folder) -> None:
    """It has no problems, the server takes it, and what its rules say happens."""
    block = file("unlucky.yaml")
    assert block.file == "unlucky.yaml"
    (folder.path / block.file).write_text(block.text, "utf-8")
    folder.run("sendbox init")
    (schema,) = re.findall(r"\A# yaml-language-server: \$schema=(\S+)\n", block.text)
    assert (folder.path / schema).is_file()
    (commands,) = bash("sendbox")
    check, play, explain, serve = commands.text.splitlines()
    assert folder.run(check) == f"{block.file}: ok\n"
    assert folder.run(play).startswith("An unlucky afternoon\n")
    assert "decides path" in folder.run(explain)
    (story,) = re.findall(r"`(sendbox play [a-z-]+)`", prose(README))
    assert "expectations hold" in folder.run(story)
    with folder.serving(serve) as served:
        assert "An unlucky afternoon" in served.banner
        events = _played(served.origin)
    assert [missing(shown, event) for shown, event in zip(_EXPECTED, events, strict=True)] == [None] * len(events)


_EXPECTED: Final[list[dict[str, Any]]] = [
    *({"gateway": "richmsg", "result": result} for result in ("sending", "sent", "undelivered")),
    *({"gateway": "sms", "result": result} for result in ("sending", "sent", "delivered")),
    {"type": "incoming", "body": "YES"},
]


def _played(origin: str) -> list[dict[str, Any]]:
    """The events of a message that falls back, and is answered."""
    flow = [{"richmsg": {"sender": "Acme"}}, {"sms": {}}]
    message = {"to": [{"phone_number": "420777000101"}], "body": "Coming?", "flow": flow}
    world = f"{origin}/_sandbox/worlds/test-played"
    with httpx.Client(timeout=LIMIT, trust_env=False) as client:
        client.post(f"{origin}/v2/message", json=message, headers={"x-api-key": "test-played"}).raise_for_status()
        client.post(f"{world}/clock/advance", json={"by": "5m"}).raise_for_status()
        events: list[dict[str, Any]] = client.get(f"{world}/hook").json()["events"]
    return events
