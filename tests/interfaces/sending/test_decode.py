"""Message objects become commands: each sentence of §2.1, the old names of §9, and what is said about them."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from sendbox.engine.delivery.batches import Target
from sendbox.services.account.keys import Key
from sendbox.services.assume import Assume
from sendbox.services.http.exchange import Refused
from sendbox.services.http.requests import without_nulls
from sendbox.services.messaging.http.sending.decode import decode_message
from sendbox.services.messaging.model import Recipient, Shortening, Step
from tests.interfaces.sending.support import decode, exchange, findings, message, places, said, steps_of

# -- body


def test_s2_1_body_over_1000_is_truncated() -> None:
    """A root body over 1000 characters is cut to its first 1000, with advice, never refused (§2.1, §8)."""
    send, advice = decode(message(body="é" * 1000 + "xyz"))
    assert send.text(send.steps[0]) == "é" * 1000
    assert said(advice) == [("body-truncated", "$.body")]
    assert advice[0].message.endswith("is longer than 1000 characters; the last 3 are not sent")


def test_s2_1_body_of_1000_is_whole() -> None:
    """1000 characters are no more than 1000: nothing is cut and nothing said (§2.1, §8)."""
    send, advice = decode(message(body="é" * 1000))
    assert (send.text(send.steps[0]), advice) == ("é" * 1000, [])


def test_s2_1_step_body_has_priority_over_root() -> None:
    """A step's body is used instead of the root's; a step without one takes the root's (§2.1)."""
    send, _ = decode(message(body="root", flow=[{"sms": {"body": "step"}}, {"sms": {}}]))
    assert [step.body for step in steps_of(send)] == ["step", "root"]


@pytest.mark.parametrize("body", [None, ""], ids=["absent", "empty"])
def test_s2_1_body_is_required_at_root_without_flow(body: str | None) -> None:
    """Without a flow the root must have a body, and an empty text is none (§2.1)."""
    (finding,) = findings(message(body=body))
    assert (finding.path, finding.rule, finding.section) == ("$.body", "body", "§2.1")
    assert finding.message == "no body is given; without a flow the root must have one (§2.1)"


def test_s2_1_body_is_required_in_every_step_without_root() -> None:
    """Without a root body each step that sends a text must have one; all that have none are named (§2.1, A55)."""
    flow = [{"sms": {}}, {"richmsg": {"sender": "Acme", "body": "x"}}, {"chatapp_text": {"sender": "123"}}]
    assert places(findings(message(body=None, flow=flow))) == [
        ("body", "$.flow[0].sms.body"),
        ("body", "$.flow[2].chatapp_text.body"),
    ]


# -- to


@pytest.mark.parametrize(
    ("raw", "number", "code"),
    [
        ("420777000101", "420777000101", None),
        ("+420 777 000 101", "420777000101", "number-converted"),
        ("00420777000101", "420777000101", "number-converted"),
        ("777000101", "420777000101", "number-converted"),
    ],
)
def test_s2_1_other_formats_of_numbers_are_converted(raw: str, number: str, code: str | None) -> None:
    """E.164 without `+` or `00` is taken as it is; other formats are converted before acceptance (§2.1, A14)."""
    send, advice = decode(message(to=[{"phone_number": raw}]))
    assert send.recipients == [Recipient(number)]
    assert said(advice) == ([(code, "$.to[0].phone_number")] if code else [])


def test_s2_1_recipients_keep_their_order() -> None:
    """Ten recipients are ten recipients in the order given: positions are their keys (§2.1, §2.3)."""
    numbers = [f"4207770001{n:02}" for n in range(10)]
    send, advice = decode(message(to=[{"phone_number": number} for number in numbers]))
    assert [recipient.number for recipient in send.recipients] == numbers
    assert advice == []


def test_s7_3_number_that_cannot_be_normalized_is_accepted_invalid() -> None:
    """A number that cannot be normalized is no error of the call: it is rejected later, and advice says so (§7.3)."""
    send, advice = decode(message(to=[{"phone_number": "abc"}]))
    assert send.recipients == [Recipient("abc", valid=False)]
    assert said(advice) == [("number-invalid", "$.to[0].phone_number")]


# -- sender


def test_s2_1_root_sender_is_the_default_of_all_steps() -> None:
    """The root's sender serves every step; a step's own wins (§2.1)."""
    send, _ = decode(message(sender="Acme", flow=[{"sms": {}}, {"sms": {"sender": "Other"}}, {"richmsg": {}}]))
    assert [step.sender for step in send.steps] == ["Acme", "Other", "Acme"]


