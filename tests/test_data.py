"""Where the package finds its data files."""

from __future__ import annotations

from pathlib import Path

import pytest

from sendbox import data


@pytest.mark.parametrize("name", ["schemas", "scenarios"])
def test_a_wheel_has_its_own_copy(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What travels inside the package comes first."""
    (tmp_path / "sendbox" / "_data" / name).mkdir(parents=True)
    (tmp_path / name).mkdir()
    monkeypatch.setattr(data, "_PACKAGE", tmp_path / "sendbox")
    assert data.folder(name) == tmp_path / "sendbox" / "_data" / name  # type: ignore[arg-type]


def test_a_checkout_has_them_at_its_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a copy in the package, the folder of the checkout is read."""
    (tmp_path / "schemas").mkdir()
    monkeypatch.setattr(data, "_PACKAGE", tmp_path / "src" / "sendbox")
    assert data.folder("schemas") == tmp_path / "schemas"


def test_a_lost_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installation without the files says what is missing, where it looked, and what helps."""
    monkeypatch.setattr(data, "_PACKAGE", tmp_path / "src" / "sendbox")
    with pytest.raises(FileNotFoundError, match=r"schemas: neither in .*_data nor in .*; install sendbox again"):
        data.folder("schemas")
