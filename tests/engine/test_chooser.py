"""The chooser: draws depend on their place and on nothing else, and others can be laid over it."""

from __future__ import annotations

import ast
import pickle
from collections import Counter
from collections.abc import Set
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sendbox
from sendbox.engine import world as engine
from sendbox.engine.draws import Chooser, Draw, derive, seed_bytes
from sendbox.engine.plan import (
    NO_PLAN,
    Between,
    Digits,
    Option,
    Place,
    Plan,
    PlannedChooser,
    Time,
    Truth,
    Value,
)
from sendbox.engine.world import World
from sendbox.interfaces import PARTS
from sendbox.services.messaging.rules.rules import Path as Way
from sendbox.services.verify.verify import Verify
from tests.core.recording import Recording, as_scenario, written
from tests.core.worlds import HOUR, START, advance, path, send_one
from tests.scenarios import make_blueprint

SEED: Final = seed_bytes(7)
SRC: Final = Path(sendbox.__file__).parent
PHONE: Final = "420777000101"

# --- the ordinary one


def drawn(number: int = 0) -> Draw:
    """The draws of a rule about somebody who had so many before."""
    return Chooser(SEED).draw("rule", PHONE, number)


def test_draws_never_change() -> None:
    """A seed and a place give these values on every machine, in every process, in every version."""
    chooser = Chooser(SEED)
    assert drawn(3).between(0, 10**9, "after0") == 220554362
    assert chooser.scoped("number-code", PHONE, 1).digits(0, 999_999, "code") == "948316"
    assert chooser.scoped("pool", "420\0x", 0, 16).digits(10**7, 10**8 - 1, "number", "4209") == "420978041787"
    assert chooser.constant("operator", PHONE).pick((1, 2, 3), "network") == 1


@given(st.integers(-1000, 1000), st.integers(0, 1000), st.integers(0, 10**6))
def test_a_draw_stays_between_its_ends(low: int, width: int, n: int) -> None:
    """Both ends included, never beyond."""
    assert low <= drawn(n).between(low, low + width, "after0") <= low + width


def test_both_ends_are_drawn() -> None:
    """All values of a small span come up."""
    assert {drawn(n).between(1, 3, "after0") for n in range(100)} == {1, 2, 3}


def test_purposes_are_drawn_apart() -> None:
    """One more draw of an attempt never shifts the others, in whatever order they are made."""
    draw, again = drawn(0), drawn(0)
    first = draw.between(0, 10**9, "after0"), draw.between(0, 10**9, "after1")
    second = again.between(0, 10**9, "after1"), again.between(0, 10**9, "mix1"), again.between(0, 10**9, "after0")
    assert first == (second[2], second[0])
    assert len({*first, *second}) == 3


def test_draws_are_spread_evenly() -> None:
    """Ten thousand draws of ten values fall on each about a thousand times."""
    counts = Counter(drawn(n).between(0, 9, "after0") for n in range(10_000))
    assert all(850 < counts[value] < 1150 for value in range(10))


def test_weights_are_odds() -> None:
    """95, 4 and 1 in a hundred, of any sum, within what chance allows."""
    counts = Counter(drawn(n).weighted((9.5, 0.4, 0.1), "mix1") for n in range(10_000))
    assert 9400 < counts[0] < 9600
    assert 320 < counts[1] < 480
    assert 60 < counts[2] < 140


def test_the_only_weight_always_wins() -> None:
    """Nothing is drawn beyond the last weight."""
    assert {drawn(n).weighted((0.1,), "mix1") for n in range(50)} == {0}


def test_a_draw_is_the_hash_of_its_place() -> None:
    """Of a rule: seed, rule, subject, count and purpose. Of a scope: no purpose. Of a constant: no seed."""
    unit = int.from_bytes(derive(SEED, "fate", b"\0".join((b"rule", PHONE.encode(), b"share")), 4)[:8], "big")
    assert drawn(4).below(unit / 2**64, "share") is False
    assert drawn(4).below((unit + 2**40) / 2**64, "share") is True
    scoped = Chooser(SEED).scoped("pool", "x", 2)
    assert scoped.between(0, 10**9, "a") == scoped.between(0, 10**9, "b")
    first, second = (Chooser(seed).constant("operator", "x").between(0, 10**9, "a") for seed in (b"1", b"2"))
    assert first == second


# --- forms of values


