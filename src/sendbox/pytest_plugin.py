"""The pytest plugin: fixtures `sendbox`, `async_sendbox` and `sendbox_server`, the marker `sendbox`, the options.

Loaded in every test session of an environment with Sendbox, so it imports nothing of it but the settings until a
fixture is used. It is long because every option, fixture and hook of the session is here, once.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Mapping
from copy import copy
from typing import TYPE_CHECKING, Final, Literal

import pytest

from sendbox.settings import OF_TESTS, Settings

if TYPE_CHECKING:
    from sendbox.fixture import AsyncSandbox, RemoteServer, Sandbox, SandboxServer
    from sendbox.fixture.coverage import Gathering
    from sendbox.fixture.exploring import Exploring
    from sendbox.fixture.fresh import WorldCleanup
    from sendbox.fixture.receivers import Crash

#: pytest shows a failure at the call in the test, not in this module.
__tracebackhide__ = True
#: The arguments of the marker that do not affect how the world opens, and all of them.
_JUDGES: Final = ("strict", "ignore", "expect", "coverage", "explore")
ARGUMENTS: Final = ("scenario", "seed", "clock", "salt", "origins", *(row.field for row in OF_TESTS), *_JUDGES)
MARKER: Final = f"sendbox({', '.join(f'{name}=…' for name in ARGUMENTS)})"
#: The option to explore. Its number is behind an equals sign or missing: what follows may be a file.
_EXPLORE: Final = "--sendbox-explore"
#: The sandboxes that a test used.
_USED: Final[pytest.StashKey[list[Sandbox | AsyncSandbox]]] = pytest.StashKey()
#: True if examples of Hypothesis would share the world of the test, which is refused.
_SHARED: Final = pytest.StashKey[bool]()
#: True if a report of the test contains the crashes of its applications.
_TOLD: Final = pytest.StashKey[bool]()
#: The plugin of a session with coverage.
_GATHERING: Final[pytest.StashKey[Gathering]] = pytest.StashKey()
#: The plugin of a session that explores, or lays scenarios in front.
_EXPLORING: Final[pytest.StashKey[Exploring]] = pytest.StashKey()


#: The options of the command line: the end of the name, the help text, and what else pytest needs to know.
_OPTIONS: Final[tuple[tuple[str, str, dict[str, object]], ...]] = (
    (
        "port",
        "port of the sandbox of this session, default any; with xdist that of the first worker, then the next",
        {"type": int, "default": 0, "metavar": "PORT"},
    ),
    ("url", "use the sandbox at this address (a container) instead", {"metavar": "URL"}),
    ("token", "the token of the sandbox of --sendbox-url, if it asks for one; default SENDBOX_TOKEN", {}),
    (
        "coverage",
        "report what the tests tried of the service, also into a file that ends in .json, .html or .txt",
        {"action": "append", "nargs": "?", "const": "", "metavar": "FILE"},
    ),
    ("coverage-append", "add to what the .json file of an earlier run says", {"action": "store_true"}),
    (
        "coverage-min",
        "fail the session when less was tried; DIMENSION=PERCENT for one dimension",
        {"action": "append", "metavar": "PERCENT"},
    ),
    (
        "coverage-scope",
        "compare only with what is about these operations, with commas between; used: those that were called",
        {"metavar": "LIST"},
    ),
    (
        "scenario",
        "run every test under this scenario too, by name or path: its rules are asked first",
        {"action": "append", "metavar": "NAME"},
    ),
    (
        "explore",
        "explore each test: run it again with misfortunes that the service allows, 30 to 100 times unless told",
        {"nargs": "?", "const": "", "metavar": "RUNS"},
    ),
    ("families", "families of misfortunes, default all", {"metavar": "LIST"}),
    ("explore-seed", "what the plans are drawn from, default 0", {"default": "0", "metavar": "SEED"}),
    (
        "explore-time",
        "explore no longer than this in all, such as 10m; default 60s, which the tests share",
        {"metavar": "TIME"},
    ),
    ("explore-strict", "questions that exploration finds fail their tests too", {"action": "store_true"}),
    ("found", "run the finds in .sendbox/found again; without a path no other test", {"action": "store_true"}),
)
#: The keys of the ini file that are not options of a server: the end of the name, the help text, and the type.
_INI: Final[tuple[tuple[str, str, Literal["args", "string"]], ...]] = (
    ("coverage_scope", "the same as --sendbox-coverage-scope", "args"),
    (
        "origins",
        "origins that sendbox.transport takes besides that of the sandbox, such as https://api.example",
        "args",
    ),
    ("expect", "strict: in tests with expect=True, warnings of the verdict fail the test, too", "string"),
    (
        "strict",
        "true, or codes of advice that fail every test whose marker says nothing else; !code leaves one out",
        "string",
    ),
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """The command line's options, and the keys of the ini file."""
    group = parser.getgroup("sendbox")
    for name, words, more in _OPTIONS:
        group.addoption(f"--sendbox-{name}", help=words, **more)
    for row in OF_TESTS:
        words = f"{row.words[0].lower()}{row.words[1:].removesuffix('.')}; default {row.of_tests}"
        parser.addini(row.ini, words, default=row.of_tests)
    for name, words, kind in _INI:
        parser.addini(f"sendbox_{name}", words, kind)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config, parser: pytest.Parser, args: list[str]) -> None:
    """The option to explore without a number gets the usual one."""
    if _EXPLORE in args:
        args[:] = [f"{_EXPLORE}=" if word == _EXPLORE else word for word in args]
        early_config.known_args_namespace = parser.parse_known_args(args, namespace=copy(early_config.option))


