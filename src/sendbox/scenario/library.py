"""The scenario library: the files that travel with the package, by name."""

from __future__ import annotations

from pathlib import Path

from sendbox import data


def folder() -> Path:
    """The folder of the library."""
    return data.folder("scenarios").resolve()


def names() -> tuple[str, ...]:
    """The names of the library's scenarios, `default` first."""
    stems = sorted(file.stem for file in folder().glob("*.yaml"))
    return tuple(sorted(stems, key=lambda name: name != "default"))


def path(name: str) -> Path:
    """The file of a scenario of the library. Raises KeyError for a name it does not have."""
    if name not in names():
        raise KeyError(name)
    return folder() / f"{name}.yaml"
