"""Writes the record anew and says what changed: `python -m tests.recorded`. With `--show NAME [PART]`, prints it.

NAME is a world (`world-017`), a scenario of the library, or a golden text.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from tests.recorded import library, record, worlds
from tests.recorded.box import served
from tests.recorded.golden import TEXTS
from tests.recorded.text import hashed, pretty


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text("utf-8") != text:
        path.write_text(text, "utf-8")
        _say(f"{path.relative_to(record.FOLDER)} is written")


def _changes(file: str, found: Mapping[str, record.Parts]) -> None:
    """Says which worlds changed, part by part."""
    if not (record.FOLDER / file).exists():
        return
    before = record.hashes(file)
    now = {name: {part: hashed(value) for part, value in values.items()} for name, values in found.items()}
    for name in sorted({*before, *now}):
        old, new = before.get(name, {}), now.get(name, {})
        parts = sorted(part for part in {*old, *new} if old.get(part) != new.get(part))
        if parts:
            _say(f"{name} changed: {', '.join(parts)}")


def write() -> None:
    """The whole record."""
    names = [worlds.name_of(number) for number in range(worlds.COUNT)]
    random, tried = record.played(names)
    stories, _ = record.played(library.played())
    for file, found in (("worlds.txt", random), ("library.txt", stories)):
        _changes(file, found)
        _write(record.FOLDER / file, record.lines_of(found))
    _write(record.FOLDER / "tried.txt", tried)
    for name in record.WHOLE:
        _write(record.FOLDER / "whole" / f"{name}.txt", record.whole(random[name]))
    for name, made in TEXTS.items():
        _write(record.FOLDER / "texts" / f"{name}.txt", made())
    wanted = {*(f"whole/{name}.txt" for name in record.WHOLE), *(f"texts/{name}.txt" for name in TEXTS)}
    for path in sorted(record.FOLDER.glob("*/*.txt")):
        if str(path.relative_to(record.FOLDER)) not in wanted:
            path.unlink()
            _say(f"{path.relative_to(record.FOLDER)} is taken away")


def show(name: str, part: str | None) -> None:
    """What a world, or one part of it, is now; or a golden text."""
    if name in TEXTS:
        _say(TEXTS[name]())
        return
    with served() as server:
        values = record.Session(server).parts(name)
    _say(record.whole(values) if part is None else pretty(values[part]))


def main(arguments: list[str]) -> None:
    """Records, or shows."""
    if not arguments:
        write()
    elif arguments[0] == "--show" and len(arguments) in (2, 3):
        show(arguments[1], arguments[2] if len(arguments) == 3 else None)
    else:
        sys.exit(f"{' '.join(arguments)} is not understood\n\n{__doc__}")


if __name__ == "__main__":
    main(sys.argv[1:])
