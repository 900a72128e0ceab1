"""Advice codes: what may be said about a legal request, each with its meaning and its place in the specification.

A code is a promise to everyone who filters by it (strict mode, scenarios, the page): it is never renamed. To add one,
add a constant and a row here; `advise` refuses a code that has no row.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from sendbox.engine.remarks import Advice
from sendbox.engine.texts import nearest

UNKNOWN_FIELD: Final = "unknown-field"
BODY_TRUNCATED: Final = "body-truncated"
DEPRECATED_NAME: Final = "deprecated-name"
OLD_NAME_IGNORED: Final = "old-name-ignored"
NUMBER_CONVERTED: Final = "number-converted"
NUMBER_INVALID: Final = "number-invalid"
DATETIME_WITHOUT_ZONE: Final = "datetime-without-zone"
DATETIME_CONVERTED: Final = "datetime-converted"
DATETIME_FAR: Final = "datetime-far"
SEEN_NEVER_MET: Final = "seen-never-met"
TTL_WITHOUT_NEXT_STEP: Final = "ttl-without-next-step"
CALLBACK_TEMPLATE_IGNORED: Final = "callback-template-ignored"
SENDER_FORM: Final = "sender-form"
SENDER_NOT_REGISTERED: Final = "sender-not-registered"
GATEWAY_DIRECT_WITHOUT_NUMBER: Final = "gateway-direct-without-number"
GATEWAY_SIM_WITHOUT_NUMBER: Final = "gateway-sim-without-number"
TAGS_CLEANED: Final = "tags-cleaned"
EMPTY_TAGS: Final = "empty-tags"
CONTENT_TYPE_MISSING: Final = "content-type-missing"
CONTENT_TYPE_NOT_JSON: Final = "content-type-not-json"
REPEATED_PARAMETER: Final = "repeated-parameter"
NO_TARGET: Final = "no-target"
ANSWER_NOT_200: Final = "answer-not-200"
NATIONAL_NUMBER: Final = "national-number"
PROOF_CANNOT_HOLD: Final = "proof-cannot-hold"
HAPPENING_BEFORE_START: Final = "happening-before-start"
NUMBER_DOUBTFUL: Final = "number-doubtful"
UNICODE_BY_ONE_CHARACTER: Final = "unicode-by-one-character"
ONE_CHARACTER_OVER: Final = "one-character-over"
TTL_TOO_SHORT: Final = "ttl-too-short"
CALLBACK_MISSING: Final = "callback-missing"
START_NOT_PINNED: Final = "start-not-pinned"
POLLING_STOPPED_CLOCK: Final = "polling-stopped-clock"
TEMPLATE_NEAR_LIMIT: Final = "template-near-limit"
OUTBOX_NOT_FETCHED: Final = "outbox-not-fetched"
SENT_AGAIN: Final = "sent-again"
TTL_MISSING: Final = "ttl-missing"
BASE_ID: Final = "base-id"
ENTRY_NOT_IN_FORCE: Final = "entry-not-in-force"
TEST_NUMBER: Final = "test-number"
HOURS_NEVER_MET: Final = "hours-never-met"
UNTAGGED_PROMOTIONAL: Final = "untagged-promotional"
PLAN_VALUE_UNUSABLE: Final = "plan-value-unusable"
OUTSIDE_SPECIFICATION: Final = "outside-specification"


class Kind(msgspec.Struct, frozen=True):
    """The meaning of a code, its section of the specification, and the assumption it rests on, if any.

    `called` says whether it is advice about a call; else it is about what happens by itself, such as an answer of a
    receiver.
    """

    meaning: str
    section: str
    assumed: str | None = None
    called: bool = True


ADVICE: Final[dict[str, Kind]] = {
    UNKNOWN_FIELD: Kind("a field that the specification does not name; it has no effect", "§2", "A57"),
    BODY_TRUNCATED: Kind("a text over 1000 characters; the rest of it is not sent", "§2.1"),
    DEPRECATED_NAME: Kind("an old name of a field; it works, the new name is the one to use", "§9", "A85"),
    OLD_NAME_IGNORED: Kind("an old name beside its new one; the new one wins", "§9", "A86"),
    NUMBER_CONVERTED: Kind("a phone number that was converted to international format", "§2.1", "A14"),
    NUMBER_INVALID: Kind("a phone number that cannot be normalized; its message will be rejected", "§7.3", "A14"),
    DATETIME_WITHOUT_ZONE: Kind("a date-time without an offset; it is read as UTC", "§2.1", "A58"),
    DATETIME_CONVERTED: Kind("a date-time with another offset; it is converted to UTC", "§2.1", "A58"),
    DATETIME_FAR: Kind(
        "a date-time more than a day from the world's clock; the client may go by another clock", "§2.1"
    ),
    SEEN_NEVER_MET: Kind("an sms step that waits for `seen`, which sms never reaches", "§3.1", "A64"),
    TTL_WITHOUT_NEXT_STEP: Kind("a ttl on the last step, where there is nothing to go on to", "§2.2", "A64"),
    CALLBACK_TEMPLATE_IGNORED: Kind(
        "a template of a callback; its syntax is unknown, so it has no effect", "§2.1", "A01"
    ),
    SENDER_FORM: Kind("a sender whose form the service refuses, let through by `sender_form`", "§2.1", "A59"),
    SENDER_NOT_REGISTERED: Kind("a sender that the account has not registered", "§2.1", "A59"),
    GATEWAY_DIRECT_WITHOUT_NUMBER: Kind("gateway `direct` without a virtual number as sender", "§2.2", "A80"),
    GATEWAY_SIM_WITHOUT_NUMBER: Kind("gateway `simhost` or `gsm` in an account without a number", "§2.2", "A80"),
    TAGS_CLEANED: Kind("tags that were normalized: lower case, and only a-z, 0-9, `-`, `.`, `_`", "§2.1"),
    EMPTY_TAGS: Kind("tags that are empty after cleaning; the default tag is used", "§2.1", "A60"),
    CONTENT_TYPE_MISSING: Kind("a JSON request without a content type", "§4", "A75"),
    CONTENT_TYPE_NOT_JSON: Kind("a JSON request with another content type", "§4", "A75"),
    REPEATED_PARAMETER: Kind(
        "a parameter of a query or form that is given more than once; the last one counts", "§4.1"
    ),
    ANSWER_NOT_200: Kind(
        "a receiver that answered another 2xx than 200; it counts as delivered", "§6", "A20", called=False
    ),
    NO_TARGET: Kind(
        "a message that a phone wrote and that is not reported: there is no callback", "§6", "A68", called=False
    ),
    NATIONAL_NUMBER: Kind("a number to be verified that looks national; it is taken as it is", "§4.5"),
    PROOF_CANNOT_HOLD: Kind("a proof that cannot be valid: no secret, or a session not verified", "§4.5", "A52"),
    HAPPENING_BEFORE_START: Kind(
        "an entry of `timeline:` whose instant lies before the start of the world; it happens at the start",
        "§1",
        called=False,
    ),
    NUMBER_DOUBTFUL: Kind("a number with a length or prefix that its country does not use", "§2.1", "A14"),
    UNICODE_BY_ONE_CHARACTER: Kind("an sms that has more segments because of one character", "§6"),
    ONE_CHARACTER_OVER: Kind("an sms whose last segment holds one character only", "§6"),
    TTL_TOO_SHORT: Kind("a ttl that ends before the condition can be met; the next step is always used", "§2.2", "A63"),
    CALLBACK_MISSING: Kind("a message without a callback and without a default one; nothing is reported", "§6", "A68"),
    START_NOT_PINNED: Kind("a decision by the day or the hour in a world whose start is not pinned", "§2.1"),
    POLLING_STOPPED_CLOCK: Kind("the same question with the same answer again and again while time stands", "§4.4"),
    TEMPLATE_NEAR_LIMIT: Kind("a template that, filled, is close to the limit of a body", "§8", "A06"),
    OUTBOX_NOT_FETCHED: Kind(
        "a webhook that no client fetched, in a world whose deliveries are pulled", "§6", called=False
    ),
    SENT_AGAIN: Kind("the same call again, after one that had its effect although its answer was lost", "§4.1"),
    TTL_MISSING: Kind(
        "a step without a ttl before another step, which is not used as long as this one waits", "§2.2", "A64"
    ),
    BASE_ID: Kind("a base id of `/messages`, which names no message; an index follows it", "§2.3", "A09"),
    ENTRY_NOT_IN_FORCE: Kind(
        "a message handed over after its phone was put on a list, and before that entry is in force",
        "§4.4",
        "A81",
        called=False,
    ),
    TEST_NUMBER: Kind(
        "a message to the test number of the service; it is taken, and nothing is sent", "§1", "A89", called=False
    ),
    HOURS_NEVER_MET: Kind(
        "a `delivery_time` that has no time in common with the promotional hours; only the `delivery_time` counts",
        "§2.1",
        "A84",
    ),
    UNTAGGED_PROMOTIONAL: Kind(
        "a message without a tag, which counts as promotional, met an opt-out or closed promotional hours",
        "§2.1",
        "A84",
        called=False,
    ),
    PLAN_VALUE_UNUSABLE: Kind(
        "a value in the plan that is not legal for its draw; the seed decides", "§1", called=False
    ),
    OUTSIDE_SPECIFICATION: Kind(
        "a call to a path that the specification does not have; a rule of `api` can answer it", "§7", "A97"
    ),
}

#: The codes of advice about calls.
OF_CALLS: Final = tuple(code for code, kind in ADVICE.items() if kind.called)


def advise(code: str, message: str, path: str, section: str | None = None, *, note: bool = False) -> Advice:
    """Advice of a code in the table; `section` where the place is more exact than the table's.

    Raises `KeyError` for a code that has no row.
    """
    kind = ADVICE[code]
    return Advice(code, message, path, section or kind.section, kind.assumed, note)


def on_answer(status: int | None, path: str = "$.callback") -> Advice | None:
    """The remark on an answer that is taken though it should have been 200; `path` names the target."""
    if status == 200:
        return None
    return advise(ANSWER_NOT_200, f"{status} counts as delivered, but a receiver must answer 200", path)


def codes(words: Iterable[str]) -> frozenset[str]:
    """The words, each of which must be a code. `ValueError` names the first that is not, and the nearest."""
    chosen = frozenset(map(str, words))
    for word in sorted(chosen):
        if word not in ADVICE:
            near = nearest(word, ADVICE)
            hint = f'; did you mean "{near}"?' if near else ""
            raise ValueError(f"{word!r} is not a code of advice{hint}; legal: {', '.join(ADVICE)}")
    return chosen
