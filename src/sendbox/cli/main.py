"""The command line: `sendbox serve`, `check`, `explain`, `play`, `diff`, `numbers`, `assumptions`, and so on.

Arguments, help, and how it ends are here; what the commands do is in `sendbox.cli`, imported when one is called.
Every error is one line that begins with `sendbox: `; the exit codes are those of `cli/outcome.py`. It is long,
because all that is said with `click` is said here.
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
from click.core import ParameterSource

from sendbox import __version__
from sendbox.cli import address
from sendbox.cli.outcome import NO, OK, USAGE, Failure, one_line
from sendbox.engine import bounds
from sendbox.engine import durations as spans
from sendbox.runtime.callbacks import Callbacks
from sendbox.services.messaging.channels import CHANNELS
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
            _blame(error)
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


def _blame(error: click.UsageError) -> None:
    """Names the variable of the environment, where that is what a wrong value came from."""
    if isinstance(error, click.BadParameter) and error.ctx is not None and error.param is not None:
        source = error.ctx.get_parameter_source(error.param.name or "")
        if source is ParameterSource.ENVIRONMENT and isinstance(error.param.envvar, str):
            error.param_hint = f"{error.param.envvar} (environment)"


class Scenarios(click.types.StringParamType):
    """A scenario's name or file. The environment has several of them with commas, the same on every system."""

    def split_envvar_value(self, rv: str) -> Sequence[str]:
        """The names."""
        return [name.strip() for name in rv.split(",") if name.strip()]


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


def places(_context: click.Context, _option: click.Parameter, value: str) -> Callbacks:
    """Where webhooks may go."""
    try:
        return Callbacks.parse(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def seed_of(_context: click.Context, _option: click.Parameter, value: str | None) -> int | str | None:
    """A seed as scenarios have it: a whole number where it is one, else text."""
    if value is None or not bounds.looks_whole(value):
        return value
    number = bounds.whole(value)
    if number is None:
        raise click.BadParameter(bounds.too_large(value))
    return number


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
@setting(
    "--scenario",
    type=Scenarios(),
    multiple=True,
    default=["default"],
    show_default=True,
    help="What worlds open with: a library name, or a file. May be repeated (with commas in the environment): "
    "each is joined over the one before.",
)
@setting("--watch", is_flag=True, help="Take a changed scenario file, and what it builds on, for new worlds.")
@setting(
    "--seed", callback=seed_of, help="Number or text that everything random comes from.  [default: the scenario's]"
)
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
    "--max-journal",
    type=click.IntRange(1),
    help="Journal entries that a world keeps; the oldest are forgotten.  [default: all]",
)
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
@setting(
    "--callbacks",
    metavar="LIST",
    callback=places,
    default="private",
    show_default=True,
    help="Where webhooks may go: loopback, private, any, and hosts, addresses, networks beside, with commas between.",
)
@setting("--coverage", is_flag=True, help="Keep what was tried in worlds that are closed, for /_sandbox/coverage.")
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
    from sendbox.cli import serve as serving

    serving.run(options(given))


def options(given: Mapping[str, Any]) -> Any:
    """The arguments of `serve` as its options."""
    from sendbox.cli.serve import Options

    tls = (given["tls_cert"], given["tls_key"])
    if given["tls"] and any(tls):
        raise Failure(USAGE, "--tls self and --tls-cert: give one of the two")
    if bool(tls[0]) != bool(tls[1]):
        raise Failure(USAGE, "--tls-cert and --tls-key go together: give both, or neither")
    if given["ca_port"] is not None and not given["tls"]:
        raise Failure(USAGE, "--ca-port gives out the authority of --tls self: give that too, or leave it out")
    public = given["public_url"]
    settings = Settings(
        host=given["host"],
        port=given["port"],
        scenario=given["scenario"][0] if len(given["scenario"]) == 1 else given["scenario"],
        seed=given["seed"],
        public_url=address.origin(public) if public else None,
        keys=frozenset(given["key"]),
        any_key=given["any_key"],
        hints=not given["no_hints"],
        patience=given["patience"] / 1000,
        max_worlds=given["max_worlds"],
        max_journal=given["max_journal"],
        shard=given["shard"],
        coverage=given["coverage"],
        callbacks=given["callbacks"],
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
        watch=given["watch"],
    )


