"""Lines of the log and of errors."""

from __future__ import annotations

import pytest

from sendbox.cli.outcome import one_line


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain §2.1 é", "plain §2.1 é"),
        ("two\nlines\ttab", "two\\nlines\\ttab"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("\u202eback", "\\u202eback"),
    ],
    ids=["plain", "breaks", "escape", "direction"],
)
def test_a_line_is_one_line(text: str, expected: str) -> None:
    """Nothing that a client sent breaks a line of the log, or moves a terminal's cursor."""
    assert one_line(text) == expected
