"""Flow steps: each sentence of §2.2 about fields of a request, and the limits of §8 that concern steps."""

from __future__ import annotations

from typing import Any

import pytest

from sendbox.contract.findings import show
from sendbox.services.assume import Assume
from sendbox.services.messaging.channels import channels_on
from sendbox.services.messaging.model import Step
from sendbox.services.templates.templates import TemplateUse
from tests.interfaces.sending.support import decode, findings, message, places, said, step, steps_of

PHONE_NUMBER_ID = "109876543210987"
TEMPLATE = {"template_name": "otp", "language": "en", "sender": PHONE_NUMBER_ID}


def flow(*steps: dict[str, Any], **fields: object) -> dict[str, Any]:
    return message(flow=list(steps), **fields)


# -- the flow


def test_s2_1_default_flow_is_one_sms_step_with_gateway_high() -> None:
    """A message without a flow is one sms step with gateway `high` (§2.1)."""
    assert steps_of(decode(message())[0]) == [Step("sms", "Hello", None, None, "sent", "high", "utf")]


def test_s2_1_flow_must_not_be_empty() -> None:
    """A flow that is present has a step (§2.1)."""
    (finding,) = findings(flow())
    assert (finding.path, finding.rule) == ("$.flow", "minItems")
    assert finding.message == "[] is an empty flow; legal are one step or more, or no flow at all (§2.1)"


def test_s2_1_order_of_steps_matters() -> None:
    """Steps stay in their order: the first is used first (§2.1)."""
    send, _ = decode(flow({"richmsg": {"sender": "Acme"}}, {"sms": {}}, {"chatapp_text": {"sender": "12"}}))
    assert [step.channel for step in send.steps] == ["richmsg", "sms", "chatapp_text"]


@pytest.mark.parametrize(
    ("element", "keys"),
    [({}, "no key"), ({"sms": {}, "richmsg": {}}, '"sms", "richmsg"')],
    ids=["none", "two"],
)
def test_s2_2_step_has_exactly_one_key(element: dict[str, Any], keys: str) -> None:
    """An element of a flow has exactly one key (§2.2)."""
    (finding,) = findings(flow(element))
    assert (finding.path, finding.rule) == ("$.flow[0]", "channel")
    legal = ", ".join(channel.name for channel in channels_on(Assume()))
    assert finding.message == f"{keys}: a flow step has exactly one key, the channel; legal: {legal} (§2.2)"


@pytest.mark.parametrize(
    ("name", "hint"), [("smss", ', nearest is "sms"'), ("carrier_pigeon", "")], ids=["near", "far"]
)
def test_s2_2_step_names_a_known_channel(name: str, hint: str) -> None:
    """The key of a step is one of the four channels (§2.2)."""
    (finding,) = findings(flow({"sms": {}}, {name: {}}))
    assert (finding.path, finding.rule, finding.assumed) == ("$.flow[1]", "channel", None)
    legal = ", ".join(channel.name for channel in channels_on(Assume()))
    assert finding.message == f"{show(name)} is not a channel of a flow{hint}; legal: {legal} (§2.2)"


def test_a02_rcs_is_refused_by_name() -> None:
    """Off, `rcs` is known and refused by name (A02)."""
    (finding,) = findings(flow({"rcs": {}}))
    assert (finding.path, finding.assumed) == ("$.flow[0]", "A02")
    assert finding.message.startswith('"rcs" is a channel that the specification does not show and that is off')


RCS = Assume(rcs=True)


@pytest.mark.parametrize("content", [{"card": {"title": "Shoes"}}, {"carousel": [{"type": "image"}]}, {"raw": {}}])
def test_a02_rcs_needs_no_body_beside_other_content(content: dict[str, Any]) -> None:
    """On, a card, a carousel or raw content takes the place of a text; the id of an agent has no form (A02)."""
    step_ = step(flow({"rcs": {"sender": "+acme.agent-2026", **content}}, body=None), assume=RCS)
    assert (step_.body, step_.sender, step_.content) == (None, "+acme.agent-2026", content)
    assert step_.condition == "delivered"


def test_a02_rcs_needs_a_body_else() -> None:
    """On, a step without content has a text, its own or the root's (A02, A55)."""
    (finding,) = findings(flow({"rcs": {"sender": "Acme", "buttons": []}}, body=None), assume=RCS)
    assert (finding.path, finding.rule) == ("$.flow[0].rcs.body", "body")
    assert step(flow({"rcs": {"sender": "Acme"}}), assume=RCS).body == "Hello"


