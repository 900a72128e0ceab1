"""`sendbox serve` in process."""

from __future__ import annotations

import asyncio
import gc
import io
import json
import re
import signal
import socket
import ssl
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import httpx
import pytest

from sendbox import __version__
from sendbox.cli import main as cli
from sendbox.cli.address import bind, callable_host
from sendbox.cli.log import Log
from sendbox.cli.outcome import CANNOT, Failure
from sendbox.cli.serve import Options, run, scenario, serve, serve_command, serve_options, to_stderr
from sendbox.runtime.collector import THRESHOLDS
from sendbox.runtime.interface import LogLine
from sendbox.runtime.teams import make_token
from sendbox.server.tls import self_signed
from sendbox.services.assume import Assume
from sendbox.settings import Settings
from tests.commands.sandbox import options, sandbox

TOKEN = "0123456789abcdef"
MESSAGE: dict[str, Any] = {"to": [{"phone_number": "420777000101"}], "body": "Hello"}


async def send(origin: str, verify: ssl.SSLContext | bool = True, **more: Any) -> httpx.Response:
    async with httpx.AsyncClient(verify=verify, trust_env=False, timeout=60) as client:
        return await client.post(f"{origin}/v2/message", json=MESSAGE | more, headers={"x-api-key": "test-a"})


@pytest.mark.asyncio
async def test_a_message_is_accepted_and_a_remark_is_logged() -> None:
    """What serves is the whole sandbox, and each remark is one line of the log."""
    lines: list[LogLine] = []
    async with sandbox(lines.append) as served:
        assert served.origin == f"http://127.0.0.1:{served.port}"
        assert (await send(served.origin, unknown_field=1)).status_code == 200
    (line,) = lines
    assert (line.world, line.level, line.operation) == ("test-a", "info", "sendMessage")
    assert line.message.startswith("advice unknown-field on sendMessage: ")
    assert "unknown_field" in line.message
    assert line.more == {"status": 200, "code": "unknown-field", "at": "$.unknown_field"}


@pytest.mark.unmeasured
@pytest.mark.asyncio
async def test_the_port_is_free_again_afterwards() -> None:
    """The end of the context closes the port and every world."""
    async with sandbox() as served:
        await send(served.origin)
    async with sandbox(port=served.port) as again:
        assert again.port == served.port
        assert again.runtime.worlds == {}


@pytest.mark.asyncio
async def test_a_taken_port_is_told() -> None:
    """A port that is taken ends the start with a line that says what to do."""
    async with sandbox() as served:
        with pytest.raises(
            Failure, match=f"127.0.0.1:{served.port} is taken by another program: give another"
        ) as caught:
            async with sandbox(port=served.port):
                pass
    assert caught.value.code == CANNOT


@pytest.mark.unmeasured
@pytest.mark.asyncio
async def test_tls_self_gives_out_its_authority() -> None:
    """A client that fetches the authority over plain http is served over https, by name and by address."""
    async with sandbox(tls_self=True, host="localhost") as served:
        assert served.ca_url is not None
        async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
            got = await client.get(served.ca_url)
            assert got.headers["content-type"] == "application/x-pem-file"
            assert (await client.head(served.ca_url)).content == b""
            elsewhere = await client.get(served.ca_url.replace("ca.pem", "key.pem"))
            assert elsewhere.status_code == 404
        trust = ssl.create_default_context(cadata=got.text)
        assert served.origin == f"https://localhost:{served.port}"
        assert (await send(served.origin, trust)).status_code == 200


@pytest.mark.asyncio
async def test_names_in_the_certificate_of_tls_self() -> None:
    """It holds for the host of the public URL and for further hosts, beside the names of this machine."""
    hosts, public = frozenset({"api.service.example", "old.service.example"}), "https://sandbox.example:7357"
    async with sandbox(tls_self=True, hosts=hosts, public_url=public) as served:
        async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
            trust = ssl.create_default_context(cadata=(await client.get(str(served.ca_url))).text)
        for name in ("127.0.0.1", "sandbox.example", *hosts):
            _, writer = await asyncio.open_connection("127.0.0.1", served.port, ssl=trust, server_hostname=name)
            writer.close()
        with pytest.raises(ssl.SSLCertVerificationError):
            await asyncio.open_connection("127.0.0.1", served.port, ssl=trust, server_hostname="other.example")


@pytest.mark.parametrize(
    ("port", "ca_port", "expected"), [(0, None, 0), (7357, None, 7358), (65535, None, 0), (7357, 9000, 9000)]
)
@pytest.mark.asyncio
async def test_port_of_the_authority(
    monkeypatch: pytest.MonkeyPatch, port: int, ca_port: int | None, expected: int
) -> None:
    """The authority is given out on the next port, where there is one, unless another is given."""
    asked: list[int] = []

    class Server:
        def __init__(self, app: Any, host: str, port: int, **given: Any) -> None:
            asked.append(port)

        async def start(self) -> int:
            return 1

        async def stop(self) -> None:
            pass

    monkeypatch.setattr("sendbox.cli.serve.HttpServer", Server)
    async with sandbox(tls_self=True, port=port, ca_port=ca_port):
        assert asked == [port, expected]


