"""The command line: arguments, output, exit codes; and the program as a process."""

from __future__ import annotations

import json
import os
import re
import socket
from pathlib import Path
from typing import Any

import click
import pytest
from msgspec.structs import replace

from sendbox import __version__
from sendbox.cli import main as cli
from sendbox.cli import serve as serving
from sendbox.cli.outcome import CANNOT, CODES, INTERRUPTED, NO, OK, USAGE
from sendbox.cli.serve import Options
from sendbox.services.assumptions import registry
from sendbox.settings import OPTIONS, Settings
from tests.commands.sandbox import sendbox


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting of whoever runs the tests reaches them."""
    for name in [name for name in os.environ if name.startswith("SENDBOX_")]:
        monkeypatch.delenv(name)


# --- help, errors, exit codes -----------------------------------------------------------------------------------------


def test_version() -> None:
    """--version is the version."""
    result = sendbox("--version")
    assert (result.exit_code, result.output) == (OK, f"sendbox {__version__}\n")


def test_without_a_command_the_help_is_shown() -> None:
    """A call without a command is wrong use, and shows what there is."""
    result = sendbox()
    assert result.exit_code == USAGE
    assert "Commands:" in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize("command", sorted(cli.COMMANDS))
def test_every_command_teaches_by_an_example(command: str) -> None:
    """The help of each command has an example."""
    result = sendbox(command, "-h")
    assert result.exit_code == OK
    assert re.search(r"\n  Examples?:\n", result.output)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["serv"], "No such command 'serv'"),
        (["serve", "--prot", "1"], "No such option"),
        (["serve", "--port", "x"], "'x' is not legal; legal: a whole number, 0 to 65535"),
        (["serve", "--clock", "fast"], "'fast' is not one of 'manual', 'real', 'auto'"),
        (["serve", "--patience", "5x"], "'5x' is not a duration"),
        (["serve", "--start", "noon"], "'noon' is not an RFC 3339 instant"),
        (["serve", "--tls", "self", "--tls-cert", __file__], "--tls and --tls-cert: a certificate is made or given"),
        (["serve", "--tls-cert", __file__], "--tls-cert and --tls-key go together"),
        (["serve", "--ca-port", "1"], "--ca-port gives out the authority of --tls self"),
        (["serve", "--public-url", "box"], "box is not an address over http or https"),
        (["check"], "Missing argument 'FILE...'"),
        (["forward"], "Missing option '--to'"),
        (["ready", "--url", "box"], "box is not an address over http or https"),
        (["verdict", "--token", "\u201ctoken\u201d"], "the token has a character that no header can carry; legal: vis"),
        (["explain", "default", "--body", "\udcff"], "Invalid value for '--body': '\\udcff' is no text in UTF-8"),
        (["play", "default", "--seed", "\udcff"], "Invalid value for '--seed': '\\udcff' is no text in UTF-8"),
        (["export", "\udcff"], "Invalid value for 'WORLD': '\\udcff' is no text in UTF-8"),
    ],
    ids=lambda value: "-".join(map(ascii, value)) if isinstance(value, list) else "",
)
def test_wrong_use_is_told_in_one_line(args: list[str], said: str) -> None:
    """Wrong use ends with 2 and one line, which says what was wrong."""
    result = sendbox(*args)
    assert result.exit_code == USAGE
    assert said in result.stderr
    assert result.stderr.startswith("sendbox: ")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "code"),
    [(KeyboardInterrupt, INTERRUPTED), (click.Abort, INTERRUPTED), (lambda: click.ClickException("no"), NO)],
    ids=["ctrl-c", "abort", "other"],
)
def test_other_ends_have_their_codes(monkeypatch: pytest.MonkeyPatch, error: Any, code: int) -> None:
    """An interrupted command ends as shells expect it, without a traceback."""

    def fail() -> None:
        raise error()

    monkeypatch.setattr("sendbox.cli.reference.magic", fail)
    assert sendbox("numbers").exit_code == code


#: Commands with a file that they read, at this place.
READING = [
    ["check", "X"],
    ["play", "X"],
    ["explain", "X"],
    ["explain", "default", "X"],
    ["serve", "--scenario", "X"],
    ["serve", "--tls-cert", "X", "--tls-key", __file__],
    ["serve", "--callback-ca", "X"],
    ["coverage", "X"],
    ["diff", "X", "X"],
    ["replay", "X"],
    ["forward", "--to", "http://127.0.0.1:1/", "--cacert", "X"],
]


@pytest.mark.parametrize("args", READING, ids="-".join)
def test_a_file_that_is_not_there_has_one_exit_code(args: list[str]) -> None:
    """The same in every command, which names the file on one line."""
    result = sendbox(*(word.replace("X", "no/such.yaml") for word in args))
    assert (result.exit_code, "no/such.yaml" in result.output) == (CANNOT, True)


@pytest.mark.unmeasured
@pytest.mark.parametrize("args", [["check"], ["play"], ["explain"], ["serve", "--scenario"]], ids="-".join)
def test_a_scenario_with_problems_has_one_exit_code(args: list[str], tmp_path: Path) -> None:
    """The same in every command that reads it."""
    (tmp_path / "wrong.yaml").write_text("sendbox: 1\nsed: 7\n")
    assert sendbox(*args, str(tmp_path / "wrong.yaml")).exit_code == NO


def test_the_exit_codes_are_in_the_help() -> None:
    """Every code of the table, with its meaning."""
    said = " ".join(sendbox("--help").output.split())
    assert [meaning for code, meaning in CODES.items() if f"{code} {meaning}" not in said] == []
    assert list(CODES) == [OK, NO, USAGE, CANNOT, INTERRUPTED]


# --- serve ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[Options]:
    """The options that `serve` would have served with, without where they come from."""
    found: list[Options] = []
    monkeypatch.setattr(serving, "run", lambda options: found.append(replace(options, sources={}, unknown={})))
    return found


def test_serve_has_defaults(served: list[Options]) -> None:
    """Without arguments it serves this machine only, in real time, with the default scenario."""
    assert sendbox("serve").exit_code == OK
    assert served == [Options(settings=Settings(world_ttl=86_400.0, keep_closed=20))]


def test_serve_takes_arguments(served: list[Options]) -> None:
    """Each option arrives where it is used."""
    args = (
        "--host ::1 --port 0 --scenario late-receipt --seed -7 --clock manual --start 1970-01-01T00:00:01Z --key a "
        "--key b --any-key --public-url https://box.test/v2 --tls self --ca-port 9 --max-worlds 3 --no-hints "
        f"--patience 1500ms --callback-ca {__file__} --callback-insecure"
    )
    assert sendbox("serve", *args.split()).exit_code == OK
    (options,) = served
    settings = options.settings
    assert (settings.host, settings.port, settings.scenario, settings.seed) == ("::1", 0, "late-receipt", -7)
    assert (options.mode, options.start, options.tls, options.tls_self, options.ca_port) == (
        "manual",
        1000,
        None,
        True,
        9,
    )
    assert (settings.keys, settings.any_key, settings.public_url) == (frozenset("ab"), True, "https://box.test")
    assert (settings.max_worlds, settings.hints, settings.patience) == (3, False, 1.5)
    assert (settings.callback_ca, settings.callback_insecure) == (__file__, True)


def test_serve_takes_a_certificate(served: list[Options]) -> None:
    """Certificate and key belong together."""
    assert sendbox("serve", "--tls-cert", __file__, "--tls-key", __file__).exit_code == OK
    assert served[0].tls == (__file__, __file__)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("PORT", "8000", {"port": 8000}),
        ("PORT", "tcp://10.0.0.1:7357", {"port": 7357}),
        ("SEED", "abc", {"seed": "abc"}),
        ("SEED", "9223372036854775807", {"seed": 2**63 - 1}),
        ("SEED", "run 12345678901234567890", {"seed": "run 12345678901234567890"}),
        ("KEY", "one, two,", {"keys": frozenset({"one", "two"})}),
        ("ANY_KEY", "1", {"any_key": True}),
        ("NO_HINTS", "true", {"hints": False}),
        ("PATIENCE", "0.5s", {"patience": 0.5}),
        ("HOSTS", "Bücher.example.,", {"hosts": {"xn--bcher-kva.example"}}),
        ("CA_PORT", "tcp://10.0.0.1:80", {"port": 7357}),
        ("PUBLIC_URL", "http://box:80", {"public_url": "http://box:80"}),
        ("MAX_WORLDS", "5", {"max_worlds": 5}),
        ("WORLD_TTL", "2h", {"world_ttl": 7_200.0}),
        ("KEEP_CLOSED", "0", {"keep_closed": 0}),
        ("STRICT_KEYS", "1", {"strict_keys": True}),
        ("WORLD_TTL", "off", {"world_ttl": None}),
        ("MAX_MESSAGES", "6", {"max_messages": 6}),
        ("MAX_MEMORY", "512MB", {"max_memory": 512_000_000}),
        ("WHEN_FULL", "forget", {"when_full": "forget"}),
        ("SCENARIO", "late-receipt", {"scenario": "late-receipt"}),
        ("SCENARIO", "default, my file.yaml,", {"scenario": ("default", "my file.yaml")}),
        ("SCENARIO", "", {"scenario": "default"}),
    ],
    ids=lambda value: str(value)[:20],
)
def test_serve_takes_the_environment(served: list[Options], name: str, value: str, expected: dict[str, Any]) -> None:
    """Each option can come from the environment, which holds what Kubernetes puts there too."""
    assert sendbox("serve", env={f"SENDBOX_{name}": value}).exit_code == OK
    assert {key: getattr(served[0].settings, key) for key in expected} == expected


def test_every_option_of_serve_has_a_field() -> None:
    """Each row sets a field of the settings or of the process; `options` of cli/main.py combines these few."""
    combined = {"clock", "tls_cert", "tls_key", "only_warnings", "control_token", "control_token_file"}
    assert OPTIONS.keys() - Settings.__annotations__.keys() - Options.__annotations__.keys() == combined


def test_serve_takes_several_scenarios(served: list[Options]) -> None:
    """The option is repeated; what it says wins over the environment."""
    result = sendbox("serve", "--scenario", "a,b.yaml", "--scenario", "c", env={"SENDBOX_SCENARIO": "default"})
    assert result.exit_code == OK
    assert served[0].settings.scenario == ("a,b.yaml", "c")


def test_serve_takes_settings_of_assume(served: list[Options]) -> None:
    """`--assume` is repeated; in the environment commas stand between settings."""
    assert sendbox("serve", "--assume", "profile=careful", "--assume", "webhook_retry=[5s, 9s]").exit_code == OK
    assert sendbox("serve", env={"SENDBOX_ASSUME": "profile=lenient, nulls=absent"}).exit_code == OK
    assert [options.settings.assume for options in served] == [
        ("profile=careful", "webhook_retry=[5s, 9s]"), ("profile=lenient", "nulls=absent"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("PORT", "abc", "SENDBOX_PORT (environment): 'abc' is not legal; legal: a whole number, 0 to 65535"),
        (
            "MAX_WORLDS",
            "abc",
            "SENDBOX_MAX_WORLDS (environment): 'abc' is not legal; legal: a whole number, 1 and more",
        ),
        ("SHARD", "300", "SENDBOX_SHARD (environment): '300' is not legal; legal: a whole number, 0 to 255"),
        ("PATIENCE", "5000", "SENDBOX_PATIENCE (environment): '5000' has no unit; 5000s or 5000ms is legal, only 0"),
        ("ASSUME", "careful", "SENDBOX_ASSUME (environment): 'careful' is not a setting of assume and its value"),
        ("KEY", "one two", "SENDBOX_KEY (environment): 'one two' is not an API key"),
        ("HOSTS", "a.example:80", "SENDBOX_HOSTS (environment): 'a.example:80' is not a host name"),
        ("PUBLIC_URL", "box", "SENDBOX_PUBLIC_URL (environment): box is not an address over http or https"),
        ("CLOCK", "fast", "SENDBOX_CLOCK (environment): 'fast' is not one of"),
        ("START", "soon", "SENDBOX_START (environment): 'soon' is not an RFC 3339 instant"),
        ("SEED", "9223372036854775808", "SENDBOX_SEED (environment): 9223372036854775808 is outside the range"),
        ("TLS_CERT", "/gone", "SENDBOX_TLS_CERT (environment): File '/gone' does not exist"),
        ("ANY_KEY", "perhaps", "SENDBOX_ANY_KEY (environment): 'perhaps' is not a valid boolean"),
    ],
)
def test_the_environment_is_blamed_for_its_own(name: str, value: str, said: str) -> None:
    """A wrong value is blamed on the variable that has it; given as an option, on the option."""
    result = sendbox("serve", env={f"SENDBOX_{name}": value})
    assert result.exit_code == (CANNOT if name == "TLS_CERT" else USAGE)  # the value is legal, the file is not there
    assert f"Invalid value for {said}" in result.stderr
    option = f"--{name.lower().replace('_', '-')}"
    if name != "ANY_KEY":
        result = sendbox("serve", option, value, env={f"SENDBOX_{name}": value})
        assert f"Invalid value for '{option}'" in result.stderr
    result = sendbox("ready", "--wait", "soon", env={"SENDBOX_URL": "x"})
    assert "Invalid value for '--wait'" in result.stderr


# --- what is looked up ------------------------------------------------------------------------------------------------


def test_numbers_lists_the_magic_numbers() -> None:
    """Each magic number has a line with an example and what happens to a message to it."""
    result = sendbox("numbers")
    assert result.exit_code == OK
    head, *rows = result.output.splitlines()
    assert re.split(r"  +", head) == ["ends in", "example", "what happens to a message"]
    assert re.split(r"  +", rows[2]) == ["02", "420777000102", "undelivered"]
    assert len(rows) == 15


def test_assumptions_lists_every_row() -> None:
    """Each assumption is listed with its section, default, confidence and setting."""
    result = sendbox("assumptions")
    assert result.exit_code == OK
    assert re.findall(r"^A\d+", result.output, re.MULTILINE) == [row.id for row in registry()]
    assert "A02  §2.2  the flow channel rcs\n" in result.output
    assert "     [confidence F; setting rcs]\n" in result.output
    assert "; setting content_type; profile careful: content_type strict]\n" in result.output


def test_assumptions_as_json() -> None:
    """The same as an array of objects."""
    result = sendbox("assumptions", "--json")
    assert json.loads(result.output) == [row.as_json() for row in registry()]
    assert json.loads(result.output)[0].keys() == {
        "id", "section", "title", "default", "setting", "confidence", "built", "profiles"
    }  # fmt: skip


# --- ready and forward ------------------------------------------------------------------------------------------------


def test_ready_asks_where_serve_would_listen(monkeypatch: pytest.MonkeyPatch) -> None:
    """--port and --tls win over the environment; --url with them is a contradiction."""
    asked: list[str] = []

    def wait_ready(url: str, _wait: int) -> dict[str, str]:
        asked.append(url)
        return {}

    monkeypatch.setattr("sendbox.cli.ready.wait_ready", wait_ready)
    env = {"SENDBOX_HOST": "0.0.0.0", "SENDBOX_PORT": "8000", "SENDBOX_URL": "http://other:1"}
    for args in ((), ("--port", "9000"), ("--tls", "self")):
        assert sendbox("ready", *args, env=env).exit_code == OK
    assert asked == ["http://other:1", "http://127.0.0.1:9000", "https://127.0.0.1:8000"]
    result = sendbox("ready", "--url", "http://box", "--port", "1")
    assert (result.exit_code, result.stderr.startswith("sendbox: --url says the port")) == (USAGE, True)


def test_ready_says_that_nobody_answers() -> None:
    """Where nothing listens the answer is no."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        result = sendbox("ready", env={"SENDBOX_PORT": str(sock.getsockname()[1])})
    assert result.exit_code == NO
    assert "is not ready: " in result.stderr


def test_forward_says_that_nobody_answers() -> None:
    """Where no sandbox listens there is nothing to forward."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{sock.getsockname()[1]}"
        result = sendbox("forward", "--to", "http://127.0.0.1:1/", "--url", url, "--world", "test-a")
    assert result.exit_code == CANNOT
    assert "cannot be reached" in result.stderr


def test_forward_ends_well_by_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C is how a forward ends."""

    async def interrupted(*_given: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sendbox.cli.forward.forward", interrupted)
    assert sendbox("forward", "--to", "http://127.0.0.1:1/").exit_code == OK
