"""The pytest plugin: fixtures `sendbox`, `async_sendbox` and `sendbox_server`, the marker `sendbox`, the options.

Loaded in every test session of an environment that has Sandbox, so it imports nothing of it until a fixture is used.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from sendbox.fixture import AsyncSandbox, RemoteServer, Sandbox, SandboxServer
    from sendbox.fixture.coverage import Gathering
    from sendbox.fixture.crashes import Crash
    from sendbox.runtime.callbacks import Callbacks

#: pytest shows a failure where the test called, not inside of here.
__tracebackhide__ = True
_MARKER: Final = (
    "sendbox(scenario=…, seed=…, clock=…, salt=…, callbacks=…, strict=…, ignore=…, expect=…): how the test's world "
    "opens; strict=True (or a list of codes) fails the test when there is advice, but for the codes in ignore; "
    "expect=True when an expectation of the scenario does not hold"
)
_LEGAL: Final = ("scenario", "seed", "clock", "salt", "callbacks", "strict", "ignore", "expect")
#: What of them is not about how the world opens.
_STRICTNESS: Final = ("strict", "ignore", "expect")
#: The sandboxes that a test used.
_USED: Final = pytest.StashKey[list[Any]]()
#: Whether a report of the test has told of the crashes of its applications.
_TOLD: Final = pytest.StashKey[bool]()
#: What a session that wants coverage gathers it with.
_GATHERING: Final = pytest.StashKey[Any]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The command line's options, and the setting of the ini file."""
    group = parser.getgroup("sendbox")
    group.addoption(
        "--sendbox-port",
        type=int,
        default=0,
        metavar="PORT",
        help="port of the sandbox of this session, default any; under xdist that of the first worker, then the next",
    )
    group.addoption("--sendbox-url", metavar="URL", help="use the sandbox at this address (a container) instead")
    group.addoption(
        "--sendbox-coverage",
        action="append",
        nargs="?",
        const="",
        metavar="FILE",
        help="report what the tests tried of the service, also into a file that ends in .json, .html or .txt",
    )
    group.addoption(
        "--sendbox-coverage-append", action="store_true", help="add to what the .json file of an earlier run says"
    )
    group.addoption(
        "--sendbox-coverage-min",
        action="append",
        metavar="PERCENT",
        help="fail the session when less was tried; DIMENSION=PERCENT for one dimension",
    )
    parser.addini(
        "sendbox_patience", "real seconds that a receiver of webhooks may take to answer, default 1", default="1"
    )
    parser.addini(
        "sendbox_callbacks",
        "where webhooks may go beside deliver_to: loopback (default), private, any, hosts, addresses, networks",
        default="loopback",
    )
    parser.addini(
        "sendbox_strict",
        "true, or codes of advice that fail every test whose marker says nothing else; !code leaves one out",
        default="",
    )


def pytest_configure(config: pytest.Config) -> None:
    """The marker is known to every session."""
    config.addinivalue_line("markers", _MARKER)
    options = ("--sendbox-coverage", "--sendbox-coverage-append", "--sendbox-coverage-min")
    if any(config.getoption(option) for option in options) and not config.option.collectonly:
        from sendbox.fixture.coverage import Gathering

        config.stash[_GATHERING] = gathering = Gathering(config)
        config.pluginmanager.register(gathering, "sendbox-coverage")


@pytest.fixture(scope="session")
def sendbox_server(request: pytest.FixtureRequest) -> Iterator[SandboxServer | RemoteServer]:
    """The sandbox of this session: `origin`, `base_url`, `rest_url`, `verify_url`, `http_api_url`."""
    server = _server(request.config)
    try:
        server.start()
    except Exception as error:  # the port is taken, nobody answers: one line says it, a traceback does not
        raise pytest.UsageError(str(error)) from None
    yield server
    gathering: Gathering | None = request.config.stash.get(_GATHERING, None)
    if gathering is not None:
        gathering.server_stops(server)
    server.stop()


