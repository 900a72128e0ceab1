"""The wheel, installed alone into an empty environment, in an empty folder, serves and runs the library's scenarios."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import sysconfig
import urllib.request
import venv
from pathlib import Path
from typing import Any

import pytest

from tests.tiers import turn

ROOT = Path(__file__).parent.parent
SCENARIOS = turn(sorted(path.stem for path in (ROOT / "scenarios").glob("*.yaml")), 0, 4)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment that holds the wheel; its dependencies are lent by the environment of the tests."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run(
        [*pip, "wheel", str(ROOT), "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder)], check=True
    )
    (wheel,) = folder.glob("sendbox-*.whl")
    environment = folder / "environment"
    venv.create(environment, with_pip=False)
    python = environment / "bin" / "python"
    subprocess.run([*pip, "--python", str(python), "install", "--no-deps", "--no-compile", str(wheel)], check=True)
    # A plain path in a .pth file is not searched for further .pth files, so our editable install stays out of it.
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    lent = environment / "lib" / version / "site-packages" / "lent.pth"
    lent.write_text(sysconfig.get_paths()["purelib"] + "\n")
    return environment


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COV", "SENDBOX"))}


def _call(url: str, body: Any = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    headers = {"x-api-key": "test-wheel", "content-type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(url, data, headers), timeout=60) as answer:
        return json.load(answer)


def test_the_wheel_serves_and_runs_the_library(installed: Path, tmp_path: Path) -> None:
    """Each scenario of the library opens a world in the installed product, and a message comes through."""
    command = [str(installed / "bin" / "sendbox"), "serve", "--port", "0", "--clock", "manual"]
    served = subprocess.Popen(command, cwd=tmp_path, env=_environment(), stdout=subprocess.PIPE, text=True)
    try:
        assert served.stdout is not None
        origin = ""
        while not origin:
            line = served.stdout.readline()
            assert line, "it ended without an address"
            found = re.search(r"http://127\.0\.0\.1:[0-9]+", line)
            origin = found[0] if found else ""
        where = subprocess.run(
            [str(installed / "bin" / "python"), "-c", "import sendbox; print(sendbox.__file__)"],
            cwd=tmp_path,
            env=_environment(),
            capture_output=True,
            text=True,
            check=True,
        )
        assert Path(where.stdout).is_relative_to(installed)
        for name in SCENARIOS:
            opened = _call(f"{origin}/_sandbox/worlds", {"scenario": name, "clock": {"mode": "manual"}})
            assert opened["scenario"]
        _call(f"{origin}/v2/message", {"body": "Hi", "to": [{"phone_number": "420777000101"}]})
        _call(f"{origin}/_sandbox/worlds/test-wheel/clock/advance", {"by": "1m"})
        (message,) = _call(f"{origin}/_sandbox/worlds/test-wheel/messages")["messages"]
        assert message["result"] == "delivered"
        served.send_signal(signal.SIGINT)
        assert served.wait(60) == 0
    finally:
        served.kill()
        served.communicate()


def test_the_library_in_the_wheel_is_legal(installed: Path, tmp_path: Path) -> None:
    """`sendbox check` of the installed product finds nothing in its own scenarios."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    folder = installed / "lib" / version / "site-packages" / "sendbox" / "_data" / "scenarios"
    files = [str(folder / f"{name}.yaml") for name in SCENARIOS]
    subprocess.run([str(installed / "bin" / "sendbox"), "check", *files], cwd=tmp_path, env=_environment(), check=True)