@pytest.mark.parametrize("sender", ["Acme", "ElevenChars", "Acme Shop", "Ac\u00a0me", "420900000001234"])
def test_s2_1_sender_is_a_short_name_or_a_number(sender: str) -> None:
    """A name of at most 11 characters and a number of any length without `+` are senders (§2.1, §8)."""
    send, advice = decode(message(sender=sender))
    assert (send.steps[0].sender, advice) == (sender, [])


@pytest.mark.parametrize(
    ("sender", "text"),
    [
        ("TwelveLetter", '"TwelveLetter" is over the 11 characters of an alphanumeric sender'),
        ("+42090000000", '"+42090000000" begins with `+`; a virtual number as sender is written without it'),
        ("+4209", '"+4209" begins with `+`; a virtual number as sender is written without it'),
        ("٤٢٠٩٠٠٠٠٠٠٠٠", '"٤٢٠٩٠٠٠٠٠٠٠٠" is over the 11 characters of an alphanumeric sender'),
        ("Ac\tme", '"Ac\\tme" holds a control character'),
    ],
    ids=["name", "number", "short-number", "other-digits", "control"],
)
def test_s8_sender_over_11_characters_or_with_plus_is_refused(sender: str, text: str) -> None:
    """A name over 11 characters and a number with `+` are refused; `sender_form: accept` makes it advice (A59)."""
    (finding,) = findings(message(sender=sender))
    assert (finding.path, finding.rule, finding.assumed) == ("$.sender", "sender", "A59")
    legal = "legal: an alphanumeric name of at most 11 characters, or a number without `+` (§2.1, A59)"
    assert finding.message == f"{text}; {legal}"
    send, advice = decode(message(sender=sender), assume=Assume(sender_form="accept"))
    assert send.steps[0].sender == sender
    assert said(advice) == [("sender-form", "$.sender")]


def test_s2_1_default_sender_of_the_key_serves_sms() -> None:
    """A call that names no sender goes out under the key's own, where one is set (A33)."""
    key = Key("test-world", default_sender="KeyName")
    send, _ = decode(message(sender="", flow=[{"sms": {}}, {"sms": {"sender": "Own"}}]), key=key)
    assert [step.sender for step in send.steps] == ["KeyName", "Own"]
    assert decode(message(), key=key)[0].steps[0].sender == "KeyName"


# -- callback (its rules are in test_callback)


def test_s2_1_callback_is_the_target() -> None:
    """`callback` becomes the target of the message's deliveries; without it there is none of its own (§2.1, §6)."""
    send, advice = decode(message(callback="https://client.example/hook"))
    assert (send.callback, advice) == (Target("https://client.example/hook"), [])
    assert decode(message())[0].callback is None


def test_a01_bad_callback_is_refused() -> None:
    """A callback that is no address refuses the message (A01)."""
    assert places(findings(message(callback="http://[client]/"))) == [("callback", "$.callback")]


# -- tags


@pytest.mark.parametrize(
    ("text", "tags", "codes"),
    [
        ("otp", ("otp",), []),
        ("OTP", ("otp",), ["tags-cleaned"]),
        ("sp?ring!-sale_1.0", ("spring-sale_1.0",), ["tags-cleaned"]),
        ("!!!", ("promotional",), ["empty-tags"]),
        ("", ("promotional",), ["empty-tags"]),
    ],
    ids=["clean", "upper-case", "other-characters", "nothing-left", "empty"],
)
def test_s2_1_tags_are_normalized(text: str, tags: tuple[str, ...], codes: list[str]) -> None:
    """Tags go to lower case and keep only their alphabet; nothing left means no tag given (§2.1, A60)."""
    send, advice = decode(message(tag=text))
    assert send.tags == tags
    assert said(advice) == [(code, "$.tag") for code in codes]


def test_s2_1_several_tags_are_separated_by_comma() -> None:
    """Commas separate tags (§2.1)."""
    send, advice = decode(message(tag="alpha,beta"))
    assert (set(send.tags), advice) == ({"alpha", "beta"}, [])


def test_s2_1_default_tag_is_promotional() -> None:
    """A message without a tag carries `promotional` (§2.1)."""
    assert decode(message())[0].tags == ("promotional",)


