"""Settings of a server, which the command line, the environment, pytest and the fixture decide before it starts.

Each option of a server is a row here: the command line, the environment, the ini file and the marker of pytest, and the
documentation read it. Every pytest session of an environment with Sendbox loads this, so it imports nothing of Sendbox.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

if TYPE_CHECKING:
    from sendbox.engine.timeline import Mode
    from sendbox.runtime.callbacks import Callbacks
    from sendbox.runtime.teams import Quota, Token

PORT: Final = 7357
#: What happens at a bound.
WhenFull = Literal["refuse", "forget"]
#: `call`: a command is in the store before its answer leaves; `second`: a second later at most.
Durability = Literal["call", "second"]


def _callbacks() -> Callbacks:
    """Where webhooks may go unless a setting says so."""
    from sendbox.runtime.callbacks import Callbacks

    return Callbacks.parse(OPTIONS["callbacks"].default)


@dataclass
class Settings:
    """`keys` are admitted although they do not begin with `test-`. Times in real seconds.

    With `strict_keys` a call opens no world: control does.

    Of several scenarios each is joined over the one before it, and `assume` (entries `name=value`) over the last.

    `patience` is how long a receiver may take to answer; `quiet` is how long nothing must be open before an `auto`
    clock goes on. `max_rounds` (of deliveries at one instant), `max_instants` and `max_reach_ms` (virtual) bound one
    call of `advance`; so do `max_calls` and `max_chain`, of a receiver that calls while webhooks are under way: at one
    instant, and one because of the other. `max_journal` is how many entries a world's journal keeps, `max_messages` how
    many messages a world keeps, `max_memory` how many bytes the process has, None = no bound; at the last two
    `when_full` says whether more is refused or the oldest are forgotten.
    `world_ttl` is after how many seconds without use a world ends, None = never; `keep_closed` how many closed worlds
    can still be read.
    `callbacks` says where webhooks may go. With `coverage`, what was tried in a world is kept when it ends or resets.
    `data` is the file or database in which worlds outlast the process, None = they end with it; `durability` says when
    it has them. Processes that share a database call this one at `advertise`, None = where it listens.
    `hosts` are further names under which browsers may use control and the pages (`server/origin.py`), as `parse_hosts`
    reads them. `control_tokens` are those of which control asks for one; without them it is open.
    `quotas` bound what the worlds of a prefix use together.
    """

    host: str = "127.0.0.1"
    port: int = PORT
    scenario: str | tuple[str, ...] = "default"
    assume: tuple[str, ...] = ()
    seed: int | str | None = None
    mode: Mode = "real"
    start: int | None = None
    public_url: str | None = field(default_factory=lambda: os.environ.get("SENDBOX_PUBLIC_URL") or None)
    keys: frozenset[str] = frozenset()
    any_key: bool = False
    strict_keys: bool = False
    hints: bool = True
    patience: float = 5.0
    quiet: float = 0.02
    max_worlds: int = 10_000
    world_ttl: float | None = None
    keep_closed: int = 0
    max_rounds: int = 10_000
    max_calls: int = 1_000
    max_chain: int = 100
    max_instants: int = 100_000
    max_reach_ms: int = 400 * 86_400_000
    max_journal: int | None = None
    max_messages: int | None = None
    max_memory: int | None = None
    when_full: WhenFull = "refuse"
    shard: int = 0
    check_answers: bool = False
    callbacks: Callbacks = field(default_factory=_callbacks)
    callback_ca: str | None = None
    callback_insecure: bool = False
    hosts: frozenset[str] = frozenset()
    coverage: bool = False
    data: str | None = None
    advertise: str | None = None
    durability: Durability = "call"
    control_tokens: tuple[Token, ...] = ()
    quotas: tuple[Quota, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the scenarios."""
        return (self.scenario,) if isinstance(self.scenario, str) else self.scenario

    @property
    def assumptions(self) -> list[str]:
        """The scenario that `assume` makes, as text; none if it is empty."""
        entries = [entry.partition("=") for entry in self.assume]
        lines = "".join(f"  {name}: {value}\n" for name, _, value in entries)
        return [f"sendbox: 1\nassume:\n{lines}"] if lines else []


