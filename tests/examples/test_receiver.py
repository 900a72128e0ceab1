"""The programs of docs/receiver.md that check a signature, against a webhook that the sandbox signed."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from sendbox.fixture import Sandbox
from tests.documentation.markdown import ROOT, blocks
from tests.examples.running import COMPILED, LIMIT, need

SECRET: Final = "a secret of this test"
#: The file of a program by its language, and what runs it.
PROGRAMS: Final = {
    "python": ("check.py", ["python3", "check.py"]),
    "javascript": ("check.cjs", ["node", "check.cjs"]),
    "php": ("check.php", ["php", "check.php"]),
    "go": ("check.go", ["go", "run", "check.go"]),
    "java": ("Check.java", ["java", "Check.java"]),
    "sh": ("check.sh", ["sh", "check.sh"]),
}
CASES: Final = [pytest.param(name, marks=[pytest.mark.deep] * (name in COMPILED)) for name in PROGRAMS]


@pytest.mark.sendbox(scenario={"sendbox": 1, "account": {"default_callback_secret": SECRET}})
@pytest.mark.parametrize("language", CASES)
def test_a_signature_is_checked(sendbox: Sandbox, tmp_path: Path, language: str) -> None:
    """A21: of a real body the program accepts the signature, and no other one."""
    webhooks: list[tuple[bytes, str]] = []

    def receiver(
        environ: dict[str, Any], start_response: Callable[[str, list[tuple[str, str]]], object]
    ) -> list[bytes]:
        body = environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
        webhooks.append((body, environ["HTTP_X_REQUEST_SIGNATURE"]))
        start_response("200 OK", [])
        return [b""]

    sendbox.deliver_to(receiver)
    headers = {"x-api-key": sendbox.api_key}
    message = {"to": [{"phone_number": "420777000101"}], "body": "Příliš žluťoučký kůň"}
    with httpx.Client(transport=sendbox.transport, headers=headers) as client:
        client.post(f"{sendbox.base_url}/message", json=message).raise_for_status()
    sendbox.advance("1m")
    body, right = webhooks[0]
    name, command = PROGRAMS[language]
    need(command[0])
    (program,) = [block.text for block in blocks(ROOT / "docs" / "receiver.md") if block.language == language]
    (tmp_path / name).write_text(program, "utf-8")
    codes = []
    for signature in (right, "0" * 64):
        done = subprocess.run(
            command,
            cwd=tmp_path,
            input=body,
            env=os.environ | {"SECRET": SECRET, "SIGNATURE": signature},
            timeout=LIMIT,
            check=False,
        )
        codes.append(done.returncode)
    assert codes == [0, 1]
