"""The command line of `sendbox`, with all its commands.

Arguments, help texts and exit codes are here; the work of the commands is in the other modules of `sendbox.cli`, which
are imported when a command runs. Every error is one line that begins with `sendbox: `; the exit codes are in
`cli/outcome.py`. The module is long, because it is the only one that uses `click`.
"""

from __future__ import annotations

import io
import json
import os
import shlex
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeVar

import click
from click.core import ParameterSource

from sendbox import __version__
from sendbox.cli import address
from sendbox.cli.outcome import CANNOT, CODES, INTERRUPTED, NO, OK, USAGE, Failure, one_line
from sendbox.cli.values import parse_assumptions, parse_hosts, parse_keys, parse_seed, parse_size, parse_ttl
from sendbox.engine import durations
from sendbox.runtime.callbacks import Callbacks
from sendbox.services.messaging.channels import CHANNELS
from sendbox.settings import OPTIONS, Numbers, Option, Settings

if TYPE_CHECKING:
    from sendbox.engine.answer import JsonMapping

F = TypeVar("F", bound=Callable[..., Any])


class CommandGroup(click.Group):
    """The group of all commands, which prints every error as one line and exits with the codes of `outcome`."""

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any) -> NoReturn:  # type: ignore[override]
        """Runs a command and exits."""
        extra.pop("standalone_mode", None)
        try:
            code = super().main(args, prog_name or "sendbox", standalone_mode=False, **extra)
        except Failure as failure:
            for line in failure.details:
                click.echo(line, err=True)
            code = _print_error(failure.message, failure.code)
        except click.UsageError as error:
            _name_variable(error)
            where = f"; see {error.ctx.command_path} --help" if error.ctx else ""
            message = error.format_message().rstrip(".")
            code = _print_error(message, CANNOT) if _is_path_error(error) else _print_error(message + where, USAGE)
        except click.ClickException as error:
            code = _print_error(error.format_message(), NO)
        except (click.Abort, KeyboardInterrupt):
            code = INTERRUPTED
        except BrokenPipeError:  # `sendbox assumptions | head`: the reader has enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = NO
        sys.exit(code if isinstance(code, int) else OK)


def _print_error(message: str, code: int) -> int:
    click.echo(f"sendbox: {one_line(' '.join(message.split()))}", err=True)
    return code


def _is_path_error(error: click.UsageError) -> bool:
    """True if the error is about the path of a file: the file does not exist, or is a folder."""
    if not isinstance(error, click.BadParameter) or isinstance(error, click.MissingParameter) or error.param is None:
        return False
    return isinstance(error.param.type, click.Path)


def _name_variable(error: click.UsageError) -> None:
    """Puts the name of the environment variable into the error, if the wrong value came from one."""
    if isinstance(error, click.BadParameter) and error.ctx is not None and error.param is not None:
        source = error.ctx.get_parameter_source(error.param.name or "")
        if source is ParameterSource.ENVIRONMENT and isinstance(error.param.envvar, str):
            error.param_hint = f"{error.param.envvar} (environment)"


class CommaSeparated(click.types.StringParamType):
    """The type of an option with several texts, which an environment variable separates by commas."""

    def split_envvar_value(self, rv: str) -> Sequence[str]:
        """The texts."""
        return [item.strip() for item in rv.split(",") if item.strip()]


class EnvironmentOption(click.Option):
    """An option with an environment variable, which is ignored if an orchestrator has set it."""

    def resolve_envvar_value(self, ctx: click.Context) -> str | None:
        """The value of the variable."""
        value = super().resolve_envvar_value(ctx)
        return None if value is None or address.injected(str(self.envvar), value) else value


class WholeNumber(click.IntRange):
    """The type of an option with a whole number in a range; its error names the legal numbers."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number."""
        try:
            return int(super().convert(value, param, ctx))
        except click.BadParameter:
            legal = f"{self.min} and more" if self.max is None else f"{self.min} to {self.max}"
            self.fail(f"{value!r} is not legal; legal: a whole number, {legal}", param, ctx)


def converter(read: Callable[[Any], Any]) -> Callable[[click.Context, click.Parameter, Any], object]:
    """A callback that converts the value of an option with `read`; an error of `read` becomes a usage error."""

    def callback(_context: click.Context, _option: click.Parameter, value: object) -> Any:
        try:
            return None if value is None else read(value)
        except (ValueError, Failure) as error:
            raise click.BadParameter(str(error)) from None

    return callback


