"""Puts the pages of the site together in `build/site`: the documents where they stand, so that their links hold.

`site.py check` looks whether the built reference has every public member of its objects; the exit code is 1 if not.

A pattern such as `docs/advice/*` in the navigation becomes the pages of that folder which have no line of their own. A
link to a file that is not a page leads to a copy of that file; a link to a folder leads to its first file.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from inspect import get_annotations
from pathlib import Path
from pkgutil import resolve_name
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
BUILD: Final = ROOT / "build" / "site"
PAGES: Final = BUILD / "pages"
CONFIG: Final = ROOT / "docs" / "site" / "config.yml"
REFERENCE: Final = ROOT / "docs" / "site" / "reference.md"
BUILT: Final = BUILD / "html" / "docs" / "site" / "reference.html"
_LINK: Final = re.compile(r"(\[[^\]]*\]\()([^)\s#]+)(?=[)#])")


def documents() -> list[Path]:
    """The pages: those of the top, those of docs/, and those of the helpers in examples/."""
    return [
        *sorted(ROOT.glob("*.md")),
        *sorted((ROOT / "docs").rglob("*.md")),
        *sorted((ROOT / "examples").rglob("*.md")),
    ]


def expanded(text: str) -> str:
    """The configuration, with a line for each page that a pattern of the navigation stands for."""
    lines = text.splitlines()
    named = {line.strip().removeprefix("- ") for line in lines}
    found = []
    for line in lines:
        entry = re.fullmatch(r"( +- )(\S+/)\*", line)
        if entry is None:
            found.append(line)
        else:
            names = [f"{entry[2]}{path.name}" for path in sorted((ROOT / entry[2]).glob("*.md"))]
            found += [f"{entry[1]}{name}" for name in names if name not in named]
    return "\n".join(found) + "\n"


def put(path: Path) -> None:
    """Copies a document, and the files that it links to."""
    text = path.read_text("utf-8")

    def target(match: re.Match[str]) -> str:
        linked = (path.parent / match[2]).resolve()
        name = match[2]
        if linked.is_dir():
            first = min(linked.iterdir())
            linked, name = first, f"{name}/{first.name}"
        if linked.is_file() and linked.suffix != ".md":
            copy(linked)
        return f"{match[1]}{name}"

    place = PAGES / path.relative_to(ROOT)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(_LINK.sub(target, text), "utf-8")


def copy(path: Path) -> None:
    """Copies a file to where it stands in the repository."""
    place = PAGES / path.relative_to(ROOT)
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(path, place)


def objects() -> list[str]:
    """The objects that the reference names."""
    return re.findall(r"^::: (\S+)$", REFERENCE.read_text("utf-8"), re.MULTILINE)


def members(name: str) -> Iterator[str]:
    """The public members of a class, its own and those of its bases in Sendbox; a function has none."""
    if name.rpartition(".")[2][0].isupper():
        for base in resolve_name(name).__mro__:
            if base.__module__.startswith("sendbox."):
                yield from (member for member in {**get_annotations(base), **vars(base)} if member[0] != "_")


def missing(page: str) -> list[str]:
    """The objects and members that a built page of the reference does not have."""
    wanted = {name for each in objects() for name in (each, *(f"{each}.{member}" for member in members(each)))}
    return sorted(wanted - set(re.findall(r'<h\d id="([^"]+)"', page)))


def main() -> None:
    """Makes the folder anew, or checks what was built."""
    if sys.argv[1:] == ["check"]:
        if lacking := missing(BUILT.read_text("utf-8")):
            sys.exit(f"the reference of the site does not have {', '.join(lacking)}: is there a docstring?")
        return
    shutil.rmtree(BUILD, ignore_errors=True)
    for path in documents():
        put(path)
    text = CONFIG.read_text("utf-8").replace("../../build/site/", "")
    (BUILD / "config.yml").write_text(expanded(text), "utf-8")


if __name__ == "__main__":
    main()
