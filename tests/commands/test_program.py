"""The program as a process: how it starts, serves, ends, and writes."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import httpx
import pytest
from click.testing import CliRunner

from sendbox import __version__
from sendbox.cli import main as cli
from sendbox.cli.outcome import CANNOT, NO, OK, USAGE

ROOT: Final = Path(__file__).resolve().parents[2]
#: Starts the program as its entry point does.
PROGRAM: Final = (sys.executable, "-c", "from sendbox.cli.main import main; main()")


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting of whoever runs the tests reaches them."""
    for name in [name for name in os.environ if name.startswith("SENDBOX_")]:
        monkeypatch.delenv(name)


@contextmanager
def running(*args: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`sendbox serve` as a process with a terminal, and its banner."""
    import pty  # Windows has none

    terminal, end = pty.openpty()
    process = subprocess.Popen(
        [*PROGRAM, "serve", "--port", "0", *args], stdout=end, stderr=subprocess.PIPE, text=True, cwd=ROOT
    )
    os.close(end)
    try:
        banner = b""
        while b"Ctrl-C" not in banner:
            banner += os.read(terminal, 1024)
        yield process, banner.decode().replace("\r\n", "\n")
    finally:
        os.close(terminal)
        if process.poll() is None:
            process.kill()
        process.communicate()


def ended(process: subprocess.Popen[str], number: signal.Signals) -> tuple[int, str]:
    """The exit code after a signal, and the log."""
    process.send_signal(number)
    _, log = process.communicate(timeout=60)
    return process.returncode, log


def test_forward_ends_on_sigterm() -> None:
    """The process ends as it does on Ctrl-C: as process 1, where nothing else ends it, too."""
    with running("--clock", "manual") as (_, banner):
        url = address(banner, "base_url").removesuffix("/v2")
        arguments = ["forward", "--url", url, "--world", "test-demo", "--to", "http://127.0.0.1:9/"]
        process = subprocess.Popen([*PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            assert process.stdout.readline().endswith("Ctrl-C ends it\n")
            assert ended(process, signal.SIGTERM) == (OK, "")
        finally:
            process.kill()
            process.communicate()


def test_the_package_is_the_program() -> None:
    """`python -m sendbox` is `sendbox`, also in its errors: for machines whose scripts are not on the PATH."""
    for arguments, code, text in (
        (["--version"], OK, f"sendbox {__version__}\n"),
        (["no-such"], USAGE, "sendbox: No such command 'no-such'; see sendbox --help\n"),
    ):
        done = subprocess.run([sys.executable, "-m", "sendbox", *arguments], capture_output=True, text=True, cwd=ROOT)
        assert (done.returncode, done.stdout + done.stderr) == (code, text)


def address(banner: str, name: str) -> str:
    match = re.search(rf"^ +{name} +(\S+)$", banner, re.MULTILINE)
    assert match, banner
    return match[1]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "sigterm"])
def test_the_program_serves_until_it_is_ended(number: signal.Signals) -> None:
    """The banner's own line of curl works, remarks are logged, and a signal ends the program well."""
    with running("--clock", "manual") as (process, banner):
        base, page = address(banner, "base_url"), address(banner, "page")
        body = re.search(r"-d '(.*)'$", banner, re.MULTILINE)
        assert body
        with httpx.Client(trust_env=False, timeout=60, headers={"x-api-key": "test-demo"}) as client:
            headers = {"content-type": "application/json"}
            assert client.post(f"{base}/message", content=body[1], headers=headers).status_code == 200
            assert client.post(f"{base}/message", json={"to": []}).status_code == 400
            assert "test-demo" in client.get(page).text
            ready = CliRunner().invoke(cli.sendbox, ["ready", "--url", base])
            assert (ready.exit_code, ready.output) == (OK, f"{base[:-3]} is ready: Sendbox {__version__}\n")
        code, log = ended(process, number)
    assert code == OK
    assert log.count("\n") == len(log.splitlines())
    *remarks, last = log.splitlines()
    assert all(" info test-demo sendMessage refused sendMessage: " in line for line in remarks)
    assert remarks
    assert last.endswith(f" info - - Sendbox stops at {base.removesuffix('/v2')}; open worlds: 1")


@pytest.mark.deep
@pytest.mark.skipif(sys.platform != "linux", reason="the size of a pipe can be set on Linux only")
def test_a_full_pipe_stops_nothing() -> None:
    """A server whose log is not read goes on serving, counts the lines it could not write, and ends by a signal."""
    import fcntl

    with running("--clock", "manual") as (process, banner):
        assert process.stderr is not None
        fcntl.fcntl(process.stderr.fileno(), fcntl.F_SETPIPE_SZ, 4096)
        origin = address(banner, "base_url").removesuffix("/v2")
        with httpx.Client(base_url=origin, trust_env=False, timeout=60, headers={"x-api-key": "test-demo"}) as client:
            dropped = 0
            for count in range(3000):  # far more than the pipe and the lines that may wait
                body = {"to": [], "body": f"message {count}"}
                assert client.post("/v2/message", json=body).status_code == 400
                if count % 100 == 0 and (dropped := client.get("/_sandbox/health").json()["dropped"]):
                    break
            assert dropped > 0
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == OK


def test_the_program_serves_https_with_an_authority_of_its_own() -> None:
    """`--tls self` gives out its authority on a plain port, and a client that trusts it is served."""
    with running("--tls", "self") as (process, banner):
        with httpx.Client(trust_env=False, timeout=60) as plain:
            pem = plain.get(address(banner, "ca")).text
        trust = ssl.create_default_context(cadata=pem)
        with httpx.Client(verify=trust, trust_env=False, timeout=60) as client:
            base = address(banner, "base_url")
            assert base.startswith("https://127.0.0.1:")
            answer = client.post(
                f"{base}/message",
                json={"to": [{"phone_number": "420777000101"}], "body": "Hello"},
                headers={"x-api-key": "test-a"},
            )
            assert answer.status_code == 200
        code, log = ended(process, signal.SIGINT)
        assert code == OK
        assert log.endswith(f" info - - Sendbox stops at {base.removesuffix('/v2')}; open worlds: 1\n")
        assert log.count("\n") == 1


def test_the_program_tells_a_taken_port() -> None:
    """A port that is taken is one line, and an exit code of its own."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = subprocess.run(
            [*PROGRAM, "serve", "--port", str(port)], capture_output=True, text=True, cwd=ROOT, check=False
        )
    assert (done.returncode, done.stdout) == (CANNOT, "")
    assert done.stderr == (
        f"sendbox: --port: 127.0.0.1:{port} is taken by another program: give another port, or 0 for any that is free\n"
    )


def test_the_program_tells_a_taken_port_in_json() -> None:
    """As each other line of its log."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        command = [*PROGRAM, "serve", "--port", str(port), "--log-format", "json", "--quiet"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.returncode, done.stdout) == (CANNOT, "")
    (line,) = map(json.loads, done.stderr.splitlines())
    assert (line["level"], line["world"], line["operation"]) == ("error", None, None)
    assert line["message"].startswith(f"--port: 127.0.0.1:{port} is taken by another program")


def test_a_reader_that_has_enough_is_no_error() -> None:
    """`sendbox assumptions | head` ends without a traceback."""
    process = subprocess.Popen([*PROGRAM, "assumptions"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT)
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == NO


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="it stands for a disk that is full")
def test_an_output_that_takes_nothing_is_told() -> None:
    """A report that could not be written is no success."""
    with open("/dev/full", "w", encoding="utf-8") as full:
        command = [*PROGRAM, "numbers"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, cwd=ROOT, check=False)
    assert done.returncode == CANNOT
    assert done.stderr == "sendbox: stdout cannot be written: No space left on device\n"


@pytest.mark.skipif(os.name != "posix", reason="a shell of POSIX closes the streams")
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams(closed: str) -> None:
    """A program that is started with closed streams, as some schedulers do, does its work."""
    command = ["sh", "-c", f'exec "$@" {closed}', "sh", *PROGRAM, "play", "default"]
    done = subprocess.run(command, capture_output=True, cwd=ROOT, check=False)
    assert (done.returncode, done.stderr) == (OK, b"")


def test_help_imports_nothing_that_serves() -> None:
    """`sendbox --help` is quick: it loads neither server nor application, nor what reads scenarios."""
    code = (
        "import sys\nfrom sendbox.cli.main import sendbox\n"
        "try:\n    sendbox(['--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'starlette', 'uvicorn', 'aiohttp', 'httpx', 'jinja2', 'yaml', 'jsonschema_rs', 'orjson', 'asyncio'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stderr == "[]\n"


@pytest.mark.parametrize("encoding", ["cp866", "utf-8"])
def test_a_terminal_that_knows_no_letters_is_written_to(encoding: str) -> None:
    """What a terminal cannot show is spelled out."""
    done = subprocess.run(
        [*PROGRAM, "assumptions"],
        capture_output=True,
        cwd=ROOT,
        check=True,
        env={**os.environ, "PYTHONIOENCODING": encoding},
    )
    assert ("\\xa72.1" if encoding == "cp866" else "§2.1") in done.stdout.decode(encoding)
