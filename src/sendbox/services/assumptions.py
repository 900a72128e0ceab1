"""The registry of assumptions: the points that the specification leaves open, and the behaviour that is built there.

The table is `assumptions.json`. A row's default is what happens unless a scenario says otherwise under `assume:`; the
settings are the rows of `services/settings.py`, which name their assumption. A row whose part of the service does not
exist yet has `"built": false`.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import msgspec
from msgspec.structs import asdict

from sendbox.services.settings import PROFILES, SETTINGS
from sendbox.services.tables import table

#: What a confidence letter means: where the default comes from.
CONFIDENCE: Final = {
    "F": "observed or documented behaviour of the service",
    "L": "likely, by analogy or convention",
    "O": "ours, without evidence",
}


class Assumption(msgspec.Struct, frozen=True):
    """One decision where the specification is silent.

    `section` is the place that leaves it open, `setting` the names under `assume:` that change it (none: it cannot be
    changed), `confidence` one letter of `CONFIDENCE`, or two with a slash where parts of the row differ.
    """

    id: str
    section: str
    title: str
    default: str
    setting: tuple[str, ...]
    confidence: str
    built: bool = True

    def as_json(self) -> dict[str, object]:
        """The row as control and the command line show it."""
        return asdict(self) | {
            "setting": list(self.setting),
            "profiles": self.profiles,
        }

    @property
    def profiles(self) -> dict[str, dict[str, object]]:
        """The profiles that change it, with its settings in them."""
        changes = {
            profile: {name: value for name, value in settings.items() if name in self.setting}
            for profile, settings in PROFILES.items()
        }
        return {profile: settings for profile, settings in changes.items() if settings}


@cache
def registry() -> tuple[Assumption, ...]:
    """All rows, by their ids."""
    return tuple(
        Assumption(setting=tuple(name for name, setting in SETTINGS.items() if row["id"] in setting.assumptions), **row)
        for row in table(__name__, "assumptions.json")
    )
