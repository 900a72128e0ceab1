"""Advice on senders that the account has not registered, with what becomes of the message (§2.1, A59)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from sendbox.services.advice import SENDER_NOT_REGISTERED, advise
from sendbox.services.assume import Assume
from sendbox.services.messaging.channels import FAMILY, ROWS

if TYPE_CHECKING:
    from sendbox.engine.remarks import Advice
    from sendbox.engine.world import World
    from sendbox.services.messaging.model import Send
    from sendbox.services.ports import Account

#: What becomes of a step whose sender is not registered.
TAKEN = "it is accepted anyway"
REJECTED = "the step will be rejected"
#: And of the message, where it was the last step, or another follows.
ENDS = "and the message with it"
GOES_ON = "and the flow goes on with"


def unregistered(world: World, account: Account, sends: Iterable[Send]) -> list[Advice]:
    """One advice for each sender of a channel; the same records for the same senders, since clients repeat them."""
    senders = account.senders
    remarks: list[Advice] = []
    for send in sends:
        for index, step in enumerate(send.steps):
            sender, channel = step.sender, ROWS[step.channel]
            if sender is None:
                continue
            number = account.business.get(sender)
            if number is not None and number.sends:
                continue
            own = send.own_senders >> index & 1
            if senders == "any":
                if not (channel.numbers and sender in account.numbers):
                    remarks.append(_advice(send.path, own, index, channel.name, sender, TAKEN, True))
            elif not account.registered(channel, sender):
                fate = TAKEN
                if channel.needs_sender or Assume.of(world).sms_sender == "strict":
                    last = index == len(send.steps) - 1
                    fate = f"{REJECTED}, {ENDS if last else f'{GOES_ON} {send.steps[index + 1].channel}'}"
                remarks.append(_advice(send.path, own, index, channel.name, sender, fate, False))
    return remarks


@lru_cache(4096)
def _advice(path: str, own: int, index: int, channel: str, sender: str, outcome: str, note: bool) -> Advice:
    """Advice on the sender of a step; it stands in the step where that has its `own`, else at the root."""
    text = f'"{sender}" is not registered as a sender for {FAMILY[channel]}; {outcome}'
    where = f"{path}.flow[{index}].{channel}.sender" if own else f"{path}.sender"
    return advise(SENDER_NOT_REGISTERED, text, where, note=note)
