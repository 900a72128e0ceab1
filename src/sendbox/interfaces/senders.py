"""Advice on senders that the account has not registered, with what becomes of the message (§2.1, A59)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from sendbox.core.advice import SENDER_NOT_REGISTERED, advise
from sendbox.core.model import FAMILY

if TYPE_CHECKING:
    from sendbox.core.model import Send
    from sendbox.core.remarks import Advice
    from sendbox.core.world import World

#: What becomes of a step whose sender is not registered.
TAKEN = "it is taken all the same"
REJECTED = "the step will be rejected"


def unregistered(world: World, sends: Iterable[Send]) -> list[Advice]:
    """One advice for each sender of a channel; the same records for the same senders, since clients repeat them."""
    account = world.account
    senders = account.senders
    found: list[Advice] = []
    for send in sends:
        for step in send.steps:
            sender = step.sender
            if sender is None:
                continue
            family = FAMILY[step.channel]
            number = account.business.get(sender)
            if number is not None and number.sends:
                continue
            if senders == "any":
                if not (family == "sms" and sender in account.numbers):
                    found.append(_advice(send.path, family, sender, TAKEN))
            elif not account.registered(family, sender):
                taken = family == "sms" and world.assume.sms_sender == "accept"
                found.append(_advice(send.path, family, sender, TAKEN if taken else REJECTED))
    return found


@lru_cache(4096)
def _advice(path: str, family: str, sender: str, what: str) -> Advice:
    return advise(SENDER_NOT_REGISTERED, f'"{sender}" is not registered as a sender for {family}; {what}', path)