def format_option(*words: str, **more: Any) -> Callable[[F], F]:
    """The option `--format` with some words, the first of which is the default."""
    return click.option("--format", type=click.Choice(words), default=words[0], show_default=True, **more)


FILE: Final = click.Path(dir_okay=False, exists=True)
DURATION: Final[dict[str, Any]] = {"metavar": "DURATION", "callback": converter(durations.duration)}
#: The arguments of `click.option` for the type of an option, by the name of its form (`Option.legal`).
OPTION_TYPES: Final[dict[str, dict[str, Any]]] = {
    "text": {},
    "flag": {"is_flag": True},
    "off": {"is_flag": True, "callback": converter(lambda off: not off)},
    "file": {"type": FILE},
    "seed": {"callback": converter(parse_seed)},
    "origin": {"callback": converter(lambda url: address.origin(url) if url else None)},
    "instant": {"metavar": "INSTANT", "callback": converter(durations.instant)},
    "patience": {"metavar": "DURATION", "callback": converter(lambda text: durations.duration(text) / 1000)},
    "lifetime": {"metavar": "DURATION", "callback": converter(parse_ttl)},
    "size": {"metavar": "SIZE", "callback": converter(parse_size)},
    "hosts": {"metavar": "LIST", "callback": converter(parse_hosts)},
    "callbacks": {"metavar": "LIST", "callback": converter(Callbacks.parse)},
    "keys": {"type": CommaSeparated(), "multiple": True, "callback": converter(parse_keys)},
    "assumptions": {
        "type": CommaSeparated(),
        "multiple": True,
        "metavar": "NAME=VALUE",
        "callback": converter(parse_assumptions),
    },
    "scenarios": {
        "type": CommaSeparated(),
        "multiple": True,
        "callback": converter(lambda names: names[0] if len(names) == 1 else names),
    },
}


def click_settings(row: Option) -> dict[str, Any]:
    """The arguments of `click.option` for a row of the options: its type and its help text."""
    if isinstance(row.legal, str):
        form = OPTION_TYPES[row.legal]
    else:
        form = {"type": WholeNumber(*row.legal) if isinstance(row.legal, Numbers) else click.Choice(row.legal)}
    return {**form, "help": row.words}


def make_option(row: Option) -> click.Option:
    """An option of `serve`, which an environment variable may set too."""
    form = click_settings(row)
    if row.default is not None:
        form["default"] = [row.default] if form.get("multiple") else row.default
        form["show_default"] = row.default != ""
    return EnvironmentOption([f"--{row.name}", row.field], envvar=row.variable, **form)


#: Options and arguments of several commands.
SEED: Final = click_settings(OPTIONS["seed"])
ASSUME: Final = click_settings(OPTIONS["assume"])
URL: Final = click.option(
    "--url",
    envvar="SENDBOX_URL",
    show_envvar=True,
    callback=converter(address.origin),
    help="Address of the sandbox.  [default: this machine's]",
)


def scenario_option(subject: str) -> Callable[[F], F]:
    """The option `--scenario`; `subject` is the start of its help text."""
    return click.option(
        "--scenario",
        "scenarios",
        multiple=True,
        default=["default"],
        show_default=True,
        help=f"What {subject} with: a library name, or a file. May be repeated, each is joined over the one before.",
    )


OUTPUT: Final = click.option(
    "--output", type=click.Path(path_type=Path, dir_okay=False), help="File to write it to.  [default: stdout]"
)
FILES: Final = click.argument("files", nargs=-1, required=True, metavar="FILE...")
WORLD: Final = click.option(
    "--world", envvar="SENDBOX_WORLD", show_envvar=True, help="The world (its key).  [default: the only one]"
)


