"""The digest: equal for equal runs, and for no others."""

from __future__ import annotations

import random
from collections.abc import Generator
from typing import Any

import orjson
import pytest
from hypothesis import assume as suppose
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from sendbox.engine.blueprint import TimelineEntry
from sendbox.engine.faults.calls import ApiRule, Applied
from sendbox.engine.faults.connections import Delay
from sendbox.engine.journal import CODE
from sendbox.engine.rules.rule import When
from sendbox.engine.world import World
from sendbox.services.account.account import Account
from sendbox.services.account.spec import AccountSpec
from sendbox.services.advice import UNKNOWN_FIELD, advise
from sendbox.services.assume import Assume, PromotionalHours
from sendbox.services.messaging.channels import ENTRY, FAILED
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.model import Shortening
from sendbox.services.windows import Window
from tests.core.asked import asked
from tests.core.observed import canonical_in_slices, digest, digest_in_slices
from tests.core.runs import RULES, SENDINGS, STOPS, Sending, carry_out
from tests.core.worlds import HOUR, PHONE, START, advance, command, content_of, make_world, rule, send, send_one, step

OTHER = "420777000101"


def run(world_id: str = "test-w", **fields: Any) -> str:
    """The digest of a world in which one message was sent and an hour passed."""
    blueprint = {name: fields.pop(name) for name in ("attempts", "account", "digest_ignore") if name in fields}
    world = make_world(world_id, **blueprint)
    send(world, *fields.pop("numbers", (PHONE,)), **fields)
    advance(world, HOUR)
    return digest(world)


def called(world: World, body: bytes, canonical: bytes | None = None, path: str = "/v2/message") -> None:
    """Journals a call, refused unless there is a canonical request."""
    status = 400 if canonical is None else 200
    record = asked(body=body, key=world.id, path=path, status=status)
    record.content = canonical
    world.request(record)


# --- properties


@given(SENDINGS, st.randoms(use_true_random=False))
def test_equal_inputs_equal_digests(sendings: list[Sending], chance: random.Random) -> None:
    """Worlds of other names, start and order of arrival at each instant agree, where nothing was order-sensitive."""
    first = carry_out(make_world("test-a", attempts=RULES), sendings)
    shuffled = sendings.copy()
    chance.shuffle(shuffled)
    second = carry_out(make_world("test-b", attempts=RULES), shuffled)
    assert bool(first.journal.order_sensitive) == bool(second.journal.order_sensitive)
    suppose(not first.journal.order_sensitive)
    assert {message.id for message in Messaging.of(first).messages}.isdisjoint(
        message.id for message in Messaging.of(second).messages
    )
    assert digest(first) == digest(second)


@given(SENDINGS, STOPS)
def test_one_step_or_many(sendings: list[Sending], stops: list[int]) -> None:
    """However time is cut into steps, the digest is the same."""
    straight = carry_out(make_world(attempts=RULES), sendings)
    assert digest(straight) == digest(carry_out(make_world(attempts=RULES), sendings, stops))


@given(SENDINGS.filter(bool), st.integers(0, 99))
def test_one_result_more_is_another_digest(sendings: list[Sending], place: int) -> None:
    """A world in which one result differs has another digest."""
    world = carry_out(make_world(attempts=RULES), sendings)
    before = digest(world)
    message = Messaging.of(world).messages[place % len(Messaging.of(world).messages)]
    assert message.last is not None
    world.journal.add(world.now, ENTRY[FAILED], message.last)
    assert digest(world) != before


@given(SENDINGS)
def test_slices_add_up(sendings: list[Sending]) -> None:
    """Taken in slices with pauses, it is the digest; a pause comes at least every two hundred entries."""
    world = carry_out(make_world(attempts=RULES), sendings)
    pauses = 0

    def whole() -> Generator[None, None, str]:
        found = yield from digest_in_slices(world)
        assert found == digest(world)
        return found

    for _ in whole():
        pauses += 1
    assert pauses >= len(world.journal) // 200


# --- what does not count

