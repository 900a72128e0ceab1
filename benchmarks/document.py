"""The generated parts of docs/performance.md, from the figures of a run (`docs/performance/figures.json`)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from benchmarks import plots
from benchmarks.goals import Row
from benchmarks.peers import PEERS
from benchmarks.report import number
from benchmarks.table import PEER, ROWS
from benchmarks.trees import HERE, ROOT

FOLDER: Final = ROOT / "docs" / "performance"
FIGURES: Final = FOLDER / "figures.json"


def run() -> dict[str, Any]:
    """The run whose figures the page shows; nothing measured where there is none."""
    if not FIGURES.exists():
        return {"trees": {}}
    found: dict[str, Any] = json.loads(FIGURES.read_text("utf-8"))
    return found


def rows_of(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """The rows of this checkout in a run."""
    rows: Mapping[str, Any] = document["trees"].get(HERE, {}).get("rows", {})
    return rows


def origin(document: Mapping[str, Any]) -> str:
    """Where and when a run was."""
    if not document["trees"]:
        return "Nothing was measured yet."
    machine = document["machine"]
    quick = ", with fewer rounds and smaller worlds (`--quick`)" if document["quick"] else ""
    return (
        f"Measured on {document['date']} at revision `{document['trees'][HERE]['revision']}`{quick}: "
        f"{machine['system']}, {machine['cores']} cores, Python {machine['python']}."
    )


def measured(row: Row, rows: Mapping[str, Any]) -> tuple[str, str]:
    """The figure of a row and its verdict, as words. The verdict is that of the present goal."""
    figure = rows.get(row.name, {}).get("figure")
    if figure is None:
        return "", row.goal.verdict(None)
    return number(figure), row.goal.verdict(figure)


def figures() -> str:
    """The table of all goals, and the plots."""
    from tests.documentation.markdown import table

    document = run()
    rows = rows_of(document)
    cells = [
        (row.figure, f"{row.goal} {row.unit}" if str(row.goal) else row.unit, *measured(row, rows), row.meaning)
        for row in ROWS
        if not row.apart
    ]
    shown = table(("figure", "goal", "measured", "verdict", "what it is"), cells)
    images = [f"![{plot.title}](performance/{plot.name}.svg)" for plot in plots.PLOTS if drawn(plot.name, document)]
    return "\n\n".join([origin(document), shown, *images])


def drawn(name: str, document: Mapping[str, Any]) -> bool:
    """Whether a run has what a plot needs."""
    return f"{name}.svg" in plots.drawn(rows_of(document))


def peers() -> str:
    """The table of other programs."""
    from tests.documentation.markdown import table

    document = run()
    rows = rows_of(document)
    cells = []
    for peer in PEERS:
        row = next(row for row in ROWS if row.name == f"{PEER}{peer.name}")
        entry = rows.get(row.name, {})
        figure = entry.get("figure")
        why = "; ".join(entry.get("broken", ())) or "not measured"
        cells.append((peer.title, f"{number(figure)} times" if figure else why, peer.does, peer.without))
    return table(("program", "processor time of a request, of ours", "does", "does not"), cells)


#: The parts by name.
PARTS: Final = {"figures": figures, "other programs": peers}
