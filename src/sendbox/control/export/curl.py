"""Command lines of curl."""

from __future__ import annotations

import shlex


def curl(*arguments: str) -> str:
    """A command line of curl, as a shell reads it."""
    return shlex.join(("curl", *arguments))