def pytest_configure(config: pytest.Config) -> None:
    """The marker is known to every session."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}: how the test's world "
        "opens; strict=True (or a list of codes) fails the test when there is advice, but for the codes in ignore; "
        "expect=True when an expectation of the scenario does not hold, expect='strict' also when its verdict has "
        "warnings; coverage={'operations': […]} what it is to try; "
        "explore={'runs': …, 'families': […]} how --sendbox-explore explores it, False: not at all",
    )
    options = ("--sendbox-coverage", "--sendbox-coverage-append", "--sendbox-coverage-min")
    if any(config.getoption(option) for option in options) and not config.option.collectonly:
        from sendbox.fixture.coverage import Gathering

        config.stash[_GATHERING] = gathering = Gathering(config)
        config.pluginmanager.register(gathering, "sendbox-coverage")
    explored = ("--sendbox-scenario", "--sendbox-found")
    if config.getoption(_EXPLORE) is not None or any(config.getoption(name) for name in explored):
        _explore(config)
    elif lone := [name for name in ("--sendbox-families", "--sendbox-explore-time") if config.getoption(name)]:
        raise pytest.UsageError(f"{lone[0]} says how --sendbox-explore explores, which is not given")


def _explore(config: pytest.Config) -> Exploring:
    """The plugin of a session that explores."""
    from sendbox.fixture.exploring import Exploring

    config.stash[_EXPLORING] = exploring = Exploring(config, os.environ)
    config.pluginmanager.register(exploring, "sendbox-exploring")
    return exploring


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A test with the decorator `sendbox.explore` is explored without an option too."""
    always = any("always" in (marker.kwargs.get("explore") or ()) for item in items for marker in _markers(item))
    if always and config.stash.get(_EXPLORING, None) is None:
        _explore(config).pytest_collection_modifyitems(items)


def _markers(item: pytest.Item) -> Iterator[pytest.Mark]:
    return (marker for marker in item.iter_markers("sendbox") if isinstance(marker.kwargs.get("explore"), dict))


@pytest.fixture(scope="session")
def sendbox_server(request: pytest.FixtureRequest) -> Iterator[SandboxServer | RemoteServer]:
    """The sandbox of this session: `origin`, `base_url`, `rest_url`, `verify_url`, `http_api_url`."""
    try:
        server = _server(request.config)
        server.start()
    except pytest.UsageError:
        raise
    except Exception as error:  # the port is taken, no sandbox answers: one line is clearer than a traceback
        raise pytest.UsageError(str(error)) from None
    from sendbox.fixture.server import RemoteServer

    exploring: Exploring | None = request.config.stash.get(_EXPLORING, None)
    if exploring is not None and not isinstance(server, RemoteServer):  # an exploration has refused one elsewhere
        exploring.attach(server)
    yield server
    gathering: Gathering | None = request.config.stash.get(_GATHERING, None)
    if gathering is not None:
        gathering.server_stops(server)
    server.stop()


def _server(config: pytest.Config) -> SandboxServer | RemoteServer:
    from sendbox.fixture.opening import READERS, read
    from sendbox.fixture.server import RemoteServer, SandboxServer

    settings = {row.field: read(READERS[row.legal], config.getini(row.ini), row.ini) for row in OF_TESTS}
    url = config.getoption("--sendbox-url")
    if url:
        token = config.getoption("--sendbox-token")
        return RemoteServer(url, patience=settings["patience"], callbacks=settings["callbacks"], token=token)
    port = config.getoption("--sendbox-port")
    worker = getattr(config, "workerinput", {}).get("workerid", "gw0")
    port += int(worker.removeprefix("gw")) if port else 0
    covers = _GATHERING in config.stash
    return SandboxServer(Settings(port=port, mode="manual", public_url=None, coverage=covers, **settings))


