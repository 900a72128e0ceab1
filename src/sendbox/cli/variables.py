"""Environment variables of `sendbox`: which are settings, which an orchestrator put there, and which are mistakes."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Final

PREFIX: Final = "SENDBOX_"
#: Of Sendbox's own tests, which a server started by them inherits.
OF_TESTS: Final = frozenset({"SENDBOX_DEEP", "SENDBOX_MUTATION_COSTS"})
#: What Kubernetes and Docker's links put there for services called sendbox, sendbox-api and so on, in any value.
_INJECTED: Final = re.compile(
    r"SENDBOX_(?:[A-Z0-9_]+_)?(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT_[0-9]+_(?:TCP|UDP|SCTP)(?:_\w+)?|ENV_\w+)"
)
#: The same for names that may be settings too: only these values are of an orchestrator.
_ADDRESS: Final = re.compile(r"(?:tcp|udp|sctp)://.*")
_LINK: Final = re.compile(r"/.+/.+")


def injected(name: str, value: str) -> bool:
    """True if an orchestrator set this variable for a service called sendbox."""
    if name.endswith("_PORT") and _ADDRESS.fullmatch(value):
        return True
    return bool(_INJECTED.fullmatch(name) or (name.endswith("_NAME") and _LINK.fullmatch(value)))


def unknown(environment: Mapping[str, str], known: Collection[str]) -> dict[str, str | None]:
    """The variables with our prefix that set nothing, each with the setting that was probably meant (None: none)."""
    suggestions: dict[str, str | None] = {}
    words = [name.removeprefix(PREFIX) for name in known]
    for name, value in environment.items():
        if name.startswith(PREFIX) and name not in known and name not in OF_TESTS and not injected(name, value):
            from sendbox.scenario.model import nearest

            near = nearest(name.removeprefix(PREFIX), words)
            suggestions[name] = None if near is None else f"{PREFIX}{near}"
    return suggestions
