"""Writes what is generated anew: parts of schema and documents, plots, the compiled scenario.

It says what changed. With `zoo` it explores the zoo before, which takes minutes.
"""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks import document, plots
from sendbox.scenario.shape import schema
from tests.documentation.kept import KEPT, text
from tests.documentation.language import LANGUAGE, with_tables
from tests.documentation.markdown import DOCUMENTS, ROOT, filled, text_of
from tests.documentation.parts import render
from tests.explore.zoo import running as zoo


def main() -> None:
    """Rewrites what is stale: the schema first, since the documents show the language as it is read from there."""
    write(LANGUAGE, with_tables(text_of(LANGUAGE)))
    schema.cache_clear()
    if "zoo" in sys.argv[1:]:
        write(zoo.KEPT, zoo.fresh())
    for path in DOCUMENTS:
        write(path, filled(text_of(path), render))
    for name, plot in plots.drawn(document.rows_of(document.run())).items():
        write(document.FOLDER / name, plot)
    write(KEPT, text().decode())


def write(path: Path, content: str) -> None:
    """Writes a file unless it has this content, and says so."""
    if not path.exists() or text_of(path) != content:
        path.write_text(content, "utf-8")
        sys.stdout.write(f"{path.relative_to(ROOT)} is written\n")


if __name__ == "__main__":
    main()