@pytest.mark.unmeasured
@pytest.mark.asyncio
async def test_own_certificate() -> None:
    """A certificate of one's own is served as it is, and no authority is given out."""
    with self_signed() as tls:
        async with sandbox(tls=(tls.certfile, tls.keyfile)) as served:
            assert served.ca_url is None
            assert (await send(served.origin, ssl.create_default_context(cadata=tls.ca_pem.decode()))).is_success


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"tls": (__file__, __file__)}, "cannot be served with the key"),
        ({"tls_self": True, "public_url": "https://no..name"}, "cannot be in a certificate"),
        ({"callback_ca": "/no/such.pem"}, "/no/such.pem is not a file"),
        ({"host": "no.such.host.invalid"}, "not a host name that resolves"),
        ({"scenario": "otp-fallbak"}, 'did you mean "otp-fallback"?'),
    ],
    ids=["certificate", "name", "authorities", "host", "scenario"],
)
@pytest.mark.asyncio
async def test_what_cannot_start_says_why(given: dict[str, Any], said: str) -> None:
    """Whatever keeps the server from starting is told in one line."""
    with pytest.raises(Failure) as caught:
        async with sandbox(**given):
            pass
    assert said in caught.value.message
    assert caught.value.code == CANNOT


def test_a_scenario_with_several_problems_lists_them_all(tmp_path: Path) -> None:
    """Every problem of the scenario is a line, with its place."""
    file = tmp_path / "wrong"
    file.write_text("sendbox: 1\nsed: 7\nclock: {mod: real}\n")
    with pytest.raises(Failure, match=f"{file} has 2 problems, all above") as caught:
        scenario(options(scenario=str(file)))
    assert [line.removeprefix(str(file)).partition(" ")[0] for line in caught.value.details] == [":2:1:", ":3:9:"]


def test_several_scenarios_are_joined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The later over the earlier, files and names, asked with the environment of the server; all are named."""
    file = tmp_path / "mine"
    file.write_text("sendbox: 1\nseed: ${SENDBOX_TEST_SEED:5}\n")
    given = ("late-receipt", str(file))
    assert (scenario(options(scenario=given)).seed, scenario(options(scenario=given)).name) == (
        5,
        "A receipt that comes too late",
    )
    monkeypatch.setenv("SENDBOX_TEST_SEED", "6")
    assert scenario(options(scenario=given)).seed == 6
    file.write_text("sendbox: 1\nsed: 7\nnam: x\n")
    with pytest.raises(Failure) as failed:
        scenario(options(scenario=given))
    assert failed.value.message == f"late-receipt + {file} has 2 problems, all above"


def test_assume_of_the_command_line_wins_over_the_scenario(tmp_path: Path) -> None:
    """`--assume NAME=VALUE` sets single settings and profiles; what is not legal is named."""
    file = tmp_path / "s.yaml"
    file.write_text("sendbox: 1\nname: Mine\nassume: {nulls: absent, conversation: 1h}\n")
    given = ("profile=careful", "test_number=off", "conversation=2h", "webhook_retry=[5s]")
    blueprint = scenario(options(scenario=str(file), assume=given))
    assert blueprint.name == "Mine"
    assert blueprint.assume == Assume(
        nulls="absent",
        content_type="strict",
        unknown_fields="refuse",
        sms_sender="strict",
        conversation=7_200_000,
        webhook_retry=(5_000,),
    )
    with pytest.raises(Failure, match='"x" is not a profile; legal: careful, lenient'):
        scenario(options(scenario=str(file), assume=("profile=x",)))


@pytest.mark.parametrize(
    ("given", "mode", "start"),
    [({}, "manual", 5), ({"mode": "auto", "start": 7}, "auto", 7)],
    ids=["scenario", "command line"],
)
def test_the_command_line_wins_over_the_scenario(given: dict[str, Any], mode: str, start: int, tmp_path: Path) -> None:
    """Clock and start of the command line replace those of the scenario; without them the scenario's hold."""
    file = tmp_path / "s.yaml"
    file.write_text('sendbox: 1\nclock: {mode: manual, start: "1970-01-01T00:00:00.005Z"}\n')
    blueprint = scenario(options(scenario=str(file), **given))
    assert (blueprint.mode, blueprint.start) == (mode, start)