@pytest.mark.parametrize(
    ("tag", "priority"), [("priority", True), ("otp,priority", True), ("transactional", False), ("otp", False)]
)
def test_s2_1_special_tag_priority_takes_the_priority_queue(tag: str, priority: bool) -> None:
    """`priority` among the tags takes the priority queue; `transactional` does not (§2.1, A60)."""
    assert decode(message(tag=tag))[0].priority is priority


def test_s9_message_tag_is_an_alias_of_tag() -> None:
    """`messageTag` works as `tag`, with advice (§2.1, §9, A85)."""
    send, advice = decode(message(messageTag="otp"))
    assert send.tags == ("otp",)
    assert said(advice) == [("deprecated-name", "$.messageTag")]
    assert advice[0].message == '"messageTag" is a deprecated name; the name is now "tag"'


def test_a86_tag_wins_over_message_tag() -> None:
    """The new name wins beside the old one, with advice (A86)."""
    send, advice = decode(message(messageTag="old", tag="new"))
    assert send.tags == ("new",)
    assert said(advice) == [("old-name-ignored", "$.messageTag")]


# -- payload


@pytest.mark.parametrize(
    "payload",
    [{}, {"b": 1, "a": [None, {"x": "č"}]}, {"n": 1.5, "t": True, "deep": {"er": {"est": {}}}}],
    ids=["empty", "nulls", "nested"],
)
def test_s2_1_payload_is_kept_unchanged(payload: dict[str, Any]) -> None:
    """The payload is kept as it came, order and nulls included, and nothing in it is looked at (§2.1)."""
    send, advice = decode(message(payload=payload))
    assert (send.payload, advice) == (orjson.dumps(payload), [])


def test_a67_payload_absent_is_an_empty_object() -> None:
    """Without a payload events carry `{}` (A67)."""
    assert decode(message())[0].payload == b"{}"


# -- params


def test_s2_1_params_url_defaults() -> None:
    """`_url` shortens complete addresses, adds nothing, and lives seven days, unless it says otherwise (§2.1)."""
    send, advice = decode(message(params={"_url": {}}))
    assert (send.shortening, advice) == (Shortening("full", None, False, "_", None), [])


def test_s2_1_params_url_fields() -> None:
    """Every field of `_url` is taken over (§2.1)."""
    url = {"type": "all", "domain": "go.acme.example", "get_enhance": "id", "get_name": "mid", "expires_at": 1800000000}
    send, advice = decode(message(params={"_url": url}))
    assert (send.shortening, advice) == (Shortening("all", "go.acme.example", True, "mid", 1800000000), [])


def test_s2_1_no_params_url_no_shortening() -> None:
    """Links are shortened only when `_url` asks for it (§2.1)."""
    send, advice = decode(message(params={}))
    assert (send.shortening, advice) == (None, [])


def test_s9_expires_is_an_alias_of_expires_at() -> None:
    """`expires` works as `expires_at`, with advice; beside it, it is ignored (§2.1, §9, A85, A86)."""
    send, advice = decode(message(params={"_url": {"expires": 1800000000}}))
    assert send.shortening == Shortening(expires_at=1800000000)
    assert said(advice) == [("deprecated-name", "$.params._url.expires")]
    send, advice = decode(message(params={"_url": {"expires": 1, "expires_at": 1800000000}}))
    assert send.shortening == Shortening(expires_at=1800000000)
    assert said(advice) == [("old-name-ignored", "$.params._url.expires")]


def test_a77_domain_must_be_configured() -> None:
    """A custom domain that the account does not have is refused; its case does not matter (§2.1, A77)."""
    (finding,) = findings(message(params={"_url": {"domain": "other.example"}}))
    assert (finding.path, finding.assumed) == ("$.params._url.domain", "A77")
    text = '"other.example" is not configured for the account; legal: go.acme.example (§2.1, A77)'
    assert finding.message == text
    send, _ = decode(message(params={"_url": {"domain": "GO.acme.example"}}))
    assert send.shortening == Shortening(domain="go.acme.example")


# -- datetime and delivery_time (forms of date-times are in test_schedule)


def test_s2_1_datetime_is_the_send_time() -> None:
    """`datetime` becomes an instant; what is ahead and what is past the core decides (§2.1)."""
    send, advice = decode(message(datetime="2026-03-01T09:00:00Z"))
    assert (send.at, advice) == (1_772_355_600_000, [])
    assert decode(message())[0].at is None


def test_a58_datetime_of_another_form_is_refused() -> None:
    """What is no RFC 3339 date-time is refused (A58)."""
    assert places(findings(message(datetime="tomorrow"))) == [("date-time", "$.datetime")]