@pytest.fixture
def sendbox(request: pytest.FixtureRequest, sendbox_server: SandboxServer | RemoteServer) -> Iterator[Sandbox]:
    """A fresh world with a manual clock."""
    sandbox = sendbox_server.sandbox(
        request.node.nodeid, ends=_cleanup(request.node), **_opening_arguments(request.node)
    )
    request.node.stash.setdefault(_USED, []).append(sandbox)
    yield sandbox
    _close(request.config, sandbox)


@pytest.fixture
def async_sendbox(
    request: pytest.FixtureRequest, sendbox_server: SandboxServer | RemoteServer
) -> Iterator[AsyncSandbox]:
    """The same with awaitables; needs no plugin of its own."""
    sandbox = sendbox_server.async_sandbox(
        request.node.nodeid, ends=_cleanup(request.node), **_opening_arguments(request.node)
    )
    request.node.stash.setdefault(_USED, []).append(sandbox)
    yield sandbox
    _close(request.config, sandbox)


def _cleanup(node: pytest.Item) -> WorldCleanup:
    """The end of the fresh worlds of a test: they are judged as the test is, and closed as its world is."""
    from sendbox.fixture.fresh import WorldCleanup, raise_first_crash

    def judge(sandbox: AsyncSandbox) -> None:
        raise_first_crash(sandbox)
        _judge(node, [sandbox])

    return WorldCleanup(judge, lambda sandbox: _close(node.config, sandbox))


def _close(config: pytest.Config, sandbox: Sandbox | AsyncSandbox) -> None:
    """Closes a test's world; that of a remote server reports first what was tried in it."""
    gathering: Gathering | None = config.stash.get(_GATHERING, None)
    try:
        if gathering is not None and config.getoption("--sendbox-url"):
            gathering.world_closes(sandbox)
    finally:
        sandbox.close()


def _marker_arguments(node: pytest.Item) -> dict[str, object]:
    """The arguments of a test's markers; the closest one wins, argument by argument."""
    arguments: dict[str, object] = {}
    for marker in node.iter_markers("sendbox"):
        if marker.args:
            raise pytest.UsageError(
                f"{marker.args[0]!r} has no name; the marker sendbox takes {', '.join(ARGUMENTS)} by name"
            )
        unknown = [name for name in marker.kwargs if name not in ARGUMENTS]
        if unknown:
            raise pytest.UsageError(
                f"{', '.join(unknown)}: not an argument of the marker sendbox; legal: {', '.join(ARGUMENTS)}"
            )
        arguments = {**marker.kwargs, **arguments}
    return arguments


def _opening_arguments(node: pytest.Item) -> dict[str, object]:
    """The arguments for opening the test's world."""
    from sendbox.fixture.opening import READERS, origins_of, read

    arguments = _marker_arguments(node)
    _strictness(node.config, arguments)
    _expects(node.config, arguments)
    _covers(node.config, arguments)
    for row in OF_TESTS:
        if row.field in arguments:
            arguments[row.field] = read(READERS[row.legal], arguments[row.field], row.field)
    place = "origins" if "origins" in arguments else "sendbox_origins"
    arguments["origins"] = read(origins_of, arguments.get("origins", node.config.getini("sendbox_origins")), place)
    arguments["shared"] = node.stash.get(_SHARED, False)
    return {name: value for name, value in arguments.items() if name not in _JUDGES}


def _expects(config: pytest.Config, arguments: Mapping[str, object]) -> tuple[bool, bool]:
    """Return whether a verdict that did not pass fails the test, and whether warnings of the verdict do, too."""
    expect, usual = arguments.get("expect", False), config.getini("sendbox_expect")
    if not isinstance(expect, bool) and expect != "strict":
        raise pytest.UsageError(f'{expect!r} is not a value of expect; legal: True, False, "strict"')
    if usual not in ("", "strict"):
        raise pytest.UsageError(f"{usual!r} is not a value of sendbox_expect; legal: strict, or nothing")
    return bool(expect), "strict" in (expect, usual)


def _covers(config: pytest.Config, arguments: Mapping[str, object]) -> None:
    """Tells the report of coverage which operations the test is to try."""
    scope = arguments.get("coverage", {"operations": []})
    names = scope.get("operations") if isinstance(scope, dict) and len(scope) == 1 else None
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise pytest.UsageError(f"{scope!r} is not a value of coverage; legal: {{'operations': ['sendMessage']}}")
    gathering: Gathering | None = config.stash.get(_GATHERING, None)
    if gathering is not None and names:
        gathering.declare(names)