@sendbox.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--format",
    "how",
    type=click.Choice(["text", "json", "github"]),
    default="text",
    show_default=True,
    help="github: annotations of GitHub Actions.",
)
@click.option("--together", is_flag=True, help="Check the files as one, each joined over the one before.")
@click.option("--strict", is_flag=True, help="A warning counts as well.")
@click.pass_context
def check(context: click.Context, files: tuple[str, ...], how: str, together: bool, strict: bool) -> None:
    """Check scenarios: every problem, with its place.

    FILE is a path, or a name of the library. A problem is FILE:LINE:COLUMN: MESSAGE, or an object with --format json.
    A warning is about what can be used and is probably not meant. Exit code 1 when there is any other problem, with
    --strict when there is any.

    \b
    Example:
      sendbox check scenarios/*.yaml
      sendbox check --strict --format github scenarios/*.yaml
    """
    from sendbox.cli.files import check as problems_of
    from sendbox.cli.files import report

    ok, text = report(problems_of(files, os.environ, together=together), how, strict=strict)
    if text:
        click.echo(text)
    context.exit(OK if ok else NO)


@sendbox.command()
@click.argument("scenario")
@click.argument("file", required=False, type=click.Path(path_type=Path, dir_okay=False))
@click.option("--to", help="The recipient.  [default: 420777000100]")
@click.option("--body", help="The text.  [default: Hello]")
@click.option(
    "--channel",
    type=click.Choice(CHANNELS),
    help="The channel of its one flow step.  [default: a message without a flow]",
)
@click.option("--sender", help="The sender.  [default: where a channel needs one, the first of the account]")
@click.option("--tag", help="Its tags, with commas between.")
@click.option("--template", metavar="NAME[:LANGUAGE]", help="A template instead of a text; language en unless given.")
@click.option(
    "--operation",
    type=click.Choice(["sendMessage", "sendPriorityMessage", "sendMessages"]),
    help="The operation that sends it.  [default: sendMessage, of a list sendMessages]",
)
@click.option("--verify", metavar="NUMBER", help="Explain a validation of this number instead of a message.")
@click.option("--format", "how", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.pass_context
def explain(
    context: click.Context,
    /,
    scenario: str,
    file: Path | None,
    operation: str | None,
    verify: str | None,
    how: str,
    **message: str | None,
) -> None:
    """Say what becomes of a message under a scenario, and why.

    SCENARIO is a path, or a name of the library; FILE holds the request as JSON, or flags make one. Which rules are
    tried and why they do not match, which checks refuse, and what happens when: the world is a real one, run dry.
    Exit code 1 when the request is refused.

    \b
    Example:
      sendbox explain otp-fallback --to 420777000102 --body "Your code is 1234" --channel richmsg
    """
    from sendbox.cli import explain as explaining
    from sendbox.services.messaging.rules.explained import dry_run

    blueprint = explaining.load(scenario)
    request = (
        None
        if verify is not None
        else explaining.body_of(file, **message, senders=blueprint.settled["account"].senders)
    )
    found = explaining.run(blueprint, request, operation, verify)
    if how == "json":
        click.echo(json.dumps(found, indent=2, ensure_ascii=False))
    else:
        click.echo("\n".join(dry_run(found)))
    context.exit(explaining.refused(found))


@sendbox.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--format", "how", type=click.Choice(["text", "json", "mermaid"]), default="text", show_default=True)
@click.option(
    "--seed", callback=seed_of, help="Number or text that everything random comes from.  [default: the scenario's]"
)
@click.option(
    "--until",
    metavar="DURATION",
    callback=lambda context, option, value: None if value is None else duration(context, option, value),
    help="Stop so long after the start.  [default: when nothing is due any more, after 30d at most]",
)
@click.pass_context
def play(context: click.Context, files: tuple[str, ...], how: str, seed: int | str | None, until: int | None) -> None:
    """Play scenarios, and print what happens.

    Each FILE, a path or a name of the library, is opened in this process: nothing is served, and nothing is sent
    anywhere. What is asked of it stands under traffic: in the file; without that a message is sent for each rule. Exit
    code 1 when a request does not get the status that it expects, or the scenario's expectations are not met.

    \b
    Examples:
      sendbox play otp-fallback
      sendbox play --format mermaid --until 2h scenarios/first.yaml
    """
    from sendbox.cli import play as playing

    played = []
    width = min(shutil.get_terminal_size((playing.WIDTH, 24)).columns, 160)
    colour = playing.coloured(sys.stdout.isatty(), os.environ)
    for number, name in enumerate(files):
        found = playing.play(name, seed=seed, until=until)
        played.append(found)
        text = playing.shown(found, how, width=width, colour=colour)
        click.echo(playing.fit(f"\n{text}" if number else text, sys.stdout.encoding or "utf-8"))
    context.exit(playing.code(played))


@sendbox.command()
@click.argument("a")
@click.argument("b")
@click.option("--format", "how", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.pass_context
def diff(context: click.Context, a: str, b: str, how: str) -> None:
    """Compare two journals, and show the first entry that differs.

    A and B are files that hold what /_sandbox/worlds/ID/journal?form=canonical answered, or what play --format json
    printed, or addresses of worlds. Names and receivers do not count, nor does the order within one instant. Exit code
    1 when they differ.

    \b
    Examples:
      sendbox diff monday.json tuesday.json
      sendbox diff http://127.0.0.1:7357/_sandbox/worlds/test-a http://127.0.0.1:7357/_sandbox/worlds/test-b
    """
    from sendbox.cli import diff as differing

    left, right, found = differing.diff(a, b)
    if how == "json":
        click.echo(json.dumps(differing.as_object(left, right, found), indent=2, ensure_ascii=False))
    else:
        for line in differing.as_text(left, right, found):
            click.echo(one_line(line))
    context.exit(OK if found is None else NO)


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
    from sendbox.services.assumptions import registry

    if as_json:
        click.echo(json.dumps([row.as_json() for row in registry()], indent=2, ensure_ascii=False))
        return
    width = min(shutil.get_terminal_size().columns, 120)
    for row in registry():
        click.echo(f"{row.id}  {row.section}  {row.title}")
        click.echo(textwrap.fill(row.default, width, initial_indent="     ", subsequent_indent="     "))
        about = [f"confidence {row.confidence}"]
        if row.setting:
            about.append(f"setting {', '.join(row.setting)}")
        if not row.built:
            about.append("not built yet")
        click.echo(f"     [{'; '.join(about)}]")


@sendbox.command()
@click.argument("files", nargs=-1, required=True, type=FILE, metavar="FILE...")
@click.option("--format", "how", type=click.Choice(["text", "json", "html"]), default="text", show_default=True)
@click.option("--output", type=click.Path(dir_okay=False), help="File to write the report to.  [default: stdout]")
@click.option(
    "--min", "minima", multiple=True, metavar="PERCENT", help="Exit code 1 below it; DIMENSION=PERCENT for one of them."
)
@click.pass_context
def coverage(
    context: click.Context, files: tuple[str, ...], how: str, output: str | None, minima: tuple[str, ...]
) -> None:
    """Add up reports of what tests tried, of several runs and jobs.

    FILE is what `--sendbox-coverage=FILE.json` wrote, or what a server says at /_sandbox/coverage.

    \b
    Example:
      sendbox coverage job-*.json --format html --output coverage.html --min 40
    """
    from sendbox.cli.coverage import merged, minimum, write

    least = dict(map(minimum, minima))
    report = merged(files)
    write(report.render(how), output, click.echo)
    below = report.below(least)
    for line in below:
        click.echo(f"sendbox: {line}", err=True)
    context.exit(NO if below else OK)


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
    from sendbox.cli.ready import wait_ready

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

    from sendbox.cli.forward import forward as carry

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
    type=click.Choice(("pytest", "scenario", "record")),
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
    in the first lines of the file. A record has all that came into the world, to be replayed (sendbox replay).

    \b
    Example:
      sendbox export test-demo --output test_demo.py && pytest test_demo.py
    """
    from sendbox.cli.export import export as fetch

    text = fetch(world, url or address.default(), form, output)
    if text is not None:
        click.echo(text, nl=False)


@sendbox.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.pass_context
def replay(context: click.Context, file: Path) -> None:
    """Make a world again from its record, and say whether it is the same.

    The world is made in this process, command by command; nothing is sent. Ends with 0 when all entries of the journal
    and the digest are equal, and with 1 when some are not: then the first one that differs is shown. So a record of an
    older version tells what a newer one does otherwise.

    \b
    Example:
      sendbox export test-demo --as record --output demo.json && sendbox replay demo.json
    """
    from sendbox.cli.replay import replay as make_again

    lines, code = make_again(file)
    for line in lines:
        click.echo(line)
    context.exit(code)


@sendbox.command()
@click.argument("file", default="sendbox.yaml", type=click.Path(path_type=Path))
def init(file: Path) -> None:
    """Write a first scenario, with comments.

    It goes to FILE, sendbox.yaml unless given. Nothing is ever overwritten.

    \b
    Example:
      sendbox init scenarios/first.yaml && sendbox serve --scenario scenarios/first.yaml
    """
    from sendbox.cli.files import init as write

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
