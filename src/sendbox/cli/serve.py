"""`sendbox serve`: the sandbox behind a port, from its start to its end.

`serving` is the whole of it as a context, for tests and for `serve`, which adds the banner and waits; `run` is what the
process does around that: its loop, its signals, its garbage collector.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import io
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from sendbox import __version__
from sendbox.cli.log import Handler, Log
from sendbox.cli.outcome import CANNOT, USAGE, Failure, one_line
from sendbox.engine.clock import Mode
from sendbox.page import lines
from sendbox.runtime import collector
from sendbox.settings import Settings

if TYPE_CHECKING:
    from sendbox.engine.blueprint import Blueprint
    from sendbox.runtime.worlds import Runtime

#: Where the authority of `--tls self` is fetched, over plain HTTP: whoever fetches it cannot check a certificate yet.
CA_PATH: Final = "/_sandbox/ca.pem"
#: The file that the banner's lines save it in.
CA_FILE: Final = "sendbox-ca.pem"
#: Addresses that mean every address: nobody can call them.
EVERY: Final = ("", "0.0.0.0", "::", "*")


@dataclass(slots=True)
class Options:
    """What `serve` was told. `mode` and `start` None = the scenario's; `tls` is (certificate file, key file)."""

    settings: Settings = field(default_factory=Settings)
    mode: Mode | None = None
    start: int | None = None
    tls: tuple[str, str] | None = None
    tls_self: bool = False
    #: None: the port after the server's
    ca_port: int | None = None
    #: whether new worlds open with the scenario as its files are then
    watch: bool = False


@dataclass(slots=True)
class Served:
    """A sandbox that listens: its addresses begin with `origin`; `ca_url` where its authority is, if it has one."""

    runtime: Runtime
    port: int
    origin: str
    ca_url: str | None = None


@contextlib.asynccontextmanager
async def serving(options: Options, log: Callable[[str], None] = lambda line: None) -> AsyncIterator[Served]:
    """A sandbox that listens until the context is left. Raises `Failure`. `log` gets a line for each remark."""
    from sendbox.app import PARTS, make_app
    from sendbox.contract.validators import Contract
    from sendbox.runtime.worlds import Runtime
    from sendbox.scenario.read import noting
    from sendbox.server.listener import CannotListen, HttpServer

    settings = options.settings
    files: list[Path] = []
    with contextlib.ExitStack() as reading:
        if options.watch:
            files = reading.enter_context(noting())
        blueprint = scenario(options)
    names = (settings.scenario,) if isinstance(settings.scenario, str) else settings.scenario
    if options.watch and not any(Path(name).is_file() for name in names):
        message = f"--watch: {names[0]} is a scenario of the library, which does not change; give a file"
        raise Failure(USAGE, message)
    async with contextlib.AsyncExitStack() as closing:
        tls, authority = options.tls, None
        if options.tls_self:
            tls, authority = _self_signed(settings, closing)
        try:
            runtime = Runtime(settings, blueprint, PARTS)
        except ValueError as error:
            raise Failure(CANNOT, str(error)) from None
        runtime.log = lambda world, line: log(f"{world}: {line}")
        closing.push_async_callback(runtime.aclose)
        server = HttpServer(make_app(runtime, Contract(deferred=True)), bind(settings.host), settings.port, ssl=tls)
        closing.push_async_callback(server.stop)
        try:
            port = await server.start()
            runtime.senders.serves_at(port)
            host = callable_host(settings.host)
            served = Served(runtime, port, f"{'http' if tls is None else 'https'}://{host}:{port}")
            if settings.public_url:
                served.origin = settings.public_url.rstrip("/")
            if authority is not None:
                ca_port = options.ca_port
                if ca_port is None:
                    ca_port = settings.port + 1 if 0 < settings.port < 65535 else 0
                second = HttpServer(_authority(authority), bind(settings.host), ca_port)
                closing.push_async_callback(second.stop)
                served.ca_url = f"http://{host}:{await second.start()}{CA_PATH}"
        except CannotListen as error:
            raise Failure(CANNOT, error.strerror or str(error)) from None
        if options.watch:
            from sendbox.cli.watch import Watcher

            watcher = Watcher(lambda: scenario(options), files, blueprint, runtime, log)
            closing.callback(watcher.stop)
            watcher.start()
        yield served


async def serve(options: Options, stop: asyncio.Event, say: Callable[[str], None], log: Log) -> None:
    """Serves until `stop` is set; `say` gets the banner once the port listens."""
    async with serving(options, log.line) as served:
        served.runtime.dropped = lambda: log.dropped
        say(banner(options, served))
        await stop.wait()


def run(options: Options) -> None:
    """Serves in this process until SIGINT or SIGTERM. Raises `Failure` when it cannot start."""
    from sendbox.server.loop import new_loop

    gc.disable()  # until the imports are done: they leave nothing to collect
    log = Log(to_stderr)
    handler = Handler(log)
    logging.getLogger().addHandler(handler)
    try:
        with asyncio.Runner(loop_factory=new_loop) as runner:
            runner.run(_until_signalled(options, log))
    except KeyboardInterrupt:  # before the signals were ours, or where a loop takes none (Windows)
        pass
    finally:
        logging.getLogger().removeHandler(handler)
        log.close()
        collector.untune()
        gc.enable()


