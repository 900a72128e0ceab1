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
#: And of the message, where it was the last step, or another follows.
ENDS = "and the message with it"
GOES_ON = "and the flow goes on with"


def unregistered(world: World, sends: Iterable[Send]) -> list[Advice]:
    """One advice for each sender of a channel; the same records for the same senders, since clients repeat them."""
    account = world.account
    senders = account.senders
    found: list[Advice] = []
    for send in sends:
        for index, step in enumerate(send.steps):
            sender = step.sender
            if sender is None:
                continue
            family = FAMILY[step.channel]
            number = account.business.get(sender)
            if number is not None and number.sends:
                continue
            if senders == "any":
                if not (family == "sms" and sender in account.numbers):
                    found.append(_advice(_path(send, index), family, sender, TAKEN, True))
            elif not account.registered(family, sender):
                fate = TAKEN
                if family != "sms" or world.assume.sms_sender == "strict":
                    last = index == len(send.steps) - 1
                    fate = f"{REJECTED}, {ENDS if last else f'{GOES_ON} {send.steps[index + 1].channel}'}"
                found.append(_advice(_path(send, index), family, sender, fate, False))
    return found


def _path(send: Send, index: int) -> str:
    """Where the sender of a step stands: in the step, or at the root."""
    if send.own_senders >> index & 1:
        return f"{send.path}.flow[{index}].{send.steps[index].channel}.sender"
    return f"{send.path}.sender"


@lru_cache(4096)
def _advice(path: str, family: str, sender: str, what: str, note: bool) -> Advice:
    text = f'"{sender}" is not registered as a sender for {family}; {what}'
    return advise(SENDER_NOT_REGISTERED, text, path, note=note)