def test_a02_a_button_that_opens_has_an_address() -> None:
    """Wherever it stands; and fields that no button or card has are told (A02, A57)."""
    button = {"type": "url", "text": "Look"}
    cards = {"card": {"buttons": [button]}, "carousel": [{"type": "image"}, {"type": "video", "buttons": [button]}]}
    found = findings(flow({"rcs": {"sender": "Acme", "buttons": [button], **cards}}), assume=RCS)
    assert [finding.path for finding in found] == [
        "$.flow[0].rcs.buttons[0].url",
        "$.flow[0].rcs.card.buttons[0].url",
        "$.flow[0].rcs.carousel[1].buttons[0].url",
    ]
    reply = {"type": "reply", "text": "Yes", "title": "Yes"}
    _, advice = decode(flow({"rcs": {"sender": "Acme", "buttons": [reply], "card": {"type": "image"}}}), assume=RCS)
    assert [path for _, path in said(advice)] == ["$.flow[0].rcs.buttons[0].title", "$.flow[0].rcs.card.type"]


# -- common rules


@pytest.mark.parametrize(
    ("minutes", "milliseconds"), [(0.5, 30_000), (1, 60_000), (1.25, 75_000), (0.51, 30_600), (60, 3_600_000)]
)
def test_s2_2_ttl_is_in_minutes(minutes: float, milliseconds: int) -> None:
    """`ttl` counts minutes (§2.2)."""
    assert step(flow({"sms": {"ttl": minutes}}, {"sms": {}})).ttl == milliseconds


def test_s2_2_ttl_without_end_is_bounded() -> None:
    """A ttl beyond every clock is a hundred years, so that its instant stays one."""
    assert step(flow({"sms": {"ttl": 1e300}}, {"sms": {}})).ttl == 52_560_000 * 60_000


def test_a64_ttl_of_the_last_step_has_no_effect() -> None:
    """The last step's ttl is kept, and advice says that it does nothing (§2.2, A64)."""
    send, advice = decode(flow({"sms": {"ttl": 5}}))
    assert send.steps[0].ttl == 300_000
    assert said(advice) == [("ttl-without-next-step", "$.flow[0].sms.ttl")]
    assert advice[0].message == "5 is the ttl of the last step, where there is nothing to go on to"


@pytest.mark.parametrize(
    ("element", "condition"),
    [
        ({"sms": {}}, "sent"),
        ({"richmsg": {"sender": "Acme"}}, "delivered"),
        ({"chatapp_text": {"sender": "123"}}, "delivered"),
        ({"chatapp_template": TEMPLATE}, "delivered"),
    ],
    ids=["sms", "richmsg", "chatapp_text", "chatapp_template"],
)
def test_s2_2_default_ttl_condition(element: dict[str, Any], condition: str) -> None:
    """A step waits for `sent` on sms, for `delivered` on the other channels, unless it says otherwise (§2.2, A03)."""
    assert step(flow(element)).condition == condition
    ((channel, fields),) = element.items()
    given = {channel: fields | {"ttl_condition": "delivered" if channel == "sms" else "seen"}}
    assert step(flow(given)).condition == given[channel]["ttl_condition"]


def test_a64_seen_is_never_met_by_sms() -> None:
    """An sms step that waits for `seen` is legal, and advice says that it waits in vain (§3.1, A64)."""
    send, advice = decode(flow({"sms": {"ttl_condition": "seen"}}))
    assert send.steps[0].condition == "seen"
    assert said(advice) == [("seen-never-met", "$.flow[0].sms.ttl_condition")]


def test_a57_unknown_fields_inside_a_step() -> None:
    """A misspelled field of a step has no effect, and the nearest known one is named (A57)."""
    _, advice = decode(
        flow(
            {"sms": {"gatway": "high", "ttl": 1}},
            {
                "richmsg": {
                    "sender": "Acme",
                    "ttl": 1,
                    "buttons": [{"title": "x", "url": "https://a.example", "titel": "y"}],
                }
            },
            {"chatapp_template": TEMPLATE | {"body": "a template has none"}},
        )
    )
    assert said(advice) == [
        ("unknown-field", "$.flow[0].sms.gatway"),
        ("unknown-field", "$.flow[1].richmsg.buttons[0].titel"),
        ("unknown-field", "$.flow[2].chatapp_template.body"),
    ]
    assert advice[0].message == '"gatway" is not a field here and has no effect; nearest is "gateway"'


