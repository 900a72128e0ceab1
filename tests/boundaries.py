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


def part(name: str, may: str, why: str) -> Part:
    return Part(name, frozenset(may.split()), why)


_ALONE: Final = "each interface can be read, and removed, without the others"
#: The longest name that fits a module is its part. Whoever is not here is the shell, which may import everything
#: but the two ends.
PARTS: Final = (
    part("core", "", "the same core serves fixture, container and property tests, so it knows none of them"),
    part("wall", "", "two functions over the machine's clock"),
    part("data", "", "two paths"),
    part("loop", "wall", "it makes event loops and knows nothing of what runs on them"),
    part("contract", "core data", "it judges requests; what they do is not its business"),
    part("interfaces", "core contract", "they translate between the wire and the core, and see no server"),
    part("interfaces.sending", "core contract interfaces", _ALONE),
    part("interfaces.legacy", "core contract interfaces", _ALONE),
    part("interfaces.rest", "core contract interfaces", _ALONE),
    part("interfaces.partner", "core contract interfaces", _ALONE),
    part("interfaces.verify", "core contract interfaces", _ALONE),
    part("scenario", "core contract data", "it turns a file into a blueprint; worlds are opened elsewhere"),
    part("webhooks", "core contract loop wall", "it carries events out and knows nothing of who asked for them"),
    part("page", "control", "what the page can do, a script can do: it reads and acts through control only"),
    part(
        "control",
        "arriving core contract data interfaces interfaces.partner loop routes runtime scenario settings wall webhooks",
        "one set of operations under every carrier; it does not know the page",
    ),
)
#: The ends of the program: they are started, never imported.
ENDS: Final = frozenset({"cli", "pytest_plugin"})
#: No I/O, no asyncio, no machine clock, no randomness: outcome depends on what is passed in, and on nothing else.
PURE: Final = ("core", "webhooks.policy")
#: What the pure parts take from the standard library.
STDLIB: Final = frozenset(
    "__future__ abc array base64 binascii bisect collections contextlib copy dataclasses datetime decimal difflib enum "
    "fractions functools hashlib heapq hmac io.BytesIO itertools json math operator pickle re string struct textwrap "
    "types typing unicodedata urllib.parse zlib zoneinfo".split()
)
#: What else the pure parts may import.
PURE_PACKAGES: Final = frozenset({"anyascii", "orjson"})
#: What one pure module may import beside all that.
PURE_BUT: Final = {
    "core.window": frozenset({"pkgutil.get_data"}),  # zones come from the tzdata package, the same on every machine
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
    owner("aiohttp", "webhooks.sender", "the product's traffic out goes through one module; 190 ms", lazy=True),
    owner("anyascii", "core", "only sms steps of type `sms` need its tables", lazy=True),
    owner("click", "cli", "one module owns arguments and exit codes"),
    owner("faker", "scenario.texts", "a quarter of a second for texts that few scenarios ask for", lazy=True),
    owner("freezegun", "fixture pytest_plugin", "only `freeze()` needs it, and it patches modules", lazy=True),
    owner(
        "httpx",
        "commands.explain commands.forward control fixture pytest_plugin wires",
        "a client; what is served has none, but may raise its errors",
        lazy=True,
    ),
    owner("jinja2", "page", "only who looks at the page needs it; 40 ms", lazy=True),
    owner("jsonschema", "contract scenario.shape", "it explains a refusal; a start has seen none", lazy=True),
    owner("jsonschema_rs", "contract scenario.shape", "requests, and scenario files: nothing else is held to a schema"),
    owner("jwt", "interfaces.partner.tokens", "signup tokens; 70 ms with the cryptography it looks for", lazy=True),
    owner("orjson", "", "JSON is everywhere"),
    owner("pytest", "fixture pytest_plugin", "what is served runs without it"),
    owner(
        "starlette",
        "app arriving control emulated interfaces page server uploading",
        "the core, and what surrounds it, know no HTTP",
    ),
    owner("trustme", "tls", "part of the extra `tls`", lazy=True),
    owner("uvicorn", "server", "its protocol classes and its loop are replaced in one place"),
    owner("uvloop", "loop", "which loop runs is decided where it is made"),
    owner("yaml", "scenario", "plain YAML reads `off` and `9:00` as something else; one module has the right table"),
)

#: Modules that a start or a test session loads. Nothing lazy may come in with them.
STARTS: Final = ("app", "cli", "control", "pytest_plugin", "runtime", "server")


@dataclass(frozen=True, slots=True)
class Ban:
    """A name nobody in `src` touches (a module means all in it), the parts that may after all, and the reason."""

    name: str
    but: frozenset[str]
    why: str


def ban(name: str, but: str, why: str) -> Ban:
    return Ban(name, frozenset(but.split()), why)


_CLOCK: Final = "the machine's clock is read in sendbox.wall; a world has its own"
_DRAW: Final = "whatever looks random is derived from the seed, or no run could be repeated"
BANNED: Final = (
    ban("time", "wall", _CLOCK),
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
