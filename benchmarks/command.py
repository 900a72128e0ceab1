"""The command line of the benchmarks: what is measured, against what, and where the figures go."""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks import plots, report
from benchmarks.bench import Bench
from benchmarks.goals import Row
from benchmarks.processes import Broken
from benchmarks.report import Figures
from benchmarks.table import PEER, ROWS
from benchmarks.trees import HERE, Tree, here, revision


def parser() -> argparse.ArgumentParser:
    """The options."""
    made = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measures every figure that has a goal, as ratios within one run. Load goes to loopback only.",
    )
    made.add_argument("--only", nargs="+", metavar="ROW", help="measure these rows; a name ends in * for several")
    made.add_argument("--peers", action="store_true", help="measure other programs too; installs them into build/")
    made.add_argument("--list", action="store_true", help="show the rows and their goals, and measure nothing")
    made.add_argument("--quick", action="store_true", help="fewer rounds and smaller worlds")
    made.add_argument("--json", metavar="PATH", type=Path, help="write the figures as JSON")
    made.add_argument(
        "--plots", metavar="FOLDER", type=Path, help="draw cost over messages, worlds and lines of a file as SVG"
    )
    made.add_argument(
        "--against", metavar="REV", help="measure this revision too, in turn; exit 1 when a row lost more than a tenth"
    )
    return made


def chosen(names: Sequence[str] | None, *, peers: bool = False) -> list[Row]:
    """The rows of these names, for None all but those apart; with `peers` the peers too.

    Raises ValueError for a name that is no row.
    """
    found = [row for row in ROWS if (names is None and not row.apart) or (peers and row.name.startswith(PEER))]
    if names is None:
        return found
    for name in names:
        rows = [row for row in ROWS if row.name == name or (name.endswith("*") and row.name.startswith(name[:-1]))]
        if not rows:
            raise ValueError(f"{name!r} is not a row: {', '.join(row.name for row in ROWS)} are")
        found += [row for row in rows if row not in found]
    return found


def measured(
    rows: Sequence[Row], bench: Bench, keep: Callable[[Mapping[str, Figures]], None] = lambda found: None
) -> dict[str, Figures]:
    """Runs the scenes of these rows; the figures by the name of a tree. `keep` gets them after each scene."""
    found = {tree.name: Figures() for tree in bench.trees}
    for scene in dict.fromkeys(row.scene for row in rows):
        names = [row.name for row in rows if row.scene is scene]
        began = time.perf_counter()
        try:
            for name, figures in scene(bench):
                found[name].add({key: value for key, value in figures.items() if key.partition(":")[0] in names})
        except Broken as error:
            bench.note(bench.trees[0], str(error))
        for tree in bench.trees:
            for row in rows:
                if row.scene is scene:
                    title = f"{tree.name}: " if len(bench.trees) > 1 else ""
                    print(f"{title}{report.line(row, found[tree.name])}", flush=True)
            for why in bench.broken.pop(tree.name, []):
                print(f"  {tree.name}, {', '.join(names)}: {why}", file=sys.stderr, flush=True)
                for name in names:
                    found[tree.name].broken.setdefault(name, []).append(why)
        print(f"  ({time.perf_counter() - began:.0f} s)", file=sys.stderr, flush=True)
        keep(found)
    return found


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
    }


def document(rows: Sequence[Row], bench: Bench, found: Mapping[str, Figures]) -> dict[str, Any]:
    """A run as JSON."""
    return {
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "machine": machine(),
        "quick": bench.quick,
        "trees": {
            tree.name: {"revision": tree.revision, "rows": report.as_json(rows, found[tree.name])}
            for tree in bench.trees
        },
    }


def compared(rows: Sequence[Row], ours: Figures, theirs: Figures, name: str) -> bool:
    """Prints how each row changed against another tree; whether none lost."""
    print(f"\nagainst {name}:")
    changes = [(row, report.change(row, ours, theirs)) for row in rows]
    for row, change in changes:
        if change is None:
            print(f"{row.name:<18} not measured in both")
        else:
            words = "worse" if change.loss > 0 else "better"
            print(f"{row.name:<18} {abs(change.loss):>7.1%} {words}{'  LOST' if change.lost else ''}")
    return not any(change is not None and change.lost for _, change in changes)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures and prints; 0, 1 when a row lost against another revision, 2 for wrong arguments."""
    given = parser().parse_args(arguments)
    try:
        rows = chosen(given.only, peers=given.peers)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    if given.list:
        for row in ROWS if given.only is None else rows:
            print(f"{row.name:<18} {row.figure}: {row.goal} {row.unit}")
        return 0
    with ExitStack() as stack:
        trees: list[Tree] = [here()]
        if given.against:
            try:
                trees.append(stack.enter_context(revision(given.against)))
            except subprocess.CalledProcessError as error:
                print(f"{given.against!r} is not a revision: {error.stderr.strip()}", file=sys.stderr)
                return 2
        bench = Bench(trees, quick=given.quick)
        stack.callback(bench.close)

        def keep(found: Mapping[str, Figures]) -> None:
            """Writes what was measured so far, so that a run that is stopped has its figures."""
            if given.json:
                given.json.parent.mkdir(parents=True, exist_ok=True)
                text = json.dumps(document(rows, bench, found), indent=1, ensure_ascii=False)
                given.json.write_text(f"{text}\n", "utf-8")

        found = measured(rows, bench, keep)
        if given.plots:
            given.plots.mkdir(parents=True, exist_ok=True)
            for name, text in plots.drawn(report.as_json(rows, found[HERE])).items():
                (given.plots / name).write_text(text, "utf-8")
        if given.against:
            return 0 if compared(rows, found[HERE], found[given.against], given.against) else 1
    return 0
