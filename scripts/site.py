"""Puts the pages of the site together in `build/site`: the documents where they stand, so that their links hold.

A pattern such as `docs/advice/*` in the navigation becomes the pages of that folder which have no line of their own. A
link to a file that is not a page leads to a copy of that file; a link to a folder leads to its first file.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
BUILD: Final = ROOT / "build" / "site"
PAGES: Final = BUILD / "pages"
CONFIG: Final = ROOT / "docs" / "site" / "config.yml"
_LINK: Final = re.compile(r"(\[[^\]]*\]\()([^)\s#]+)(?=[)#])")


def documents() -> list[Path]:
    """The pages: those of the top, and those of docs/."""
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


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


def main() -> None:
    """Makes the folder anew."""
    shutil.rmtree(BUILD, ignore_errors=True)
    for path in documents():
        put(path)
    text = CONFIG.read_text("utf-8").replace("../../build/site/", "")
    (BUILD / "config.yml").write_text(expanded(text), "utf-8")


if __name__ == "__main__":
    main()