SAME: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("world's id", {}, {"world_id": "test-other"}),
    ("callback", {"callback": "http://127.0.0.1:5001/a"}, {"callback": "http://127.0.0.1:5002/b"}),
    ("callback or none", {"callback": "http://127.0.0.1:5001/a"}, {}),
    ("origin", {"origin": "http://127.0.0.1:5001"}, {"origin": "https://sandbox.example"}),
    (
        "origin of links",
        {"body": "https://acme.example", "shortening": Shortening(), "origin": "http://127.0.0.1:5001"},
        {"body": "https://acme.example", "shortening": Shortening(), "origin": "http://127.0.0.1:5002"},
    ),
]


@pytest.mark.parametrize(("one", "other"), [each[1:] for each in SAME], ids=[each[0] for each in SAME])
def test_what_does_not_count(one: dict[str, Any], other: dict[str, Any]) -> None:
    """Names, receivers and origins are no part of what happened."""
    assert run(**one) == run(**other)


def test_the_start_does_not_count() -> None:
    """Instants are relative to the start of the world."""
    digests = set()
    for start in (START, START + 86_400_000):
        world = make_world(start=start)
        send(world)
        advance(world, HOUR)
        digests.add(digest(world))
    assert len(digests) == 1


@pytest.mark.parametrize("kind", ["opened", "reset", "restored", "control"])
def test_what_a_tester_does_does_not_count(kind: str) -> None:
    """Control commands are left out; what they bring about is not."""
    world = make_world()
    before = digest(world)
    world.journal.add(START, CODE[kind], {"what": "clock"})
    assert digest(world) == before


def test_batches_do_not_count() -> None:
    """Which events share a batch depends on who came first: only that each was tried, and how that went."""
    digests = set()
    for together in (True, False):
        world = make_world(account=AccountSpec(default_callback_url="http://127.0.0.1:9000"))
        send(world)
        if not together:
            advance(world)
        send(world, OTHER)
        advance(world, HOUR)
        digests.add(digest(world))
        assert (len(world.outlets.deliveries) == 3) is together
    assert len(digests) == 1


# --- what counts

DIFFERENT: list[tuple[str, dict[str, Any]]] = [
    ("phone", {"numbers": (OTHER,)}),
    ("one more recipient", {"numbers": (PHONE, OTHER)}),
    ("body", {"body": "Hello!"}),
    ("payload", {"payload": {"a": 1}}),
    ("tags", {"tags": ("x",)}),
    ("operation", {"operation": "sendPriorityMessage"}),
    ("result", {"attempts": (rule("failed"),)}),
    ("result_info", {"attempts": (rule("delivered"),), "account": AccountSpec(credit=0)}),
    ("price", {"account": AccountSpec(country="421"), "steps": [step("richmsg", "Hello", sender=None)]}),
]


@pytest.mark.parametrize("fields", [each[1] for each in DIFFERENT], ids=[each[0] for each in DIFFERENT])
def test_what_counts(fields: dict[str, Any]) -> None:
    """Another input or outcome is another digest."""
    assert run(**fields) != run()


def fault(key: str = "test-w", **fields: Any) -> Applied:
    found = ApiRule(key="r", when=When(), fault=Delay(), **fields.pop("rule", {}))
    return replace(Applied(found, "sendMessage", key, PHONE, 5, 0, order_sensitive=False), **fields)


FAULTS: list[tuple[str, dict[str, Any]]] = [
    ("operation", {"operation": "getMessage"}),
    ("subject", {"subject": OTHER}),
    ("time", {"time": 6}),
    ("rule", {"rule": {"name": "slow"}}),
    ("effect", {"rule": {"processed": False}}),
]


@pytest.mark.parametrize("fields", [each[1] for each in FAULTS], ids=[each[0] for each in FAULTS])
def test_faults_of_calls_count(fields: dict[str, Any]) -> None:
    """Which call was hit, by which rule, and how; the world's own id, and where the rule stands, do not count."""
    digests = []
    for world_id, found in (
        ("test-w", {}),
        ("test-v", {"rule": {"place": "a.yaml:3", "id": "a1"}}),
        ("test-w", fields),
    ):
        world = make_world(world_id)
        world.journal.add(START, CODE["fault"], fault(world_id, **dict(found)))
        digests.append(digest(world))
    assert digests[0] == digests[1] != digests[2]