def test_s2_2_a_step_without_ttl_before_another_is_remarked_on() -> None:
    """Such a step may wait for ever (A64); the last one has nothing to wait for, and one with a ttl goes on."""
    _, advice = decode(flow({"richmsg": {"sender": "Acme"}}, {"sms": {"ttl": 2}}, {"sms": {}}))
    assert said(advice) == [("ttl-missing", "$.flow[0].richmsg.ttl")]
    assert advice[0].message == (
        'no ttl is given: while richmsg is neither "delivered" nor failed, the flow waits, '
        "and the next step is not used"
    )
    unlimited = flow({"richmsg": {"sender": "Acme"}}, {"sms": {}})
    _, (remark,) = decode(unlimited, assume=Assume(fallback_on_failure="ttl"))
    assert remark.message == (
        "no ttl is given, and with `fallback_on_failure: ttl` (A04) a bad end waits for one too: unless richmsg is "
        "refused, the flow waits for ever, and the next step is never used"
    )


@pytest.mark.parametrize(
    ("channel", "fields"),
    [("sms", {}), ("richmsg", {"sender": "Acme"}), ("chatapp_text", {"sender": "123"})],
    ids=["sms", "richmsg", "chatapp_text"],
)
def test_s8_step_body_over_1000_is_truncated(channel: str, fields: dict[str, Any]) -> None:
    """Every step's body is cut to 1000 characters, with advice (§2.1, §8)."""
    send, advice = decode(flow({channel: fields | {"body": "x" * 1001}}))
    assert send.text(send.steps[0]) == "x" * 1000
    assert said(advice) == [("body-truncated", f"$.flow[0].{channel}.body")]


# -- sms


def test_s2_2_sms_fields() -> None:
    """Every field of an sms step is taken over (§2.2)."""
    fields = {
        "body": "b",
        "sender": "Acme",
        "gateway": "lowcost",
        "ttl": 1,
        "ttl_condition": "delivered",
        "type": "sms",
    }
    expected = Step("sms", "b", "Acme", 60_000, "delivered", "lowcost", "sms", own_sender=True)
    assert step(flow({"sms": fields}, {"sms": {}})) == expected


@pytest.mark.parametrize("sender", ["TwelveLetter", "+420900"])
def test_s2_2_sms_sender_is_a_short_name_or_a_number(sender: str) -> None:
    """The sender of an sms step follows the rule of the root's (§2.2, A59)."""
    assert places(findings(flow({"sms": {"sender": sender}}))) == [("sender", "$.flow[0].sms.sender")]
    assert step(flow({"sms": {"sender": "420900000001"}})).sender == "420900000001"


@pytest.mark.parametrize(
    ("fields", "numbers", "codes"),
    [
        ({"gateway": "direct", "sender": "420900000001"}, (), []),
        ({"gateway": "direct", "sender": "Acme"}, (), ["gateway-direct-without-number"]),
        ({"gateway": "direct"}, (), ["gateway-direct-without-number"]),
        ({"gateway": "gsm"}, (), ["gateway-sim-without-number"]),
        ({"gateway": "simhost"}, (), ["gateway-sim-without-number"]),
        ({"gateway": "simhost"}, ("420900000001",), []),
        ({"gateway": "custom"}, (), []),
        ({"gateway": "lowcost"}, (), []),
    ],
)
def test_a80_gateways_that_want_a_number(fields: dict[str, Any], numbers: tuple[str, ...], codes: list[str]) -> None:
    """`direct` without a number as sender, `simhost` and `gsm` in an account without one, give advice (§2.2, A80)."""
    send, advice = decode(flow({"sms": fields}), numbers=numbers)
    assert send.steps[0].gateway == fields["gateway"]
    assert said(advice) == [(code, "$.flow[0].sms.gateway") for code in codes]


# -- richmsg


def test_s2_2_richmsg_fields() -> None:
    """Every field of a rich-message step is taken over (§2.2)."""
    buttons = [{"title": "Open", "url": "https://acme.example/"}]
    fields = {"body": "b", "sender": "Acme", "buttons": buttons, "ttl": 0.5, "ttl_condition": "seen"}
    read = step(flow({"richmsg": fields}, {"sms": {}}))
    assert read == Step("richmsg", "b", "Acme", 30_000, "seen", buttons_json=read.buttons_json, own_sender=True)
    assert read.buttons == buttons


@pytest.mark.parametrize(
    "element",
    [{"richmsg": {}}, {"chatapp_text": {}}, {"chatapp_template": {"template_name": "t", "language": "en"}}],
    ids=["richmsg", "chatapp_text", "chatapp_template"],
)
def test_s2_2_sender_is_required(element: dict[str, Any]) -> None:
    """Steps other than sms need a sender; the root's serves (§2.1, §2.2)."""
    (channel,) = element
    (finding,) = findings(flow(element))
    assert (finding.path, finding.rule) == (f"$.flow[0].{channel}.sender", "sender")
    assert finding.message == f"no sender is given; a step of {channel} needs one, its own or the root's (§2.2)"
    assert step(flow(element, sender=PHONE_NUMBER_ID)).sender == PHONE_NUMBER_ID


