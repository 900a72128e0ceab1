"""Messages that a call hands to its world, the advice on what will happen to them, and refusals with `{Message}`.

The advice is about texts, times, numbers and senders (A59), and where events go. All of it is on the way of every
message, so each remark begins with a test that costs next to nothing; texts are made only when there is something to
say.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

import orjson

from sendbox.contract.findings import show
from sendbox.engine.durations import DAY, iso
from sendbox.engine.remarks import Advice, Finding
from sendbox.engine.texts import regex
from sendbox.engine.world import World
from sendbox.services import limits
from sendbox.services.advice import (
    CALLBACK_MISSING,
    DATETIME_FAR,
    HOURS_NEVER_MET,
    ONE_CHARACTER_OVER,
    SENDER_NOT_REGISTERED,
    START_NOT_PINNED,
    TEMPLATE_NEAR_LIMIT,
    TTL_TOO_SHORT,
    UNICODE_BY_ONE_CHARACTER,
    advise,
)
from sendbox.services.assume import Assume
from sendbox.services.http.exchange import Answer, Exchange, Interface
from sendbox.services.messaging.channels import FAMILY, ROWS, TEMPLATED, WAYS
from sendbox.services.messaging.content.hours import hours_of, in_both
from sendbox.services.messaging.content.text import one_unit_over, only_foreign_character, segment, surely_not_over
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.model import Recipient, Send, Step
from sendbox.services.messaging.records import Accepted, Request
from sendbox.services.ports import Account, Key
from sendbox.services.templates.templates import TemplateUse, render

#: The text by which a client tells a denied or missing key from a bad request, both 400 (§5.6, A11).
DENIED: Final = "User is not authorized to access this resource with an explicit deny"

_DENIAL = regex(r"(not|explicit)\s+(authorized|deny)", re.IGNORECASE)


def error(status: int, text: str) -> Answer:
    """The answer to a refused call: `{Message: text}` under `status` (§7.2, A75)."""
    return Answer(status, orjson.dumps({"Message": avoid_denial_words(text)}))


def avoid_denial_words(text: str) -> str:
    """A text quotes what the client sent, so the words of `DENIED` are hyphenated in every other text (A11)."""
    return text if text == DENIED else _DENIAL.sub(r"\1-\2", text)


def deny(_with_key: bool) -> Answer:
    """The answer to a denied key, and to none (A11)."""
    return error(400, DENIED)


INTERFACE: Final = Interface("sending", ("/v2/",), error)


class RebuiltRequest(Request, eq=False, gc=False):
    """A request that makes again what is not kept of its call. `count` is how many ids its answer has.

    Kept, its canonical content and its answer would take a quarter of the memory of a request more.
    """

    count: int = 0

    @abstractmethod
    def content(self, body: bytes) -> bytes:
        """The canonical request without callback."""

    @abstractmethod
    def answer(self) -> bytes:
        """The answer, in which everything was accepted."""


def accept(exchange: Exchange, sends: list[Send], content: bytes, kind: type[RebuiltRequest] | None = None) -> Accepted:
    """Hands decoded Message objects to the world, and leaves what came of it for the journal.

    `content` is the canonical request without callback: names are derived from it, and the digest reads it. It is not
    kept where a request of this `kind` makes it again from the body.
    """
    world, key = exchange.world, exchange.key
    exchange.uses("settings", world.id)
    if key.id != world.id:
        exchange.uses("settings", key.id)
    for send in sends:
        for step in send.steps:
            if step.template is not None:
                exchange.uses("template", step.template.name)
    record = exchange.record
    # of a null, a setting decides what was read (A56)
    request_type = Request if kind is None or b"null" in exchange.body else kind
    messaging = Messaging.of(world)
    remarks = remark_accepted(messaging, sends, key)
    if remarks:
        exchange.advice += remarks
    phone = sends[0].recipients[0].number
    accepted = messaging.accept(exchange.route.operation, sends, key, content, exchange.origin, record, request_type)
    if record is not None and isinstance(accepted.request, RebuiltRequest):
        record.content = accepted.request
        for send in sends:
            send.share(exchange.body)
    for send in sends:
        send.recipients = ()  # the messages have what stands there
    exchange.content = content
    exchange.sent = accepted.request, phone
    if accepted.findings:
        exchange.findings = accepted.findings
    return accepted


def unpaid(exchange: Exchange, send: Send, assumed: str) -> Finding | None:
    """The finding that the credit does not suffice for a message, None where it does; its answer says so (A12, A13)."""
    if Messaging.of(exchange.world).can_pay([send], exchange.key):
        return None
    count = len(send.recipients)
    cost_text = f"{count} messages cost" if count > 1 else "1 message costs"
    return Finding("$", "credit", f"{cost_text} more than the account's credit (§4.1, {assumed})", "§4.1", assumed)


def send_template(exchange: Exchange, phone: str, use: TemplateUse, sender: str) -> Accepted:
    """Sends a template to one phone, through the simulator like any message: the port of partner management."""
    step = Step(TEMPLATED, None, sender, template=use, condition="delivered")
    return accept(exchange, [Send([Recipient(phone)], [step], tags=("transactional",))], exchange.content or b"")


#: A filled template of more characters is close to the limit of a body (§8).
NEAR: Final = 950
#: The outcome of a step whose sender is not registered.
STEP_ACCEPTED = "it is accepted anyway"
STEP_REJECTED = "the step will be rejected"
#: The outcome of its message, if it was the last step, or if another one follows.
MESSAGE_ENDS = "and the message with it"
FLOW_CONTINUES = "and the flow goes on with"


def remark_texts(send: Send, advice: list[Advice]) -> None:
    """Advice on texts in segments that one character makes more (§6 `count`)."""
    if send.shortening is not None:  # the text is another one once its links are short
        return
    for index, step in enumerate(send.steps):
        body = send.text(step)
        if not ROWS[step.channel].segments or not body or surely_not_over(body):
            continue
        if step.type == "sms" and not body.isascii():  # its characters are converted; how, is not ours to guess
            continue
        path = f"{send.path}.body" if step.inherits else f"{send.path}.flow[{index}].{step.channel}.body"
        _remark_text(body, path, advice)


def _remark_text(body: str, path: str, advice: list[Advice]) -> None:
    segments = segment(body)
    if segments.count == 1:
        return
    culprit = only_foreign_character(body)
    if culprit is not None:
        char, position, plain = culprit
        text = (
            f"{show(char)} (U+{ord(char):04X}) at character {position} is not in the GSM alphabet: the text travels in"
            f" UCS-2 and takes {segments.count} segments; without it {plain}"
        )
        advice.append(advise(UNICODE_BY_ONE_CHARACTER, text, path))
        return
    room = one_unit_over(segments)
    if room is not None:
        unit = "septets" if segments.encoding == "GSM-7" else "units of UCS-2"
        text = f"{segments.units} {unit} take {segments.count} segments; {room} would fit into {segments.count - 1}"
        advice.append(advise(ONE_CHARACTER_OVER, text, path))


def remark_ttl(step: Step, world: World, path: str, advice: list[Advice]) -> None:
    """Advice on the ttl of a step with a next one that ends before its condition is met by the default timing (A63)."""
    timing = Assume.of(world).timing
    needed = sum(map(timing.after, WAYS[step.condition][1:]))
    if step.ttl is not None and step.ttl < needed:
        text = (
            f"{step.ttl / 60_000:g} minutes are shorter than {needed / 60_000:g}, in which {step.channel} is "
            f'"{step.condition}" by the timing of this world: the next step is always used'
        )
        advice.append(advise(TTL_TOO_SHORT, text, path))


def remark_clock(world: World, field: str, path: str, section: str, advice: list[Advice]) -> None:
    """Advice on a decision by the day or the hour where the start of the world is that of the machine's clock."""
    if not world.pinned and world.clock.mode != "real":
        text = f"{field} depends on the clock, and the world's start is not pinned: another day gives another outcome"
        advice.append(advise(START_NOT_PINNED, text, path, section))


