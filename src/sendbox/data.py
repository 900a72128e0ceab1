"""The folders of the package's data files: the schemas and the scenario library.

The wheel carries both folders as `sendbox/_data/`; a checkout (also one installed with `pip install -e`) has them at
its root, where they are edited.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

_PACKAGE = Path(__file__).resolve().parent


def folder(name: Literal["schemas", "scenarios"]) -> Path:
    """The folder of that name; `FileNotFoundError` in an incomplete installation."""
    for root in (_PACKAGE / "_data", _PACKAGE.parents[1]):
        if (root / name).is_dir():
            return root / name
    raise FileNotFoundError(
        f"{name}: neither in {_PACKAGE / '_data'} nor in {_PACKAGE.parents[1]}; install sendbox again"
    )
