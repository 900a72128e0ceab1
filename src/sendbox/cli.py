"""The command line: `sendbox serve`, `check`, `numbers`, `assumptions`, `ready`, `forward`, `export`, `init`.

Arguments, help, and how it ends are here; what the commands do is in `sendbox.commands`, imported when one is called.
Every error is one line that begins with `sendbox: `; the exit codes are those of `commands/outcome.py`. It is
long because every command has its help here.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import shlex
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NoReturn, TypeVar

import click

from sendbox import __version__
from sendbox.commands import address
from sendbox.commands.outcome import NO, OK, USAGE, Failure, one_line
from sendbox.core import spans
from sendbox.settings import PORT, Settings

#: The exit code of a shell command that Ctrl-C ended; `serve` and `forward` are meant to be ended so, and have 0.
INTERRUPTED: Final = 130

F = TypeVar("F", bound=Callable[..., Any])


class Root(click.Group):
    """The group of all commands, which prints every error as one line and ends with our exit codes."""

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any) -> NoReturn:  # type: ignore[override]
        """Runs a command and exits."""
        extra.pop("standalone_mode", None)
        try:
            code = super().main(args, prog_name or "sendbox", standalone_mode=False, **extra)
        except Failure as failure:
            for line in failure.details:
                click.echo(line, err=True)
            code = _complain(failure.message, failure.code)
        except click.UsageError as error:
            where = f"; see {error.ctx.command_path} --help" if error.ctx else ""
            code = _complain(error.format_message().rstrip(".") + where, USAGE)
        except click.ClickException as error:
            code = _complain(error.format_message(), NO)
        except (click.Abort, KeyboardInterrupt):
            code = INTERRUPTED
        except BrokenPipeError:  # `sendbox assumptions | head`: whoever read has enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = NO
        sys.exit(code if isinstance(code, int) else OK)


def _complain(message: str, code: int) -> int:
    click.echo(f"sendbox: {one_line(' '.join(message.split()))}", err=True)
    return code


class Port(click.IntRange):
    """A port, 0 for any that is free. An address that Kubernetes put into the environment counts as not given."""

    def __init__(self) -> None:
        super().__init__(0, 65535)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number."""
        if isinstance(value, str) and value.startswith(address.FOREIGN):
            return PORT
        return super().convert(value, param, ctx)