class Numbers(NamedTuple):
    """Whole numbers from the least one to the greatest, None: there is none."""

    least: int
    greatest: int | None = None


class Option(NamedTuple):
    """An option of `sendbox serve`: `max-worlds` is `--max-worlds`, and the variable SENDBOX_MAX_WORLDS."""

    name: str
    #: the name of a form (`OPTION_TYPES` of `cli/options.py`), the words to choose from, or whole numbers
    legal: str | tuple[str, ...] | Numbers
    #: a sentence for people
    words: str
    #: as people write it
    default: Any = None
    #: its field of `Settings`, or of `Options` of `cli/serve.py`, where that has another name
    renamed: str | None = None
    #: the default of a test session, where the ini file (`sendbox_max_calls`) and the marker (`max_calls`) set it too
    of_tests: str | None = None

    @property
    def field(self) -> str:
        """Its field, which is also the argument of the marker."""
        return self.renamed or self.name.replace("-", "_")

    @property
    def variable(self) -> str:
        """Its variable of the environment."""
        return f"SENDBOX_{self.name.upper().replace('-', '_')}"

    @property
    def ini(self) -> str:
        """Its key of pytest's ini file."""
        return f"sendbox_{self.field}"


#: The greatest number of a port.
LAST_PORT: Final = 65_535
_PORT: Final = Numbers(0, LAST_PORT)
_FROM_ONE: Final = Numbers(1)
_PATIENCE: Final = f"{Settings.patience:g}s"
_ROWS: Final = (
    Option("host", "text", "Address or name to listen on; 0.0.0.0 for all.", Settings.host),
    Option("port", _PORT, "Port to listen on; 0 for any that is free.", PORT),
    Option(
        "scenario",
        "scenarios",
        "What worlds open with: a library name, or a file. May be repeated (with commas in the environment): "
        "each is joined over the one before.",
        Settings.scenario,
    ),
    Option(
        "assume", "assumptions", "A setting of assume, over those of the scenario: profile=careful. May be repeated."
    ),
    Option("watch", "flag", "Use changed scenario files, also those that they build on, for new worlds."),
    Option("seed", "seed", "Number or text that everything random comes from.  [default: the scenario's]"),
    Option(
        "clock",
        ("manual", "real", "auto"),
        "manual stands still until moved, real runs, auto jumps to what is next.  [default: the scenario's, or real]",
    ),
    Option("start", "instant", "Time at which worlds begin, 2026-03-01T09:00:00Z.  [default: the scenario's, now]"),
    Option(
        "key",
        "keys",
        "API key to admit although it does not begin with test-. May be repeated (with commas in the environment).",
        renamed="keys",
    ),
    Option("any-key", "flag", "Admit every API key; each opens a world of its own."),
    Option("strict-keys", "flag", "Serve only worlds that control has opened: no call opens one."),
    Option(
        "public-url", "origin", "Origin of the addresses that are given out.  [default: that of the request that asks]"
    ),
    Option(
        "hosts",
        "hosts",
        "Host names under which control and the pages are served beside local ones: a list with commas.",
        "",
    ),
    Option(
        "control-token",
        "token",
        "Token of an administrator, without which control and the page are denied.  [default: control is open]",
    ),
    Option(
        "control-token-file",
        "tokens",
        "File of tokens for several people: lines NAME ROLE [PREFIX] TOKEN; a role is admin, team, or read.",
    ),
    Option("tls-cert", "file", "Serve https with this certificate (PEM, chain included)."),
    Option("tls-key", "file", "The certificate's key (PEM)."),
    Option("tls", ("self",), "self: serve https with a certificate made now."),
    Option("ca-port", _PORT, "With --tls self: plain port that gives out the authority.  [default: --port + 1]"),
    Option("max-worlds", _FROM_ONE, "Worlds open at once.", Settings.max_worlds),
    Option(
        "world-ttl", "lifetime", "Real time without use after which a world ends and is forgotten; off: never.", "24h"
    ),
    Option("keep-closed", Numbers(0), "Closed worlds that control can still read; the oldest are forgotten.", 20),
    Option("max-journal", _FROM_ONE, "Journal entries that a world keeps; the oldest are forgotten.  [default: all]"),
    Option("max-messages", _FROM_ONE, "Messages that a world keeps; see --when-full.  [default: all]"),
    Option(
        "max-memory", "size", "Memory that the server may use, such as 512MB or 1GiB; see --when-full.  [default: all]"
    ),
    Option(
        "when-full",
        ("refuse", "forget"),
        "At --max-messages and --max-memory: answer 503 to what would add to it, or forget the oldest that has ended.",
        Settings.when_full,
    ),
    Option(
        "quota",
        "quotas",
        "The most that worlds whose ids begin with a prefix may use: worlds, messages, entries of journals, calls a "
        'second, as "test-payments- worlds=50 calls=100". May be repeated (with commas in the environment).',
        renamed="quotas",
    ),
    Option(
        "max-calls",
        _FROM_ONE,
        "Calls at one instant of a manual clock while webhooks are under way; more are a loop, which ends an advance.",
        Settings.max_calls,
        of_tests=str(Settings.max_calls),
    ),
    Option(
        "max-chain",
        _FROM_ONE,
        "Calls of a receiver, each because of a webhook of the one before; more are a loop, which ends an advance.",
        Settings.max_chain,
        of_tests=str(Settings.max_chain),
    ),
    Option(
        "data",
        "path",
        "File in which worlds outlast the server, made if it is missing; or a database, postgresql://USER@HOST/NAME, "
        "which several processes share.  [default: none]",
    ),
    Option(
        "advertise",
        "origin",
        "With a database: the origin at which other processes call this one.  [default: where it listens]",
    ),
    Option(
        "durability",
        ("call", "second"),
        "With --data: whether a call is in the file before its answer leaves, or within a second.",
        Settings.durability,
    ),
    Option(
        "shard",
        Numbers(0, 255),
        "Number of this process among several behind a proxy; names that must be found without a key begin with it.",
        Settings.shard,
    ),
    Option(
        "no-hints",
        "off",
        "Leave out the headers Sendbox-Journal, which says where a call is explained, and Sendbox-Rule.",
        renamed="hints",
    ),
    Option("grace", "patience", "Real time that calls under way have when SIGTERM or Ctrl-C ends the server.", "5s"),
    Option("patience", "patience", "Real time that a receiver of webhooks has.", _PATIENCE, of_tests=_PATIENCE),
    Option(
        "callbacks",
        "callbacks",
        "Where webhooks may go: a list with commas of loopback, private, any, hosts, addresses, networks.",
        "private",
        of_tests="loopback",
    ),
    Option("coverage", "flag", "Keep what was tried in worlds that are closed, for /_sandbox/coverage."),
    Option("callback-ca", "file", "Authorities to trust when webhooks go to https (PEM)."),
    Option("callback-insecure", "flag", "Do not check the certificates of receivers."),
    Option("log-format", ("text", "json"), "How lines of the log are written; json: an object on each line.", "text"),
    Option("quiet", "flag", "Log warnings and errors only, after one line at the start.", renamed="only_warnings"),
)
#: The options by their fields, in the order in which help texts list them.
OPTIONS: Final = {row.field: row for row in _ROWS}
#: Those that a session of pytest and the marker of a test may set.
OF_TESTS: Final = tuple(row for row in _ROWS if row.of_tests is not None)
