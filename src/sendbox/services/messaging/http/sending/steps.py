"""Flow steps (§2.2): each element of `flow` as the core takes it, its body and sender resolved against the root's.

The differences of the channels stand in their rows (`channels.py`); one reader serves them all. Paths and messages are
made only when there is something to say, so a clean step costs some dictionary look-ups and one record.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import islice
from typing import Final

import msgspec
import orjson

from sendbox.contract.findings import show
from sendbox.engine.answer import JsonObject
from sendbox.engine.commands.record import compact
from sendbox.engine.remarks import Advice, Finding
from sendbox.engine.texts import regex
from sendbox.services import limits
from sendbox.services.advice import (
    BODY_TRUNCATED,
    GATEWAY_DIRECT_WITHOUT_NUMBER,
    GATEWAY_SIM_WITHOUT_NUMBER,
    SEEN_NEVER_MET,
    SENDER_FORM,
    TTL_MISSING,
    TTL_WITHOUT_NEXT_STEP,
    advise,
)
from sendbox.services.assume import Assume
from sendbox.services.http.exchange import Exchange
from sendbox.services.http.requests import BoundedCache, nearest, renamed, unknown_fields
from sendbox.services.messaging.channels import CHANNELS, OLD_TEMPLATE_NAMES, ROWS, USUAL, Channel, channels_on
from sendbox.services.messaging.http.accepting import remark_ttl
from sendbox.services.messaging.model import Step
from sendbox.services.ports import account_of
from sendbox.services.templates.templates import TemplateUse

#: The ttl from which on it makes no difference: no world runs for a hundred years. Minutes.
ENDLESS_TTL: Final = 52_560_000

#: Gateways that send from a number of the account's own (§2.2).
NUMBER_GATEWAYS: Final = ("direct", "simhost", "gsm")
#: Fields of a card (A02); those of a carousel have a `type` too.
CARD_FIELDS: Final = frozenset({"title", "description", "file", "thumbnail", "buttons"})
#: A longer flow, in bytes, is not remembered.
_MAX_CACHED_FLOW: Final = 1024
_SENDER: Final = regex(r"[0-9]+|[^+\x00-\x1f][^\x00-\x1f]{0,10}")


class Root(msgspec.Struct, eq=False):
    """The data that the steps of one message use: the root's body and sender, and the lists for problems and advice."""

    path: str
    exchange: Exchange
    problems: list[Finding]
    advice: list[Advice]
    body: str | None = None
    sender: str | None = None

    def refuse(self, path: str, rule: str, message: str, section: str, assumed: str | None = None) -> None:
        """Notes a finding; the whole message is read before it is refused."""
        self.problems.append(Finding(path, rule, message, section, assumed))


#: Flows that were read without a remark, by what they and the root say; each with the settings that it was read under.
#: Clients send the same ones again and again: without them the row `call` of the benchmark takes 9 % longer.
_FLOWS: Final[BoundedCache[tuple[object, ...], tuple[Assume, tuple[Step, ...]]]] = BoundedCache()


def default_flow(root: Root) -> Sequence[Step]:
    """The flow of a message without one: an sms step with gateway `high` (§2.1)."""
    if root.body is None:
        text = "no body is given; without a flow the root must have one (§2.1)"
        root.refuse(f"{root.path}.body", "body", text, "§2.1")
    return _usual(root.sender or root.exchange.key.default_sender)


@lru_cache(1024)
def _usual(sender: str | None) -> tuple[Step]:
    return (Step(USUAL, None, sender, inherits=True),)