@pytest.mark.parametrize(
    ("host", "bound", "called"),
    [
        ("127.0.0.1", "127.0.0.1", "127.0.0.1"),
        ("0.0.0.0", "0.0.0.0", "127.0.0.1"),
        ("*", "", "127.0.0.1"),
        ("[::1]", "::1", "[::1]"),
        ("::", "::", "127.0.0.1"),
        ("box.test", "box.test", "box.test"),
    ],
)
def test_hosts(host: str, bound: str, called: str) -> None:
    """The addresses of the banner can be called, whatever the server was told to listen on."""
    assert (bind(host), callable_host(host)) == (bound, called)


@pytest.mark.asyncio
async def test_the_banner_says_where_everything_is() -> None:
    """The banner names version, the four addresses, page, contract, scenario, clock, seed, and a line to begin with."""
    said: list[str] = []
    stop = asyncio.Event()
    stop.set()
    await serve(
        options(public_url="http://box.test:7357", scenario="late-receipt", mode="manual"),
        stop,
        said.append,
        Log(print),
    )
    text = "\n".join(said)
    assert text.startswith(f"Sendbox {__version__}\n")
    rows = dict(line.split(maxsplit=1) for line in text.splitlines()[2:12])
    assert rows["port"].isdecimal()
    assert {name: rows[name] for name in list(rows)[:6]} == {
        "base_url": "http://box.test:7357/v2",
        "rest_url": "http://box.test:7357/v1",
        "verify_url": "http://box.test:7357",
        "http_api_url": "http://box.test:7357",
        "page": "http://box.test:7357/_sandbox/",
        "openapi": "http://box.test:7357/openapi.json",
    }
    assert rows["scenario"].startswith("late-receipt (")
    assert (rows["clock"], rows["seed"]) == ("manual", "7")
    assert "\n  curl http://box.test:7357/v2/message -H 'x-api-key: test-demo'" in text


@pytest.mark.asyncio
async def test_the_banner_of_tls_self_trusts_first() -> None:
    """Over https the lines fetch the authority, and then trust it."""
    said: list[str] = []
    stop = asyncio.Event()
    stop.set()
    await serve(options(tls_self=True, seed="abc"), stop, said.append, Log(print))
    text = "\n".join(said)
    assert "\n  curl -o sendbox-ca.pem http://127.0.0.1:" in text
    assert "\n  curl --cacert sendbox-ca.pem https://127.0.0.1:" in text
    assert "\n  seed          abc\n" in text


@pytest.mark.asyncio
@pytest.mark.parametrize("given", [{"shown": False}, {"quiet": True}], ids=["no terminal", "quiet"])
async def test_the_start_in_one_line(given: dict[str, bool]) -> None:
    """Where no person reads it, the start is one line with version, address, scenario, and a port that was drawn."""
    said: list[str] = []
    stop = asyncio.Event()
    stop.set()
    started = options(public_url="http://box.test:7357", quiet=given.get("quiet", False))
    await serve(started, stop, said.append, Log(print), in_full=given.get("shown", True))
    line, _, port = said.pop().partition(", on port ")
    assert (line, said) == (f"Sendbox {__version__} at http://box.test:7357, scenario default", [])
    assert port.isdecimal()


@pytest.mark.asyncio
async def test_the_start_in_json() -> None:
    """In the format json the start is an object too; it has the address of the authority where there is one."""
    said: list[str] = []
    stop = asyncio.Event()
    stop.set()
    await serve(options(tls_self=True, log_format="json"), stop, said.append, Log(print), in_full=False)
    value = json.loads(said[0])
    assert re.fullmatch(r"20..-..-..T..:..:..(\.[0-9]+)?Z", value["time"])
    assert value["address"].startswith("https://127.0.0.1:")
    assert value["ca"].startswith("http://127.0.0.1:")
    assert value["message"] == (
        f"Sendbox {__version__} at {value['address']}, scenario default, authority {value['ca']}"
    )
    rest = (value["level"], value["world"], value["operation"], value["version"], value["scenario"])
    assert rest == ("info", None, None, __version__, "default")


@pytest.fixture
def collector() -> Iterator[None]:
    """The collector afterwards is as it was before."""
    before = gc.get_threshold()
    yield
    assert (gc.isenabled(), gc.get_threshold()) == (True, before)
    assert gc.get_freeze_count() == 0
    gc.freeze()  # as tests/conftest.py left it


@pytest.mark.usefixtures("collector")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "sigterm"])
def test_a_signal_ends_it(monkeypatch: pytest.MonkeyPatch, number: signal.Signals) -> None:
    """Ctrl-C and SIGTERM end the server without an exception, once the banner is out."""

    class Out(io.StringIO):
        def isatty(self) -> bool:
            return True

        def flush(self) -> None:
            assert (gc.isenabled(), gc.get_threshold()) == (True, THRESHOLDS)
            signal.raise_signal(number)

    out = Out()
    monkeypatch.setattr(sys, "stdout", out)
    run(options())
    assert out.getvalue().startswith(f"Sendbox {__version__}\n")


