"""The family `assumptions`: other values of the settings on which a run rests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from sendbox.exploring.families.table import FAMILIES
from sendbox.services.settings import SETTINGS
from tests.explore.rich import PLAIN, Client, Ran, Rich, misfortunes

if TYPE_CHECKING:
    from sendbox.fixture import Sandbox

USUAL: dict[str, Any] = {"sendbox": 1}


class Sale:
    """A client that sends to somebody, and to a number that cannot be."""

    def __init__(self) -> None:
        self.answer: dict[str, Any] = {}

    def do(self, sandbox: Sandbox) -> None:
        """What its test does."""
        to = [{"phone_number": PLAIN}, {"phone_number": "12"}]
        self.answer = Client(sandbox).call(f"{sandbox.base_url}/message", {"to": to, "body": "Hello"}).json()
        sandbox.advance("1m")


def tried(ran: Ran) -> dict[str, list[str]]:
    """The values that are tried, by the settings."""
    values: dict[str, list[str]] = {}
    for item in misfortunes(ran.census, "assumptions"):
        assert item.changing
        values.setdefault(item.spot.kind.name, []).append(str(item))
    return values


def test_a_kind_for_each_setting() -> None:
    """It cites the assumption of its setting."""
    assert {kind.name: kind.cites for kind in FAMILIES["assumptions"]} == {
        name: row.assumptions for name, row in SETTINGS.items()
    }


def test_partial_rejection(rich: Rich) -> None:
    """A number that cannot be is in the answer, not in a webhook; the find names the setting and the assumption."""
    shop = Sale()
    usual = rich.run((), shop.do, USUAL)
    assert (len(shop.answer["accepted"]), len(shop.answer["rejected"])) == (2, 0)
    assert tried(usual)["invalid_number"] == ["the setting invalid_number (A08) is response"]
    (item,) = (item for item in misfortunes(usual.census, "assumptions") if item.spot.kind.name == "invalid_number")
    broken = rich.run((item,), shop.do, USUAL)
    assert (len(shop.answer["accepted"]), len(shop.answer["rejected"])) == (1, 1)
    assert [message.phone for message in broken.census.messages] == [PLAIN]


@pytest.mark.unmeasured
@pytest.mark.parametrize(
    ("assume", "settings"),
    [
        pytest.param({}, {"invalid_number", "timing"}, id="usual"),
        pytest.param({"timing": {"sent": "2s"}}, {"invalid_number"}, id="one is set"),
    ],
)
def test_settings_of_the_test_are_kept(rich: Rich, assume: dict[str, Any], settings: set[str]) -> None:
    """Nor is a setting tried on which nothing rests."""
    names = set(tried(rich.run((), Sale().do, {**USUAL, "assume": assume})))
    assert settings <= names
    assert names.isdisjoint({"bulk", "proof", "verify_limits", *assume})
