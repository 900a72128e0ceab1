"""`sendbox serve`: the sandbox behind a port, from its start to its end.

`serving` is the server as a context, for tests and for `serve`, which adds the banner and waits; `run` adds what the
process needs: its loop, its signals, its garbage collector.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import io
import logging
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import click
from msgspec import Struct, field
from msgspec.structs import replace

from sendbox import __version__
from sendbox.assembly import make_app
from sendbox.cli import files
from sendbox.cli.address import EVERY, bind, callable_host, host_for_others, is_loopback, unknown
from sendbox.cli.log import Form, Handler, Log, as_json
from sendbox.cli.options import VARIABLES, make_option, option_sources
from sendbox.cli.outcome import CANNOT, OK, USAGE, Failure, one_line
from sendbox.cli.signals import on_signals
from sendbox.contract.validators import Contract
from sendbox.engine.answer import JsonMapping, JsonObject
from sendbox.engine.durations import show
from sendbox.engine.kinds.masking import MASK
from sendbox.engine.timeline import Mode
from sendbox.runtime import collector, wall
from sendbox.runtime.interface import LogLine
from sendbox.runtime.store import open_store
from sendbox.runtime.store.store import Store, StoreError, Unavailable
from sendbox.runtime.teams import Token
from sendbox.runtime.worlds import BEGINS, Runtime
from sendbox.server.listener import CannotListen, HttpServer
from sendbox.server.loop import new_loop
from sendbox.settings import LAST_PORT, OPTIONS, Settings

if TYPE_CHECKING:
    from sendbox.engine.blueprint import Blueprint


#: An application of ASGI, or what one sends its messages to.
App = Callable[..., Awaitable[None]]
#: The path of the authority of `--tls self`, over plain HTTP: its client cannot check a certificate yet.
CA_PATH: Final = "/_sandbox/ca.pem"
#: The file name for it in the lines of the banner.
CA_FILE: Final = "sendbox-ca.pem"


class Options(Struct):
    """The options of `serve`. `mode` and `start` None = the scenario's; `tls` is (certificate file, key file).

    `sources` says for the names of given options where each comes from, `--port` or `SENDBOX_PORT (environment)`.
    `unknown` are variables that set nothing, each with the setting that was probably meant; the scenario may use them.
    """

    settings: Settings = field(default_factory=Settings)
    mode: Mode | None = None
    start: int | None = None
    tls: tuple[str, str] | None = None
    tls_self: bool = False
    #: None: the port after the server's
    ca_port: int | None = None
    #: whether new worlds open with the scenario as its files are at that time
    watch: bool = False
    #: real seconds that calls under way have at the end
    grace: float = 5.0
    log_format: Form = "text"
    #: whether the log has warnings and errors only
    quiet: bool = False
    sources: Mapping[str, str] = {}
    unknown: Mapping[str, str | None] = {}

    def blamed(self, message: str, *names: str) -> str:
        """A message, after those of these options that were given."""
        return ": ".join([*filter(None, [" and ".join(filter(None, map(self.sources.get, names)))]), message])


@click.command(params=[make_option(row) for row in OPTIONS.values()])
def serve_command(**arguments: Any) -> int:
    """Every API key that begins with test- opens a world of its own, so tests do not affect each other. Remarks on
    requests go to stderr, one line for each. The text at the start is one line where stdout is not a terminal. Every
    option can come from the environment too: --ca-port as
    SENDBOX_CA_PORT.

    \b
    Examples:
      sendbox serve --scenario otp-fallback --clock manual
      sendbox serve --host 0.0.0.0 --tls self --public-url https://sandbox.test:7357
    """
    return run(serve_options(arguments))


def serve_options(arguments: JsonMapping) -> Options:
    """The `Options` of `serve` for its arguments, or for those of another command that listens. Raises `Failure`."""
    origins = option_sources()
    tls = (arguments["tls_cert"], arguments["tls_key"])
    certificate_option = origins.get("tls_cert") or origins.get("tls_key")
    if arguments["tls"] and certificate_option:
        raise Failure(
            USAGE, f"{origins['tls']} and {certificate_option}: a certificate is made or given; give one of the two"
        )
    if bool(tls[0]) != bool(tls[1]):
        raise Failure(USAGE, f"{certificate_option} alone: --tls-cert and --tls-key go together; give both, or neither")
    if arguments["ca_port"] is not None and not arguments["tls"]:
        message = f"{origins['ca_port']} gives out the authority of --tls self: give that too, or leave it out"
        raise Failure(USAGE, message)
    variables = {*VARIABLES, *(row.variable for row in OPTIONS.values())}
    settings, serve_values = (
        {name: arguments[name] for name in kind.__annotations__ if name in arguments} for kind in (Settings, Options)
    )
    serve_values |= {
        "mode": arguments.get("clock"),
        "tls": tls if all(tls) else None,
        "tls_self": arguments["tls"] is not None,
        "quiet": arguments.get("only_warnings", False),
        "unknown": unknown(os.environ, variables),
    }
    settings["control_tokens"] = tokens = _control_tokens(arguments)
    if not (arguments.get("any_key") or arguments.get("keys")):
        _check_prefixes([(f"{token.name}: ", token.prefix) for token in tokens], origins.get("control_token_file", ""))
        _check_prefixes([("", quota.prefix) for quota in arguments.get("quotas") or ()], origins.get("quotas", ""))
    return Options(settings=Settings(**settings), sources=origins, **serve_values)


def _control_tokens(arguments: JsonMapping) -> tuple[Token, ...]:
    """The tokens of control, in the arguments of a command that has control."""
    one, several = arguments.get("control_token"), arguments.get("control_token_file") or ()
    return (*([] if one is None else [one]), *several)


def _check_prefixes(prefixes: Iterable[tuple[str, str]], origin: str) -> None:
    """Raises `Failure` for a prefix with which no key begins; a text before it says whose it is."""
    for whose, prefix in prefixes:
        if not (prefix.startswith(BEGINS) or BEGINS.startswith(prefix)):
            text = f"{whose}no key begins with {prefix}; legal: a prefix with {BEGINS} first, or --any-key"
            raise Failure(USAGE, f"{origin}: {text}")


class _NotingEnvironment(dict[str, str]):
    """An environment that notes which of its variables are asked for."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        super().__init__(environment)
        self.names: set[str] = set()

    def get(self, name: str, default: object = None) -> Any:
        """The value of a variable."""
        self.names.add(name)
        return super().get(name, default)


