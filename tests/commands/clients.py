"""Clients as commands, for the tests of `sendbox explore`: each a few lines of Python."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from click.testing import Result

from tests.commands.sandbox import sendbox

#: What every client begins with: `send` answers the status of a call, `number` counts the runs from 1. A call that is
#: never answered ends before its run takes too long, so that the client says how it copes.
PRELUDE: Final = """
import json, os, signal, sys, urllib.error, urllib.request
from pathlib import Path

opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
number = len(Path("runs").read_text()) + 1 if Path("runs").exists() else 1
with Path("runs").open("a") as file:
    file.write(".")

def call(path, body=None, key="test-a"):
    data = None if body is None else json.dumps(body).encode()
    headers = {"x-api-key": key, "content-type": "application/json"}
    try:
        request = urllib.request.Request(os.environ["SENDBOX_URL"] + path, data, headers)
        with opener.open(request, timeout=3) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, None
    except OSError:
        return None, None

def send(phone="420777000101"):
    return call("/v2/message", {"to": [{"phone_number": phone}], "body": "Hello"})[0]

def clock():
    return call("/_sandbox/worlds/test-a/clock")[1]["mode"]
"""
#: A client that makes its call again once, and breaks when both fail.
ONCE: Final = "print('sent', flush=True); sys.exit(send() != 200 != send())"
#: How it is explored.
CALLS: Final = ("--families", "calls")
#: The same with one kind of misfortune, so that there is one find. No call is without an answer, which takes long.
FAILED: Final = (*CALLS, "--keep", "failed,answer lost,rate limit,slow")


def client(text: str, name: str = "client.py") -> list[str]:
    """Writes a client into the working directory, and is the command that runs it: without packages, so quickly."""
    Path(name).write_text(PRELUDE + text)
    return [sys.executable, "-I", "-S", name]


def explore(command: list[str], *options: str) -> Result:
    """`sendbox explore -- COMMAND`."""
    return sendbox("explore", *options, "--", *command)


def said(result: Result) -> str:
    """The last line of stderr."""
    return result.stderr.splitlines()[-1]