def test_the_digest_never_changes_by_itself() -> None:
    """This run has this digest everywhere; when it changes, an outcome did, and `ENGINE` must be raised."""
    world = carry_out(
        make_world(attempts=RULES),
        [
            Sending(0, (PHONE, OTHER, "nonsense"), "see https://acme.example", True, 0),
            Sending(10_000, (OTHER,), "Hello", False, 0),
        ],
    )
    assert digest(world) == "5be9b1d5d46b40b6621cbe8b13126e48dec99305796950d28bd29b3dec17f4fc"


def test_answers_of_receivers_count() -> None:
    """A receiver that failed once left its trace, with the number of the try."""
    digests = set()
    for first in ((200, None), (503, None), (None, "timeout")):
        world = make_world()
        send(world, callback="http://127.0.0.1:9000")
        advance(world, answer=lambda _, first=first: first)  # type: ignore[misc] # mypy knows no defaults of lambdas
        advance(world, HOUR)
        digests.add(digest(world))
    assert len(digests) == 3


ACTS: list[tuple[str, Any]] = [
    ("click", lambda world, message: Messaging.of(world).phones.click(message)),
    ("reply", lambda world, message: Messaging.of(world).phones.reply(message, "YES")),
    ("other reply", lambda world, message: Messaging.of(world).phones.reply(message, "NO")),
    ("write", lambda world, _: Messaging.of(world).phones.write("sms", OTHER, None, "Hello")),
    ("opt out", lambda world, message: Messaging.of(world).phones.opt_out(message.phone)),
    ("offline", lambda world, message: Messaging.of(world).phones.go_offline(message.phone)),
    ("online", lambda world, message: Messaging.of(world).phones.go_online(message.phone)),
    ("advice", lambda world, _: world.advise(advise(UNKNOWN_FIELD, "x is none", "$.x"))),
    ("call", lambda world, _: called(world, b"{}")),
    ("other call", lambda world, _: called(world, b"{}", b"{}")),
    ("call elsewhere", lambda world, _: called(world, b"{}", path="/v2/messages")),
    ("a week", lambda world, _: advance(world, 8 * 24 * HOUR)),
    ("nothing", lambda world, _: None),
]


def test_every_act_counts() -> None:
    """Whatever happens in a world besides its messages, a lapse included, is another digest."""
    digests = {}
    for name, act in ACTS:
        world = make_world()
        message = send_one(world, body="https://acme.example", shortening=Shortening())
        advance(world, 60_000)
        act(world, message)
        digests[name] = digest(world)
    assert len(set(digests.values())) == len(ACTS)


def test_other_kinds_of_entries_count() -> None:
    """Postponements, fallbacks, impossible results, lost events and what the scenario brings."""
    written = {"channel": "chatapp", "from": OTHER, "to": "1", "body": "Hello"}
    worlds = [
        make_world(),
        make_world(timeline=(TimelineEntry(0, True, "inbound", written),)),
        make_world(account=AccountSpec(default_callback_url="")),
        make_world(attempts=(rule("undelivered", when=When(channel=("richmsg",))),)),
        make_world(assume=Assume(promotional_window=PromotionalHours(Window(None, 10 * 60, 20 * 60)))),
    ]
    digests = set()
    for world in worlds:
        send(world, steps=[step("richmsg"), step()])
        advance(world, 48 * HOUR)
        Messaging.of(world).phones.write("sms", OTHER, None, "Hello")
        digests.add(digest(world))
    assert len(digests) == len(worlds)


def test_equal_requests_are_counted() -> None:
    """Twice the same is not once; which of two equal requests is which does not matter."""
    one, two = make_world(), make_world()
    for world, times in ((one, 1), (two, 2)):
        for _ in range(times):
            send(world)
        advance(world, HOUR)
    assert digest(one) != digest(two)


# --- what is ignored

IGNORE = ("payload.trace_id", "payload.at.clock", "nothing.like.this")