def _server(config: pytest.Config) -> SandboxServer | RemoteServer:
    from sendbox.fixture.server import RemoteServer, SandboxServer
    from sendbox.settings import Settings

    given = config.getini("sendbox_patience")
    try:
        patience = float(given)
    except ValueError:
        patience = 0.0
    if not patience > 0:
        raise pytest.UsageError(f"{given!r} is no sendbox_patience; legal: a number of real seconds, more than 0")
    callbacks = _callbacks(config.getini("sendbox_callbacks"))
    url = config.getoption("--sendbox-url")
    if url:
        return RemoteServer(url, patience=patience, callbacks=callbacks)
    port = config.getoption("--sendbox-port")
    worker = getattr(config, "workerinput", {}).get("workerid", "gw0")
    port += int(worker.removeprefix("gw")) if port else 0
    wanted = _GATHERING in config.stash
    settings = Settings(
        port=port, mode="manual", patience=patience, public_url=None, callbacks=callbacks, coverage=wanted
    )
    return SandboxServer(settings)


def _callbacks(given: Any) -> Callbacks:
    """Where webhooks may go, as the ini file or the marker says."""
    from sendbox.runtime.callbacks import Callbacks

    try:
        return Callbacks.parse(given)
    except ValueError as error:
        raise pytest.UsageError(f"callbacks: {error}") from None


@pytest.fixture
def sendbox(request: pytest.FixtureRequest, sendbox_server: SandboxServer | RemoteServer) -> Iterator[Sandbox]:
    """A fresh world with a manual clock."""
    sandbox = sendbox_server.sandbox(request.node.nodeid, **_given(request.node))
    request.node.stash.setdefault(_USED, []).append(sandbox)
    yield sandbox
    _close(request.config, sandbox)


@pytest.fixture
def async_sendbox(
    request: pytest.FixtureRequest, sendbox_server: SandboxServer | RemoteServer
) -> Iterator[AsyncSandbox]:
    """The same with awaitables; needs no plugin of its own."""
    sandbox = sendbox_server.async_sandbox(request.node.nodeid, **_given(request.node))
    request.node.stash.setdefault(_USED, []).append(sandbox)
    yield sandbox
    _close(request.config, sandbox)


def _close(config: pytest.Config, sandbox: Sandbox | AsyncSandbox) -> None:
    """Closes a test's world, which says before what was tried in it where its server will not."""
    gathering: Gathering | None = config.stash.get(_GATHERING, None)
    try:
        if gathering is not None and config.getoption("--sendbox-url"):
            gathering.world_closes(sandbox)
    finally:
        sandbox.close()


def _marked(node: pytest.Item) -> dict[str, Any]:
    """What the markers of a test say; the one nearest to it wins, argument by argument."""
    found: dict[str, Any] = {}
    for marker in node.iter_markers("sendbox"):
        if marker.args:
            raise pytest.UsageError(
                f"{marker.args[0]!r} has no name; the marker sendbox takes {', '.join(_LEGAL)} by name"
            )
        unknown = [name for name in marker.kwargs if name not in _LEGAL]
        if unknown:
            raise pytest.UsageError(
                f"{', '.join(unknown)}: no argument of the marker sendbox; legal: {', '.join(_LEGAL)}"
            )
        found = {**marker.kwargs, **found}
    return found


def _given(node: pytest.Item) -> dict[str, Any]:
    """How the test's world opens."""
    marked = _marked(node)
    _strictness(node.config, marked)
    _expects(marked)
    if "callbacks" in marked:
        marked["callbacks"] = _callbacks(marked["callbacks"])
    return {name: value for name, value in marked.items() if name not in _STRICTNESS}


def _expects(marked: dict[str, Any]) -> bool:
    """Whether a verdict that did not pass fails the test."""
    expect = marked.get("expect", False)
    if not isinstance(expect, bool):
        raise pytest.UsageError(f"{expect!r} is no value of expect; legal: True, False")
    return expect


