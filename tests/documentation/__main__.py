"""Writes what is generated anew: parts of schema and documents, plots, the compiled scenario, what the zoo shows.

It says what changed.
"""

from __future__ import annotations

import sys

from benchmarks import document, plots
from sendbox.scenario.shape import schema
from tests.documentation.kept import KEPT, text
from tests.documentation.language import LANGUAGE, with_tables
from tests.documentation.markdown import DOCUMENTS, ROOT, filled, text_of
from tests.documentation.parts import render
from tests.explore.zoo import running as zoo


def main() -> None:
    """Rewrites what is stale."""
    found = zoo.fresh()
    if not zoo.KEPT.exists() or text_of(zoo.KEPT) != found:
        zoo.KEPT.write_text(found, "utf-8")
        sys.stdout.write(f"{zoo.KEPT.relative_to(ROOT)} is written\n")
    for path in (LANGUAGE, *DOCUMENTS):
        old = text_of(path)
        new = with_tables(old) if path == LANGUAGE else filled(old, render)
        if new != old:
            path.write_text(new, "utf-8")
            schema.cache_clear()  # the documents show the schema that was written
            sys.stdout.write(f"{path.relative_to(ROOT)} is written\n")
    for name, plot in plots.drawn(document.rows_of(document.run())).items():
        path = document.FOLDER / name
        if not path.exists() or text_of(path) != plot:
            path.write_text(plot, "utf-8")
            sys.stdout.write(f"{path.relative_to(ROOT)} is written\n")
    if KEPT.read_bytes() != text():
        KEPT.write_bytes(text())
        sys.stdout.write(f"{KEPT.relative_to(ROOT)} is written\n")


if __name__ == "__main__":
    main()