def test_ignored_paths_do_not_count() -> None:
    """`digest: {ignore: …}`: what a client varies under these paths, in one message or in each of several."""
    runs = [
        run(payload={"trace_id": trace, "at": {"clock": trace, "place": 1}}, digest_ignore=IGNORE) for trace in (1, 2)
    ]
    assert runs[0] == runs[1]
    assert run(payload={"trace_id": 1, "at": 5}, digest_ignore=IGNORE) != runs[0]
    several = set()
    for trace in (1, 2):
        world = make_world(digest_ignore=IGNORE)
        sends = [command(payload={"trace_id": trace}), command(OTHER, payload={"trace_id": trace + 1})]
        Messaging.of(world).accept("sendMessages", sends, Account.of(world).keys[world.id], content_of(*sends))
        called(world, b"", content_of(*sends))
        advance(world, HOUR)
        several.add(digest(world))
    assert len(several) == 1


def test_without_ignored_paths_they_count() -> None:
    """Nothing is ignored that the scenario does not name."""
    assert run(payload={"trace_id": 1}) != run(payload={"trace_id": 2})


REFUSED: list[tuple[str, bytes, bytes, bool]] = [
    ("callback", b'{"to": [], "callback": "http://a.example"}', b'{"callback":"http://b.example","to":[]}', True),
    ("callback of each", b'[{"to": [], "callback": 1}]', b'[{"to":[]}]', True),
    ("what is ignored", b'{"payload": {"trace_id": 1}}', b'{"payload": {"trace_id": 2}}', True),
    ("key of a form", b"apikey=test-a&number=x", b"apikey=test-b&number=x", True),
    ("key at the end", b"number=x&apikey=test-a", b"number=x&apikey=test-b", True),
    ("a field that ends like it", b"myapikey=1", b"myapikey=2", False),
    ("field of a form", b"apikey=test-a&number=x", b"apikey=test-a&number=y", False),
    ("body", b'{"to": 1}', b'{"to": 2}', False),
    ("neither object nor array", b"1", b"2", False),
    ("no JSON at all", b"{", b"{{", False),
    ("deeper than what can be written", b"[" * 300 + b"]" * 300, b"[" * 301 + b"]" * 301, False),
]


@pytest.mark.parametrize(
    ("one", "other", "same"), [each[1:] for each in REFUSED], ids=[f"{each[0]}" for each in REFUSED]
)
def test_refused_requests(one: bytes, other: bytes, same: bool) -> None:
    """A refused request counts as it came, but for where to report, with which key, and what is ignored."""
    digests = []
    for body in (one, other):
        world = make_world(digest_ignore=("payload.trace_id",))
        called(world, body)
        digests.append(digest(world))
    assert (digests[0] == digests[1]) is same


def test_the_query_does_not_count() -> None:
    """A query may hold the key."""
    digests = set()
    for key in ("test-a", "test-b"):
        world = make_world(key)
        called(world, b"", path=f"/v2/simple/message?apikey={key}")
        digests.add(digest(world))
    assert len(digests) == 1


def test_the_form_of_a_digest() -> None:
    """64 hex digits, also of a world in which nothing happened."""
    assert digest(make_world()) == "0" * 64
    assert len(run()) == 64
    assert int(run(), 16) > 0
    assert orjson.loads(content_of(command()))["to"] == [PHONE]


def lines_of(world: World) -> list[dict[str, Any]]:
    """The canonical lines, in one go."""
    steps = canonical_in_slices(world)
    while True:
        try:
            next(steps)
        except StopIteration as done:
            found: list[dict[str, Any]] = done.value
            return found


def test_canonical_lines_are_what_the_digest_reads() -> None:
    """Worlds of other ids have equal lines; each has its entry's number, its instant, and a request its content."""
    first, second = (make_world(world_id) for world_id in ("test-a", "test-b"))
    for world in (first, second):
        send(world, PHONE)
        advance(world, HOUR)
        called(world, b"apikey=test-a&x=1", path="/Send")
        called(world, b'{"b": 1}', canonical=b'{"b":1}')
    lines = lines_of(first)
    assert lines == lines_of(second)
    assert [line["n"] for line in lines] == sorted(line["n"] for line in lines)
    assert [line["body"] for line in lines if line["kind"] == "request"] == ["&x=1", {"b": 1}]
    assert all(line["at"] >= 0 for line in lines)


def test_canonical_lines_come_in_slices() -> None:
    """A long journal is not rendered at a stretch."""
    world = make_world()
    for _ in range(150):
        send(world, PHONE)
    advance(world, HOUR)
    assert sum(1 for _ in canonical_in_slices(world)) >= 3
