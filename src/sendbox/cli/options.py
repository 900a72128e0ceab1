"""Options and arguments: readers of values, rows of the settings as options, and what several commands have."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

import click
from click.core import ParameterSource

from sendbox.cli import address
from sendbox.cli.outcome import Failure
from sendbox.engine import bounds, durations
from sendbox.runtime.callbacks import Callbacks, host_name
from sendbox.runtime.teams import Token, make_token, parse_quotas, parse_tokens
from sendbox.server.instance import TOKEN_VARIABLE, authorization
from sendbox.settings import OPTIONS, Numbers, Option

F = TypeVar("F", bound=Callable[..., Any])


# --- readers of values; each raises ValueError for a value that is not legal


def parse_seed(text: str) -> int | str:
    """A seed as in scenarios: a whole number where it looks like one, else text."""
    if not bounds.looks_whole(text):
        return text
    number = bounds.whole(text)
    if number is None:
        raise ValueError(bounds.too_large(text))
    return number


def parse_hosts(text: str) -> frozenset[str]:
    """Host names of a list with commas, as a `Host` is compared with them. Raises ValueError."""
    names = [item.strip() for item in text.split(",") if item.strip()]
    for name in names:
        if host_name(name) is None or "*" in name:
            raise ValueError(
                f"{name!r} is not a host name: names without a port are legal, with commas between, such as "
                "sandbox.example (an IP address needs no entry)"
            )
    return frozenset(filter(None, map(host_name, names)))


def parse_ttl(text: str) -> float | None:
    """The seconds after which a world without use ends, None for `off`. Raises ValueError."""
    if text == "off":
        return None
    try:
        milliseconds = durations.duration(text)
    except ValueError as error:
        raise ValueError(f"{error}; so is off") from None
    if milliseconds <= 0:
        raise ValueError(f"{text!r} is not a time after which a world ends; legal: a duration above 0, or off")
    return milliseconds / 1000


def parse_assumptions(entries: Iterable[str]) -> tuple[str, ...]:
    """Settings of the assumptions, each `name=value`. Raises ValueError for another form."""
    for entry in entries:
        if re.fullmatch(r"\w+=\S[^\r\n]*", entry) is None:
            raise ValueError(f"{entry!r} is not a setting of assume and its value, such as profile=careful")
    return tuple(entries)


def parse_keys(keys: Iterable[str]) -> frozenset[str]:
    """API keys of a setting. Raises ValueError for one that no header can carry, which is several that ran together."""
    for key in keys:
        if re.search(r"[\s,]", key):
            raise ValueError(f"{key!r} is not an API key: several have commas between them in the environment")
    return frozenset(keys)


def read_tokens(file: str) -> tuple[Token, ...]:
    """The tokens of a file. Raises ValueError."""
    try:
        text = Path(file).read_text("utf-8")
    except OSError as error:
        raise ValueError(f"{file} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ValueError(f"{file} cannot be read: it is no text in UTF-8") from None
    return parse_tokens(text, file)


# --- types of options


class CommaSeparated(click.types.StringParamType):
    """The type of an option with several texts, which an environment variable separates by commas."""

    def split_envvar_value(self, rv: str) -> Sequence[str]:
        """The texts."""
        return [item.strip() for item in rv.split(",") if item.strip()]


class Text(click.types.StringParamType):
    """The type of an option with a text that is sent or shown: Unicode, which the bytes of a path need not be."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The text."""
        text = str(super().convert(value, param, ctx))
        try:
            text.encode()
        except UnicodeEncodeError:
            self.fail(f"{value!a} is no text in UTF-8", param, ctx)
        return text


class EnvironmentOption(click.Option):
    """An option with an environment variable, which is ignored if an orchestrator has set it."""

    def resolve_envvar_value(self, ctx: click.Context) -> str | None:
        """The value of the variable."""
        value = super().resolve_envvar_value(ctx)
        return None if value is None or address.is_injected(str(self.envvar), value) else value


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


# --- options

FILE: Final = click.Path(dir_okay=False, exists=True)
TEXT: Final = Text()
DURATION: Final[dict[str, Any]] = {"metavar": "DURATION", "callback": converter(durations.duration)}
#: The arguments of `click.option` for the type of an option, by the name of its form (`Option.legal`).
OPTION_TYPES: Final[dict[str, dict[str, Any]]] = {
    "text": {"type": TEXT},
    "flag": {"is_flag": True},
    "off": {"is_flag": True, "callback": converter(lambda off: not off)},
    "file": {"type": FILE},
    "path": {"type": click.Path(dir_okay=False)},
    "seed": {"type": TEXT, "callback": converter(parse_seed)},
    "origin": {"callback": converter(lambda url: address.origin(url) if url else None)},
    "instant": {"metavar": "INSTANT", "callback": converter(durations.instant)},
    "patience": {"metavar": "DURATION", "callback": converter(lambda text: durations.duration(text) / 1000)},
    "lifetime": {"metavar": "DURATION", "callback": converter(parse_ttl)},
    "size": {"metavar": "SIZE", "callback": converter(bounds.parse_size)},
    "hosts": {"metavar": "LIST", "callback": converter(parse_hosts)},
    "callbacks": {"metavar": "LIST", "callback": converter(Callbacks.parse)},
    "token": {"metavar": "TOKEN", "callback": converter(lambda secret: make_token("control-token", "admin", secret))},
    "quotas": {
        "type": CommaSeparated(),
        "multiple": True,
        "metavar": "QUOTA",
        "callback": converter(parse_quotas),
    },
    "tokens": {"type": FILE, "callback": converter(read_tokens)},
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


def _keep_token(context: click.Context, _option: click.Parameter, value: str | None) -> None:
    """Keeps the token of a command for its calls."""
    try:
        authorization(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None
    context.meta[address.TOKEN] = value


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
TOKEN: Final = click.option(
    "--token",
    envvar=TOKEN_VARIABLE,
    show_envvar=True,
    expose_value=False,
    callback=_keep_token,
    help="Token, if the sandbox asks for one.",
)
OUTPUT: Final = click.option(
    "--output", type=click.Path(path_type=Path, dir_okay=False), help="File to write it to.  [default: stdout]"
)
FILES: Final = click.argument("files", nargs=-1, required=True, metavar="FILE...")
WORLD: Final = click.option(
    "--world",
    type=TEXT,
    envvar="SENDBOX_WORLD",
    show_envvar=True,
    help="The world (its key).  [default: the only one]",
)
#: The variables of these; each option of `serve` has one of its own.
VARIABLES: Final = ("SENDBOX_URL", "SENDBOX_WORLD", TOKEN_VARIABLE)


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
