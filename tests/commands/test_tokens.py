"""Commands and clients of a sandbox that asks for tokens."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from sendbox.app import SERVED
from sendbox.cli import forward
from sendbox.cli.main import COMMANDS
from sendbox.cli.outcome import CANNOT, Failure
from sendbox.control.carriers import Client
from sendbox.control.operation import ControlError
from sendbox.fixture.server import SandboxServer
from sendbox.runtime.teams import parse_tokens
from sendbox.server.instance import TOKEN_VARIABLE
from sendbox.settings import Settings
from tests.commands.sandbox import sendbox

SECRET = "0123456789abcdef"
WORLD = "test-pay-1"


@pytest.fixture(scope="module")
def origin() -> Iterator[str]:
    """A sandbox with two teams and a world."""
    tokens = parse_tokens(f"pay team test-pay- {SECRET}\nother team test-other- {SECRET}2\n", "tokens")
    server = SandboxServer(Settings(port=0, public_url=None, control_tokens=tokens, mode="manual")).start()
    client = Client(server.origin, SERVED, token=SECRET)
    client.call("open_world", None, {"id": WORLD})
    client.close()
    yield server.origin
    server.stop()


#: The commands that call control, each with a way to call it: `{url}` and `{world}` are replaced.
CALLS = {
    "export": "{world} --url {url}",
    "report": "--world {world} --url {url}",
    "verdict": "--world {world} --url {url}",
    "assumptions": "--leaned --world {world} --url {url}",
    "diff": "{url}/_sandbox/worlds/{world} {url}/_sandbox/worlds/{world}",
}


@pytest.mark.parametrize("command", CALLS)
def test_a_command_has_the_token_of_its_option_or_of_the_environment(command: str, origin: str) -> None:
    """Without one it fails with the answer of control, and so it does with the token of another team."""
    arguments = CALLS[command].format(url=origin, world=WORLD).split()
    denied = sendbox(command, *arguments)
    assert denied.exit_code == CANNOT
    assert "this server asks for a token; legal: the header Authorization: Bearer TOKEN" in denied.output
    foreign = sendbox(command, *arguments, "--token", f"{SECRET}2")
    assert foreign.exit_code == CANNOT
    assert f'"{WORLD}" is not a world of the token other' in foreign.output
    good = [sendbox(command, *arguments, "--token", SECRET), sendbox(command, *arguments, env={TOKEN_VARIABLE: SECRET})]
    for result in good:
        assert result.exit_code != CANNOT, result.output
        assert SECRET not in result.output


def test_every_command_that_calls_a_sandbox_takes_a_token() -> None:
    """But `ready`, which asks for what needs none."""
    takers = {name for name, row in COMMANDS.items() if any(option.name == "token" for option in row.loaded.params)}
    assert takers == {*CALLS, "forward"}
    callers = {name for name, row in COMMANDS.items() if any(option.name == "url" for option in row.loaded.params)}
    assert callers - takers == {"ready"}


@pytest.mark.unmeasured
def test_forward_has_the_token(origin: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It fetches the outbox with it; without it the answer of control ends it."""

    async def carried() -> None:
        end = asyncio.Event()
        await forward.forward("http://127.0.0.1:9/", origin, WORLD, None, lambda _line: end.set(), end)

    with pytest.raises(Failure, match="this server asks for a token"):
        asyncio.run(carried())
    monkeypatch.setenv(TOKEN_VARIABLE, SECRET)
    asyncio.run(carried())


@pytest.mark.unmeasured
def test_worlds_of_a_client_begin_with_the_prefix_of_its_token(origin: str) -> None:
    """So that a team's client may open them; without a token control says what it needs."""
    client = Client(origin, SERVED, token=SECRET)
    opened = client.call("open_world", None, {})
    assert opened["id"].startswith("test-pay-")
    assert client.call("close_world", opened["id"], {}).closed == opened["id"]
    client.close()
    client = Client(origin, SERVED)
    with pytest.raises(ControlError, match="this server asks for a token") as caught:
        client.call("open_world", None, {})
    assert (caught.value.status, caught.value.error) == (401, "no_token")
    client.close()
