"""Advice on senders that are not registered (§2.1, A59)."""

from __future__ import annotations

import pytest

from sendbox.engine.world import World
from sendbox.interfaces import PARTS
from sendbox.services.account.account import Account
from sendbox.services.account.spec import AccountSpec
from sendbox.services.assume import Assume
from sendbox.services.messaging.http.accepting import unregistered
from sendbox.services.messaging.model import Recipient, Send, Step
from tests.scenarios import make_blueprint

TAKEN = "it is accepted anyway"
REJECTED = "the step will be rejected, and the message with it"
REGISTERED = {"sms": frozenset({"Acme"}), "richmsg": frozenset({"Acme"}), "chatapp": frozenset({"109"})}


@pytest.mark.parametrize(
    ("senders", "assume", "channel", "sender", "expected"),
    [
        ("any", "accept", "sms", "Other", ("sms", TAKEN)),
        ("any", "accept", "sms", "420900000001", None),
        ("any", "accept", "sms", None, None),
        (REGISTERED, "accept", "sms", "Acme", None),
        (REGISTERED, "accept", "sms", "420900000001", None),
        (REGISTERED, "accept", "sms", "Other", ("sms", TAKEN)),
        (REGISTERED, "strict", "sms", "Other", ("sms", REJECTED)),
        (REGISTERED, "accept", "richmsg", "Other", ("richmsg", REJECTED)),
        (REGISTERED, "accept", "chatapp_text", "110", ("chatapp", REJECTED)),
    ],
)  # fmt: skip
def test_a59_unregistered_senders(
    senders: object, assume: str, channel: str, sender: str | None, expected: tuple[str, str] | None
) -> None:
    """A sender that is not registered draws advice that says what becomes of the step."""
    spec = AccountSpec(senders=senders, numbers=frozenset({"420900000001"}))  # type: ignore[arg-type]  # parametrized
    settings = Assume(sms_sender=assume)  # type: ignore[arg-type]  # parametrized
    world = World("test-senders", make_blueprint(account=spec, assume=settings), start=0, services=PARTS)
    step = Step(channel, "Hello", sender)
    found = unregistered(world, Account.of(world), [Send([Recipient("420777000101")], [step])])
    lines = [] if expected is None else [f'"{sender}" is not registered as a sender for {expected[0]}; {expected[1]}']
    assert [advice.message for advice in found] == lines
    assert all(advice.note is (senders == "any") for advice in found)


def test_a59_where_the_sender_stands_and_where_the_flow_goes_on() -> None:
    """The path is that of the step's own sender or of the root's; a step that is rejected says what comes next."""
    world = World("test-senders", make_blueprint(account=AccountSpec(senders=REGISTERED)), start=0, services=PARTS)
    steps = [Step("richmsg", "Hello", "Other"), Step("sms", "Hello", "Mine", own_sender=True)]
    found = unregistered(world, Account.of(world), [Send([Recipient("420777000101")], steps, path="$[1]")])
    assert [(advice.path, advice.message.partition("; ")[2]) for advice in found] == [
        ("$[1].sender", "the step will be rejected, and the flow goes on with sms"),
        ("$[1].flow[1].sms.sender", TAKEN),
    ]
