"""The table of advice codes."""

from __future__ import annotations

import re

import pytest

from sendbox.engine.remarks import Advice
from sendbox.services import advice
from sendbox.services.advice import ADVICE, advise


def test_codes_are_constants_with_a_row() -> None:
    """Each code is a lower-case word with hyphens, a constant of the same name, and has a row."""
    constants = {name: value for name, value in vars(advice).items() if name.isupper() and isinstance(value, str)}
    assert set(constants.values()) == set(ADVICE)
    for name, code in constants.items():
        assert re.fullmatch(r"[a-z]+(-[a-z0-9]+)*", code)
        assert name == code.upper().replace("-", "_")


def test_rows_are_whole() -> None:
    """A row has a meaning of one line, a section, and an assumption of the registry's form or none."""
    assert [code for code, kind in ADVICE.items() if not re.fullmatch(r".+", kind.meaning)] == []
    assert [code for code, kind in ADVICE.items() if not re.fullmatch(r"§[0-9](\.[0-9])?", kind.section)] == []
    assert [code for code, kind in ADVICE.items() if not re.fullmatch(r"(A[0-9]{2})?", kind.assumed or "")] == []


def test_advise_takes_section_and_assumption_from_the_table() -> None:
    """Advice carries its row's section and assumption; a more exact section may be given."""
    assert advise("unknown-field", "m", "$.x") == Advice("unknown-field", "m", "$.x", "§2", "A57")
    assert advise("unknown-field", "m", "$.x", "§2.2").section == "§2.2"


def test_advise_refuses_an_unknown_code() -> None:
    """A code without a row is a mistake of ours."""
    with pytest.raises(KeyError):
        advise("no-such-code", "m", "$")


def test_codes_are_checked_and_the_nearest_named() -> None:
    """A word that is not a code is an error with the nearest code, where one is near."""
    assert advice.codes(["unknown-field", "unknown-field"]) == {"unknown-field"}
    with pytest.raises(
        ValueError, match=r"'unknown-feeld' is not a code of advice; did you mean \"unknown-field\"\?; legal:"
    ):
        advice.codes(["unknown-feeld"])
    with pytest.raises(ValueError, match=r"'zzz' is not a code of advice; legal:"):
        advice.codes(["zzz"])