async def _until_signalled(options: Options, log: Log) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    ends = (signal.SIGINT, signal.SIGTERM)
    with contextlib.suppress(NotImplementedError):
        for number in ends:
            loop.add_signal_handler(number, stop.set)

    def started(text: str) -> None:
        collector.tune()
        gc.enable()
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()

    try:
        await serve(options, stop, started, log)
    finally:
        with contextlib.suppress(NotImplementedError):
            for number in ends:
                loop.remove_signal_handler(number)


def to_stderr(line: str) -> None:
    """Writes to standard error, and waits until it is written.

    Past Python's own buffer, whose lock a thread that waits here would hold while the process ends.
    """
    try:
        number = sys.stderr.fileno()
    except io.UnsupportedOperation:  # not a file: a test has it
        sys.stderr.write(line)
        return
    left = line.encode(errors="backslashreplace")
    while left:
        left = left[os.write(number, left) :]


def scenario(options: Options) -> Blueprint:
    """The scenario that worlds open with, and what the command line says instead. Raises `Failure`."""
    from sendbox.language import LANGUAGE
    from sendbox.scenario.model import ScenarioError

    given = options.settings.scenario
    names = [given] if isinstance(given, str) else given
    # What is no name of the library is a file, also where it has no suffix that says so.
    sources = [Path(name) if Path(name).is_file() else name for name in names]
    try:
        blueprint = LANGUAGE.load(sources[0] if len(sources) == 1 else sources, env=os.environ)
    except ScenarioError as error:
        found = [one_line(str(problem)) for problem in error.problems]
        if len(found) == 1:
            raise Failure(CANNOT, found[0]) from None
        raise Failure(CANNOT, f"{_shown(given)} has {len(found)} problems, all above", tuple(found)) from None
    changes: dict[str, Any] = {}
    if options.mode is not None:
        changes["mode"] = options.settings.mode = options.mode
    if options.start is not None:
        changes["start"] = options.settings.start = options.start
    return replace(blueprint, **changes)


def _shown(given: str | tuple[str, ...]) -> str:
    """What was asked for, in one."""
    return given if isinstance(given, str) else " + ".join(given)


def bind(host: str) -> str:
    """The host as sockets take it: "" is every address."""
    return "" if host == "*" else host.removeprefix("[").removesuffix("]")


def callable_host(host: str) -> str:
    """The host as a client on this machine calls it."""
    host = bind(host)
    if host in EVERY:
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host


def _self_signed(settings: Settings, closing: contextlib.AsyncExitStack) -> tuple[tuple[str, str], bytes]:
    from sendbox.server.tls import NoTls, self_signed

    public = urlsplit(settings.public_url or "").hostname
    names = [name for name in (bind(settings.host), public) if name and name not in EVERY]
    try:
        made = closing.enter_context(self_signed(names))
    except NoTls as error:
        raise Failure(CANNOT, str(error)) from None
    return (made.certfile, made.keyfile), made.ca_pem


def _authority(pem: bytes) -> Callable[[Any, Any, Any], Awaitable[None]]:
    """An application that gives out the authority's certificate, and nothing else."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        here = scope["path"] == CA_PATH
        body = pem if here else f"only {CA_PATH} is served here\n".encode()
        headers = [
            (b"content-type", b"application/x-pem-file" if here else b"text/plain"),
            (b"content-length", b"%d" % len(body)),
        ]
        await send({"type": "http.response.start", "status": 200 if here else 404, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})

    return app


def banner(options: Options, served: Served) -> str:
    """What a start says: where everything is, and a line to begin with."""
    origin, settings = served.origin, options.settings
    blueprint = served.runtime.blueprint
    seed = blueprint.seed if settings.seed is None else settings.seed
    given = _shown(settings.scenario)
    rows = {
        "base_url": f"{origin}/v2",
        "rest_url": f"{origin}/v1",
        "verify_url": origin,
        "http_api_url": origin,
        "page": f"{origin}/_sandbox/",
        "openapi": f"{origin}/openapi.json",
        "scenario": one_line(given if blueprint.name == given else f"{given} ({blueprint.name})"),
        "clock": blueprint.mode or settings.mode,
        "seed": one_line(str(seed)),
    }
    if options.watch:
        rows["watch"] = "new worlds open with the scenario as it is then"
    if served.ca_url is not None:
        rows["ca"] = served.ca_url
    width = max(map(len, rows)) + 2
    text = [f"Sendbox {__version__}", "", *(f"  {name:{width}}{value}" for name, value in rows.items()), ""]
    text += ["Any API key that begins with test- opens a world of its own. A first message:", ""]
    if served.ca_url is not None:
        text.append(f"  curl -o {CA_FILE} {served.ca_url}")
    text.append("  " + lines.send_line(f"{origin}/v2", "test-demo", cacert=CA_FILE if served.ca_url else None))
    text += ["", f"What becomes of it: {origin}/_sandbox/?world=test-demo", "Ctrl-C ends it."]
    return "\n".join(text)
