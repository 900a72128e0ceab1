"""`sendbox export` and `sendbox report`: fetch a world as a file, and a document about it."""

from __future__ import annotations

import json

from sendbox.cli import address


def export(world: str, url: str, form: str) -> str:
    """The text of the file. Raises `Failure`."""
    return str(address.call(address.origin(url), "export", world, {"as": form})["text"])


def report(world: str | None, url: str, form: str) -> str:
    """The document in a format: html, json. The verdict in it is that at the end of the world. Raises `Failure`."""
    origin = address.origin(url)
    shown = address.call(origin, "report", address.world_at(origin, world), {"format": form, "ended": "true"})
    return shown if isinstance(shown, str) else json.dumps(shown, indent=1, ensure_ascii=False) + "\n"
