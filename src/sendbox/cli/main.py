"""The command line of `sendbox`: the table of its commands, and how each ends.

A command is in the module of its noun, which is imported when the command runs. Every error is one line that begins
with `sendbox: `; the exit codes are in `cli/outcome.py`.
"""

from __future__ import annotations

import errno
import gc
import inspect
import io
import os
import sys
from collections.abc import Sequence
from functools import cached_property
from importlib import import_module
from typing import Any, Final, NoReturn

import click
from click.core import ParameterSource

from sendbox import __version__
from sendbox.cli.outcome import CANNOT, CODES, INTERRUPTED, NO, OK, USAGE, Failure, one_line

#: The module of each command, in which `NAME_command` has the rest of its help, and the first sentence of the help.
_ROWS: Final = {
    "serve": ("sendbox.cli.serve", "Serve the sandbox, until Ctrl-C."),
    "check": ("sendbox.cli.check", "Check scenarios: every problem, with its place."),
    "explain": ("sendbox.cli.explain", "Show what a scenario does with a message, and why."),
    "play": ("sendbox.cli.play", "Play scenarios, and print what happens."),
    "diff": ("sendbox.cli.diff", "Compare two journals, and show the first entry that differs."),
    "record": ("sendbox.cli.record", "Record calls to the real service, as a proxy in front of it."),
    "compare": ("sendbox.cli.replay", "Compare recorded calls of the service with this sandbox."),
    "explore": ("sendbox.cli.explore.command", "Explore which misfortune breaks a client, in any language."),
    "numbers": ("sendbox.cli.reference", "List the magic numbers and their results."),
    "assumptions": ("sendbox.cli.reference", "List what is assumed where the specification is silent."),
    "coverage": ("sendbox.cli.export", "Add up reports of what tests tried, of several runs and jobs."),
    "ready": ("sendbox.cli.ready", "Ask whether a sandbox is ready, if necessary several times."),
    "forward": ("sendbox.cli.forward", "Carry webhooks from a sandbox that cannot reach you."),
    "verdict": ("sendbox.cli.verdict", "Ask whether the expectations of a scenario hold."),
    "report": ("sendbox.cli.export", "Save all about a world in one document."),
    "export": ("sendbox.cli.export", "Export a world as a file that repeats everything."),
    "replay": ("sendbox.cli.replay", "Make a world again from its record, and say whether it is the same."),
    "schema": ("sendbox.cli.reference", "Print the JSON Schema of scenarios, for editors."),
    "init": ("sendbox.cli.files", "Write a first scenario, with comments."),
}


#: Errors of what stdout is: a pipe that nobody reads, a disk that is full or broken.
_OF_STDOUT: Final = (errno.EPIPE, errno.ENOSPC, errno.EIO)


class LazyCommand(click.Command):
    """A command whose module is imported when it is called. The list of all commands needs only its first sentence."""

    def __init__(self, name: str, module: str, summary: str) -> None:
        super().__init__(name, help=summary)
        self._module = module

    @cached_property
    def loaded(self) -> click.Command:
        """The command itself, with its whole help."""
        gc.disable()  # what modules make stays, so the collector need not walk it: neither now nor later
        try:
            command: click.Command = getattr(import_module(self._module), f"{self.name}_command")
            gc.freeze()
        finally:
            gc.enable()
        command.help = f"{self.help}\n\n{inspect.cleandoc(command.help or '')}"
        return command

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """The context of the command itself, in which it is called."""
        return self.loaded.make_context(*args, **extra)


#: All commands by their names.
COMMANDS: Final = {name: LazyCommand(name, *row) for name, row in _ROWS.items()}


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
        except OSError as error:
            if error.errno not in _OF_STDOUT:
                raise
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            # `sendbox assumptions | head`: the reader has enough
            enough = isinstance(error, BrokenPipeError)
            code = NO if enough else _print_error(f"stdout cannot be written: {error.strerror}", CANNOT)
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


@click.group(
    cls=CommandGroup,
    commands=COMMANDS,
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


def main() -> None:
    """Runs the program. Characters that a terminal cannot show are escaped; what is closed takes all, and has nothing.

    Each number of a closed stream is taken: libuv ends the process where a socket has one of them.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))
        elif name != "stdin" and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    sendbox()