def duration(_context: click.Context, _option: click.Parameter, value: Any) -> int:
    """Milliseconds of a duration in the notation of scenarios."""
    try:
        return spans.duration(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def instant(_context: click.Context, _option: click.Parameter, value: str | None) -> int | None:
    """Milliseconds of an RFC 3339 instant."""
    try:
        return None if value is None else spans.instant(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def setting(name: str, **more: Any) -> Callable[[F], F]:
    """An option of `serve`, which the environment may set too: `--ca-port` is SENDBOX_CA_PORT."""
    return click.option(name, envvar=f"SENDBOX_{name[2:].replace('-', '_').upper()}", **more)


FILE: Final = click.Path(dir_okay=False, exists=True)


@click.group(cls=Root, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "--version", message="sendbox %(version)s")
@click.pass_context
def sendbox(context: click.Context) -> None:
    """A sandbox of a messaging service, deterministic and on a clock of yours.

    \b
    Start here:
      sendbox serve                 serve on port 7357; says what to do next
      sendbox init                  write a first scenario
      sendbox COMMAND --help        options and an example

    Exit codes: 0 all is well; 1 the answer is no (problems found, not ready); 2 wrong use; 3 it cannot be done here
    (the port is taken, the file is there already, nobody answers).
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help(), err=True)
        context.exit(USAGE)


@sendbox.command()
@setting("--host", default="127.0.0.1", show_default=True, help="Address or name to listen on; 0.0.0.0 for all.")
@setting("--port", type=Port(), default=PORT, show_default=True, help="Port to listen on; 0 for any that is free.")
@setting("--scenario", default="default", show_default=True, help="What worlds open with: a library name, or a file.")
@setting("--seed", help="Number or text that everything random comes from.  [default: the scenario's]")
@setting(
    "--clock",
    type=click.Choice(["manual", "real", "auto"]),
    help="manual stands still until moved, real runs, auto jumps to what is next.  [default: the scenario's, or real]",
)
@setting(
    "--start",
    metavar="INSTANT",
    callback=instant,
    help="Time at which worlds begin, 2026-03-01T09:00:00Z.  [default: the scenario's, now]",
)
@setting("--key", multiple=True, help="API key to admit though it does not begin with test-. May be repeated.")
@setting("--any-key", is_flag=True, help="Admit every API key; each opens a world of its own.")
@setting("--public-url", help="Origin of the addresses that are given out.  [default: that of the request that asks]")
@setting("--tls-cert", type=FILE, help="Serve https with this certificate (PEM, chain included).")
@setting("--tls-key", type=FILE, help="The certificate's key (PEM).")
@setting("--tls", type=click.Choice(["self"]), help="self: serve https with a certificate made now.")
@setting(
    "--ca-port", type=Port(), help="With --tls self: plain port that gives out the authority.  [default: --port + 1]"
)
@setting("--max-worlds", type=click.IntRange(1), default=10_000, show_default=True, help="Worlds open at once.")
@setting(
    "--shard",
    type=click.IntRange(0, 255),
    default=0,
    show_default=True,
    help="Number of this process among several behind a proxy; begins every name that is found without a key.",
)
@setting("--no-hints", is_flag=True, help="Leave out the header Sendbox-Journal, which says where a call is explained.")
@setting(
    "--patience",
    metavar="DURATION",
    callback=duration,
    default="5s",
    show_default=True,
    help="Real time that a receiver of webhooks has.",
)
@setting("--callback-ca", type=FILE, help="Authorities to trust when webhooks go to https (PEM).")
@setting("--callback-insecure", is_flag=True, help="Do not check the certificates of receivers.")
def serve(**given: Any) -> None:
    """Serve the sandbox, until Ctrl-C.

    Every API key that begins with test- opens a world of its own, so that tests never meet. Remarks on requests go to
    stderr, a line each. Every option can come from the environment too: --ca-port as SENDBOX_CA_PORT.

    \b
    Examples:
      sendbox serve --scenario otp-fallback --clock manual
      sendbox serve --host 0.0.0.0 --tls self --public-url https://sandbox.test:7357
    """
    from sendbox.commands import serve as serving

    serving.run(options(given))


def options(given: Mapping[str, Any]) -> Any:
    """The arguments of `serve` as its options."""
    from sendbox.commands.serve import Options

    tls = (given["tls_cert"], given["tls_key"])
    if given["tls"] and any(tls):
        raise Failure(USAGE, "--tls self and --tls-cert: give one of the two")
    if bool(tls[0]) != bool(tls[1]):
        raise Failure(USAGE, "--tls-cert and --tls-key go together: give both, or neither")
    if given["ca_port"] is not None and not given["tls"]:
        raise Failure(USAGE, "--ca-port gives out the authority of --tls self: give that too, or leave it out")
    public = given["public_url"]
    seed = given["seed"]
    settings = Settings(
        host=given["host"],
        port=given["port"],
        scenario=given["scenario"],
        seed=int(seed) if seed and seed.removeprefix("-").isdecimal() and len(seed) < 19 else seed,
        public_url=address.origin(public) if public else None,
        keys=frozenset(given["key"]),
        any_key=given["any_key"],
        hints=not given["no_hints"],
        patience=given["patience"] / 1000,
        max_worlds=given["max_worlds"],
        shard=given["shard"],
        callback_ca=given["callback_ca"],
        callback_insecure=given["callback_insecure"],
    )
    return Options(
        settings=settings,
        mode=given["clock"],
        start=given["start"],
        tls=tls if all(tls) else None,
        tls_self=given["tls"] is not None,
        ca_port=given["ca_port"],
    )


@sendbox.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--format", "how", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.pass_context
def check(context: click.Context, files: tuple[str, ...], how: str) -> None:
    """Check scenarios: every problem, with its place.

    FILE is a path, or a name of the library. A problem is FILE:LINE:COLUMN: MESSAGE, or an object with --format json.
    Exit code 1 when there is any.

    \b
    Example:
      sendbox check scenarios/*.yaml
    """
    from sendbox.commands.files import check as problems_of

    found = problems_of(files)
    if how == "json":
        listed = [problem.as_json() for _, problems in found for problem in problems]
        click.echo(json.dumps({"ok": not listed, "problems": listed}, indent=2, ensure_ascii=False, default=str))
    else:
        for name, problems in found:
            for problem in problems:
                click.echo(one_line(str(problem)))
            if not problems:
                click.echo(f"{name}: ok")
    context.exit(NO if any(problems for _, problems in found) else OK)


@sendbox.command()
def numbers() -> None:
    """List the magic numbers, whose last two digits are fate.

    They decide what becomes of a message. The four digits before them are free, so that every test has phones of its
    own.

    \b
    Example:
      a message to 420777123402 ends undelivered
    """
    from sendbox.scenario.numbers import magic

    click.echo(table(("ends in", "example", "what becomes of a message"), magic()))


@sendbox.command()
@click.option("--json", "as_json", is_flag=True, help="Print an array of objects, with the defaults.")
def assumptions(as_json: bool) -> None:
    """List what is assumed where the specification is silent.

    A setting is a key under `assume:` of a scenario that changes the row. The letter says how sure it is: F observed or
    documented, L likely, O our choice.

    \b
    Example:
      sendbox assumptions --json
    """
    from sendbox.core.assumptions import ASSUMPTIONS

    if as_json:
        click.echo(json.dumps([row.as_json() for row in ASSUMPTIONS], indent=2, ensure_ascii=False))
        return
    width = min(shutil.get_terminal_size().columns, 120)
    for row in ASSUMPTIONS:
        click.echo(f"{row.id}  {row.section}  {row.title}")
        click.echo(textwrap.fill(row.default, width, initial_indent="     ", subsequent_indent="     "))
        about = [f"confidence {row.confidence}"]
        if row.setting:
            about.append(f"setting {', '.join(row.setting)}")
        if not row.built:
            about.append("not built yet")
        click.echo(f"     [{'; '.join(about)}]")


@sendbox.command()
@click.option(
    "--url", envvar="SENDBOX_URL", show_envvar=True, help="Address of the sandbox.  [default: this machine's]"
)
@click.option(
    "--wait", metavar="DURATION", callback=duration, default="0s", help="How long to go on asking.  [default: ask once]"
)
def ready(url: str | None, wait: int) -> None:
    """Ask whether a sandbox is ready, for a while.

    Exit code 0 when it is, 1 when it is not.

    \b
    Example:
      sendbox ready --wait 10s && run-the-tests
    """
    from sendbox.commands.ready import wait_ready

    where = url or address.default()
    health = wait_ready(where, wait)
    click.echo(one_line(f"{address.origin(where)} is ready: Sendbox {health.get('version')}"))


@sendbox.command()
@click.option("--to", required=True, help="Address of your receiver, http://127.0.0.1:3000/hooks.")
@click.option(
    "--url", envvar="SENDBOX_URL", show_envvar=True, help="Address of the sandbox.  [default: this machine's]"
)
@click.option("--world", envvar="SENDBOX_WORLD", show_envvar=True, help="The world (its key).  [default: the only one]")
@click.option("--cacert", type=FILE, help="Authority to trust besides the usual ones (PEM), as curl's --cacert.")
def forward(to: str, url: str | None, world: str | None, cacert: str | None) -> None:
    """Carry webhooks from a sandbox that cannot reach you.

    What is meant for the built-in receiver goes to --to as it stands; a webhook with a callback of its own keeps its
    path and query, and goes to the host and port of --to. A world that is not open yet is opened. Ctrl-C ends it.

    \b
    Example:
      sendbox forward --url http://sandbox:7357 --world test-demo --to http://127.0.0.1:3000/hooks
    """
    import asyncio

    from sendbox.commands.forward import forward as carry

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(carry(to, url or address.default(), world, cacert, click.echo))


@sendbox.command()
@click.argument("world")
@click.option(
    "--url", envvar="SENDBOX_URL", show_envvar=True, help="Address of the sandbox.  [default: this machine's]"
)
@click.option(
    "--as",
    "form",
    type=click.Choice(("pytest", "scenario")),
    default="pytest",
    show_default=True,
    help="What the file is to be.",
)
@click.option(
    "--output", type=click.Path(path_type=Path), help="File to write; nothing is overwritten.  [default: print it]"
)
def export(world: str, url: str | None, form: str, output: Path | None) -> None:
    """Turn what was done to a world into a file that does it again.

    A pytest file ends in the world's digest, so it proves that the same came of it. What cannot be done again is said
    in the first lines of the file.

    \b
    Example:
      sendbox export test-demo --output test_demo.py && pytest test_demo.py
    """
    from sendbox.commands.export import export as fetch

    text = fetch(world, url or address.default(), form, output)
    if text is not None:
        click.echo(text, nl=False)


@sendbox.command()
@click.argument("file", default="sendbox.yaml", type=click.Path(path_type=Path))
def init(file: Path) -> None:
    """Write a first scenario, with comments.

    It goes to FILE, sendbox.yaml unless given. Nothing is ever overwritten.

    \b
    Example:
      sendbox init scenarios/first.yaml && sendbox serve --scenario scenarios/first.yaml
    """
    from sendbox.commands.files import init as write

    write(file)
    click.echo(f"{file} is written; look at it, then: sendbox serve --scenario {shlex.quote(str(file))}")


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Columns as wide as what is in them."""
    lines = [head, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)


def main() -> None:
    """The program. What a terminal cannot show is spelled out, and is no reason to fail."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    sendbox()
