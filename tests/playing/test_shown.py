"""The timeline as rows, as a table, and as a diagram: every kind of entry, any text, any width.

Long because there are many kinds of entries.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from msgspec.structs import replace

from sendbox.app import SERVED
from sendbox.engine.expect.expectation import Expectation
from sendbox.engine.kinds.narration import Names, Narrator, short_line
from sendbox.engine.traffic import Traffic
from sendbox.playing import Asked, Played, play
from sendbox.playing.rows import rows
from sendbox.playing.text import LENGTH, MESSAGES, PHONES, ROWS, escape, mermaid, text
from sendbox.services.messaging.messaging import Messaging
from tests.core.observed import verdict

AT = "2026-03-02T09:00:00.000Z"
PHONE = "420777000101"


@pytest.fixture
def played() -> Played:
    """A message that was delivered."""
    return play({"sendbox": 1, "name": "Mine"})


def told(played: Played, kind: str, **entry: Any) -> str:
    """What is said of an entry: who, and what."""
    played.entries = [*entry.pop("before", []), {"n": 0, "at": AT, "kind": kind, **entry}]
    played.asked = []
    found, _ = rows(played)
    return f"{found[-1].narration.who}: {found[-1].text}"


ATTEMPT = {"message_id": "x", "phone": PHONE, "channel": "sms", "attempt": 1}
KEPT = {"delivery": "d", "events": [{"message_id": "x", "result": "sent", "event": "sentMessage"}] * 6}


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("kind", "entry", "expected"),
    [
        ("transition", {**ATTEMPT, "result": "sent", "info": None}, f"{PHONE}: m1 sms sent"),
        ("transition", {**ATTEMPT, "result": "failed", "info": "[3]"}, f"{PHONE}: m1 sms failed [3]"),
        ("transition", {**ATTEMPT, "result": "failed", "info": ""}, f"{PHONE}: m1 sms failed"),
        (
            "request",
            {"operation": "showKey", "status": 200, "method": "POST", "path": "/p", "findings": []},
            "client: POST /p -> 200 showKey",
        ),
        (
            "request",
            {"operation": "o", "status": 200, "method": "POST", "path": "/p", "findings": [1]},
            "client: POST /p -> 200 o (rejected)",
        ),
        (
            "request",
            {"operation": "o", "status": 0, "method": "POST", "path": "/p", "findings": []},
            "client: POST /p -> no answer o",
        ),
        ("refusal", {**ATTEMPT, "why": "credit"}, f"{PHONE}: m1 sms is refused: credit"),
        ("fallback", {**ATTEMPT, "why": "ttl"}, f"{PHONE}: m1 sms is given up (ttl), the next step goes out"),
        ("postponed", {**ATTEMPT, "until": AT}, f"{PHONE}: m1 waits until 2026-03-02 09:00:00"),
        ("illegal", {**ATTEMPT, "wanted": "seen"}, f"{PHONE}: m1 sms cannot become seen"),
        ("no_target", ATTEMPT, "receiver: m1: no callback asks for this event"),
        (
            "inbound",
            {"from": PHONE, "to": "Acme", "body": "Hi\nthere", "channel": "sms", "message_id": None},
            f'{PHONE}: writes "Hi there" to Acme by sms',
        ),
        (
            "inbound",
            {"from": PHONE, "to": "Acme", "body": "Hi", "channel": "sms", "message_id": "x"},
            f'{PHONE}: replies "Hi" to m1 by sms',
        ),
        ("click", {"phone": PHONE, "message_id": "x", "url": "u"}, f"{PHONE}: opens the link of m1"),
        ("phone", {"phone": PHONE, "act": "offline"}, f"{PHONE}: offline"),
        ("opt_out", {"phone": PHONE, "message_id": None}, f"{PHONE}: opts out"),
        ("timeline", {"entry": {"kind": "x", "a": ["b", 1]}}, "sendbox: the timeline says: x a b, 1"),
        ("lapse", {"what": "code", "phone": PHONE}, f"{PHONE}: code is over"),
        ("lapse", {"what": "upload", "bulk_id": "a"}, "sendbox: upload is over"),
        ("advice", {"advice": {"message": "mind"}, "about": None}, "sendbox: advice: mind"),
        ("validation", {"phone": PHONE, "event": "created", "state": "pending"}, f"{PHONE}: session: created, pending"),
        ("limited", {"phone": PHONE, "limit": "number"}, f"{PHONE}: one session too many for the number"),
        (
            "fault",
            {"operation": "sendMessage", "fault": {"status": 500}},
            "sendbox: fault at sendMessage: status 500, and the call had no effect",
        ),
        (
            "webhook_fault",
            {"events": [{"message_id": "x", "result": "sent"}] * 5, "fault": "drop"},
            "receiver: fault of a webhook with m1 sent, m1 sent, m1 sent, m1 sent, and 1 more: drop",
        ),
        ("webhook_fault", {"delivery": "d", "fault": "drop"}, "receiver: fault of a webhook: drop"),
        (
            "fault",
            {"operation": "sendMessage", "fault": "timeout", "rule": "never"},
            'sendbox: fault at sendMessage: timeout, and the call had no effect, by "never"',
        ),
        (
            "webhook_fault",
            {"events": [KEPT["events"][0]], "fault": "answer 503", "rule": "down", "note": "try 2"},
            'receiver: fault of a webhook with m1 sent: answer 503, by "down", try 2',
        ),
        (
            "webhook_fault",
            {"events": [KEPT["events"][0]], "fault": "drop", "rule": '{"fault":"drop"}'},
            "receiver: fault of a webhook with m1 sent: drop",
        ),
        ("outage", {"channel": "sms", "state": "began"}, "sendbox: outage of sms began"),
        ("outage", {"operator": 2, "country": "CZ", "state": "ended"}, "sendbox: outage of operator 2 in CZ ended"),
        ("outage", {"channel": ["sms", "richmsg"], "state": "began"}, "sendbox: outage of sms, richmsg began"),
        ("outage", {"state": "ended"}, "sendbox: outage of everything ended"),
        (
            "signup",
            {"partner_client_id": "c", "mode": "manual", "status": "failed", "reason": "no"},
            "sendbox: signup of c failed: no",
        ),
        ("signup", {"mode": "manual", "status": "completed", "reason": None}, "sendbox: signup of manual completed"),
        (
            "template",
            {"name": "otp", "status": "PAUSED", "template_id": "1"},
            "sendbox: template name otp, status PAUSED",
        ),
        ("number", {"phone_number": PHONE, "quality": "RED"}, f"sendbox: number phone_number {PHONE}, quality RED"),
        ("notice", {"phone": PHONE, "from": "x", "body": "Code 1"}, f'{PHONE}: gets "Code 1"'),
        ("key", {"key": "test-a~1", "what": "added"}, "sendbox: key test-a~1 added"),
        ("listed", {"list": "optout", "phones": [PHONE]}, f"sendbox: optout: {PHONE}"),
        (
            "order",
            {"id": "1", "service": "sender_x", "subject": "Acme", "state": "new", "fee": 10.0, "currency": "EUR"},
            "sendbox: order of sender_x for Acme new, 10 EUR",
        ),
        ("bulk", {"bulk_id": "a", "what": "stored", "lines": 2}, "sendbox: bulk file a stored: 2 lines"),
        (
            "bulk",
            {"bulk_id": "a", "what": "done", "lines": 2, "accepted": 1, "skipped": 1},
            "sendbox: bulk file a done: 2 lines, 1 taken, 1 skipped",
        ),
        (
            "bulk_line",
            {"bulk_id": "a", "line": 1, "request_id": "r", "findings": []},
            "sendbox: bulk file a, line 1: taken",
        ),
        (
            "bulk_line",
            {"bulk_id": "a", "line": 2, "request_id": None, "findings": [{"message": "no " * 90 + "end"}]},
            f"sendbox: bulk file a, line 2: skipped: {'no ' * 90}end",
        ),
        ("news", {"phone": PHONE, "message_id": "x", "what": "this"}, f"{PHONE}: news: message_id m1, what this"),
        ("news", {"phone": None, "empty": [], "order_sensitive": True}, "sendbox: news:  [order-sensitive]"),
        ("try", {"delivery": "d", "number": 1, "status": 200, "error": None}, "receiver: webhook:  → 200"),
    ],
    ids=lambda value: value if isinstance(value, str) and value.isidentifier() else "",
)
def test_every_entry_is_told(played: Played, kind: str, entry: dict[str, Any], expected: str) -> None:
    """In a few words; a kind that is not known, with what is in it."""
    assert told(played, kind, **entry) == expected


def test_every_kind_of_the_journal_has_words_of_its_own() -> None:
    """No kind falls back to its raw content; a delivery is told by its tries."""
    assert [kind.name for kind in SERVED.kinds.by_code.values() if kind.narrate is None] == ["delivery"]
    assert SERVED.kinds.describe({"kind": "delivery"}) == ""
    assert SERVED.kinds.describe({"kind": "opened", "scenario": "default"}) == "opened scenario default"


@pytest.mark.unmeasured
@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("kind", "entry", "expected"),
    [
        ("opened", {"scenario": "default"}, "opened scenario default"),
        ("reset", {}, "reset"),
        ("control", {"what": "clock", "mode": "real"}, "the test: clock mode real"),
        ("control", {"what": "scenario", "name": "x", "source": {"sendbox": 1}}, "the test: scenario name x"),
        (
            "control",
            {"what": "rule", "id": "a1", "in": "api", "rule": {"fault": {"status": 500}}},
            "the test: rule a1 into api: {fault: {status: 500}}",
        ),
        (
            "control",
            {"what": "account", "changes": {"credit": {"eur": 0}, "optout": ["1", "2"]}},
            "the test: account changes {credit: {eur: 0}, optout: [1, 2]}",
        ),
    ],
)
def test_what_a_tester_did(played: Played, kind: str, entry: dict[str, Any], expected: str) -> None:
    """It has words, which `play` leaves out: what it does has entries of its own."""
    whole = {"n": 0, "at": AT, "kind": kind, **entry}
    told = Narrator(SERVED.kinds.narrators, Names(), []).narrate(whole)
    assert told is not None
    assert told.line == expected
    played.entries, played.asked = [whole], []
    assert rows(played)[0] == []


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("events", "status", "number", "expected"),
    [
        (KEPT["events"], None, 2, "webhook (try 2): m1 sent, m1 sent, m1 sent, m1 sent, and 2 more → timeout"),
        ([{"event": "incomingMessage", "body": "Hi"}], 500, 1, 'webhook: incomingMessage "Hi" → 500'),
        (
            [{"event": "partnerOnboarding", "signup": "s", "partner_client_id": "shop", "status": "failed"}],
            200,
            1,
            "webhook: signup of shop failed → 200",
        ),
        (
            [{"event": "partnerOnboarding", "signup": "s", "partner_client_id": None, "status": "created"}],
            200,
            1,
            "webhook: signup created → 200",
        ),
    ],
    ids=["many", "inbound", "signup", "signup of nobody"],
)
def test_webhooks_tell_their_events(
    played: Played, events: Any, status: int | None, number: int, expected: str
) -> None:
    """The first of them, the try, and what came back."""
    before = [{"n": 0, "at": AT, "kind": "delivery", "delivery": "d", "events": events}]
    error = None if status else "timeout"
    found = told(played, "try", before=before, delivery="d", number=number, status=status, error=error)
    assert found == f"receiver: {expected}"


def to(count: int) -> list[dict[str, str]]:
    return [{"phone_number": f"42077700010{number}"} for number in range(count)]


@pytest.mark.unmeasured
@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"to": to(1)}, " to 420777000100"),
        (
            {"to": to(4), "flow": [{"sms": {}}, {"richmsg": {}}]},
            " to 420777000100, 420777000101 and 2 more by sms, richmsg",
        ),
        ([{"to": to(1)}, {"to": to(1)}], " to 420777000100, and 1 more message"),
        ({"phoneNumber": PHONE}, f" to {PHONE}"),
        ({"number": PHONE}, f" to {PHONE}"),
        ({"to": "1\n2"}, " to 1 2"),
        ({"to": [1]}, ""),
        ("a file", ""),
        (None, ""),
    ],
    ids=["one", "many", "several objects", "verify", "simple", "list", "illegal", "file", "nothing"],
)
def test_requests_say_whom_they_are_for(played: Played, value: Any, expected: str) -> None:
    """The first recipients, and the channels."""
    played.entries, played.asked = [], [Asked(Traffic(0, True, "op", value), 0, 200)]
    found, _ = rows(played)
    assert found[0].text == f"op{expected} → 200"


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"status": 200, "answer": [{"accepted": [{"message_id": "x"}], "rejected": [1]}]}, "200 m1"),
        ({"status": 200, "answer": {"accepted": [{"key": "0"}], "rejected": [1, 2]}}, "200 2 rejected"),
        ({"status": 400}, "400"),
        ({"status": 400, "expects": (200,)}, "400 (expected 200)"),
        ({"status": 200, "expects": (0,)}, "200 (expected no answer)"),
        ({"status": 200, "expects": (503, 0)}, "200 (expected 503 or no answer)"),
        ({"error": "no answer"}, "no answer"),
    ],
    ids=["list", "rejected", "refused", "not as expected", "unexpected", "one of several", "none"],
)
def test_requests_say_what_came_of_them(played: Played, asked: dict[str, Any], expected: str) -> None:
    """The status, the messages, and what was expected instead."""
    traffic = Traffic(0, True, "op", statuses=asked.pop("expects", ()))
    text = json.dumps(asked.get("answer")).replace('"x"', f'"{Messaging.of(played.world).messages[0].id}"')
    played.entries, played.asked = [], [Asked(traffic, 0, **{**asked, "answer": json.loads(text)})]
    found, _ = rows(played)
    assert found[0].narration.answer == expected


@pytest.mark.unmeasured
def test_messages_of_a_call_are_named_by_recipient() -> None:
    """An answer of /messages has the base of their ids; that to a form has one id."""
    messages = [{"body": "x", "to": to(2)}, {"body": "y", "to": to(1)}]
    simple = {"number": PHONE, "message": "Hello"}
    given = {
        "sendbox": 1,
        "traffic": [
            {"at": 0, "request": {"operation": "sendMessages", "body": messages}},
            {"at": 0, "request": {"operation": "sendSimpleMessage", "form": simple}},
        ],
    }
    found, names = rows(play(given))
    assert [row.narration.answer for row in found if row.narration.who == "client"] == ["200 m1 m2 m3", "200 m4"]
    assert len(names.ids) == 4


@pytest.mark.unmeasured
@pytest.mark.sample(2)
@pytest.mark.parametrize(("recipients", "expected"), [(2, "200 m1 m2"), (5, "200 m1 to m5")], ids=["few", "many"])
def test_an_id_of_several_recipients_names_their_messages(recipients: int, expected: str) -> None:
    """The id that /messages answers is the beginning of those of its recipients (A09)."""
    to = [{"phone_number": f"4207770001{each:02}"} for each in range(recipients)]
    request = {"operation": "sendMessages", "body": [{"body": "Hello", "to": to}]}
    found, names = rows(play({"sendbox": 1, "traffic": [{"at": 0, "request": request}]}))
    assert found[0].narration.answer == expected
    assert len(names.ids) == recipients


@pytest.mark.unmeasured
def test_a_request_without_an_entry_stands_where_it_was_sent(played: Played) -> None:
    """Before whatever happened later."""
    start = played.world.start
    played.asked.append(Asked(Traffic(0, True, "lost"), start + 500, error="closed"))
    found, _ = rows(played)
    assert [row.narration.what.partition(" ")[0] for row in found if row.at <= start + 1000][-3:] == [
        "lost",
        "m1",
        "webhook:",
    ]


@pytest.mark.unmeasured
@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("fault", "came"),
    [
        ("timeout", "The read operation timed out"),
        ("disconnect", "Server disconnected"),
        ({"disconnect": "middle"}, "Server disconnected before its answer"),
        ("garbage", "illegal status line"),
    ],
    ids=str,
)
def test_a_request_whose_answer_broke_stands_once(fault: Any, came: str) -> None:
    """As the client saw it, with whom it was for, and with the rule that broke it below."""
    request = {"operation": "sendMessage", "body": {"body": "x", "to": to(1)}}
    given = {
        "sendbox": 1,
        "api": [{"name": "broken", "fault": fault, "times": 1}],
        "traffic": [{"at": 0, "request": request, "expect": {"status": "none"}}, {"at": 0, "request": request}],
    }
    found, _ = rows(play(given))
    asked = [row for row in found if row.narration.who == "client"]
    assert [row.narration.what for row in asked] == ["sendMessage to 420777000100"] * 2
    assert str(asked[0].narration.answer).startswith(came)
    assert str(asked[1].narration.answer).startswith("200 ")
    assert found[1].narration.what.endswith(', by "broken"')


# --- the table


@pytest.mark.unmeasured
def test_lines_keep_to_the_width(played: Played) -> None:
    """What happened is wrapped under its column, however narrow; the rest of a table is never lost."""
    narrow = text(played, width=60)
    assert max(map(len, narrow.splitlines()[:-2])) <= 70
    assert " ".join(narrow.split()).count("delivered") == " ".join(text(played).split()).count("delivered")


@pytest.mark.unmeasured
def test_colours(played: Played) -> None:
    """Only where they are wanted; without them the text is the same."""
    coloured = text(played, colour=True)
    assert "\x1b[32mm1 sms delivered\x1b[0m" in coloured
    assert re.sub(r"\x1b\[\d+m", "", coloured).split() == text(played).split()
    assert "\x1b" not in text(played)


def test_a_new_day_is_announced() -> None:
    """Once, before the first entry of it; milliseconds are a fraction of seconds."""
    given = {
        "sendbox": 1,
        "attempts": [{"then": ["sending", {"sent": {"after": "1250ms"}}, {"delivered": {"after": "1d"}}]}],
    }
    shown = text(play(given))
    assert len(re.findall(r"^ +2026-03-03$", shown, re.MULTILINE)) == 1
    assert "+1.250s" in shown
    assert "+1d1.250s" in shown


def test_what_went_wrong_is_at_the_end(played: Played) -> None:
    """Requests that were not as expected, a time that was too short, a verdict with all that was not met."""
    played.asked[0].status = 500
    played.asked[0].traffic = replace(played.asked[0].traffic, statuses=(0,))
    played.asked.append(Asked(Traffic(0, True, "other"), played.world.start, error="closed"))
    played.stopped = played.order_sensitive = True
    played.verdict = verdict(
        played.world,
        (
            Expectation("messages", name="something was sent"),
            Expectation("clicks", name="a link is opened"),
            Expectation("messages", low=0, high=0),
        ),
    )
    lines = text(played, width=90).splitlines()
    assert lines[-12:-1] == [
        "sendMessage at +0s: 500, expected no answer",
        "other at +0s: closed",
        "stopped at 2026-03-02T09:00:03Z: more is due later (--until)",
        "verdict: 2 of 3 expectations failed",
        "  ok      something was sent",
        "  FAILED  a link is opened",
        "          no clicks, wanted at least 1",
        "  FAILED  messages",
        "          1 messages, wanted none",
        "          nearest: message to 420601000001 by sms: delivered (at 2026-03-02T09:00:03.000Z)",
        "            it counts, and makes too many: wanted none",
    ]
    assert lines[-1].endswith(", order-sensitive")


def test_a_verdict_that_passed(played: Played) -> None:
    """What was expected, line by line."""
    played.verdict = verdict(played.world, (Expectation("messages", name="something was sent"),))
    assert "verdict: the expectation holds\n  ok      something was sent\n" in text(played)
    assert "\x1b[32mverdict:" in text(played, colour=True)


def test_many_messages_are_counted() -> None:
    """So many are listed, the rest are a number; where there is none, there is no list."""
    phones = [{"phone_number": f"4207770{number:05}"} for number in range(10)]
    messages = [{"body": "x", "to": phones}] * 7
    given = {"sendbox": 1, "traffic": [{"at": 0, "request": {"operation": "sendMessages", "body": messages}}]}
    assert f"and {70 - MESSAGES} more messages" in text(play(given))
    assert "way" not in text(play({"sendbox": 1, "traffic": [{"at": 0, "request": {"operation": "showKey"}}]}))


@pytest.mark.unmeasured
def test_a_message_that_was_not_tried_says_so() -> None:
    """Its time had not come."""
    body = {"body": "x", "to": [{"phone_number": PHONE}], "datetime": "2026-03-03T09:00:00Z"}
    given = {"sendbox": 1, "traffic": [{"at": 0, "request": {"operation": "sendMessage", "body": body}}]}
    assert "nothing was tried" in text(play(given, until=1000))


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("given", "expected"), [("a  b\nc", "a b c"), ("x" * 100, "x" * 59 + "…")], ids=["blanks", "long"]
)
def test_texts_are_cut(given: str, expected: str) -> None:
    """One line, of bounded length."""
    assert short_line(given) == expected


# --- the diagram


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("plain, text: (1) → +2s", "plain, text: (1) → +2s"),
        ("a;b#c", "a#59;b#35;c"),
        ('say "no"\nnow', "say #34;no#34; now"),
        ("{} [x] <b> & %% $", "#123;#125; #91;x#93; #60;b#62; #38; #37;#37; #36;"),
        ("the end", "the #101;nd"),
        ("style: x", "style#58; x"),
        ("", "-"),
        ("😀", "#128512;"),
        ("y" * 200, "y" * (LENGTH - 1) + "…"),
    ],
    ids=["plain", "reserved", "quotes", "brackets", "end", "statement", "nothing", "beyond", "long"],
)
def test_texts_of_diagrams(given: str, expected: str) -> None:
    """Whatever means something to the language is a reference."""
    assert escape(given) == expected


LINES = re.compile(
    r"sequenceDiagram|    title .+|    participant \w+( as [^;#]+)?"
    r"|    Note over \w+(,\w+)?: .+|    \w+(->>|-->>|--x)\w+: .+"
)


@pytest.mark.unmeasured
@pytest.mark.sample(2)
@pytest.mark.parametrize("name", ["default", "otp-lockout", "onboarding", "bulk-campaign"])
def test_diagrams_have_legal_lines_only(name: str) -> None:
    """Participants, arrows and notes; every participant is declared."""
    drawn = mermaid(play(name)).splitlines()
    assert [line for line in drawn if not LINES.fullmatch(line)] == []
    declared = {line.split()[1] for line in drawn if "participant" in line}
    used = {word for line in drawn for word in re.findall(r"^    (\w+)-", line)}
    assert used <= declared


def test_diagrams_are_bounded() -> None:
    """So many rows, and so many phones with a line of their own."""
    phones = [[{"phone_number": f"4207770{base}{number:04}"} for number in range(10)] for base in range(9)]
    messages = [{"body": "x", "to": each} for each in phones]
    given = {"sendbox": 1, "traffic": [{"at": 0, "request": {"operation": "sendMessages", "body": messages}}]}
    drawn = mermaid(play(given))
    assert drawn.count(" as 4207") == PHONES
    assert re.search(r"participant phones as \d+ other phones", drawn)
    assert re.search(r"Note over client,receiver: and \d+ more$", drawn)
    assert drawn.count("->>") <= 2 * ROWS


def test_a_verdict_stands_under_the_diagram(played: Played) -> None:
    """Either way."""
    played.verdict = {"passed": True, "trusted": True, "expectations": []}
    assert mermaid(played).endswith("Note over client,receiver: verdict, passed")
    played.verdict = {"passed": False}
    assert mermaid(played).endswith("Note over client,receiver: verdict, failed")


def test_a_request_that_was_not_sent_is_a_note(played: Played) -> None:
    """It went nowhere."""
    played.entries = []
    played.asked = [Asked(Traffic(0, True, "op"), played.world.start, error="not sent: why", sent=False)]
    assert "    Note over client: op → not sent: why" in mermaid(played).splitlines()


def test_what_depended_on_order_is_marked_in_diagrams() -> None:
    """As in the table."""
    assert "is refused: credit #91;order-sensitive#93;" in mermaid(play("credit-runs-dry"))
