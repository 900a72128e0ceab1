"""Writes the golden files anew, and says which changed."""

from __future__ import annotations

import sys

from tests.playing.golden import CASES, file, made


def main() -> None:
    """Rewrites what differs."""
    for name, how in CASES:
        path, new = file(name, how), made(name, how)
        if not path.exists() or path.read_text("utf-8") != new:
            path.write_text(new, "utf-8")
            sys.stdout.write(f"{path.name} is written\n")


if __name__ == "__main__":
    main()