@click.group(
    cls=CommandGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=f"Exit codes: {'; '.join(f'{code} {means}' for code, means in CODES.items())}.",
)
@click.version_option(__version__, "--version", message="sendbox %(version)s")
@click.pass_context
def sendbox(context: click.Context) -> None:
    """A sandbox of a messaging service, deterministic and on a clock of yours.

    \b
    Start here:
      sendbox serve                 serve on port 7357; says what to do next
      sendbox init                  write a first scenario
      sendbox COMMAND --help        options and an example
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help(), err=True)
        context.exit(USAGE)


@sendbox.command(params=[make_option(row) for row in OPTIONS.values()])
def serve(**arguments: Any) -> int:
    """Serve the sandbox, until Ctrl-C.

    Every API key that begins with test- opens a world of its own, so tests do not affect each other. Remarks on
    requests go to stderr, one line for each. The text at the start is one line where stdout is not a terminal. Every
    option can come from the environment too: --ca-port as
    SENDBOX_CA_PORT.

    \b
    Examples:
      sendbox serve --scenario otp-fallback --clock manual
      sendbox serve --host 0.0.0.0 --tls self --public-url https://sandbox.test:7357
    """
    from sendbox.cli import serve as serve_command

    return serve_command.run(serve_options(arguments))


def option_sources() -> dict[str, str]:
    """The source of each option that was set, such as `--port` or `SENDBOX_PORT (environment)`, by the option."""
    context = click.get_current_context()
    origins = {}
    for option in context.command.params:
        source = context.get_parameter_source(option.name or "")
        if source is ParameterSource.ENVIRONMENT:
            origins[str(option.name)] = f"{option.envvar} (environment)"
        elif source is ParameterSource.COMMANDLINE:
            origins[str(option.name)] = option.opts[0]
    return origins


def serve_options(arguments: JsonMapping) -> Any:
    """The `Options` of `serve` for its arguments. Raises `Failure`."""
    from sendbox.cli.serve import Options

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
    known = {option.envvar for command in sendbox.commands.values() for option in command.params if option.envvar}
    settings, serve_values = (
        {name: arguments[name] for name in kind.__annotations__ if name in arguments} for kind in (Settings, Options)
    )
    serve_values |= {
        "mode": arguments["clock"],
        "tls": tls if all(tls) else None,
        "tls_self": arguments["tls"] is not None,
        "quiet": arguments["only_warnings"],
        "unknown": address.unknown(os.environ, {str(name) for name in known}),
    }
    return Options(settings=Settings(**settings), sources=origins, **serve_values)


@sendbox.command()
@FILES
@format_option("text", "json", "github", help="github: annotations of GitHub Actions.")
@click.option("--together", is_flag=True, help="Check the files as one, each over the one before it.")
@click.option("--strict", is_flag=True, help="A warning counts as well.")
@click.option("--fix", is_flag=True, help="Repair the files first: a length of time without a unit gets ms.")
def check(files: tuple[str, ...], format: str, together: bool, strict: bool, fix: bool) -> int:
    """Check scenarios: every problem, with its place.

    FILE is a path, a name of the library, or a directory: of this every .yaml and .yml below it, but not what is
    hidden. A problem is FILE:LINE:COLUMN: MESSAGE, or an object with --format json. A warning is about something that
    can be used, but is probably not intended. Exit code 1 when there is any other problem, with --strict also when
    there is a warning, and 3 when a file cannot be read. What --fix changed is printed to stderr; comments, quotes and
    layout of the file stay.

    \b
    Example:
      sendbox check scenarios
      sendbox check --fix scenarios/*.yaml
      sendbox check --strict --format github scenarios/*.yaml
    """
    from sendbox.cli.files import check as find_problems
    from sendbox.cli.files import expanded, repair, report

    names = expanded(files)
    checked = find_problems(names, os.environ, together=together)
    if fix and (changes := repair(names, checked)):
        for change in changes:
            click.echo(change, err=True)
        checked = find_problems(names, os.environ, together=together)
    code, text = report(checked, format, strict=strict)
    if text:
        click.echo(text)
    return code


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
    help="The operation that sends it.  [default: sendMessage, for a list sendMessages]",
)
@click.option("--verify", metavar="NUMBER", help="Explain a validation of this number instead of a message.")
@click.option(
    "--at",
    metavar="MOMENT",
    callback=converter(durations.moment),
    help="When it is sent: so long after the start of the world, or at an instant.  [default: at the start]",
)
@format_option("text", "json")
def explain(
    scenario: str,
    file: Path | None,
    operation: str | None,
    verify: str | None,
    at: durations.Moment | None,
    format: str,
    **message: str | None,
) -> int:
    """Show what a scenario does with a message, and why.

    SCENARIO is a path, or a name of the library; FILE holds the request as JSON, or flags make one. It says
    which rules are tried and why they do not match, which checks refuse, and what happens at which time, in a real
    world that runs until nothing is due any more. With --at the timeline has happened up to then. Exit code 1 when the
    request is refused.

    \b
    Example:
      sendbox explain otp-fallback --to 420777000102 --body "Your code is 1234" --channel richmsg
    """
    from sendbox.cli import explain as explain_command
    from sendbox.cli.files import load
    from sendbox.services.messaging.rules.explained import dry_run

    blueprint = load(scenario)
    senders = blueprint.compiled["account"].senders
    request = None if verify is not None else explain_command.body_of(file, **message, senders=senders)
    explained = explain_command.run(blueprint, request, operation, verify, at)
    click.echo(format_json(explained) if format == "json" else "\n".join(dry_run(explained)))
    return explain_command.refused(explained)


@sendbox.command()
@FILES
@format_option("text", "json", "mermaid")
@click.option("--seed", **SEED)
@click.option(
    "--until",
    **DURATION,
    help="Stop this long after the start.  [default: when nothing is due any more, at most 30d after the last entry]",
)
def play(files: tuple[str, ...], format: str, seed: int | str | None, until: int | None) -> int:
    """Play scenarios, and print what happens.

    Each FILE, a path or a name of the library, is opened in this process: nothing is served, and nothing is sent
    anywhere. Its requests are in `traffic` of the file; without it a message is sent for each rule. The text of
    several files ends with a line for each of them. Exit
    code 1 when a request does not get the status that it expects, or the scenario's expectations are not met, or one
    has a condition that nothing can meet.

    \b
    Examples:
      sendbox play otp-fallback
      sendbox play --format mermaid --until 2h scenarios/first.yaml
    """
    from sendbox.cli import play as play_command

    played = []
    width = min(shutil.get_terminal_size((play_command.WIDTH, 24)).columns, 160)
    colour = play_command.coloured(sys.stdout.isatty(), os.environ)
    for number, name in enumerate(files):
        result = play_command.play(name, seed=seed, until=until)
        played.append(result)
        text = play_command.shown(result, format, width=width, colour=colour)
        click.echo(play_command.fit(f"\n{text}" if number else text, sys.stdout.encoding or "utf-8"))
    if len(files) > 1 and format == "text":
        click.echo(f"\n{play_command.summary(files, played)}")
    return play_command.code(played)


@sendbox.command()
@click.argument("a")
@click.argument("b")
@format_option("text", "json")
def diff(a: str, b: str, format: str) -> int:
    """Compare two journals, and show the first entry that differs.

    A and B are files that hold what /_sandbox/worlds/ID/journal?form=canonical answered, or what play --format json
    printed, or addresses of worlds. Names, receivers and the order within one instant do not count. Where entries were
    forgotten (--max-journal), what is left is compared, and that is said. Exit code 1 when they differ.

    \b
    Examples:
      sendbox diff monday.json tuesday.json
      sendbox diff http://127.0.0.1:7357/_sandbox/worlds/test-a http://127.0.0.1:7357/_sandbox/worlds/test-b
    """
    from sendbox.cli import diff as diff_command

    first, second, difference = diff_command.diff(a, b)
    if format == "json":
        click.echo(format_json(diff_command.as_object(first, second, difference)))
    else:
        for line in diff_command.as_text(first, second, difference):
            click.echo(one_line(line))
    return OK if difference is None else NO


@sendbox.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@scenario_option("the world opens")
@click.option("--assume", **ASSUME)
@click.option("--values", is_flag=True, help="Compare values too, except ids, times and prices.")
@click.option("--json", "as_json", is_flag=True, help="Print the report to send: no bodies, values, keys or numbers.")
def compare(file: Path, scenarios: tuple[str, ...], assume: tuple[str, ...], values: bool, as_json: bool) -> int:
    """Compare recorded calls of the service with this sandbox.

    FILE is a HAR file with calls and answers, or a journal of Sendbox. The same calls are made in a fresh world, in
    this process; nothing is sent anywhere. Each answer that differs in status or structure is shown, with the
    assumption that it touches, and with the setting under which it would agree. Exit code 0 when no answer differs, 1
    when one does.

    \b
    Examples:
      sendbox compare service.har
      sendbox compare --assume legacy_error=plain --json service.har
    """
    from sendbox.cli.diff import compare as compare_recording
    from sendbox.comparing import report

    compared = compare_recording(file, scenarios, assume, os.environ, values=values)
    if as_json:
        click.echo(format_json(report.as_object(compared)))
    else:
        for line in report.lines(compared):
            click.echo(one_line(line))
    return NO if report.differing(compared) else OK


def parse_families(text: str) -> tuple[str, ...]:
    """The families of misfortunes in a list with commas."""
    from sendbox.exploring.families.table import parse_families as read

    return read(text)


def parse_kinds(text: str) -> tuple[str, ...]:
    """The kinds of misfortune in a list with commas."""
    from sendbox.exploring.families.table import kept

    return kept([word.strip() for word in text.split(",")])


@sendbox.command(context_settings={"allow_interspersed_args": False})
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND...]")
@click.option(
    "--runs",
    type=WholeNumber(1),
    help="Runs of the search; a find is made small in further ones.  [default: 30 to 100]",
)
@click.option(
    "--families",
    metavar="LIST",
    callback=converter(parse_families),
    help="Families of misfortunes, with commas between them.  [default: all]",
)
@click.option("--seed", **{**SEED, "help": "Number or text that the plans are drawn from.  [default: 0]"})
@click.option("--time", **DURATION, help="Real time after which nothing else is tried, such as 10m.  [default: no end]")
@click.option(
    "--junit",
    metavar="PATH",
    help="The JUnit file that COMMAND writes, or a folder of them. Where COMMAND names PATH, each run has its own.",
)
@click.option("--jobs", type=WholeNumber(1), help="Runs at once.  [default: the number of processors]")
@scenario_option("worlds open")
@click.option(
    "--keep",
    metavar="LIST",
    callback=converter(parse_kinds),
    help="Kinds of misfortune that are left out, with commas between them, such as start.",
)
@click.option("--strict", is_flag=True, help="Questions make the exit code 1 too, not only bugs.")
@click.option("--found", is_flag=True, help="Run what was found again, with COMMAND or the command that found it.")
def explore(found: bool, **arguments: Any) -> int:
    """Explore which misfortune breaks a client, in any language.

    COMMAND runs tests of the client against the sandbox whose address is in the environment variable SENDBOX_URL. It
    is run again and again, without a shell, each time with a fresh sandbox, in which something else goes wrong that
    the service allows. Exit code 0 of COMMAND means that it passed; with --junit a failure in that file or folder
    counts as well, names the test, and its assertion is shown. Clocks jump to what is next by themselves, or stand
    still where COMMAND moves one. Webhooks may go to this machine only. Worlds are told apart by their ids where these
    are the same in each run, else by the order in which they are opened.

    A find is shown, and is kept as a scenario in .sendbox/found. It is a bug where the service may do at any time what
    breaks COMMAND, and a question where it changes what is true, so that a correct client may fail as well. COMMAND
    must pass without misfortune, twice, and a run ends after ten times the time of the first, 5 s at least. Ctrl-C
    keeps what was found. Exit code 1 when a bug was found, or when one still breaks COMMAND; with --strict questions
    count as well.

    \b
    Examples:
      sendbox explore -- node test.mjs
      sendbox explore --junit report.xml --time 10m -- pytest --junitxml=report.xml
      sendbox explore --junit target/surefire-reports -- mvn -q test
      sendbox explore --found
    """
    from sendbox.cli.explore import command as explore_command

    if not arguments["command"] and not found:
        raise Failure(USAGE, "a command is missing: sendbox explore -- COMMAND; see sendbox explore --help")
    explore_or_rerun = explore_command.rerun_finds if found else explore_command.run
    return explore_or_rerun(explore_command.ExploreOptions(**arguments), click.echo, sys.stderr)


@sendbox.command()
def numbers() -> None:
    """List the magic numbers and their results.

    The last two digits decide the result of a message. The four digits before them are free, so that every test has
    phones of its own.

    \b
    Example:
      a message to 420777123402 ends undelivered
    """
    from sendbox.scenario.library import magic

    click.echo(format_table(("ends in", "example", "what happens to a message"), magic()))


@sendbox.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--leaned", is_flag=True, help="List only those that a run relied on, with what their settings change.")
@click.option("--world", metavar="KEY", help="With --leaned: the run is this world of a sandbox.")
@URL
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with the defaults.")
def assumptions(file: Path | None, leaned: bool, world: str | None, url: str | None, as_json: bool) -> None:
    """List what is assumed where the specification is silent.

    A setting is a key under `assume:` of a scenario that changes the row. The letter says how sure it is: F observed or
    documented, L likely, O our choice.

    With --leaned the list has the assumptions that a run relied on. FILE is the run's record (sendbox export --as
    record); --world names a world of a sandbox instead. The run is made again with other values of the settings, and
    the first answer or webhook that would have been different is shown.

    \b
    Examples:
      sendbox assumptions --json
      sendbox assumptions --leaned demo.json
      sendbox assumptions --leaned --world test-demo
    """
    from sendbox.services.assumptions import registry

    if leaned == (file is None and world is None) or (file is not None and world is not None):
        raise Failure(USAGE, "--leaned needs a run: FILE or --world KEY; without --leaned there is neither")
    if leaned:
        from sendbox.cli import replay as replay_command

        answer = (
            replay_command.of_file(file)
            if file is not None
            else replay_command.of_world(url or address.default(), str(world))
        )
        click.echo(format_json(answer) if as_json else "\n".join(map(one_line, replay_command.lines(answer))))
        return
    if as_json:
        click.echo(format_json([row.as_json() for row in registry()]))
        return
    width = min(shutil.get_terminal_size().columns, 120)
    for row in registry():
        click.echo(f"{row.id}  {row.section}  {row.title}")
        click.echo(textwrap.fill(row.default, width, initial_indent="     ", subsequent_indent="     "))
        notes = [f"confidence {row.confidence}"]
        if row.setting:
            notes.append(f"setting {', '.join(row.setting)}")
        for profile, settings in row.profiles.items():
            notes.append(f"profile {profile}: {', '.join(f'{name} {value}' for name, value in settings.items())}")
        if not row.built:
            notes.append("not built yet")
        click.echo(f"     [{'; '.join(notes)}]")


@sendbox.command()
@click.argument("files", nargs=-1, required=True, type=FILE, metavar="FILE...")
@format_option("text", "json", "html")
@click.option(
    "--output", type=click.Path(path_type=Path, dir_okay=False), help="File to write the report to.  [default: stdout]"
)
@click.option(
    "--min",
    "minima",
    multiple=True,
    metavar="PERCENT",
    help="Exit code 1 if less was tried; DIMENSION=PERCENT sets it for one dimension.",
)
@click.option(
    "--scope",
    metavar="LIST",
    help="Only what is about these operations, with commas between them; used: those that were called.  [default: all]",
)
def coverage(
    files: tuple[str, ...], format: str, output: Path | None, minima: tuple[str, ...], scope: str | None
) -> int:
    """Add up reports of what tests tried, of several runs and jobs.

    FILE is what `--sendbox-coverage=FILE.json` wrote, or what a server says at /_sandbox/coverage.

    \b
    Example:
      sendbox coverage job-*.json --format html --output coverage.html --min 40 --scope used
    """
    from sendbox.cli.export import merged, minimum

    minimum_by_dimension = dict(map(minimum, minima))
    report = merged(files, scope)
    write_output(report.render(format), output)
    missed_minima = report.below(minimum_by_dimension)
    for line in missed_minima:
        click.echo(f"sendbox: {line}", err=True)
    return NO if missed_minima else OK


@sendbox.command()
@URL
@click.option("--port", type=WholeNumber(1, 65535), help="The sandbox of this machine at this port.")
@click.option("--tls", type=click.Choice(["self"]), help="The sandbox of this machine over https.")
@click.option("--wait", **DURATION, default="0s", help="How long to try again.  [default: ask once]")
def ready(url: str | None, port: int | None, tls: str | None, wait: int) -> None:
    """Ask whether a sandbox is ready, if necessary several times.

    Exit code 0 when it is, 1 when it is not. Without --url it asks the sandbox of this machine, where serve would
    listen under the same SENDBOX_HOST, SENDBOX_PORT, SENDBOX_TLS and SENDBOX_TLS_CERT, unless
    --port or --tls are given.

    \b
    Example:
      sendbox ready --wait 10s && run-the-tests
    """
    this_machine = port is not None or tls is not None
    if this_machine and option_sources().get("url") == "--url":
        raise Failure(USAGE, "--url says the port and whether it is https: leave out --port and --tls")
    where = url if url and not this_machine else address.default(port=port, secure=True if tls else None)
    health = address.wait_ready(where, wait)
    click.echo(one_line(f"{address.origin(where)} is ready: Sendbox {health.get('version')}"))


@sendbox.command()
@click.option("--to", required=True, help="Address of your receiver, http://127.0.0.1:3000/hooks.")
@URL
@WORLD
@click.option("--cacert", type=FILE, help="Authority to trust besides the usual ones (PEM), as curl's --cacert.")
def forward(to: str, url: str | None, world: str | None, cacert: str | None) -> None:
    """Carry webhooks from a sandbox that cannot reach you.

    A webhook for the built-in receiver goes to --to as it is; a webhook with a callback of its own keeps its
    path and query, and its user and password unless --to has them, and goes to the host and port of --to. A world that
    was never open is opened. With * in --world it stands for all worlds whose names fit, also for those that open
    later; their webhooks are carried until they close. A world that is forwarded is in use, so --world-ttl does not end
    it.

    Ctrl-C or SIGTERM ends it, with exit code 0: webhooks under way are carried out and reported first, which a second
    signal does not wait for. Webhooks of the worlds that were pushed before are pushed again from then on. Exit code 3
    when the sandbox cannot be reached, or the world is closed.

    \b
    Example:
      sendbox forward --url http://sandbox:7357 --world 'test-job42-*' --to http://127.0.0.1:3000/hooks
    """
    from sendbox.cli.forward import run as run_forward

    run_forward(to, url or address.default(), world, cacert, click.echo)


@sendbox.command()
@URL
@WORLD
@format_option("text", "json", "junit")
@OUTPUT
@click.option(
    "--strict", is_flag=True, help="A warning fails it: a rule that never decided, a name that the world lacks."
)
def verdict(url: str | None, world: str | None, format: str, output: Path | None, strict: bool) -> int:
    """Ask whether the expectations of a scenario hold.

    The sandbox must be running. Move the clock of the world first, so that everything has happened: the verdict is that
    at the end of the world, where what was still open has failed. Exit code 1 when an expectation does not hold, has a
    condition that nothing can meet, the client made no call (unless just that is expected), or the verdict cannot be
    trusted because entries of the journal were forgotten; also when nothing is expected: the scenario has no expect.
    Warnings name rules that never decided, and keys, senders and tags in conditions that the world does not have. With
    --format junit every expectation is a test case of a report that CI shows.

    \b
    Example:
      sendbox verdict --url http://sandbox:7357 --world test-demo --format junit --output verdict.xml
    """
    from sendbox.cli import verdict as verdict_command

    name, judged = verdict_command.verdict(world, url or address.default(), strict=strict)
    write_output(verdict_command.shown(name, judged, format, strict=strict), output)
    return verdict_command.code(judged)


@sendbox.command()
@URL
@WORLD
@format_option("html", "json")
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="File to write it to; with * in --world, a directory.  [default: stdout]",
)
def report(url: str | None, world: str | None, format: str, output: Path | None) -> None:
    """Save all about a world in one document.

    The sandbox must be running. The document has what happened, what was refused or failed, advice, the verdict at the
    end of the world, coverage in short, the scenario, settings, and the digest. As HTML it is one page without scripts
    and further files, made to be kept by a CI job.

    With * in --world it stands for all worlds whose names fit, open ones and closed ones that are kept. The document
    and the record of each are written into the directory --output, as WORLD.report.html and WORLD.record.json.

    \b
    Examples:
      sendbox report --url http://sandbox:7357 --world test-demo --output report.html
      sendbox report --url http://sandbox:7357 --world 'test-job42-*' --output reports
    """
    from sendbox.cli.export import report as build_report
    from sendbox.cli.export import reports

    at = url or address.default()
    pattern = address.several(world)
    if pattern is None:
        write_output(build_report(world, at, format), output)
        return
    if output is None:
        raise Failure(USAGE, f"{one_line(pattern.text)} stands for several worlds: name a directory with --output")
    for name, text in reports(pattern, at, format):
        if isinstance(text, Failure):
            click.echo(f"sendbox: {name} is not written: {text.message}", err=True)
            continue
        try:
            output.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Failure(CANNOT, f"{output} cannot be made: {error.strerror or error}") from None
        write_output(text, output / name)
        click.echo(f"{output / name} is written")


@sendbox.command()
@click.argument("world")
@URL
@click.option(
    "--as",
    "form",
    type=click.Choice(("pytest", "scenario", "record")),
    default="pytest",
    show_default=True,
    help="The form of the file.",
)
@click.option(
    "--output", type=click.Path(path_type=Path), help="File to write; nothing is overwritten.  [default: print it]"
)
def export(world: str, url: str | None, form: str, output: Path | None) -> None:
    """Export a world as a file that repeats everything.

    A pytest file ends in the world's digest, so it proves that the result is the same. What cannot be repeated is
    listed in the first lines of the file. A record has everything that came into the world (sendbox replay).

    \b
    Example:
      sendbox export test-demo --output test_demo.py && pytest test_demo.py
    """
    from sendbox.cli.export import export as fetch

    write_output(fetch(world, url or address.default(), form), output, new=True)


@sendbox.command()
@click.argument("file", type=click.Path(path_type=Path))
def replay(file: Path) -> int:
    """Make a world again from its record, and say whether it is the same.

    The world is made in this process, command by command; nothing is sent. Exit code 0 when all entries of the
    journal and the digest are equal, 1 when some are not: then the first one that differs is shown. So a record of an
    older version shows what a newer one does differently.

    \b
    Example:
      sendbox export test-demo --as record --output demo.json && sendbox replay demo.json
    """
    from sendbox.cli.replay import replay as replay_record

    lines, code = replay_record(file)
    for line in lines:
        click.echo(line)
    return code


@sendbox.command()
@OUTPUT
def schema(output: Path | None) -> None:
    """Print the JSON Schema of scenarios, for editors.

    Editors complete and check scenarios by it. A comment in the first line of a scenario names it:
    # yaml-language-server: $schema=sendbox.schema.json. A running sandbox has it too, at /_sandbox/schema.

    \b
    Example:
      sendbox schema --output scenarios/sendbox.schema.json
    """
    from sendbox.cli.files import schema as text

    write_output(text(), output)


@sendbox.command()
@click.argument("file", default="sendbox.yaml", type=click.Path(path_type=Path))
def init(file: Path) -> None:
    """Write a first scenario, with comments.

    It goes to FILE, sendbox.yaml unless given, and the schema of the language beside it, which its first line names
    for editors. Its folder is made where it is missing. Keep both under version control. Nothing is ever overwritten.

    \b
    Example:
      sendbox init scenarios/first.yaml && sendbox explain scenarios/first.yaml --channel richmsg
    """
    from sendbox.cli.files import FIRST, SCHEMA
    from sendbox.cli.files import schema as text

    if file.exists():
        raise Failure(CANNOT, f"{file} exists already, and is left as it is: name another file")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Failure(CANNOT, f"{file.parent} cannot be made: {error.strerror or error}") from None
    write_output(FIRST, file, new=True)
    schema_file = file.with_name(SCHEMA)
    if not schema_file.exists():
        write_output(text(), schema_file, new=True)
    click.echo(f"{file} is written, with its schema {schema_file}; read it, then:")
    for command in ("explain {} --channel richmsg", "play {}", "serve --scenario {}"):
        click.echo(f"  sendbox {command.format(shlex.quote(str(file)))}")


def write_output(text: str, file: Path | None, *, new: bool = False) -> None:
    """Writes a text into a file, or prints it; with `new` the file must not exist. Raises `Failure`."""
    if file is None:
        click.echo(text, nl=False)
        return
    try:
        with file.open("x" if new else "w", encoding="utf-8", newline="\n") as out:
            out.write(text)
    except OSError as error:
        raise Failure(CANNOT, f"{file} cannot be written: {error.strerror or error}") from None


def format_json(value: object) -> str:
    """A value as indented JSON."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def format_table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Rows with aligned columns."""
    lines = [head, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)


def main() -> None:
    """Runs the program. Characters that a terminal cannot show are escaped."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    sendbox()
