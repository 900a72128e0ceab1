"""Lifecycles: total tables, and nothing beside them (§3.1, A25)."""

from __future__ import annotations

from itertools import product

import pytest

from sendbox.services.messaging.channels import (
    ATTEMPT,
    ATTEMPT_READABLE,
    ATTEMPT_SMS,
    CHANNELS,
    CODES,
    LEGAL,
    REACH,
    STATES,
    IllegalTransition,
    legal_next,
)
from tests.documentation.parts import diagram

#: Every legal pair of the channels that know whether a message was opened; nothing else is legal (A25).
PAIRS = {
    ("accepted", "sending"),
    ("accepted", "sent"),
    ("accepted", "rejected"),
    ("accepted", "failed"),
    ("sending", "sent"),
    ("sending", "failed"),
    ("sent", "delivered"),
    ("sent", "seen"),
    ("sent", "undelivered"),
    ("sent", "failed"),
    ("delivered", "seen"),
}
EVERY = list(product(CHANNELS, STATES, STATES))


def legal(channel: str, state: str, result: str) -> bool:
    """What the tables should say."""
    return (state, result) in PAIRS and not (channel == "sms" and result == "seen")


@pytest.mark.parametrize("channel", CHANNELS)
def test_a_table_is_total(channel: str) -> None:
    """Every state has a row, in the order of the codes, and every row leads to states of the table."""
    table = ATTEMPT[channel]
    assert tuple(table) == STATES
    assert {after for row in table.values() for after in row.values()} <= set(STATES)


def test_every_pair_is_legal_or_not() -> None:
    """Each of all pairs is legal as the specification says; the table by code agrees."""
    wrong = []
    for channel, state, result in EVERY:
        ways = (LEGAL[channel][CODES[state]][CODES[result]], result in legal_next(channel, state))
        if ways != (legal(channel, state, result),) * 2:
            wrong.append((channel, state, result, ways))
    assert wrong == []


@pytest.mark.parametrize(
    ("channel", "state", "result", "text"),
    [
        (
            "sms",
            "delivered",
            "sent",
            '"sent" does not follow "delivered" on the sms channel; legal: none, it is an end (§3.1, A25)',
        ),
        (
            "richmsg",
            "sent",
            "sending",
            (
                '"sending" does not follow "sent" on the richmsg channel; '
                "legal: delivered, seen, undelivered, failed (§3.1, A25)"
            ),
        ),
        (
            "sms",
            "sending",
            "lost",
            '"lost" does not follow "sending" on the sms channel; legal: sent, failed (§3.1, A25)',
        ),
    ],
    ids=["from an end", "backwards", "no result at all"],
)
def test_the_refusal_says_what_is_legal(channel: str, state: str, result: str, text: str) -> None:
    """The error begins with the value, and names rule and choices, as text and as data."""
    refusal = IllegalTransition(channel, state, result)
    assert str(refusal) == text
    assert (refusal.channel, refusal.state, refusal.result) == (channel, state, result)
    assert refusal.legal == legal_next(channel, state)


@pytest.mark.parametrize(
    ("channel", "ends"),
    [
        ("sms", {"delivered", "seen", "undelivered", "rejected", "failed"}),
        ("richmsg", {"seen", "undelivered", "rejected", "failed"}),
    ],
)
def test_nothing_leaves_an_end(channel: str, ends: set[str]) -> None:
    """Ends have empty rows, all others lead on; `delivered` is an end where it cannot be told that it was opened."""
    assert {state for state, row in ATTEMPT[channel].items() if not row} == ends


# --- the sentences of §3.1


@pytest.mark.parametrize("channel", CHANNELS)
def test_s3_1_handed_over_is_sending(channel: str) -> None:
    """§3.1: a message handed to the operator is `sending`."""
    assert "sending" in legal_next(channel, "accepted")


@pytest.mark.parametrize("channel", CHANNELS)
def test_s3_1_operator_accepted_is_sent(channel: str) -> None:
    """§3.1: once the operator accepted it, `sending` becomes `sent`."""
    assert "sent" in legal_next(channel, "sending")


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize("result", ["delivered", "undelivered"])
def test_s3_1_a_receipt_moves_only_what_was_sent(channel: str, result: str) -> None:
    """§3.1: a delivery receipt leads from `sent`, and from nowhere else, to `delivered` or `undelivered`."""
    assert [state for state in STATES if result in legal_next(channel, state)] == ["sent"]


@pytest.mark.parametrize("channel", CHANNELS)
def test_s3_1_rejected_was_never_handed_over(channel: str) -> None:
    """§3.1: the checks reject what was accepted and never handed to the operator."""
    assert [state for state in STATES if "rejected" in legal_next(channel, state)] == ["accepted"]


@pytest.mark.parametrize("channel", CHANNELS)
def test_s3_1_failure_strikes_until_the_end(channel: str) -> None:
    """§3.1 `any`, A25: a technical failure is possible in every state that is not an end."""
    assert [state for state in STATES if "failed" in legal_next(channel, state)] == ["accepted", "sending", "sent"]


def test_s3_1_seen_exists_on_two_channels_only() -> None:
    """§3.1: `seen` applies to the rich-message and messaging-app channels, not to sms; to rcs as well (A02)."""
    seeing = {channel for channel in CHANNELS if any("seen" in legal_next(channel, state) for state in STATES)}
    assert "sms" not in seeing
    assert seeing >= {"richmsg", "chatapp_text", "chatapp_template", "rcs"}


def test_s6_an_operator_may_skip_sending() -> None:
    """§6, A25: `sent` may come first."""
    assert "sent" in legal_next("sms", "accepted")


# --- the rest


def test_results_and_events_are_one_to_one() -> None:
    """Each result has one event that leads to it, the same in every row."""
    pairs = {(event, after) for row in ATTEMPT_READABLE.values() for event, after in row.items()}
    assert {after for _, after in pairs} == set(STATES) - {"accepted"}
    assert len({event for event, _ in pairs}) == len(pairs) == len(STATES) - 1


def test_reach_is_a_ladder() -> None:
    """A64: sent < delivered < seen, and no other state counts."""
    assert {state: REACH[code] for state, code in CODES.items() if REACH[code]} == {
        "sent": 1,
        "delivered": 2,
        "seen": 3,
    }


def test_the_diagram_is_drawn_from_the_table() -> None:
    """The diagram has a line for each move, an entrance and the ends, and nothing else."""
    assert diagram(ATTEMPT_SMS).splitlines() == [
        "stateDiagram-v2",
        "    [*] --> accepted",
        "    accepted --> sending: handed_over",
        "    accepted --> sent: operator_accepted",
        "    accepted --> rejected: check_refused",
        "    accepted --> failed: broke_down",
        "    sending --> sent: operator_accepted",
        "    sending --> failed: broke_down",
        "    sent --> delivered: device_confirmed",
        "    sent --> undelivered: receipt_failed",
        "    sent --> failed: broke_down",
        "    delivered --> [*]",
        "    seen --> [*]",
        "    undelivered --> [*]",
        "    rejected --> [*]",
        "    failed --> [*]",
    ]