def test_s2_1_delivery_time_is_the_window() -> None:
    """`delivery_time` becomes the window, which moves an instant outside it to the nearest valid one (§2.1)."""
    send, advice = decode(message(delivery_time={"start": "10:00", "end": "12:00", "tz": "UTC"}))
    assert advice == []
    assert send.window is not None
    assert send.window.next_open(1_772_355_600_000) == 1_772_355_600_000 + 3_600_000
    assert decode(message())[0].window is None


def test_s2_1_unknown_time_zone_is_refused() -> None:
    """`tz` is an IANA name; another one is refused with its value first (§2.1)."""
    (finding,) = findings(message(delivery_time={"tz": "Europe/Nowhere"}))
    assert (finding.path, finding.rule, finding.section) == ("$.delivery_time.tz", "time-zone", "§2.1")
    assert "Europe/Nowhere" in finding.message


# -- what is said, and how much is refused


def test_a57_unknown_fields_are_named_at_every_level() -> None:
    """Fields the specification does not name have no effect, and the nearest known one is named (A57)."""
    request = message(
        to=[{"phone_number": "420777000101", "phoneNumber": "x"}],
        Body="x",
        payload={"anything": 1},
        params={"url": {}, "_url": {"typ": "all"}},
        delivery_time={"form": "10:00"},
        callback={"url": "https://client.example/", "metod": "PUT"},
    )
    _, advice = decode(request)
    assert said(advice) == [
        ("unknown-field", "$.Body"),
        ("unknown-field", "$.to[0].phoneNumber"),
        ("unknown-field", "$.callback.metod"),
        ("unknown-field", "$.delivery_time.form"),
        ("unknown-field", "$.params.url"),
        ("unknown-field", "$.params._url.typ"),
    ]
    assert advice[0].message == '"Body" is not a field here and has no effect; nearest is "body"'


def test_every_finding_of_a_message_is_collected() -> None:
    """One look tells a client everything: all rules are checked before the message is refused (A11)."""
    request = message(
        body=None,
        sender="TwelveLetter",
        callback="http://[client]/",
        datetime="never",
        delivery_time={"tz": "Europe/Nowhere"},
        params={"_url": {"domain": "other.example"}},
    )
    assert [path for _, path in places(findings(request))] == [
        "$.sender",
        "$.body",
        "$.callback",
        "$.datetime",
        "$.delivery_time.tz",
        "$.params._url.domain",
    ]


def test_clean_message_says_nothing() -> None:
    """A message of known fields in their best form gives no advice, and paths begin where the message stands."""
    call = exchange()
    send = decode_message(message(tag="otp"), "$[3]", call, call.advice)
    assert (send.path, call.advice) == ("$[3]", [])
    assert steps_of(send) == [Step("sms", "Hello")]


def test_refusal_shows_value_rule_and_path_in_one_line() -> None:
    """The client reads the first finding in one line (A11)."""
    with pytest.raises(Refused) as refused:
        decode(message(sender="Twelve\nLetters"))
    assert refused.value.status == 400
    assert refused.value.text == (
        '"Twelve\\nLetters" is over the 11 characters of an alphanumeric sender; legal: an alphanumeric name of at '
        "most 11 characters, or a number without `+` (§2.1, A59) at $.sender"
    )


# -- nulls


def test_a56_absent_nulls_are_left_out() -> None:
    """With `nulls: absent` a null field is as left out, in arrays of objects too (A56)."""
    request = {"body": None, "to": [{"phone_number": "1", "x": None}], "flow": [{"sms": {"ttl": None}}]}
    assert without_nulls(request) == {"to": [{"phone_number": "1"}], "flow": [{"sms": {}}]}


def test_a56_nulls_of_the_client_stay() -> None:
    """Nulls that mean something are kept: in the payload, in button parameters, in template values (A56, §2.2)."""
    template = {"params_buttons": [None, {"flow": None}], "params": ["a", None], "params_header": [{"image": None}]}
    request = {"payload": {"a": None}, "params": {"_url": None}, "flow": [{"chatapp_template": template}]}
    stripped = without_nulls(request)
    assert stripped["payload"] == {"a": None}
    assert stripped["params"] == {}
    assert stripped["flow"][0]["chatapp_template"] == template | {"params_header": [{}]}


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"a": value}
    return value


def test_a56_depth_is_bounded() -> None:
    """Unknown fields may be nested deep without harm."""
    request = {"deep": nested(900), "list": [[[None]]]}
    assert without_nulls(request)["list"] == [[[None]]]