def remark_accepted(messaging: Messaging, sends: Sequence[Send], key: Key) -> list[Advice]:
    """Advice on what the world knows about accepted messages: senders, templates, hours, and where events go."""
    world, account, assume = messaging.world, messaging.account, messaging.assume
    remarks = unregistered(world, account, sends)
    for send in sends:
        if send.at is not None and abs(send.at - world.now) > DAY:
            remarks.append(_far(send.at, world.now, f"{send.path}.datetime"))
        if send.callback is None and _unheard(account, key):
            remarks.append(_callback_missing(send.path))
        if assume.promotional_window is not None:
            _remark_hours(world, assume, send, remarks)
        for index, step in enumerate(send.steps):
            if step.template is not None:
                _remark_template(account, step, f"{send.path}.flow[{index}].{step.channel}.params", remarks)
    return remarks


def _remark_hours(world: World, assume: Assume, send: Send, remarks: list[Advice]) -> None:
    """Advice on promotional hours: they depend on the clock, and may have no time in common with `delivery_time`."""
    openings = (hours_of(assume, send, recipient.number, valid=recipient.valid) for recipient in send.recipients)
    hours = next((hours for hours in openings if hours is not None), None)
    if hours is None:
        return
    remark_clock(world, "the promotional window (A84)", f"{send.path}.tag", "§1", remarks)
    if send.window is not None and in_both(world.now, hours, send.window) is None:
        text = "the promotional hours (A84) are never open in this window: the message does not wait for them"
        remarks.append(advise(HOURS_NEVER_MET, text, f"{send.path}.delivery_time"))