@pytest.mark.parametrize(
    ("form", "legal", "illegal"),
    [
        pytest.param(Between(1, 3), {1: 1, 3: 3}, [0, 4, True, "1"], id="a number"),
        pytest.param(Time(0, 90_000), {"1m30s": 90_000, "5ms": 5, 0: 0}, ["91s", 5, "5", True, "soon"], id="a time"),
        pytest.param(Truth(), {True: True, False: False}, [2, "true"], id="a truth"),
        pytest.param(Option(("a", "b")), {"a": 0, "b": 1, 1: 0, 2: 1}, ["c", 0, 3, True], id="words"),
        pytest.param(Option(("a", "b", "a")), {"b": 1, 1: 0, 3: 2}, ["a", 0, 4], id="a word that stands twice"),
        pytest.param(Option((2, 3)), {2: 0, 3: 1}, [1, "2", True], id="numbers that stand for themselves"),
        pytest.param(
            Option((Way(goal="seen"), path("sending", "failed"))), {"seen": 0, "failed": 1}, ["sent"], id="ways"
        ),
        pytest.param(
            Digits(0, 999_999, ""), {"000042": "000042", 123456: "123456"}, ["42", 42, "12345x", False], id="a code"
        ),
        pytest.param(
            Digits(10, 99, "4209"),
            {"420910": "420910", 420999: "420999"},
            ["420909", "42091", "421910", "4209100"],
            id="a number of a pool",
        ),
    ],
)
def test_what_is_legal_at_a_place(form: Any, legal: dict[Value, Any], illegal: list[Value]) -> None:
    """What is legal is read, anything else is not; and the form says in words what is legal."""
    assert {value: form.read(value) for value in legal} == legal
    assert [form.read(value) for value in illegal] == [None] * len(illegal)
    assert form.legal


@pytest.mark.parametrize(
    ("form", "said"),
    [
        (Between(1, 3), "a whole number from 1 to 3"),
        (Time(0, 90_000), "a duration from 0s to 1m30s"),
        (Truth(), "true or false"),
        (Option(("a", "b", "a")), "a whole number from 1 to 3, or one of b"),
        (Option(("a", "a")), "a whole number from 1 to 2"),
        (Option((2, 3)), "one of 2, 3"),
        (
            Option([str(number) for number in range(11)]),
            "a whole number from 1 to 11, or one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, …",
        ),
        (Digits(0, 999_999, ""), "6 digits from 000000 to 999999"),
        (Digits(10, 99, "4209"), "6 digits from 420910 to 420999"),
    ],
)
def test_what_is_legal_in_words(form: Any, said: str) -> None:
    """As advice says it."""
    assert form.legal == said


@given(st.integers(0, 2), st.lists(st.sampled_from("abc"), min_size=3, max_size=3))
def test_what_is_written_is_read(index: int, words: list[str]) -> None:
    """An option as it is written is that option."""
    form = Option(words)
    assert form.read(written(form, index)) == index


# --- laid over another


def everything(chooser: Chooser) -> list[Any]:
    """One draw of each method."""
    draw = chooser.draw("rule", f"sendMessage\0{PHONE}", 1)
    return [
        draw.between(0, 10**6, "after0"),
        draw.interval(0, 10**6, "every0"),
        draw.below(0.5, "share"),
        draw.weighted((1, 2, 3), "mix1"),
        draw.weighted((1, 2), "mix2", ("a", "b")),
        draw.pick(("a", "b", "c"), "say"),
        draw.digits(0, 999_999, "code"),
        chooser.scoped("pool", "x", 0, 16).digits(10, 99, "number", "420"),
        chooser.constant("operator", PHONE).pick((1, 2, 3), "network"),
    ]


def test_a_recording_changes_nothing_and_notes_all() -> None:
    """Each place once, with what was drawn there; the notes are a plan of the same run, whatever the seed."""
    recording = Recording(Chooser(SEED))
    ordinary = everything(Chooser(SEED))
    assert everything(recording) == everything(recording) == ordinary
    assert [place for place, _ in recording.asked] == [
        *(
            Place("rule", f"sendMessage {PHONE}", 2, purpose)
            for purpose in ("after0", "every0", "share", "mix1", "mix2", "say", "code")
        ),
        Place("pool", "x", 1, "number"),
        Place("operator", PHONE, 1, "network"),
    ]
    plan = Plan(tuple(recording.asked))
    assert everything(PlannedChooser(Chooser(b"another"), plan, never)) == ordinary
    assert everything(Chooser(b"another")) != ordinary


def never(place: Place, why: str) -> None:
    """Everything planned is legal."""
    raise AssertionError(f"{place}: {why}")


def test_what_is_not_in_a_plan_goes_its_ordinary_way() -> None:
    """Another ordinal, purpose, subject or rule is another place; and of two entries of one place the first counts."""
    place = Place("rule", PHONE, 1, "after0")
    plan = Plan(((place, 7), (place, 8)))
    planned, ordinary = PlannedChooser(Chooser(SEED), plan, never), Chooser(SEED)
    assert planned.draw("rule", PHONE, 0).between(0, 10**6, "after0") == 7
    for rule, subject, number, purpose in (
        ("other", PHONE, 0, "after0"),
        ("rule", "other", 0, "after0"),
        ("rule", PHONE, 1, "after0"),
        ("rule", PHONE, 0, "after1"),
    ):
        draws = [each.draw(rule, subject, number).between(0, 10**6, purpose) for each in (planned, ordinary)]
        assert draws[0] == draws[1] != 7


