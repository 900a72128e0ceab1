"""`sendbox export`: fetches a world as a file."""

from __future__ import annotations

from sendbox.cli import address


def export(world: str, url: str, form: str) -> str:
    """The text of the file. Raises `Failure`."""
    return str(address.call(address.origin(url), "export", world, {"as": form})["text"])