def read_flow(flow: list[JsonObject], root: Root) -> Sequence[Step]:
    """The steps of `flow` in their order; what is wrong with them goes to the root's problems (§2.2)."""
    assume, key = Assume.of(root.exchange.world), root.exchange.key
    flow_key = (id(assume), orjson.dumps(flow), root.sender, key.default_sender, root.body is None)
    cached = _FLOWS.get(flow_key)
    if cached is not None and cached[0] is assume:
        return cached[1]
    remarks = len(root.problems) + len(root.advice)
    steps = tuple(_read_flow(flow, root))
    # the numbers of the account may change, which the gateways that send from them ask for
    plain = all(step.gateway not in NUMBER_GATEWAYS for step in steps)
    if plain and len(root.problems) + len(root.advice) == remarks and len(flow_key[1]) <= _MAX_CACHED_FLOW:
        _FLOWS.store((flow_key[0], compact(flow_key[1]), *flow_key[2:]), (assume, steps))
    return steps


def _read_flow(flow: list[JsonObject], root: Root) -> list[Step]:
    steps = []
    last = len(flow) - 1
    for index, element in enumerate(flow):
        if len(element) != 1:
            _refuse_keys(element, index, root)
            continue
        for name, fields in element.items():
            channel = ROWS.get(name)
            if channel is None or (channel.setting and not channel.is_on(Assume.of(root.exchange.world))):
                root.problems.append(channel_finding(name, f"{root.path}.flow[{index}]", root.exchange))
            else:
                steps.append(_read_step(channel, fields, index, index == last, root))
    if last < 0:
        text = "[] is an empty flow; legal are one step or more, or no flow at all (§2.1)"
        root.refuse(f"{root.path}.flow", "minItems", text, "§2.1")
    return steps


def is_off(name: str, exchange: Exchange) -> bool:
    """True if the channel exists, but not in this world."""
    return name in ROWS and not ROWS[name].is_on(Assume.of(exchange.world))


def channel_finding(name: str, path: str, exchange: Exchange) -> Finding:
    """The reason why a flow may not name this channel (§2.2, A02)."""
    legal = _legal(exchange)
    channel = ROWS.get(name)
    if channel is not None:
        text = f"{show(name)} is a channel that the specification does not show and that is off; legal: {legal}"
        return Finding(path, "channel", f"{text} (§2.2, {channel.assumed})", "§2.2", channel.assumed)
    hint = nearest(name, CHANNELS)
    text = f"{show(name)} is not a channel of a flow{f', nearest is {show(hint)}' if hint else ''}; legal: {legal}"
    return Finding(path, "channel", f"{text} (§2.2)", "§2.2")


def _legal(exchange: Exchange) -> str:
    return ", ".join(channel.name for channel in channels_on(Assume.of(exchange.world)))


def truncate_body(body: str, path: str, section: str, advice: list[Advice]) -> str:
    """The part of a long body that is sent (§2.1, §8)."""
    text = f"{show(body)} is longer than {limits.BODY} characters; the last {len(body) - limits.BODY} are not sent"
    advice.append(advise(BODY_TRUNCATED, text, path, section))
    return body[: limits.BODY]


def doubtful(sender: str) -> bool:
    """True if a sender that is not empty needs further checks; most do not."""
    return len(sender) > limits.SENDER or sender[0] == "+" or not sender.isprintable()


def check_sender(sender: str, path: str, section: str, root: Root) -> None:
    """Refuses a sender that is neither a name of at most 11 characters nor a number without `+` (§2.1, §8, A59).

    The rule is that of `Sender` in `schemas/sending.json`, where it stands for readers: a setting relaxes it.
    """
    if _SENDER.fullmatch(sender) is not None:
        return
    if sender[0] == "+":
        text = f"{show(sender)} begins with `+`; a virtual number as sender is written without it"
    elif len(sender) > limits.SENDER:
        text = f"{show(sender)} is over the {limits.SENDER} characters of an alphanumeric sender"
    else:
        text = f"{show(sender)} holds a control character"
    legal = f"an alphanumeric name of at most {limits.SENDER} characters, or a number without `+`"
    _refuse_sender(text, legal, path, section, root)