def test_s2_1_empty_sender_of_a_step_is_none_given() -> None:
    """An empty sender of an sms or rich-message step leaves the root's in place (§2.1)."""
    send, _ = decode(flow({"richmsg": {"sender": ""}}, {"sms": {"sender": ""}}, sender="Acme"))
    assert [step.sender for step in send.steps] == ["Acme", "Acme"]


def test_s8_richmsg_sender_over_11_characters_is_refused() -> None:
    """The limit of §8 holds for the name of a rich-message sender; one taken from the root is refused once (A59)."""
    assert places(findings(flow({"richmsg": {"sender": "TwelveLetter"}}))) == [("sender", "$.flow[0].richmsg.sender")]
    assert places(findings(flow({"richmsg": {}}, sender="TwelveLetter"))) == [("sender", "$.sender")]


# -- chatapp


def test_s2_2_chatapp_text_fields() -> None:
    """Every field of a free-text step is taken over; the root's body serves (§2.2, A55)."""
    fields = {"sender": PHONE_NUMBER_ID, "ttl": 2, "ttl_condition": "sent"}
    expected = Step("chatapp_text", "Hello", PHONE_NUMBER_ID, 120_000, "sent", own_sender=True)
    assert step(flow({"chatapp_text": fields}, {"sms": {}})) == expected


@pytest.mark.parametrize("channel", ["chatapp_text", "chatapp_template"])
@pytest.mark.parametrize("sender", ["Acme", "١٢٣", ""])
def test_s2_2_chatapp_sender_is_a_numeric_id(channel: str, sender: str) -> None:
    """A chatapp sender is a Phone Number ID, digits only, also when it is the root's (§2.2, A59)."""
    fields = TEMPLATE | {"sender": sender} if channel == "chatapp_template" else {"sender": sender}
    (finding,) = findings(flow({channel: fields}))
    assert (finding.path, finding.assumed) == (f"$.flow[0].{channel}.sender", "A59")
    text = (
        f"{show(sender)} is not a Phone Number ID, which has digits only; legal: the numeric id of a registered number"
    )
    assert finding.message == f"{text} (§2.2, A59)"
    send, advice = decode(flow({channel: fields}), assume=Assume(sender_form="accept"))
    assert send.steps[0].sender == sender
    assert said(advice) == [("sender-form", f"$.flow[0].{channel}.sender")]
    inherited = flow({channel: {name: value for name, value in fields.items() if name != "sender"}}, sender="Acme")
    assert places(findings(inherited)) == [("sender", f"$.flow[0].{channel}.sender")]


def test_s2_2_chatapp_template_fields() -> None:
    """Every field of a template step is taken over, values as they came (§2.2)."""
    parts: dict[str, Any] = {
        "params": ["1234", {"name": "Eva"}],
        "params_header": ["https://acme.example/a.png"],
        "params_buttons": [None, {"flow": None}],
        "params_carousel": [{"product": {"product_retailer_id": "1", "catalog_id": "2"}}],
        "params_lto": [1772355600000],
    }
    fields = TEMPLATE | parts | {"ttl": 1, "ttl_condition": "sent"}
    use = TemplateUse("otp", "en", *parts.values())
    expected = Step("chatapp_template", None, PHONE_NUMBER_ID, 60_000, "sent", template=use, own_sender=True)
    assert step(flow({"chatapp_template": fields}, {"sms": {}})) == expected


def test_a06_flow_of_templates_needs_no_body() -> None:
    """The template is the content: a flow of template steps only has no body; a mixed one needs it (A06)."""
    only = flow({"chatapp_template": TEMPLATE}, body=None)
    assert step(only).body is None
    mixed = flow({"chatapp_template": TEMPLATE}, {"sms": {}}, body=None)
    assert places(findings(mixed)) == [("body", "$.flow[1].sms.body")]


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ("parameters_body", "params", "params"),
        ("parameters_header", "params_header", "header"),
        ("parameters_buttons", "params_buttons", "buttons"),
    ],
)
def test_s9_older_names_of_template_parameters(old: str, new: str, field: str) -> None:
    """The older names are aliases, with advice; beside the new name they are ignored (§2.2, §9, A85, A86)."""
    send, advice = decode(flow({"chatapp_template": TEMPLATE | {old: ["old"]}}))
    assert getattr(send.steps[0].template, field) == ["old"]
    assert said(advice) == [("deprecated-name", f"$.flow[0].chatapp_template.{old}")]
    send, advice = decode(flow({"chatapp_template": TEMPLATE | {old: ["old"], new: ["new"]}}))
    assert getattr(send.steps[0].template, field) == ["new"]
    assert said(advice) == [("old-name-ignored", f"$.flow[0].chatapp_template.{old}")]
