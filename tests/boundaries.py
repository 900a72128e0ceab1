"""The boundaries of the code: which part may import what, and why. `test_architecture.py` holds the code to them.

Four tables: which part of the package may import which (`PARTS`), what the pure parts may take from the standard
library (`PURE`, `STDLIB`), who may import a third-party package (`OWNERS`; `docs/dependencies.md` says the same to
readers), and which names nobody may touch (`BANNED`). A change of a boundary is a change here, with its reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the package (dotted, without `sendbox.`), the parts it `may` import beside itself, and the reason."""

    name: str
    may: frozenset[str]
    why: str


#: The services, a package each.
SERVICES: Final = ("account", "messaging", "partner", "verify")


def part(name: str, may: str, why: str) -> Part:
    return Part(name, frozenset(may.split()), why)


_SERVICE: Final = "a service can be read, and removed, without the others; what it needs of them is given to it"
#: What a service needs to make operations of control, and to say how an export does them again.
_ROWS: Final = (
    "control.operation control.arguments control.answers control.reading "
    "control.searching control.catalog control.export.rows"
)
#: The longest name that fits a module is its part. Whoever is not here is the shell, which may import everything
#: but the two ends.
PARTS: Final = (
    part("engine", "", "it knows no service: what it is about are cases"),
    part("data", "", "two paths"),
    part("contract", "engine data", "it judges requests; what they do is not its business"),
    part("services", "engine services.tables services.windows", "what the services share knows none of them"),
    part(
        "services.tables",
        "",
        "the one place of the services that opens a file: a table beside its reader",
    ),
    part("services.numbers", "engine services.tables", "numbering plans are facts about the world, of no service"),
    part("services.windows", "engine", "hours of the week in a time zone, a fact about the world, of no service"),
    part("services.http", "engine contract services services.numbers", "how a service speaks HTTP, whichever it is"),
    part(
        "services.coverage",
        "engine services " + " ".join(f"services.{name}" for name in SERVICES),
        "facts of all",
    ),
    part(
        "services.language",
        "engine scenario services services.numbers",
        "what all services share of the language of scenarios",
    ),
    *(
        part(
            f"services.{name}",
            "engine contract scenario services services.http services.language services.numbers services.tables "
            "services.windows",
            _SERVICE,
        )
        for name in SERVICES
    ),
    *(
        part(
            f"services.{name}.control",
            f"{_ROWS} control.time engine scenario services services.{name} services.numbers",
            "what a tester does with a service is its own affair: operations of it, as its `http` has routes",
        )
        for name in SERVICES
    ),
    part(
        "scenario",
        "engine contract data services.numbers services.windows",
        "it turns a file into a blueprint; services bring what it knows of them",
    ),
    part("runtime", "engine runtime.wall settings", "it carries out what the engine decides, whatever it is about"),
    part("runtime.wall", "", "two functions over the machine's clock"),
    part("server.loop", "runtime.wall", "it makes event loops and knows nothing of what runs on them"),
    part(
        "server",
        "contract engine runtime server.loop services services.http settings",
        "HTTP in front of the runtime",
    ),
    part(
        "page",
        "control control.answers control.operation",
        "what the page can do, a script can do: it reads and acts through control, and words entries as all do",
    ),
    part(
        "control",
        f"contract {_ROWS} control.time data engine runtime scenario server services services.http services.numbers "
        "settings",
        "one set of operations under every carrier; it does not know the page, nor which services there are",
    ),
    *(
        part(
            name,
            f"contract control {_ROWS} engine runtime scenario server services.http",
            "forms of rows, and their helpers",
        )
        for name in _ROWS.split()
    ),
    part(
        "control.time",
        f"control {_ROWS} engine runtime scenario services",
        "a service puts entries of its own kinds into the timeline of a world",
    ),
    part(
        "fixture",
        "app assembly contract control control.answers control.catalog control.operation control.time engine exploring "
        "runtime runtime.wall scenario server server.loop services services.numbers settings "
        + " ".join(f"services.{name}" for name in SERVICES),
        "the pytest side: it drives a sandbox as any client of control does, reads numbers as control does, and runs "
        "the tests that are explored",
    ),
)
#: Modules of the engine and the services that observe. What happens imports none of them.
OBSERVERS: Final = (
    "engine.coverage",
    "engine.digest",
    "engine.expect.explainer",
    "engine.expect.judge",
    "engine.expect.engine_subjects",
    "engine.expect.row",
    "engine.expect.subjects",
    "engine.expect.verdict",
    "engine.kinds",
    "services.coverage",
    *(f"services.{name}.{half}" for name in SERVICES for half in ("answers", "control", "kinds", "subjects", "views")),
)
#: So many modules a folder of the package may hold.
MOST_FILES: Final = 20
#: The ends of the program: they are started, never imported except by `__main__`.
ENDS: Final = frozenset({"cli", "pytest_plugin"})
#: No I/O, no asyncio, no machine clock, no randomness: outcome depends on what is passed in, and on nothing else.
PURE: Final = (
    "engine",
    "runtime.callbacks",
    "runtime.policy",
    "services.numbers",
    "services.tables",
    "services.windows",
    *(f"services.{name}" for name in SERVICES),
)
#: Modules of the pure parts that read requests or scenarios or wait for what happens, and so are not.
NOT_PURE: Final = tuple(f"services.{name}.{half}" for name in SERVICES for half in ("control", "http", "language"))
#: What the pure parts take from the standard library.
STDLIB: Final = frozenset(
    "__future__ abc array base64 binascii bisect collections contextlib copy dataclasses datetime decimal difflib enum "
    "fractions functools hashlib heapq hmac io.BytesIO ipaddress itertools json math operator re string struct "
    "textwrap types typing unicodedata urllib.parse weakref zlib zoneinfo".split()
)
#: What else the pure parts may import.
PURE_PACKAGES: Final = frozenset({"anyascii", "msgspec", "orjson"})
#: What one pure module may import beside all that.
PURE_BUT: Final = {
    # files of the package, which are the same as long as it runs
    "services.tables": frozenset({"pkgutil.get_data"}),
    # methods of classes are made once, on whichever thread needs them first
    # zones come from the tzdata package, the same on every machine
    "services.windows": frozenset({"pkgutil.get_data"}),
}