def _strictness(config: pytest.Config, arguments: Mapping[str, object]) -> tuple[frozenset[str], bool]:
    """The codes of advice that fail the test, and whether notes count too: they do where codes are named."""
    from sendbox.fixture.opening import read, texts_of
    from sendbox.services.advice import ADVICE, codes

    place, strict = "strict", arguments.get("strict")
    left_out = read(codes, read(texts_of, arguments.get("ignore", ()), "ignore"), "ignore")
    if strict is None:
        place, words = "sendbox_strict", str(config.getini("sendbox_strict")).replace(",", " ").split()
        left_out |= read(codes, [word[1:] for word in words if word[0] == "!"], place)
        named = [word for word in words if word[0] != "!"]
        strict = named[0] == "true" if named in (["true"], ["false"]) else named or bool(words)
    failing = frozenset(ADVICE) if isinstance(strict, bool) else read(codes, read(texts_of, strict, place), place)
    return frozenset() if strict is False else failing - left_out, strict is not True


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """A test that runs again forgets the sandboxes of its last run."""
    item.stash[_USED] = []
    item.stash[_TOLD] = False
    if {"sendbox", "async_sendbox"} & set(getattr(item, "fixturenames", ())):
        from sendbox.fixture.fresh import replace_health_check

        item.stash[_SHARED] = replace_health_check(item)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """A test that passed fails when its application of `deliver_to` raised.

    A strict test fails when its requests led to advice, one with `expect` when the verdict did not pass.
    """
    result = yield
    _fail_if_crashed(item)
    _judge(item, item.stash.get(_USED, []))
    return result


def _judge(item: pytest.Item, used: list[Sandbox | AsyncSandbox]) -> None:
    """Fails for advice in a strict test, and for a verdict that did not pass in one with `expect`."""
    expects, strict = _expects(item.config, _marker_arguments(item)) if used else (False, False)
    if expects:
        judged = [line for sandbox in used for line in sandbox.verdict_lines(strict=strict)]
        if judged:
            pytest.fail("\n".join(judged), pytrace=False)
    codes, notes = _strictness(item.config, _marker_arguments(item)) if used else (frozenset[str](), False)
    lines = [
        line
        for sandbox in used
        if codes
        for code, line, note in sandbox.advice_lines()
        if code in codes and (notes or not note)
    ]
    if lines:
        from sendbox.engine.kinds.happened import counted

        pytest.fail("strict: there was advice\n" + "\n".join(counted(lines)), pytrace=False)


def _report(sandbox: Sandbox | AsyncSandbox) -> list[str]:
    """The report of a sandbox about a failed test: its remarks, what happened, what is still to come."""
    try:
        return [*sandbox.report(), *sandbox.leaning_lines(), *sandbox.story()]
    except Exception as error:  # any error: the test's own report matters more
        if getattr(error, "error", None) == "no_such_world":
            return ["the world was closed before the test failed"]
        return [f"the sandbox cannot say what happened: {error!r}"]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """A fixture's finalizer may advance too: a crash at that time fails the teardown."""
    result = yield
    _fail_if_crashed(item)
    return result


def _crashes(item: pytest.Item) -> list[Crash]:
    return [crash for sandbox in item.stash.get(_USED, []) for crash in sandbox.crashes()]


def _fail_if_crashed(item: pytest.Item) -> None:
    """Raises the first exception of an application if no report contains it."""
    crashes = _crashes(item)
    if crashes and not item.stash[_TOLD]:
        from sendbox.fixture.receivers import raise_first

        raise_first(crashes)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Adds to a failed test's report the remarks of the sandbox, and crashes beside the failure."""
    used = item.stash.get(_USED, [])
    if used and call.excinfo is not None:
        if not call.excinfo.errisinstance(pytest.skip.Exception):
            for sandbox in used:
                lines = [] if item.stash[_TOLD] else _crash_lines(sandbox.crashes(), call.excinfo.value)
                if call.when != "teardown":
                    lines += [*sandbox.fresh_report(call.excinfo.value), *_report(sandbox)]
                if lines:
                    item.add_report_section(call.when, "sendbox", "\n".join(lines))
        item.stash[_TOLD] = item.stash[_TOLD] or bool(_crashes(item))
    return (yield)


def _crash_lines(crashes: list[Crash], failure: BaseException) -> list[str]:
    """A line about crashes that are not the failure."""
    if not crashes or any(crash.error is failure for crash in crashes):
        return []
    from sendbox.fixture.receivers import line_of

    return [line_of(crashes)]
