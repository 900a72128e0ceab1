"""Advice on senders that are not registered (§2.1, A59)."""

from __future__ import annotations

import pytest

from sendbox.core.assume import Assume
from sendbox.core.blueprint import AccountSpec, Blueprint
from sendbox.core.model import Recipient, Send, Step
from sendbox.core.world import World
from sendbox.interfaces.senders import unregistered

REGISTERED = {"sms": frozenset({"Acme"}), "richmsg": frozenset({"Acme"}), "chatapp": frozenset({"109"})}


@pytest.mark.parametrize(
    ("senders", "assume", "channel", "sender", "expected"),
    [
        ("any", "accept", "sms", "Other", '"Other" is not registered as a sender for sms; it is taken all the same'),
        ("any", "accept", "sms", "420900000001", None),
        ("any", "accept", "sms", None, None),
        (REGISTERED, "accept", "sms", "Acme", None),
        (REGISTERED, "accept", "sms", "420900000001", None),
        (REGISTERED, "accept", "sms", "Other", '"Other" is not registered as a sender for sms; it is taken all the same'),
        (REGISTERED, "strict", "sms", "Other", '"Other" is not registered as a sender for sms; the step will be rejected'),
        (REGISTERED, "accept", "richmsg", "Other", '"Other" is not registered as a sender for richmsg; the step will be rejected'),
        (REGISTERED, "accept", "chatapp_text", "110", '"110" is not registered as a sender for chatapp; the step will be rejected'),
    ],
)  # fmt: skip
def test_a59_unregistered_senders(
    senders: object, assume: str, channel: str, sender: str | None, expected: str | None
) -> None:
    """A sender that is not registered draws advice that says what becomes of the step."""
    spec = AccountSpec(senders=senders, numbers=frozenset({"420900000001"}))  # type: ignore[arg-type]  # parametrized
    settings = Assume(sms_sender=assume)  # type: ignore[arg-type]  # parametrized
    world = World("test-senders", Blueprint(account=spec, assume=settings), start=0)
    step = Step(channel, "Hello", sender)  # type: ignore[arg-type]  # parametrized
    found = unregistered(world, [Send([Recipient("420777000101")], [step])])
    assert [advice.message for advice in found] == ([] if expected is None else [expected])
