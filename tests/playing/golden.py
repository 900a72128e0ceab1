"""Golden files: what `play` prints for scenarios of the library, in each format."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from sendbox.cli.play import format_played
from sendbox.playing import play

FOLDER: Final = Path(__file__).parent / "golden"
#: (scenario, format) of each file.
CASES: Final = (
    ("otp-fallback", "text"),
    ("otp-fallback", "mermaid"),
    ("otp-fallback", "json"),
    ("otp-lockout", "text"),
    ("otp-lockout", "mermaid"),
    ("replies-and-clicks", "text"),
    ("midnight-window", "text"),
    ("sub-key-runs-out", "text"),
)
_SUFFIXES: Final = {"text": "txt", "mermaid": "mmd", "json": "json"}


def file(name: str, how: str) -> Path:
    """The file of a case."""
    return FOLDER / f"{name}.{_SUFFIXES[how]}"


def made(name: str, how: str) -> str:
    """What stands in it."""
    return f"{format_played(play(name), how, width=120, colour=False)}\n"