class Listening(Struct):
    """A server, its port, its origin as this machine calls it, and the address of its authority, if it has one."""

    server: HttpServer
    port: int
    origin: str
    ca_url: str | None


class RunningServer(Listening, kw_only=True):
    """A sandbox that listens: its addresses begin with `origin`."""

    runtime: Runtime


@contextlib.asynccontextmanager
async def serving(
    options: Options, log: Callable[[LogLine], None] = lambda line: None, dropped: Callable[[], int] = lambda: 0
) -> AsyncIterator[RunningServer]:
    """A sandbox that listens until the context ends. Raises `Failure`.

    `log` gets a line for each remark; `dropped` is how many of them could not be written.
    """
    blueprint, watched = _read(options, log)
    async with contextlib.AsyncExitStack() as closing:
        try:
            store = _open_store(options, closing)
            app = make_app(
                options.settings, blueprint, Contract(deferred=True), on_log=log, dropped=dropped, store=store
            )
        except StoreError as error:
            raise Failure(CANNOT, options.blamed(str(error), "data")) from None
        except ValueError as error:
            raise Failure(CANNOT, options.blamed(str(error), "callback_ca")) from None
        closing.push_async_callback(app.runtime.aclose)
        listening = await listen(options, app, closing)
        port, origin = listening.port, listening.origin
        app.runtime.senders.serves_at(port)
        if app.persistence is not None:
            scheme = urlsplit(origin).scheme
            others = options.settings.advertise or f"{scheme}://{host_for_others(options.settings.host)}:{port}"
            try:
                await app.persistence.prepare(others)
            except Unavailable as error:
                raise Failure(CANNOT, options.blamed(error.message, "data")) from None
        host = options.settings.host
        if not options.settings.control_tokens and not is_loopback(host):
            text = f"control is open to everyone who reaches {host}:{port}: --control-token closes it"
            log(LogLine(text, level="warning"))
        if options.watch:
            from sendbox.cli.watch import Watcher

            watcher = Watcher(lambda: scenario(options), watched, blueprint, app.runtime, log)
            closing.callback(watcher.stop)
            watcher.start()
        public = options.settings.public_url
        origin = public.rstrip("/") if public else origin
        yield RunningServer(listening.server, port, origin, listening.ca_url, runtime=app.runtime)


