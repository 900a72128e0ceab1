"""The two engines behind a checker agree, and a refusal always has its reasons."""

from __future__ import annotations

import copy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sendbox.contract import validators
from sendbox.contract.findings import json_path
from sendbox.contract.validators import Checker, Contract, preload
from tests.channels import USUAL
from tests.contract.samples import FULL, ODD, TYPICAL, incoming, sent_message
from tests.contract.settled import settled_checker
from tests.tiers import examples, turn

MESSAGE = "sending.json#/$defs/Message"
BATCH = "webhooks.json#/$defs/Batch"
CONTRACT = Contract()
STRICT = settled_checker(CONTRACT, MESSAGE)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=15) | st.sampled_from(ODD),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abc_ \n", max_size=4), inner, max_size=4),
    max_leaves=6,
)  # fmt: skip


def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Paths to every part of a value but the whole."""
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield (*path, key)
        yield from places(value[key], (*path, key))


def explained(checker: Checker, value: object) -> bool:
    """True if the explaining engine finds a problem, regardless of the deciding one."""
    engine = validators._engine_class()(checker._schema)
    return next(engine.iter_errors(value), None) is not None  # type: ignore[arg-type]


def agree(checker: Checker, value: object) -> None:
    """Both engines say the same, and findings are there exactly when the value is refused."""
    legal = checker.is_valid(value)
    assert legal is not explained(checker, value), value
    assert bool(checker.findings(value)) is not legal


@pytest.mark.parametrize("sample", [TYPICAL, FULL], ids=["typical", "full"])
def test_engines_agree_on_every_part_spoiled(sample: dict[str, Any]) -> None:
    """Each part of a legal message is replaced by odd values, and taken away: the engines never differ.

    In an ordinary run each part gets a fourth of the values, and its neighbours get the others.
    """
    assert STRICT.findings(sample) == []
    for number, path in enumerate(places(sample)):
        spoiled = copy.deepcopy(sample)
        holder: Any = spoiled
        for step in path[:-1]:
            holder = holder[step]
        for odd in turn(ODD, number, 4):
            holder[path[-1]] = odd
            legal = STRICT.is_valid(spoiled)
            assert legal is not explained(STRICT, spoiled), (json_path(path), odd)
        del holder[path[-1]]
        agree(STRICT, spoiled)


@settings(max_examples=examples(50))
@given(st.data())
def test_engines_agree_on_mutations(data: st.DataObject) -> None:
    """Several parts of a legal message replaced, added or doubled at once: the engines never differ."""
    value: Any = copy.deepcopy(data.draw(st.sampled_from([TYPICAL, FULL])))
    for _ in range(data.draw(st.integers(1, 4))):
        paths = list(places(value))
        if not paths:
            break
        path = data.draw(st.sampled_from(paths))
        holder = value
        for step in path[:-1]:
            holder = holder[step]
        key = path[-1]
        act = data.draw(st.sampled_from(["replace", "add", "append", "break"]))
        if act == "add" and isinstance(holder, dict):
            holder[data.draw(st.sampled_from(["url", "sms", "type", "x", "\n", "flow"]))] = copy.deepcopy(
                data.draw(JSON)
            )
        elif act == "append" and isinstance(holder, list):
            holder.append(copy.deepcopy(holder[data.draw(st.integers(0, len(holder) - 1))]))
        elif act == "break" and isinstance(holder[key], str):
            holder[key] += data.draw(st.sampled_from(["\n", " ", "é", "%", "0", "\x00"]))
        else:
            holder[key] = copy.deepcopy(data.draw(JSON))
    agree(STRICT, value)


@settings(max_examples=examples(40))
@given(JSON)
def test_engines_agree_on_anything(value: object) -> None:
    """Any JSON at all, against requests and webhooks."""
    for ref in (MESSAGE, "sending.json#/$defs/Callback", "sending.json#/$defs/TemplateButton", BATCH):
        agree(CONTRACT.checker(ref), value)


@pytest.mark.parametrize("gateway", USUAL)
def test_s6_sent_message_has_exactly_its_fields(gateway: str) -> None:
    """§6: every field of the table is needed but `result_info`, and none may be more, for each gateway."""
    checker = CONTRACT.checker("webhooks.json#/$defs/SentMessageBatch")
    event = sent_message(gateway)
    assert checker.findings([event]) == []
    for path in places(event):
        if path[0] == "payload" and len(path) > 1:
            continue
        spoiled = copy.deepcopy(event)
        holder: Any = spoiled
        for step in path[:-1]:
            holder = holder[step]
        del holder[path[-1]]
        assert checker.is_valid([spoiled]) is (path == ("result_info",)), path
        agree(checker, [spoiled])
    assert not checker.is_valid([{**event, "extra": 1}])
    assert not checker.is_valid([{**event, "timestamp": "1893456000"}])
    assert not checker.is_valid([{**event, "result": "lost"}])
    assert not checker.is_valid(event)
    assert not checker.is_valid([])


@pytest.mark.parametrize("reply", [True, False])
def test_s6_incoming_events_have_exactly_their_fields(reply: bool) -> None:
    """§6: a reply names the message it answers, an unsolicited message has no request or message id."""
    name = "IncomingReplyMessageBatch" if reply else "IncomingMessageBatch"
    checker = CONTRACT.checker(f"webhooks.json#/$defs/{name}")
    event = incoming(reply=reply)
    assert checker.findings([event]) == []
    for field in event:
        assert not checker.is_valid([{key: value for key, value in event.items() if key != field}])
    assert not checker.is_valid([incoming(reply=not reply)])
    assert not checker.is_valid([{**event, "gateway": "chatapp_text"}])
    assert CONTRACT.checker(BATCH).is_valid([event, sent_message("sms"), incoming(reply=not reply)])


RESPONSE = {
    "request_id": "0b5f0b4e-8c39-4c5c-9a51-0c6d8a2a7f10",
    "accepted": [{"key": "0", "message_id": "m"}],
    "rejected": [{"key": "1"}],
}


@pytest.mark.parametrize(
    ("legal", "name", "value"),
    [
        (True, "MessageResponse", RESPONSE),
        (True, "MessageResponse", {**RESPONSE, "rejected": [], "accepted": [{"key": "0-1", "message_id": "m-1"}]}),
        (False, "MessageResponse", {**RESPONSE, "success": True}),
        (False, "MessageResponse", {**RESPONSE, "request_id": "5"}),
        (False, "MessageResponse", {**RESPONSE, "accepted": [{"key": 0, "message_id": "m"}]}),
        (False, "MessageResponse", {**RESPONSE, "rejected": [{"key": "1", "reason": "x"}]}),
        (False, "MessageResponse", {"request_id": RESPONSE["request_id"], "accepted": []}),
        (True, "SimpleResponse", {"request_id": RESPONSE["request_id"], "message_id": "m", "accepted": True}),
        (True, "SimpleResponse", {"request_id": RESPONSE["request_id"], "accepted": False}),
        (False, "SimpleResponse", {"request_id": RESPONSE["request_id"], "accepted": True}),
        (False, "SimpleResponse", {"request_id": RESPONSE["request_id"], "message_id": "m", "accepted": False}),
        (True, "Error", {"Message": "x"}),
        (False, "Error", {"message": "x"}),
        (True, "MediaTypeError", {"message": "x"}),
        (False, "MediaTypeError", {"Message": "x"}),
        (True, "SendResult", "OK|abc-1"),
        (True, "SendResult", "OK|abc\nOK|def"),
        (True, "SendResult", "OK|abc|420777000101\nOK|def|420777000102"),
        (False, "SendResult", "OK|abc\nERROR|201\nOK|def"),
        (True, "SendResult", "ERROR|103"),
        (True, "SendResult", "ERROR"),
        (False, "SendResult", "OK|"),
        (False, "SendResult", "ERROR|1"),
        (False, "SendResult", "OK|abc\n"),
    ],
)
def test_s2_3_and_s4_1_answers(legal: bool, name: str, value: object) -> None:
    """§2.3, §4.1, §7.2: what goes out has the fields it should and no other."""
    checker = CONTRACT.checker(f"x.json#/$defs/{name}")
    assert checker.is_valid(value) is legal
    agree(checker, value)


def test_what_a_setting_relaxes_is_left_to_code() -> None:
    """Without `settled`, a sender's form is not the schema's business (A59, `sender_form`)."""
    message = {"to": [{"phone_number": "1"}], "body": "x", "sender": "far too long a name"}
    assert CONTRACT.checker(MESSAGE).is_valid(message)
    assert [finding.assumed for finding in STRICT.findings(message)] == ["A59"]
    assert CONTRACT.checker(MESSAGE) is CONTRACT.checker(MESSAGE)


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), {"payload": float("nan")}, {1: 2}, {"to": {1: 2}}, {1, 2}]
)
def test_what_is_not_json_is_refused_with_a_finding(value: object) -> None:
    """A value that no JSON text holds is refused, never an exception."""
    assert not STRICT.is_valid(value)
    assert STRICT.findings(value)


def test_the_deciders_own_words_are_shown_where_the_explainer_finds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A refusal always has a finding, whatever the engines differ on."""
    monkeypatch.setattr(validators, "_nearest_problems", lambda error: iter(()))
    (finding,) = STRICT.findings({"to": [{"phone_number": 5}]})
    assert (finding.path, finding.rule, finding.assumed) == ("$.to[0].phone_number", "type", None)
    assert finding.message.startswith("5 is not of type")


