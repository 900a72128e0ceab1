"""Everything that can be seen of a world, part by part, as it is recorded."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from sendbox.services.settings import SETTINGS
from tests.channels import USUAL_FAMILIES
from tests.recorded.masks import masked
from tests.recorded.player import Player

#: The most entries of a journal that one call answers.
PAGE: Final = 1000
#: Parts that control answers in one piece, with the path and the query of the call.
SHOWN: Final[dict[str, tuple[str, dict[str, str]]]] = {
    "account": ("/account", {}),
    "advice": ("/advice", {}),
    "clock": ("/clock", {}),
    "codes": ("/codes", {}),
    "deliveries": ("/deliveries", {}),
    "events": ("/events", {}),
    "hook": ("/hook", {}),
    "leaning": ("/leaning", {"longest": "100", "most": "3"}),
    "messages": ("/messages", {}),
    "partner": ("/partner", {}),
    "pending": ("/pending", {}),
    "phones": ("/phones", {}),
    "record": ("/record", {}),
    "verdict": ("/verdict", {}),
    "world": ("", {}),
}


def parts(player: Player) -> dict[str, Any]:
    """The parts of a world that was played, each as JSON or text."""
    journal = _paged(player, "/journal", "entries")
    messages = player.control("/messages")["messages"]
    assumed = player.control("/assumptions")
    report = player.control("/report", lines="20")
    found: dict[str, Any] = {
        "answers": player.answers,
        "digest": player.control("/digest"),
        "journal": journal,
        "canonical": _paged(player, "/journal", "entries", form="canonical"),
        "requests": _paged(player, "/requests", "requests"),
        "first-message": [player.control(f"/messages/{each['message_id']}") for each in messages[:1]],
        "each-phone": [player.control(f"/phones/{each['number']}") for each in player.control("/phones")["phones"]],
        "explain": [player.control("/explain", message_id=each["message_id"]) for each in messages],
        "report": {name: report[name] for name in ("findings", "advice", "story", "pending")},
        "coverage": _tried(player.control("/coverage")),
        "assumptions": {"settings": _set(assumed["settings"]), "leaned": assumed["leaned"]},
        "export-pytest": player.control("/export", **{"as": "pytest"}),
        "export-scenario": player.control("/export", **{"as": "scenario"}),
        "told": {"report": player.box.report(), "story": player.box.story(), "verdict": player.box.verdict_lines()},
        "kinds": dict(sorted(Counter(entry["kind"] for entry in journal).items())),
    }
    found |= {name: player.control(path, **query) for name, (path, query) in SHOWN.items()}
    return {name: _touched(masked(found[name])) for name in sorted(found)}


def _touched(value: Any) -> Any:
    """A value without the list of channels of a phone that has the usual ones: one channel more would change it."""
    if isinstance(value, dict):
        return {
            name: _touched(part)
            for name, part in value.items()
            if name != "channels" or not isinstance(part, list) or {*part} != USUAL_FAMILIES
        }
    return [_touched(part) for part in value] if isinstance(value, list) else value


def _set(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings that have another value than by default: one setting more would change every world."""
    return {name: value for name, value in settings.items() if value != SETTINGS[name].default}


def _paged(player: Player, path: str, field: str, **query: str) -> list[Any]:
    """A journal, page by page."""
    found: list[Any] = []
    after = -1
    while True:
        page = player.control(path, after=str(after), limit=str(PAGE), **query)[field]
        found += page
        if len(page) < PAGE:
            return found
        after = page[-1]["n"]


def _tried(coverage: dict[str, Any]) -> dict[str, Any]:
    """What was tried of coverage. What never was is not recorded: one item more would change every world."""
    return {
        "scope": coverage.get("scope"),
        "dimensions": {row["name"]: row["tried"] for row in coverage.get("dimensions", ()) if row["tried"]},
        "items": _counted(coverage.get("items", {})),
        "leaned": coverage.get("leaned", {}),
    }


def _counted(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {name: _counted(each) for name, each in value.items() if each}
