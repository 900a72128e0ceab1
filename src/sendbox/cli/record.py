"""`sendbox record`: a proxy in front of the real service that records calls, until Ctrl-C."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import click

from sendbox.cli import address
from sendbox.cli.options import FILE, converter, make_option
from sendbox.cli.outcome import CANNOT, OK, Failure
from sendbox.cli.serve import Options, listen, serve_options
from sendbox.cli.signals import on_signals
from sendbox.engine.bounds import parse_size
from sendbox.recording.har import HarFile
from sendbox.recording.proxy import MAX_CONNECTIONS, Callbacks, Proxy
from sendbox.recording.recorder import Checker, Recorder
from sendbox.runtime.callbacks import Callbacks as Places
from sendbox.runtime.sender import Sender
from sendbox.server.loop import new_loop
from sendbox.settings import OPTIONS

#: The options of `serve` that `record` has too.
LISTENING: Final = ("host", "port", "hosts", "tls_cert", "tls_key", "tls", "ca_port")


def bare_origin(url: str) -> str:
    """The origin of an address that has nothing else. Raises `Failure` and ValueError."""
    origin, parsed = address.origin(url), urlsplit(url)
    if "@" in parsed.netloc or parsed.path not in ("", "/") or parsed.query or parsed.fragment:
        host = parsed.netloc.rpartition("@")[2]
        raise ValueError(f"more than an origin; legal: {parsed.scheme}://{host}, without user, path and query")
    return origin


@click.command(params=[make_option(OPTIONS[name]) for name in LISTENING])
@click.option("--to", required=True, callback=converter(bare_origin), help="Origin of the service.")
@click.option(
    "--file", required=True, type=click.Path(path_type=Path, dir_okay=False), help="New file for the calls (HAR)."
)
@click.option(
    "--callbacks",
    callback=converter(lambda url: bare_origin(url) if url else None),
    help="Record webhooks too: the origin at which the service reaches this recorder.",
)
@click.option("--cacert", type=FILE, help="Authority to trust besides the usual ones (PEM), as curl's --cacert.")
@click.option(
    "--max-size",
    metavar="SIZE",
    default="100MB",
    show_default=True,
    callback=converter(parse_size),
    help="Size that the file may have; further calls are handed on only.",
)
def record_command(
    to: str, file: Path, callbacks: str | None, cacert: str | None, max_size: int, **arguments: Any
) -> int:
    """Each call is handed on to the service as it is, and its answer comes back as it is. A line on stdout names each
    difference from the contract. The file has no keys and no secrets, and can be read at any time: sendbox compare
    FILE. With --callbacks the addresses for webhooks in the requests of the client are replaced by ones of this
    recorder, which records each webhook and hands it on.

    \b
    Examples:
      sendbox record --to https://api.service.example --file calls.har
      sendbox record --to https://api.service.example --file calls.har --tls self --callbacks https://hooks.example
    """
    options = serve_options(arguments)
    options.settings.public_url = callbacks  # a name of the certificate
    with asyncio.Runner(loop_factory=new_loop) as runner, contextlib.suppress(KeyboardInterrupt):
        runner.run(_until_signalled(options, to, file, callbacks, cacert, max_size))
    return OK


async def _until_signalled(
    options: Options, to: str, file: Path, callbacks: str | None, cacert: str | None, max_size: int
) -> None:
    stop = asyncio.Event()
    with on_signals(stop.set):
        await record(options, to, file, click.echo, stop, callbacks=callbacks, cacert=cacert, max_size=max_size)


async def record(
    options: Options,
    to: str,
    file: Path,
    say: Callable[[str], object],
    stop: asyncio.Event,
    *,
    callbacks: str | None = None,
    cacert: str | None = None,
    max_size: int = 10**8,
) -> None:
    """Records until `stop` is set; `say` gets the lines. Raises `Failure`."""
    own: set[tuple[str, int]] = set()
    try:
        sender = Sender(Places.parse("any"), own=own, ca=cacert)
    except ValueError as error:
        raise Failure(CANNOT, f"--cacert: {error}") from None
    try:
        har = HarFile(file, max_size)
    except FileExistsError:
        raise Failure(CANNOT, f"{file} exists: name a new file, or remove it") from None
    except OSError as error:
        raise Failure(CANNOT, f"{file} cannot be written: {error.strerror or error}") from None
    recorder = Recorder(har, Checker, say)
    try:
        async with contextlib.AsyncExitStack() as closing:
            closing.push_async_callback(sender.close)
            proxy = Proxy(to, sender, recorder, Callbacks(callbacks, recorder.say) if callbacks else None)
            try:
                served = await listen(options, proxy, closing, limit=MAX_CONNECTIONS)
            except Failure:
                file.unlink()  # nothing is in it
                raise
            own.add(("", served.port))
            authority = "" if served.ca_url is None else f"; the authority of its certificate: {served.ca_url}"
            recorder.say(f"calls to {served.origin} go to {to} and into {file}{authority}; Ctrl-C ends it")
            await stop.wait()
    finally:
        await asyncio.to_thread(recorder.close)
    missing = f", {recorder.missing} calls are not" if recorder.missing else ""
    say(f"{har.count} calls are in {file}{missing}; differences from the contract: {recorder.differences}")
