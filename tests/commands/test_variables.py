"""Variables of the environment that begin with SENDBOX_: whose they are, and how errors at the start blame them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from sendbox.cli import main as cli
from sendbox.cli.address import OF_TESTS, unknown
from sendbox.cli.options import VARIABLES
from sendbox.cli.outcome import CANNOT, USAGE, Failure
from sendbox.cli.serve import serving
from sendbox.runtime.interface import LogLine
from sendbox.settings import OPTIONS
from tests.commands.sandbox import options

#: What Kubernetes and Docker's links set for services called sendbox, sendbox-api and sendbox-2.
INJECTED = {
    "SENDBOX_SERVICE_HOST": "10.0.0.1",
    "SENDBOX_SERVICE_PORT": "7357",
    "SENDBOX_SERVICE_PORT_HTTP": "7357",
    "SENDBOX_PORT": "tcp://10.0.0.1:7357",
    "SENDBOX_PORT_7357_TCP": "tcp://10.0.0.1:7357",
    "SENDBOX_PORT_7357_TCP_PROTO": "tcp",
    "SENDBOX_PORT_7357_TCP_PORT": "7357",
    "SENDBOX_PORT_7357_TCP_ADDR": "10.0.0.1",
    "SENDBOX_PORT_53_UDP": "udp://10.0.0.1:53",
    "SENDBOX_API_SERVICE_HOST": "10.0.0.2",
    "SENDBOX_API_SERVICE_PORT": "80",
    "SENDBOX_API_PORT": "tcp://10.0.0.2:80",
    "SENDBOX_API_PORT_80_TCP_ADDR": "10.0.0.2",
    "SENDBOX_2_PORT": "sctp://10.0.0.2:80",
    "SENDBOX_NAME": "/tests/sendbox",
    "SENDBOX_ENV_PYTHONUNBUFFERED": "1",
}


def serve(*args: str, env: dict[str, str]) -> Result:
    """`sendbox serve` with these variables, and none of whoever runs the tests."""
    own: dict[str, str | None] = {name: None for name in os.environ if name.startswith("SENDBOX_")}
    return CliRunner().invoke(cli.sendbox, ["serve", *args], env=own | env)


def test_injected_variables_are_passed_over() -> None:
    """A pod beside a service called sendbox starts; so does a server that tests of Sendbox start."""
    others = dict.fromkeys(OF_TESTS, "1") | {"OTHER": "1", "SENDBOXES": "1", "SENDBOX_CLOCK": "real"}
    assert unknown(INJECTED | others, {"SENDBOX_CLOCK"}) == {}


def test_the_variables_of_all_commands_are_settings() -> None:
    """A server knows the variables of the other commands without loading them."""
    options = [option for command in cli.COMMANDS.values() for option in command.loaded.params]
    known = {*VARIABLES, *(row.variable for row in OPTIONS.values())}
    assert {option.envvar for option in options if option.envvar} == known


@pytest.mark.parametrize("name", ["SENDBOX_PROT", "SENDBOX_API_PORT", "SENDBOX_NAME", "SENDBOX_SERVICE", "SENDBOX_"])
def test_what_sets_nothing_is_told(name: str) -> None:
    """A variable that only looks like an orchestrator's is told, with the setting whose name is near."""
    assert unknown({name: "7357"}, {"SENDBOX_PORT"}).keys() == {name}
    assert unknown({"SENDBOX_PROT": "1"}, {"SENDBOX_PORT"}) == {"SENDBOX_PROT": "SENDBOX_PORT"}
    assert unknown({"SENDBOX_IMAGE": "1"}, {"SENDBOX_PORT"}) == {"SENDBOX_IMAGE": None}


@pytest.mark.asyncio
async def test_what_is_near_no_setting_is_ignored_with_a_warning() -> None:
    """Such as SENDBOX_IMAGE, which GitLab hands to the service; not what the scenario uses."""
    lines: list[LogLine] = []
    given = options()
    given.unknown = {"SENDBOX_IMAGE": None}
    async with serving(given, lines.append):
        pass
    assert lines == [LogLine("SENDBOX_IMAGE is not a setting of Sendbox, and is ignored", level="warning")]


