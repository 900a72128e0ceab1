"""`python -m tests.mutation [--sample N] [--seed WORD] [--jobs N] [--again]`: a sample of mutants against the tests.

First the tests run once under coverage, which shows which test runs which line; `--again` uses what an earlier run
showed.
It needs cosmic-ray, which the extra `mutation` brings.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys

import pytest

from tests.mutation.contexts import COSTS, Coverings
from tests.mutation.mutants import ROOT, sample
from tests.mutation.run import Run, silence

FOLDER = ROOT / "build" / "mutation"
#: Tests of whole worlds: each runs nearly every line, so that they would tell nothing and cost much.
WHOLE = (
    "tests/recorded",
    "tests/replaying",
    "tests/scenario/test_mutations.py",
    "tests/examples",
    "tests/traceability",
)


def main() -> int:
    """Print each mutant's fate, and how many were seen."""
    options = argparse.ArgumentParser(prog="python -m tests.mutation")
    options.add_argument("--sample", type=int, default=300)
    options.add_argument("--seed", default="1")
    options.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options.add_argument("--again", action="store_true")
    chosen = options.parse_args()
    if not chosen.again:
        _cover(chosen.jobs)
    mutants = sample(chosen.sample, chosen.seed)
    out = os.fdopen(os.dup(1), "w", buffering=1)

    def say(line: str) -> None:
        out.write(line + "\n")

    run = Run(mutants, Coverings.read(FOLDER), chosen.jobs, say)
    silence()
    pytest.main(["-q", "-p", "no:cacheprovider", "-m", "not alone"], plugins=[run])
    missed = [fate for fate in run.fates if not fate.seen]
    say(f"{len(run.fates)} mutants, {len(run.fates) - len(missed)} seen, {len(missed)} not seen")
    return 0 if len(run.fates) == len(mutants) else 1


def _cover(jobs: int) -> None:
    """Run all tests once, and keep which of them run which line."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    environment = {**os.environ, COSTS: str(FOLDER), "COVERAGE_FILE": str(FOLDER / "part")}
    run = [sys.executable, "-m", "coverage"]
    tests = ["-m", "pytest", "-q", "-n", str(jobs), "-m", "not alone", "-p", "tests.mutation.contexts"]
    whole = [f"--ignore={path}" for path in WHOLE]
    subprocess.run([*run, "run", *tests, *whole], cwd=ROOT, env=environment, check=False)
    parts = sorted(str(path) for path in FOLDER.glob("part.*"))
    subprocess.run(
        [*run, "combine", "--quiet", "--data-file", str(FOLDER / "coverage"), *parts],
        cwd=ROOT,
        env=environment,
        check=True,
    )


if __name__ == "__main__":
    sys.exit(main())