def _read_step(channel: Channel, fields: JsonObject, index: int, last: bool, root: Root) -> Step:
    get = fields.get
    if not channel.fields.issuperset(fields):
        unknown_fields(fields, channel.fields, _place(channel, index, root), "§2.2", root.advice)
    body, inherits = None, False
    if channel.takes_body:
        body = get("body")
        if not body:
            body, inherits = None, True
            if root.body is None and channel.contents.isdisjoint(fields):
                text = f"no body is given; a step of {channel.name} needs one, its own or the root's (§2.2, A55)"
                root.refuse(f"{_place(channel, index, root)}.body", "body", text, "§2.2", "A55")
        elif len(body) > limits.BODY:
            body = truncate_body(body, f"{_place(channel, index, root)}.body", "§2.2", root.advice)
    own_sender = bool(get("sender"))
    sender = _read_sender(channel, get("sender"), index, root)
    condition = get("ttl_condition", channel.condition)
    ttl = get("ttl")
    if ttl is not None:
        ttl = round(min(ttl, ENDLESS_TTL) * 60_000)
        if last:
            root.advice.append(_ttl_without_next_step(show(fields["ttl"]), _place(channel, index, root)))
    elif not last:
        _remark_no_ttl(channel, condition, index, root)
    gateway, form = "high", "utf"
    if channel.name == USUAL:
        if condition == "seen":
            text = '"seen" is never reached by an sms, so this condition is never met'
            root.advice.append(advise(SEEN_NEVER_MET, text, f"{_place(channel, index, root)}.ttl_condition"))
        gateway, form = get("gateway", gateway), get("type", form)
        if gateway in NUMBER_GATEWAYS:
            _remark_gateway(gateway, sender, f"{_place(channel, index, root)}.gateway", root)
    step = Step(channel.name, body, sender, ttl, condition, gateway, form, inherits=inherits, own_sender=own_sender)
    if ttl is not None and not last and ttl < Assume.of(root.exchange.world).timing.longest:
        remark_ttl(step, root.exchange.world, f"{_place(channel, index, root)}.ttl", root.advice)
    if channel.buttons:
        buttons = get("buttons")
        if buttons:
            step.buttons_json = compact(orjson.dumps(buttons))
            _read_buttons(channel, buttons, _place(channel, index, root), root)
        if channel.contents:
            content = _read_content(channel, fields, _place(channel, index, root), root)
            step.content_json = compact(orjson.dumps(content))
    elif not channel.takes_body:
        step.template = _read_template(channel, fields, index, root)
    return step


@lru_cache(1024)
def _ttl_without_next_step(ttl: str, place: str) -> Advice:
    text = f"{ttl} is the ttl of the last step, where there is nothing to go on to"
    return advise(TTL_WITHOUT_NEXT_STEP, text, f"{place}.ttl")


def _read_sender(channel: Channel, sender: str | None, index: int, root: Root) -> str | None:
    """The sender of a step: its own, the root's, or that of the key (§2.2)."""
    if not channel.needs_sender:
        if not sender:
            return root.sender or root.exchange.key.default_sender
        if doubtful(sender):
            check_sender(sender, f"{_place(channel, index, root)}.sender", "§2.2", root)
        return sender
    if not sender and (sender is None or not channel.numeric):
        sender = root.sender
    if sender is None:
        text = f"no sender is given; a step of {channel.name} needs one, its own or the root's (§2.2)"
        root.refuse(f"{_place(channel, index, root)}.sender", "sender", text, "§2.2")
    elif channel.numeric:
        if not (sender.isdecimal() and sender.isascii()):
            text = f"{show(sender)} is not a Phone Number ID, which has digits only"
            legal = "the numeric id of a registered number"
            _refuse_sender(text, legal, f"{_place(channel, index, root)}.sender", "§2.2", root)
    elif channel.sender == "name" and doubtful(sender) and sender is not root.sender:
        check_sender(sender, f"{_place(channel, index, root)}.sender", "§8", root)
    return sender


