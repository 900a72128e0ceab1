"""How commands end: the exit codes, and the exception that carries one with its line for people."""

from __future__ import annotations

from typing import Final

OK: Final = 0
#: The answer is no: problems were found, nothing is ready, the world is gone.
NO: Final = 1
#: The arguments make no sense.
USAGE: Final = 2
#: It cannot be done here: the port is taken, the file is there already, no sandbox answers.
CANNOT: Final = 3


class Failure(Exception):
    """A command ends here. `message` is one line, which begins with the value; `details` are lines before it."""

    def __init__(self, code: int, message: str, details: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = details


def one_line(text: str) -> str:
    """A text as one line that moves no cursor, whatever a client put into it."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