def test_an_illegal_value_is_not_used_and_told_once() -> None:
    """The draw goes its ordinary way, and whoever laid the plan hears of it, however often the place is asked."""
    told: list[tuple[Place, str]] = []
    place = Place("rule", PHONE, 1, "share")
    planned = PlannedChooser(Chooser(SEED), Plan(((place, "yes"),)), lambda *what: told.append(what))
    draws = {planned.draw("rule", PHONE, 0).below(0.5, "share") for _ in range(3)}
    assert draws == {drawn().below(0.5, "share")}
    assert told == [(place, '"yes" is not legal at its place in the plan; legal: true or false')]


def test_a_plan_as_a_scenario_has_it() -> None:
    """Entries with their places in words."""
    assert as_scenario(Plan(((Place("rule", PHONE, 2, "share"), True),))) == [
        {"rule": "rule", "subject": PHONE, "ordinal": 2, "purpose": "share", "value": True}
    ]
    assert not NO_PLAN
    assert as_scenario(NO_PLAN) == []


def test_choosers_are_copied_with_their_worlds() -> None:
    """A checkpoint holds them as they are."""
    plan = Plan(((Place("rule", f"sendMessage {PHONE}", 2, "after0"), 7),))
    for chooser in (Chooser(SEED), PlannedChooser(Chooser(SEED), plan, never)):
        assert everything(pickle.loads(pickle.dumps(chooser))) == everything(chooser)  # our own


def test_a_world_draws_what_its_plan_has(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chooser that is laid over that of the plan notes the values of the plan."""
    plan = Plan(((Place("operator", PHONE, 1, "network"), 3), (Place("verify", PHONE, 1, "code"), "000001")))
    monkeypatch.setattr(engine, "PlannedChooser", lambda *args: Recording(PlannedChooser(*args)))
    world = World("test-w", make_blueprint(plan=plan), start=START, services=PARTS)
    message = send_one(world, PHONE)
    advance(world, HOUR)
    assert message.last is not None
    assert message.last.mnc == 3
    verify = Verify.of(world)
    verify.book.code(verify.book.begin(PHONE, "key", START))
    assert isinstance(world.chooser, Recording)
    assert tuple(world.chooser.asked) == plan.entries


# --- nothing else draws

#: Who hashes outside the chooser, and what for: never to decide anything.
HASHES: Final = {
    "engine/commands/tracing.py": "the parent ids of trace contexts, made of the ids of deliveries",
    "engine/draws.py": "the hash itself, seeds of any length, fates, names, the tag of a world",
    "engine/world.py": "requests that are equal",
    "engine/digest.py": "the digest",
    "engine/faults/calls.py": "calls that are equal cannot race",
    "control/export/record.py": "entries of a journal, in short",
    "engine/commands/record.py": "questions and answers that are equal",
    "exploring/find_files.py": "the name of a find, by its test and its plan",
    "fixture/opening.py": "the id of a test's world, by the test's name",
    "services/messaging/forgetting.py": "ids of messages that were forgotten, in short",
    "services/partner/partner.py": "names of signups",
    "services/partner/templates.py": "handles of pictures",
}
#: What hashes, makes draws or asks hashes by themselves.
HASHING: Final = frozenset({"blake2b", "derive", "Draw", "_Single", "_Asked"})
CHOOSING: Final = ("engine/draws.py", "engine/plan.py")


def calls(file: Path, wanted: Set[str]) -> set[str]:
    """Which of these names are called in a file. One that has none of them is not parsed."""
    text = file.read_text("utf-8")
    if not any(f"{name}(" in text for name in wanted):
        return set()
    functions = [node.func for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    return {each.id if isinstance(each, ast.Name) else getattr(each, "attr", "") for each in functions} & wanted


def test_nothing_else_hashes() -> None:
    """What looks random is a hash, so whoever hashes is listed with a reason, and no other module makes draws.

    Sources that are really random are refused by `tests/boundaries.py`.
    """
    found = {str(file.relative_to(SRC)): calls(file, HASHING) for file in SRC.rglob("*.py")}
    hashing = {name: called for name, called in found.items() if called}
    assert hashing.keys() - CHOOSING == HASHES.keys() - CHOOSING
    assert {name for name, called in hashing.items() if called - {"blake2b", "derive"}} == set(CHOOSING)
    assert {name for name, called in hashing.items() if "derive" in called} == {CHOOSING[0]}


def test_one_place_makes_the_choosers_of_worlds() -> None:
    """A service uses that of its world; what no world draws has one without a seed."""
    making = {str(f.relative_to(SRC)) for f in SRC.rglob("*.py") if calls(f, {"Chooser", "PlannedChooser"})}
    assert making == {"engine/draws.py", "engine/world.py", "exploring/search.py", "scenario/keys/plan.py"}
