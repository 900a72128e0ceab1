"""The family `account`: what is taken away is missing from its instant on, and not before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from sendbox.engine.durations import duration
from sendbox.exploring.census import Census
from sendbox.exploring.families.table import FAMILIES
from tests.explore.rich import PLAIN, RICH, Client, Ran, Rich, misfortunes, others
from tests.tiers import turn

if TYPE_CHECKING:
    from sendbox.fixture import Sandbox

#: Why attempts are refused then.
WHY: Final = {
    "credit": {"credit"},
    "sender": {"sender"},
    "number": {"sender"},
    "template": {"template-not-approved"},
}


def refusals(ran: Ran, at: int) -> set[tuple[str, str, int]]:
    """Who was refused at an instant, and why."""
    return {(entry["why"], entry["message_id"], entry["attempt"]) for entry in ran.entries("refusal", at)}


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", [kind.name for kind in FAMILIES["account"]])
def test_what_is_taken_away_is_missing(rich: Rich, base: Ran, name: str) -> None:
    """An attempt of that instant is refused for it; all before is as it was."""
    items = [item for item in misfortunes(base.census, "account") if item.spot.kind.name == name]
    for item in turn(items, 0, 3):
        (entry,) = item.value.parts["timeline"]
        at = duration(entry["at"])
        ran = rich.run((item,))
        refused = refusals(ran, at) - refusals(base, at)
        assert {why for why, _, _ in refused} == WHY[name], str(item)
        before, now = ([entry for entry in others(run) if entry[0] < at] for run in (base, ran))
        assert now == before, str(item)


def test_who_pays_for_itself_is_not_about_the_credit(base: Ran) -> None:
    """A key with credit of its own does not count, one that shares the account's does."""
    assert list(dict.fromkeys(at for at, _ in base.census.charged)) == [0, 20_000, 30_000, 34_000, 300_000]


def test_the_credit_ends_behind_each_message(rich: Rich) -> None:
    """Of a call to four phones: all before are sent, all behind are refused; of more, so many places are tried."""

    def do(sandbox: Sandbox) -> None:
        Client(sandbox).send(*(f"42077700995{number}" for number in range(4)), body="Sale")
        sandbox.advance("10s")

    usual = {"sendbox": 1}
    items = [item for item in misfortunes(rich.run((), do, usual).census, "account") if item.spot.kind.name == "credit"]
    assert [str(item) for item in items] == [
        "the credit of the account at 0s has ended",
        *(f"the credit of the account at 0s suffices for {count} of 4 messages" for count in (1, 2, 3)),
    ]
    for item in items:
        refused = [message.attempts[-1].nth == 0 for message in rich.run((item,), do, usual).census.messages]
        assert refused == [False] * item.number + [True] * (4 - item.number)
    many = Census(1, (), (), (), (), (), (), ((0, 45_000),) * 100)
    (spot,) = FAMILIES["account"][0].spots(FAMILIES["account"][0], many)
    assert len(spot.values) == 20
    assert spot.values[-1].says == "suffices for 99 of 100 messages"


def test_only_one_sender_is_withdrawn(base: Ran) -> None:
    """The others stay, of its family and of others."""
    item = next(item for item in misfortunes(base.census, "account") if "sms sender Shop" in item.spot.place)
    (entry,) = item.value.parts["timeline"]
    assert entry["account"]["senders"] == {"sms": ["Other"], "richmsg": ["Acme"], "chatapp": ["209876543210987"]}


@pytest.mark.unmeasured
def test_where_all_senders_are_registered(rich: Rich) -> None:
    """Those that the client uses stay, without the one that is withdrawn."""

    def do(sandbox: Sandbox) -> None:
        client = Client(sandbox)
        for sender in ("Acme", "Bakery"):
            client.send(
                RICH,
                flow=[{"richmsg": {"sender": sender, "body": "Hello"}}, {"sms": {"sender": "Shop", "body": "Hello"}}],
            )
        client.send(PLAIN, body="Hello")
        sandbox.advance("10s")

    usual = {"sendbox": 1, "extends": "default"}
    census = rich.run((), do, usual).census
    assert census.senders == (("richmsg", "Acme"), ("richmsg", "Bakery"), ("sms", "Shop"))
    item = next(item for item in misfortunes(census, "account") if item.spot.kind.name == "sender")
    assert item.spot.place == "the richmsg sender Acme at 0s"
    refused, sent = (
        [attempt.results[0][0] for attempt in message.attempts]
        for message in rich.run((item,), do, usual).census.messages
        if message.phone == RICH
    )
    assert (refused, sent) == (["rejected", "sending"], ["sending"])
