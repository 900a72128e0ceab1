"""Writes the generated parts of the documents anew, and says which documents changed."""

from __future__ import annotations

import sys

from tests.documentation.markdown import DOCUMENTS, ROOT, filled, text_of
from tests.documentation.parts import render


def main() -> None:
    """Rewrites what is stale."""
    for path in DOCUMENTS:
        old = text_of(path)
        new = filled(old, render)
        if new != old:
            path.write_text(new, "utf-8")
            sys.stdout.write(f"{path.relative_to(ROOT)} is written\n")


if __name__ == "__main__":
    main()