def _strictness(config: pytest.Config, marked: dict[str, Any]) -> tuple[frozenset[str], bool]:
    """The codes of advice that fail the test, and whether notes do too: they do where their code was named."""
    from sendbox.services.advice import ADVICE

    strict, ignored = marked.get("strict"), _words(marked.get("ignore", ()))
    if strict is None:
        given = str(config.getini("sendbox_strict")).replace(",", " ").split()
        ignored += [word[1:] for word in given if word[0] == "!"]
        kept = [word for word in given if word[0] != "!"]
        strict = kept[0] == "true" if kept in (["true"], ["false"]) else kept or bool(given)
    try:
        wanted, left_out = _named(() if isinstance(strict, bool) else strict), _named(ignored)
    except ValueError as error:
        raise pytest.UsageError(str(error)) from None
    plain = strict is True
    return (frozenset(ADVICE) if plain else wanted) - left_out, not plain


def _words(given: Any) -> list[Any]:
    return [given] if isinstance(given, str) else list(given)


def _named(given: Any) -> frozenset[str]:
    from sendbox.services.advice import codes

    return codes(_words(given))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """A test that is run again has nothing to do with the sandboxes of its last run."""
    item.stash[_USED] = []
    item.stash[_TOLD] = False


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """A test that passed fails when its application of `deliver_to` raised.

    A strict one fails when its client's requests drew advice, one that expects when the verdict did not pass.
    """
    result = yield
    _fail_if_crashed(item)
    used = item.stash.get(_USED, [])
    if used and _expects(_marked(item)):
        judged = [line for sandbox in used for line in sandbox.verdict_lines()]
        if judged:
            pytest.fail("\n".join(judged), pytrace=False)
    codes, notes = _strictness(item.config, _marked(item)) if used else (frozenset[str](), False)
    lines = [
        line
        for sandbox in used
        if codes
        for code, line, note in sandbox.advice_lines()
        if code in codes and (notes or not note)
    ]
    if lines:
        pytest.fail("strict: there was advice\n" + "\n".join(lines), pytrace=False)
    return result


def _told(sandbox: Sandbox | AsyncSandbox) -> list[str]:
    """What a sandbox has to say about a test that failed: its remarks, what happened, what is still to come."""
    try:
        return [*sandbox.report(), *sandbox.story()]
    except Exception as error:  # whatever it is, the test's own report matters more
        if getattr(error, "error", None) == "no_such_world":
            return ["the world was closed before the test failed"]
        return [f"the sandbox cannot say what happened: {error!r}"]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """A fixture's finalizer may advance too: what an application raises only then fails the teardown."""
    result = yield
    _fail_if_crashed(item)
    return result


def _crashes(item: pytest.Item) -> list[Crash]:
    return [crash for sandbox in item.stash.get(_USED, []) for crash in sandbox.crashes()]


def _fail_if_crashed(item: pytest.Item) -> None:
    """Raises what an application raised first, where no report has told of it."""
    crashes = _crashes(item)
    if crashes and not item.stash[_TOLD]:
        from sendbox.fixture.crashes import raise_first

        raise_first(crashes)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A failed test's report says what the sandbox had to remark, and what applications raised beside the failure."""
    used = item.stash.get(_USED, [])
    if used and call.excinfo is not None:
        if not call.excinfo.errisinstance(pytest.skip.Exception):
            for sandbox in used:
                lines = [] if item.stash[_TOLD] else _aside(sandbox.crashes(), call.excinfo.value)
                if call.when != "teardown":
                    lines += _told(sandbox)
                if lines:
                    item.add_report_section(call.when, "sendbox", "\n".join(lines))
        item.stash[_TOLD] = item.stash[_TOLD] or bool(_crashes(item))
    return (yield)


def _aside(crashes: list[Crash], failure: BaseException) -> list[str]:
    """A line about crashes that are not the failure."""
    if not crashes or any(crash.error is failure for crash in crashes):
        return []
    from sendbox.fixture.crashes import line_of

    return [line_of(crashes)]