@pytest.mark.asyncio
async def test_a_scenario_may_use_any_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the scenario asks for is used, and no mistake."""
    file = tmp_path / "scenario.yaml"
    file.write_text("sendbox: 1\nseed: ${SENDBOX_TEST_SEED}\n")
    monkeypatch.setenv("SENDBOX_TEST_SEED", "7")
    given = options(scenario=str(file))
    given.unknown = {"SENDBOX_TEST_SEED": "SENDBOX_SEED"}
    async with serving(given) as served:
        assert served.runtime.blueprint.seed == 7
    given.unknown = {
        "SENDBOX_TEST_SEED": "SENDBOX_SEED",
        "SENDBOX_SEDE": "SENDBOX_SEED",
        "SENDBOX_PROT": "SENDBOX_PORT",
    }
    with pytest.raises(Failure) as caught:
        async with serving(given):
            pass
    assert caught.value.message.startswith("SENDBOX_PROT (environment) is not a setting of Sendbox; did you mean ")
    assert [detail.partition(" ")[0] for detail in caught.value.details] == ["SENDBOX_SEDE"]


@pytest.mark.unmeasured
@pytest.mark.parametrize(
    ("args", "env", "said"),
    [
        (
            [],
            {"CLOKC": "manual"},
            "SENDBOX_CLOKC (environment) is not a setting of Sendbox; did you mean SENDBOX_CLOCK?",
        ),
        ([], {"TLS": "self", "TLS_KEY": __file__}, "SENDBOX_TLS (environment) and SENDBOX_TLS_KEY (environment): "),
        ([], {"TLS_KEY": __file__}, "SENDBOX_TLS_KEY (environment) alone: --tls-cert and --tls-key go together"),
        ([], {"CA_PORT": "1"}, "SENDBOX_CA_PORT (environment) gives out the authority of --tls self"),
        ([], {"SCENARIO": "otp-fallbak"}, "SENDBOX_SCENARIO (environment): "),
        (["--scenario", "otp-fallbak"], {}, "--scenario: "),
        ([], {"CALLBACK_CA": __file__}, f"SENDBOX_CALLBACK_CA (environment): {__file__} holds no certificate"),
        ([], {"TLS_CERT": __file__, "TLS_KEY": __file__}, "SENDBOX_TLS_CERT (environment) and SENDBOX_TLS_KEY (env"),
        ([], {"WATCH": "1"}, "SENDBOX_WATCH (environment): default is a scenario of the library"),
        ([], {"HOST": "192.0.2.1"}, "SENDBOX_HOST (environment): 192.0.2.1 is not an address of this machine"),
    ],
    ids=lambda value: "" if isinstance(value, str) else "-".join(value) or "-",
)
def test_what_keeps_serve_from_starting_is_blamed(args: list[str], env: dict[str, str], said: str) -> None:
    """Whatever is wrong only when it is used, or together, is blamed on the variable or the option, in one line."""
    result = serve(*args, env={f"SENDBOX_{name}": value for name, value in env.items()})
    assert result.exit_code in (USAGE, CANNOT)
    assert result.stderr.startswith(f"sendbox: {said}")
    assert result.stderr.count("\n") == 1


def test_serve_has_a_place_for_its_certificate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing can be written, as on a read-only root, --tls self says so."""
    monkeypatch.setattr("tempfile.tempdir", "/no/such/folder")
    result = serve(env={"SENDBOX_TLS": "self"})
    assert result.exit_code == CANNOT
    assert result.stderr.startswith(
        "sendbox: SENDBOX_TLS (environment): the certificate cannot be written (No such file"
    )
    assert "name a folder that can be written to in TMPDIR" in result.stderr