def _read(options: Options, log: Callable[[LogLine], None]) -> tuple[Blueprint, list[Path]]:
    """The scenario that worlds open with, and its files if they are watched. Raises `Failure`."""
    watched: list[Path] = []
    with contextlib.ExitStack() as reading:
        if options.watch:
            from sendbox.scenario.read import noting

            watched = reading.enter_context(noting())
        blueprint = scenario(options, environment := _NotingEnvironment(os.environ))
    unused = {name: near for name, near in options.unknown.items() if name not in environment.names}
    text = "{} (environment) is not a setting of Sendbox; did you mean {}?"
    wrong = [text.format(name, near) for name, near in unused.items() if near]
    if wrong:
        raise Failure(USAGE, wrong[-1], tuple(wrong[:-1]))
    for name in unused:
        log(LogLine(f"{name} is not a setting of Sendbox, and is ignored", level="warning"))
    names = options.settings.names
    if options.watch and not any(os.path.isfile(name) for name in names):
        message = f"{names[0]} is a scenario of the library, which does not change; give a file"
        raise Failure(USAGE, options.blamed(message, "watch"))
    return blueprint, watched


def _open_store(options: Options, closing: contextlib.AsyncExitStack) -> Store | None:
    """The store of the worlds until `closing` ends, None if they end with the server. Raises `StoreError`."""
    settings = options.settings
    if settings.data is None:
        return None
    store = open_store(settings.data, flush=settings.durability == "call")
    closing.callback(store.close)
    return store


async def listen(
    options: Options, app: App, closing: contextlib.AsyncExitStack, *, limit: int | None = None
) -> Listening:
    """Serves an application, and the certificate of an authority, until `closing` ends. Raises `Failure`.

    Beyond `limit` connections at once the answer is 503.
    """
    settings, listening = options.settings, ("host", "port")
    host, ca_url = callable_host(settings.host), None
    tls, authority = options.tls, None
    if options.tls_self:
        tls, authority = _self_signed(options, closing)
    server = HttpServer(app, bind(settings.host), settings.port, ssl=tls, limit=limit)
    closing.push_async_callback(server.stop)
    try:
        port = await server.start()
        if authority is not None:
            ca_port = options.ca_port
            if ca_port is None:
                ca_port = settings.port + 1 if 0 < settings.port < LAST_PORT else 0
            listening = ("host", "ca_port")
            second = HttpServer(_authority(authority), bind(settings.host), ca_port)
            closing.push_async_callback(second.stop)
            ca_url = f"http://{host}:{await second.start()}{CA_PATH}"
    except CannotListen as error:
        if error.errno is None:  # not of a socket
            listening = ("tls_cert", "tls_key")
        raise Failure(CANNOT, options.blamed(str(error), *listening)) from None
    return Listening(server, port, f"{'http' if tls is None else 'https'}://{host}:{port}", ca_url)


async def serve(
    options: Options, stop: asyncio.Event, say: Callable[[str], None], log: Log, *, in_full: bool = True
) -> None:
    """Serves until `stop` is set; `say` gets the banner once the port listens, in one line unless `in_full`."""
    async with serving(options, log.line, lambda: log.dropped) as served:
        say(banner(options, served) if in_full and not options.quiet else start_line(options, served))
        await stop.wait()
        log.line(LogLine(f"Sendbox stops at {served.origin}; open worlds: {len(served.runtime.worlds)}"))
        if (persistence := served.runtime.persistence) is not None and persistence.sharing is not None:
            await persistence.sharing.leave()
        served.runtime.leave()
        if cut := await served.server.drain(options.grace):
            grace = show(round(options.grace * 1000))
            text = f"connections whose calls took longer than --grace ({grace}) are cut off: {cut}"
            log.line(LogLine(text, level="warning"))


def run(options: Options) -> int:
    """Serves in this process until SIGINT or SIGTERM; returns the exit code.

    Raises `Failure` when it cannot start, unless the log has an object on each line: then it is one.
    """
    gc.disable()  # until the port listens: a start makes no garbage
    log = Log(to_stderr, options.log_format, quiet=options.quiet)
    handler = Handler(log)
    logging.getLogger().addHandler(handler)
    try:
        with asyncio.Runner(loop_factory=new_loop) as runner:
            runner.run(_until_signalled(options, log))
    except KeyboardInterrupt:  # before the handlers are set, or where a loop has none (Windows)
        pass
    except Failure as failure:
        if options.log_format == "text":
            raise
        for text in (*failure.details, failure.message):
            log.line(LogLine(MASK.text(text), level="error"))
        return failure.code
    finally:
        logging.getLogger().removeHandler(handler)
        log.close()
        collector.untune()
        gc.enable()
    return OK


async def _until_signalled(options: Options, log: Log) -> None:
    stop = asyncio.Event()

    def started(text: str) -> None:
        collector.tune()
        gc.enable()
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()

    with on_signals(stop.set):
        await serve(options, stop, started, log, in_full=sys.stdout.isatty() and options.log_format == "text")


