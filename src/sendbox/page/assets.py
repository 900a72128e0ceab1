"""The files of the page: scripts, styles, icons. All of them are in the package; nothing comes from another host.

Their address has a stamp of their content, so a browser keeps them for as long as they do not change.
"""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path
from typing import Final, NamedTuple

FOLDER: Final = Path(__file__).parent / "static"
#: What a file is, by its ending; others are not served.
TYPES: Final = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
#: The styles, in the order in which they apply; those of the views follow by name.
STYLES: Final = ("look.css", "frame.css")


class Assets(NamedTuple):
    """The files by path, each with its type, and the stamp of all."""

    files: dict[str, tuple[bytes, str]]
    stamp: str

    @property
    def styles(self) -> list[str]:
        """The styles of the page."""
        names = sorted(path for path in self.files if path.startswith("css/"))
        first = [f"css/{name}" for name in STYLES]
        return [*first, *(name for name in names if name not in first and name != "css/hosted.css")]


@functools.cache
def assets() -> Assets:
    """All files. They are read once, which takes too long for the event loop."""
    paths = sorted(path for path in FOLDER.rglob("*") if path.suffix in TYPES)
    files = {path.relative_to(FOLDER).as_posix(): (path.read_bytes(), TYPES[path.suffix]) for path in paths}
    digest = hashlib.sha256()
    for name, (content, _) in files.items():
        digest.update(f"{name} {len(content)}\n".encode() + content)
    return Assets(files, digest.hexdigest()[:12])