@pytest.mark.usefixtures("collector")
def test_where_a_loop_takes_no_signals_ctrl_c_still_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a machine whose loops take no signals (Windows) an interrupt ends the server as well."""

    def refuse(*_given: Any) -> None:
        raise NotImplementedError

    def without_signals() -> asyncio.AbstractEventLoop:
        loop = asyncio.SelectorEventLoop()
        monkeypatch.setattr(loop, "add_signal_handler", refuse)
        monkeypatch.setattr(loop, "remove_signal_handler", refuse)
        return loop

    class Out(io.StringIO):
        def flush(self) -> None:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("sendbox.cli.serve.new_loop", without_signals)
    monkeypatch.setattr(sys, "stdout", Out())
    run(options())


def test_the_log_is_one_line_and_never_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A line of the log is one line; a log that nobody reads any more stops nothing."""
    log = Log(to_stderr, now=lambda: 0)
    log.line(LogLine("a\nb"))
    log.close(20.0)
    assert capsys.readouterr().err == "1970-01-01T00:00:00.000Z info - - a\\nb\n"
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(sys, "stderr", closed)
    log = Log(to_stderr, now=lambda: 0)
    log.line(LogLine("gone"))
    log.close(20.0)
    assert log.dropped == 1


def test_options_have_defaults() -> None:
    """Options without arguments are those of a plain `sendbox serve`."""
    assert Options().settings == Settings()


@pytest.mark.asyncio
async def test_a_taken_port_of_the_authority_is_told() -> None:
    """Where the second port is taken the first is closed again."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(Failure, match="is taken by another program"):
            async with sandbox(tls_self=True, ca_port=taken.getsockname()[1]):
                pass


@pytest.mark.asyncio
@pytest.mark.parametrize(("host", "warns"), [("127.0.0.1", False), ("localhost", False), ("0.0.0.0", True)])
async def test_control_that_is_open_to_others_is_logged_at_the_start(host: str, warns: bool) -> None:
    """A server that other machines reach says that control is open, unless it asks for a token."""
    lines: list[LogLine] = []
    async with sandbox(lines.append, host=host) as served:
        warning = f"control is open to everyone who reaches {host}:{served.port}: --control-token closes it"
    assert lines == ([LogLine(warning, level="warning")] if warns else [])
    tokens = (make_token("ops", "admin", TOKEN),)
    async with (
        sandbox(lines.append, host=host, control_tokens=tokens) as served,
        httpx.AsyncClient(trust_env=False) as client,
    ):
        worlds = f"{served.origin}/_sandbox/worlds"
        assert (await client.get(worlds)).status_code == 401
        assert (await client.get(worlds, headers={"authorization": f"Bearer {TOKEN}"})).status_code == 200
    assert len(lines) == warns + 1  # the call without a token


def test_tokens_of_options(tmp_path: Path) -> None:
    """One token of an administrator, a file of several, or both; no error shows a token. A quota has a legal prefix."""
    file = tmp_path / "tokens.txt"

    def parsed(*arguments: str) -> Any:
        settings = cli.sendbox.context_settings  # a command keeps its option of help as it was first asked for
        with serve_command.make_context("serve", [*arguments], **settings) as context:
            return serve_options(context.params).settings.control_tokens

    def refusal(*arguments: str) -> str:
        with pytest.raises((click.BadParameter, Failure)) as caught:
            parsed(*arguments)
        message = str(getattr(caught.value, "message", caught.value))
        assert TOKEN not in message
        return message

    file.write_text(f"pay team test-pay- {TOKEN}1\n")
    assert parsed() == ()
    assert [token.name for token in parsed("--control-token", TOKEN)] == ["control-token"]
    both = parsed("--control-token", TOKEN, "--control-token-file", str(file))
    assert [token.name for token in both] == ["control-token", "pay"]
    assert refusal("--control-token", "short").startswith("5 characters that are no token; legal: 16 to 200")
    file.write_text(f"pay team pay- {TOKEN}1\n")
    assert refusal("--control-token-file", str(file)) == (
        "--control-token-file: pay: no key begins with pay-; legal: a prefix with test- first, or --any-key"
    )
    assert parsed("--any-key", "--control-token-file", str(file))[0].prefix == "pay-"
    file.write_bytes(b"\xff")
    assert refusal("--control-token-file", str(file)) == f"{file} cannot be read: it is no text in UTF-8"
    assert refusal("--quota", "pay- calls=1").startswith("--quota: no key begins with pay-; legal: a prefix with test-")
    assert parsed("--any-key", "--quota", "pay- calls=1") == ()