def _remark_no_ttl(channel: Channel, condition: str, index: int, root: Root) -> None:
    text = (
        f'no ttl is given: while {channel.name} is neither "{condition}" nor failed, the flow waits, and the next '
        "step is not used"
    )
    if Assume.of(root.exchange.world).fallback_on_failure == "ttl":
        text = (
            "no ttl is given, and with `fallback_on_failure: ttl` (A04) a bad end waits for one too: unless "
            f"{channel.name} is refused, the flow waits for ever, and the next step is never used"
        )
    root.advice.append(advise(TTL_MISSING, text, f"{_place(channel, index, root)}.ttl"))


def _read_buttons(channel: Channel, buttons: list[JsonObject] | None, path: str, root: Root) -> None:
    for position, button in enumerate(buttons or ()):
        place = f"{path}.buttons[{position}]"
        if not channel.buttons.issuperset(button):
            unknown_fields(button, channel.buttons, place, "§2.2", root.advice)
        if button.get("type") == "url" and "url" not in button:
            text = "no url is given; a button of the type url opens one (§2.2, A02)"
            root.refuse(f"{place}.url", "url", text, "§2.2", "A02")


def _read_content(channel: Channel, fields: JsonObject, path: str, root: Root) -> JsonObject:
    """The content in addition to the text, or instead of it: buttons, a card, a carousel, or raw content (A02)."""
    content: JsonObject = {name: fields[name] for name in ("buttons", "card", "carousel", "raw") if name in fields}
    cards = [(f"{path}.card", CARD_FIELDS, content["card"])] if "card" in content else []
    for position, card in enumerate(content.get("carousel", ())):
        cards.append((f"{path}.carousel[{position}]", CARD_FIELDS | {"type"}, card))
    for place, known, card in cards:
        if not known.issuperset(card):
            unknown_fields(card, known, place, "§2.2", root.advice)
        _read_buttons(channel, card.get("buttons"), place, root)
    return content


def _read_template(channel: Channel, fields: JsonObject, index: int, root: Root) -> TemplateUse:
    get = fields.get
    body, header, buttons = get("params"), get("params_header"), get("params_buttons")
    if not fields.keys().isdisjoint(OLD_TEMPLATE_NAMES):
        place = _place(channel, index, root)
        body, header, buttons = [
            renamed(fields, old, new, place, root.advice) for old, new in OLD_TEMPLATE_NAMES.items()
        ]
    return TemplateUse(
        fields["template_name"], fields["language"], body, header, buttons, get("params_carousel"), get("params_lto")
    )


def _remark_gateway(gateway: str, sender: str | None, path: str, root: Root) -> None:
    """Advice on a gateway that wants a number which is not there (A80)."""
    if gateway == "direct":
        if sender is None or not sender.isdecimal():
            sender_text = show(sender) if sender else "not given"
            text = f'"direct" is for a dedicated virtual number, and the sender is {sender_text}'
            root.advice.append(advise(GATEWAY_DIRECT_WITHOUT_NUMBER, text, path))
    elif not account_of(root.exchange.world).numbers:
        text = f"{show(gateway)} sends from a number of the account's own, and the account has none"
        root.advice.append(advise(GATEWAY_SIM_WITHOUT_NUMBER, text, path))


def _refuse_sender(text: str, legal: str, path: str, section: str, root: Root) -> None:
    if Assume.of(root.exchange.world).sender_form == "accept":
        root.advice.append(advise(SENDER_FORM, f"{text}; `sender_form: accept` lets it through", path, section))
    else:
        root.refuse(path, "sender", f"{text}; legal: {legal} ({section}, A59)", section, "A59")


def _refuse_keys(element: JsonObject, index: int, root: Root) -> None:
    keys = ", ".join(map(show, islice(element, 5))) or "no key"
    text = f"{keys}: a flow step has exactly one key, the channel; legal: {_legal(root.exchange)} (§2.2)"
    root.refuse(f"{root.path}.flow[{index}]", "channel", text, "§2.2")


def _place(channel: Channel, index: int, root: Root) -> str:
    return f"{root.path}.flow[{index}].{channel.name}"