def to_stderr(line: str) -> None:
    """Writes to standard error, and waits until it is written.

    It does not use Python's own buffer: a thread that waits here would hold its lock while the process ends.
    """
    try:
        number = sys.stderr.fileno()
    except io.UnsupportedOperation:  # not a file: a test has it
        sys.stderr.write(line)
        return
    unwritten = line.encode(errors="backslashreplace")
    while unwritten:
        unwritten = unwritten[os.write(number, unwritten) :]


def scenario(options: Options, environment: Mapping[str, str] = os.environ) -> Blueprint:
    """The scenario that worlds open with, with the settings of the command line. Raises `Failure`."""
    names = options.settings.names
    try:
        blueprint = files.load(*names, env=environment, texts=options.settings.assumptions)
    except Failure as failure:
        if all(os.path.isfile(name) for name in names):  # the message begins with a place in a file
            raise
        message = options.blamed(failure.message, "scenario")
        raise Failure(failure.code, message, failure.details) from None
    changes: JsonObject = {}
    if options.mode is not None:
        changes["mode"] = options.settings.mode = options.mode
    if options.start is not None:
        changes["start"] = options.settings.start = options.start
    return replace(blueprint, **changes) if changes else blueprint


def _self_signed(options: Options, closing: contextlib.AsyncExitStack) -> tuple[tuple[str, str], bytes]:
    from sendbox.server.tls import NoTls, self_signed

    settings = options.settings
    public = urlsplit(settings.public_url or "").hostname
    names = [name for name in (bind(settings.host), public, *sorted(settings.hosts)) if name and name not in EVERY]
    try:
        certificate = closing.enter_context(self_signed(names))
    except NoTls as error:
        raise Failure(CANNOT, options.blamed(str(error), "tls")) from None
    return (certificate.certfile, certificate.keyfile), certificate.ca_pem


def _authority(pem: bytes) -> App:
    """An application that serves only the certificate of the authority."""

    async def app(scope: Mapping[str, object], _receive: object, send: App) -> None:
        is_certificate = scope["path"] == CA_PATH
        body = pem if is_certificate else f"only {CA_PATH} is served here\n".encode()
        headers = [
            (b"content-type", b"application/x-pem-file" if is_certificate else b"text/plain"),
            (b"content-length", b"%d" % len(body)),
        ]
        await send({"type": "http.response.start", "status": 200 if is_certificate else 404, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})

    return app


def _scenario_name(options: Options, served: RunningServer) -> str:
    blueprint, name = served.runtime.blueprint, " + ".join(options.settings.names)
    return one_line(name if blueprint.name == name else f"{name} ({blueprint.name})")


def start_line(options: Options, served: RunningServer) -> str:
    """The start in one line, in the format of the log: version, address, scenario."""
    fields = {"version": __version__, "address": served.origin, "scenario": _scenario_name(options, served)}
    text = f"Sendbox {__version__} at {served.origin}, scenario {fields['scenario']}"
    if options.settings.public_url and not options.settings.port:
        fields["port"] = str(served.port)
        text += f", on port {served.port}"
    if served.ca_url is not None:
        fields["ca"] = served.ca_url
        text += f", authority {served.ca_url}"
    return text if options.log_format == "text" else as_json(LogLine(text, more=fields), wall.now_ms())


def banner(options: Options, served: RunningServer) -> str:
    """The text at the start: all addresses, and a first command."""
    from sendbox.control.answers import addresses  # only a terminal has the banner
    from sendbox.page.lines import send_line

    origin, settings = served.origin, options.settings
    blueprint = served.runtime.blueprint
    seed = blueprint.seed if settings.seed is None else settings.seed
    rows = {
        **addresses(origin),
        "page": f"{origin}/_sandbox/",
        "openapi": f"{origin}/openapi.json",
        "scenario": _scenario_name(options, served),
        "clock": blueprint.mode or settings.mode,
        "seed": one_line(str(seed)),
    }
    if options.watch:
        rows["watch"] = "new worlds open with the scenario as it is then"
    if settings.public_url and not settings.port:
        rows["port"] = str(served.port)
    if served.ca_url is not None:
        rows["ca"] = served.ca_url
    width = max(map(len, rows)) + 2
    text = [f"Sendbox {__version__}", "", *(f"  {name:{width}}{value}" for name, value in rows.items()), ""]
    text += ["Any API key that begins with test- opens a world of its own. A first message:", ""]
    if served.ca_url is not None:
        text.append(f"  curl -o {CA_FILE} {served.ca_url}")
    text.append("  " + send_line(f"{origin}/v2", "test-demo", cacert=CA_FILE if served.ca_url else None))
    text += ["", f"Its result: {origin}/_sandbox/?world=test-demo", "Ctrl-C ends it."]
    return "\n".join(text)