def test_an_error_deep_in_a_long_array_is_found() -> None:
    """Arrays are looked into up to a limit; what stands behind it is refused all the same."""
    step = {"chatapp_template": {"template_name": "t", "language": "en", "params": ["x"] * 500 + [5]}}
    value = {"to": [{"phone_number": "1"}], "flow": [step]}
    (finding,) = STRICT.findings(value)
    assert finding.path == "$.flow[0].chatapp_template.params[500]"


def test_a_hundred_thousand_wrong_parts_are_short_work() -> None:
    """Findings of one value are bounded; an array over its limit is not looked into."""
    (finding,) = STRICT.findings({"to": [5] * 100_000})
    assert finding.rule == "maxItems"
    assert len(STRICT.findings({"to": [{"phone_number": "1"}], "flow": [5] * 100_000})) == validators.MAX_PROBLEMS


def test_the_folder_may_be_given(tmp_path: Path) -> None:
    """A contract can be read from any folder."""
    (tmp_path / "a.json").write_text('{"$defs": {"A": {"type": "string", "pattern": "^a"}}}')
    checker = Contract(tmp_path).checker("a.json#/$defs/A")
    assert checker.ref == "a.json#/$defs/A"
    assert checker.is_valid("ab")
    assert [finding.message for finding in checker.findings("b")] == [
        '"b" is not a legal JSON body; legal: text in the form ^a (§2)'
    ]


def test_the_explainer_is_imported_only_for_a_refusal() -> None:
    """A start, and legal requests, do without `jsonschema`; `preload` brings it in."""
    code = (
        "import sys\n"
        "from sendbox.contract.validators import Contract, preload\n"
        "checker = Contract().checker('sending.json#/$defs/Message')\n"
        "assert checker.is_valid({'to': [{'phone_number': '1'}]}) and not checker.is_valid({})\n"
        "assert checker.findings({'to': [{'phone_number': '1'}]}) == []\n"
        "assert 'jsonschema' not in sys.modules\n"
        "preload()\n"
        "assert {'jsonschema', 'difflib'} <= sys.modules.keys()\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_preload_can_be_called_again() -> None:
    """It is idempotent."""
    preload()
    preload()


def test_a_deferred_explainer_is_not_imported_on_the_spot() -> None:
    """Where the explainer is deferred, the first refusal says so; once it is loaded, findings come."""
    deferred = Contract(deferred=True).checker(MESSAGE)
    validators._engine_class.cache_clear()
    with pytest.raises(validators.NotLoaded):
        deferred.findings([])
    preload()
    assert deferred.findings([])
