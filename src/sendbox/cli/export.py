"""`sendbox export`: fetches what a world becomes as a file, and writes it."""

from __future__ import annotations

from pathlib import Path

from sendbox.cli import address
from sendbox.cli.outcome import CANNOT, NO, Failure, one_line


def export(world: str, url: str, form: str, output: Path | None) -> str | None:
    """The text of the file, None once it is written to `output`. Raises `Failure`."""
    from sendbox.app import SERVED
    from sendbox.control.carriers import Client
    from sendbox.control.operation import ControlError

    client = Client(address.origin(url), SERVED)
    try:
        text = str(client.call("export", world, {"as": form})["text"])
    except ControlError as error:
        raise Failure(CANNOT if error.error == "no_sandbox" else NO, one_line(error.message)) from None
    finally:
        client.close()
    if output is None:
        return text
    try:
        with output.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise Failure(CANNOT, f"{output} cannot be written: {error.strerror or error}") from None
    return None