@dataclass(frozen=True, slots=True)
class Owner:
    """A third-party package, the parts that may import it (none: all may), whether a start must do without it, why."""

    package: str
    parts: frozenset[str]
    lazy: bool
    why: str


def owner(package: str, parts: str, why: str, *, lazy: bool = False) -> Owner:
    return Owner(package, frozenset(parts.split()), lazy, why)


OWNERS: Final = (
    owner("aiohttp", "runtime.sender", "the product's traffic out goes through one module; 190 ms", lazy=True),
    owner("anyascii", "services.messaging.content", "only sms steps of type `sms` need its tables", lazy=True),
    owner("click", "cli", "only the command line has arguments and exit codes"),
    owner("faker", "scenario.keys.texts", "part of the extra `people`; texts that few scenarios ask for", lazy=True),
    owner(
        "freezegun", "fixture", "part of the extra `test`; only `freeze()` needs it, and it patches modules", lazy=True
    ),
    owner(
        "httpx",
        "cli.explain cli.forward control fixture pytest_plugin server.wire",
        "a client; what is served has none, but may raise its errors",
        lazy=True,
    ),
    owner("jinja2", "page", "only who looks at the page needs it; 40 ms", lazy=True),
    owner("jsonschema", "contract scenario.shape", "it explains a refusal; a start has seen none", lazy=True),
    owner("jsonschema_rs", "contract scenario.shape", "requests, and scenario files: nothing else is held to a schema"),
    owner("jwt", "services.partner.http.tokens", "signup tokens; 70 ms with the cryptography it looks for", lazy=True),
    owner("msgspec", "", "an answer is one class, for who makes it, who reads it, and the contract"),
    owner("orjson", "", "JSON is everywhere"),
    owner("prometheus_client", "server.metrics", "only who scrapes /metrics needs it; counts are plain", lazy=True),
    owner(
        "psycopg", "runtime.store.postgresql", "part of the extra `postgresql`; a store in a file needs none", lazy=True
    ),
    owner("pytest", "fixture pytest_plugin", "part of the extra `test`: what is served runs without it"),
    owner(
        "starlette",
        "assembly control page recording server services.http "
        + " ".join(f"services.{name}.http" for name in SERVICES),
        "the core, and what surrounds it, know no HTTP",
    ),
    owner("trustme", "server.tls", "part of the extra `tls`", lazy=True),
    owner("uvicorn", "server", "its protocol classes and its loop are replaced in one place"),
    owner("uvloop", "server.loop", "which loop runs is decided where it is made"),
    owner("yaml", "scenario", "plain YAML reads `off` and `9:00` as something else; one module has the right table"),
)

#: Modules that a start or a test session loads. Nothing lazy may come in with them.
STARTS: Final = ("app", "cli.main", "control", "pytest_plugin", "runtime.worlds", "server.listener")

#: What a server imports to start, and what none of that may lead to: parts of ours, and packages. All of it is
#: imported when it is needed; a start, and the memory of a server, do without.
SERVER: Final = (
    "assembly",
    "cli.main",
    "cli.serve",
    "compiled",
    "contract.validators",
    "server.listener",
)
NOT_TO_START: Final = (
    *(
        "difflib",
        "jsonschema_rs",
        "sendbox.app",
        "sendbox.comparing",
        "sendbox.fixture",
        "sendbox.language",
        "sendbox.playing",
        "sendbox.recording",
    ),
    *("sendbox.control.operation", "sendbox.control.routes", "sendbox.page", "sendbox.scenario"),
    *(
        "sendbox.engine.coverage",
        "sendbox.engine.expect",
        "sendbox.engine.faults.table",
        "sendbox.engine.kinds.engine_kinds",
    ),
    *("sendbox.server.handover", "sendbox.server.metrics", "sendbox.services.setting", "sendbox.services.settings"),
    *(f"sendbox.services.{name}.{half}" for name in SERVICES for half in ("control", "kinds", "language", "subjects")),
)


@dataclass(frozen=True, slots=True)
class Ban:
    """A name nobody in `src` touches (a module means all in it), the parts that may after all, and the reason."""

    name: str
    but: frozenset[str]
    why: str


def ban(name: str, but: str, why: str) -> Ban:
    return Ban(name, frozenset(but.split()), why)


_CLOCK: Final = "the machine's clock is read in sendbox.runtime.wall; a world has its own"
_DRAW: Final = "whatever looks random is derived from the seed, or no run could be repeated"
BANNED: Final = (
    ban("time", "runtime.wall", _CLOCK),
    ban("datetime.datetime.now", "", _CLOCK),
    ban("datetime.datetime.utcnow", "", _CLOCK),
    ban("datetime.datetime.today", "", _CLOCK),
    ban("datetime.date.today", "", _CLOCK),
    ban("random", "", _DRAW),
    ban("secrets", "", _DRAW),
    ban("uuid.uuid1", "", _DRAW),
    ban("uuid.uuid4", "", _DRAW),
    ban("os.urandom", "", _DRAW),
)