def _far(at: int, now: int, path: str) -> Advice:
    """Only a note about the future: a message may be meant for next week, never for last week."""
    days, side = abs(at - now) // DAY, "after" if at > now else "before"
    text = (
        f"{iso(at)} lies {days} day{'s' if days > 1 else ''} {side} the world's clock, which shows {iso(now)}: "
        "if the client took it from its own clock, the two do not agree"
    )
    return advise(DATETIME_FAR, text, path, note=at > now)


@lru_cache(1024)
def _callback_missing(path: str) -> Advice:
    text = "no callback is given, and the default is set to none: nothing is reported about the message"
    return advise(CALLBACK_MISSING, text, f"{path}.callback")


def _unheard(account: Account, key: Key) -> bool:
    url = key.default_callback_url
    if url is None:
        url = account.top.default_callback_url
    return url == ""


def _remark_template(account: Account, step: Step, path: str, advice: list[Advice]) -> None:
    use = step.template
    template = None if use is None else account.template(use.name, use.language, step.sender)
    if use is None or template is None or not use.params:
        return
    size = len(render(template, use))
    if size > NEAR:
        relation = "over" if size > limits.BODY else "close to"
        text = f"{template.title} has {size} characters once it is filled, {relation} the {limits.BODY} of a body"
        advice.append(advise(TEMPLATE_NEAR_LIMIT, text, path))


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
            if senders == "any":
                if not (channel.numbers and sender in account.numbers):
                    remarks.append(
                        _advice(send.path, step.own_sender, index, channel.name, sender, STEP_ACCEPTED, True)
                    )
            elif not account.registered(channel, sender):
                outcome = STEP_ACCEPTED
                if channel.needs_sender or Assume.of(world).sms_sender == "strict":
                    last = index == len(send.steps) - 1
                    end = MESSAGE_ENDS if last else f"{FLOW_CONTINUES} {send.steps[index + 1].channel}"
                    outcome = f"{STEP_REJECTED}, {end}"
                remarks.append(_advice(send.path, step.own_sender, index, channel.name, sender, outcome, False))
    return remarks


@lru_cache(4096)
def _advice(path: str, own: bool, index: int, channel: str, sender: str, outcome: str, note: bool) -> Advice:
    """Advice on the sender of a step; it stands in the step where that has its `own`, else at the root."""
    text = f'"{sender}" is not registered as a sender for {FAMILY[channel]}; {outcome}'
    where = f"{path}.flow[{index}].{channel}.sender" if own else f"{path}.sender"
    return advise(SENDER_NOT_REGISTERED, text, where, note=note)
