"""Prints what `pyproject.toml` of this folder says that the package needs, a requirement a line: for `pip install -r`.

The arguments are the extras to add. The image installs these before the sources are there.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

project = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["project"]
extras = [project["optional-dependencies"][extra] for extra in sys.argv[1:]]
sys.stdout.writelines(f"{line}\n" for line in [*project["dependencies"], *(line for each in extras for line in each)])
