"""Every kind of draw is driven by a plan of a scenario, and nothing that is drawn goes past the chooser.

Long because each kind of draw has its case.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
import yaml
from faker import Faker
from msgspec.structs import replace

from sendbox.engine import world as engine
from sendbox.engine.draws import UNSEEDED, Chooser
from sendbox.engine.durations import instant
from sendbox.engine.plan import (
    Between,
    Digits,
    Form,
    Option,
    Place,
    Plan,
    PlannedChooser,
    T,
    Time,
    Value,
)
from sendbox.engine.world import World
from sendbox.playing.play_result import Played
from sendbox.playing.player import play
from sendbox.scenario import library
from sendbox.scenario.keys.texts import _pool
from sendbox.services.partner.partner import Partner
from sendbox.services.verify.verify import Verify
from tests.core.clients import sign_up
from tests.core.recording import Overlay, Recording, as_scenario, written
from tests.core.worlds import HOUR, START, advance, journaled
from tests.documentation.markdown import ROOT, text_of
from tests.scenarios import load
from tests.tiers import turn

PHONE: Final = "420777000101"
SRC: Final = Path(engine.__file__).parents[1]

# --- what is sent, and what came of it


def asks(operation: str, at: str = "0s", **body: Any) -> dict[str, Any]:
    """An entry of the traffic."""
    return {"at": at, "request": {"operation": operation, "body": body}}


SEND: Final = asks("sendMessage", body="See https://a.example/1", params={"_url": {"type": "full"}}, to=[
    {"phone_number": PHONE}])  # fmt: skip
CODE: Final = asks("createValidation", phoneNumber=PHONE)
SIGN_UP: Final = asks("partnerSignup", partner_callback_url="http://a.example/partner", phone_number="preassign")
OWN: Final = {"waba_id": "1", "numbers": [{"phone_number": PHONE}]}
TEMPLATE: Final = {
    "name": "ready",
    "language": "en",
    "category": "UTILITY",
    "components": [{"type": "BODY", "text": "Your order is ready"}],
}
REVIEW: Final = asks("createTemplate", waba_id="1", template=TEMPLATE)


def entries(played: Played, kind: str, **wanted: Any) -> list[dict[str, Any]]:
    """The entries of a kind that have these values."""
    return [
        entry
        for entry in played.entries
        if entry["kind"] == kind and all(entry[name] == value for name, value in wanted.items())
    ]


def after(kind: str, **wanted: Any) -> Callable[[Played], int]:
    """Finds how many milliseconds after the start the first such entry stands."""
    return lambda played: instant(entries(played, kind, **wanted)[0]["at"]) - played.world.start


def result(played: Played) -> str:
    return played.messages[0].result


def said(played: Played) -> str:
    return str(entries(played, "inbound")[0]["body"])


def code(played: Played) -> str:
    return Verify.of(played.world).sessions_of(PHONE)[0].code


def operator(played: Played) -> int:
    assert played.messages[0].last is not None
    return played.messages[0].last.mnc


def told(played: Played) -> list[str]:
    """The results that were told, in the order of the tries."""
    made = {entry["delivery"]: entry["events"] for entry in entries(played, "delivery")}
    return [event["result"] for entry in entries(played, "try") for event in made[entry["delivery"]]]


def invented(seed: int) -> str:
    """What the library invents from a seed."""
    maker = Faker("en_US")
    maker.seed_instance(seed)
    return str(maker.first_name())


class Case(NamedTuple):
    """A scenario in which something is drawn, its place, and what each planned value makes of what is observed."""

    scenario: dict[str, Any]
    place: Place
    values: dict[Value, Any]
    observe: Callable[[Played], Any]


MIX: Final = {"name": "r", "mix": {"delivered": 1, "undelivered": 1, "failed": 1}}
FAKE: Final = "{{fake.first_name}}"
#: The names that are invented, and one that stands once among them, so that its word is enough.
NAMES: Final = _pool("en_US", "first_name", UNSEEDED)
ONCE: Final = next(name for name in NAMES if NAMES.count(name) == 1)
CASES: Final = {
    "result of a mix": Case(
        {"attempts": [MIX], "traffic": [SEND]},
        Place("r", PHONE, 1, "mix1"),
        {"delivered": "delivered", "failed": "failed", 2: "undelivered"},
        result,
    ),
    "time of a result": Case(
        {"attempts": [{"name": "r", "then": ["sending", {"sent": "1s..1m"}]}], "traffic": [SEND]},
        Place("r", PHONE, 1, "after1.1"),
        {"7s": 7_000, "1m": 60_000},
        after("transition", result="sent"),
    ),
    "time of a reply": Case(
        {"attempts": [{"name": "r", "replies": [{"after": "1s..1m", "body": "Hi"}]}], "traffic": [SEND]},
        Place("r", PHONE, 1, "reply0.1"),
        {"2s": 5_000, "10s": 13_000},  # delivered comes after three seconds
        after("inbound"),
    ),
    "time of a click": Case(
        {"attempts": [{"name": "r", "click": {"after": "1s..1m"}}], "traffic": [SEND]},
        Place("r", PHONE, 1, "click.1"),
        {"2s": 5_000, "10s": 13_000},
        after("click"),
    ),
    "invented part of a reply": Case(
        {"attempts": [{"name": "r", "replies": [{"after": "1s", "body": FAKE}]}], "traffic": [SEND]},
        Place("r", PHONE, 1, "say0.1.0"),
        {1: NAMES[0], 256: NAMES[255], ONCE: ONCE},
        said,
    ),
    "invented part of what a phone writes": Case(
        {"timeline": [{"at": "1s", "inbound": {"channel": "sms", "from": PHONE, "body": FAKE}}], "traffic": [SEND]},
        Place(f'["inbound",{{"body":"{FAKE}","channel":"sms","from":"{PHONE}"}}]1', PHONE, 1, "say.0"),
        {1: NAMES[0], 256: NAMES[255], ONCE: ONCE},
        said,
    ),
    "operator": Case(
        {"traffic": [SEND]}, Place("operator", PHONE, 1, "network"), {1: 1, 2: 2, 3: 3}, operator
    ),
    "share of an outage": Case(
        {"timeline": [{"at": "0s", "outage": {"share": "50%", "for": "1m"}}], "traffic": [SEND]},
        Place('{"outage":{"for":"1m","share":"50%"}}', PHONE, 1, "share"),
        {True: 60_000, False: 1_000},
        after("transition", result="sent"),
    ),
    "share of messages": Case(
        {"attempts": [{"name": "r", "when": {"share": "50%"}, "then": "failed"}], "traffic": [SEND]},
        Place("r", PHONE, 1, "share"),
        {True: "failed", False: "delivered"},
        result,
    ),
    "share of calls": Case(
        {"api": [{"name": "r", "when": {"share": "50%"}, "fault": {"status": 503}}], "traffic": [SEND]},
        Place("r", f"sendMessage {PHONE}", 1, "share"),
        {True: 503, False: 200},
        lambda played: played.asked[0].status,
    ),
    "time of a delayed call": Case(
        {"api": [{"name": "r", "fault": {"delay": "1s..9s"}}], "traffic": [SEND]},
        Place("r", f"sendMessage {PHONE}", 1, "time"),
        {"2s": "2s", "9s": "9s"},
        lambda played: entries(played, "fault")[0]["fault"]["delay"],
    ),
    "time of a trickling answer": Case(
        {"api": [{"name": "r", "fault": {"trickle": "1s..9s"}}], "traffic": [SEND]},
        Place("r", f"sendMessage {PHONE}", 1, "time"),
        {"2s": "2s", "9s": "9s"},
        lambda played: entries(played, "fault")[0]["fault"]["trickle"],
    ),
    "share of events": Case(
        {"webhooks": [{"name": "r", "when": {"share": "50%"}, "fault": "drop"}], "traffic": [SEND]},
        Place("r", PHONE, 2, "share"),
        {True: True, False: False},
        lambda played: "sent" not in told(played),
    ),
    "time of a delayed event": Case(
        {"webhooks": [{"name": "r", "fault": {"delay": "1s..9s"}}], "traffic": [SEND]},
        Place("r", PHONE, 1, "after"),
        {"2s": 2_000, "3000ms": 3_000},
        after("try"),
    ),
    "place of a reordered event": Case(
        {"webhooks": [{"name": "r", "fault": {"reorder": "1m"}}], "traffic": [SEND]},
        Place("r", PHONE, 3, "place"),
        {0: 0, 2**63 - 1: 2},
        lambda played: told(played).index("delivered"),
    ),
    "code that no rule names": Case(
        {"traffic": [CODE]}, Place("verify", PHONE, 1, "code"), {"000042": "000042", 123456: "123456"}, code
    ),
    "code of a rule": Case(
        {"verify": {"rules": [{"name": "r", "then": {"code": "random"}}]}, "traffic": [CODE]},
        Place("r", PHONE, 1, "code"),
        {"000042": "000042", "999999": "999999"},
        code,
    ),
    "code of a number": Case(
        {"partner": {"accounts": [OWN]}, "traffic": [asks("verifyPartnerNumber", phone_number=PHONE)]},
        Place("number-code", PHONE, 1, "code"),
        {"000042": "000042", 123456: "123456"},
        lambda played: Partner.of(played.world).notices[0].body.split()[0],
    ),
    "number of the pool": Case(
        {"traffic": [SIGN_UP]},
        Place("pool", "420 da696dac3eee4f6a6270ad225310307a:0", 1, "number"),
        {"420912345678": "420912345678", 420999999999: "420999999999"},
        lambda played: entries(played, "signup")[0]["phone_number"],
    ),
    "time of a review": Case(
        {"partner": {"accounts": [OWN], "template_review": [{"name": "r", "after": "1m..9m"}]}, "traffic": [REVIEW]},
        Place("r", "ready en", 1, "after"),
        {"1m": 60_000, "123456ms": 123_456},
        after("template", status="APPROVED"),
    ),
    "what is invented": Case(
        {"attempts": [{"name": "r", "replies": [{"after": "1s", "body": FAKE}]}], "traffic": [SEND],
         "plan": [{"rule": "r", "subject": PHONE, "purpose": "say0.1.0", "value": 7}]},
        Place("fake", "en_US.first_name", 7, "seed"),
        {1: invented(1), 2: invented(2)},
        said,
    ),
}  # fmt: skip


def planned(case: Case, value: Value) -> dict[str, Any]:
    """The scenario of a case with a value at its place."""
    plan = as_scenario(Plan(((case.place, value),)))
    return {"sendbox": 1, **case.scenario, "plan": [*case.scenario.get("plan", ()), *plan]}


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", CASES)
def test_a_plan_drives_every_kind_of_draw(name: str) -> None:
    """Each value at a place is what comes of it, and nothing is said against it."""
    case = CASES[name]
    for value, expected in case.values.items():
        played = play(planned(case, value))
        assert case.observe(played) == expected
        assert entries(played, "advice") == []


def test_the_example_of_the_documentation() -> None:
    """docs/language/plan.md says what its plan does, and that is what happens."""
    section = text_of(ROOT / "docs" / "language" / "plan.md").partition("\n## plan\n")[2]
    example = yaml.safe_load(section.partition("```yaml\n")[2].partition("```")[0])
    phones = [f"42077700010{digit}" for digit in "1222345"]
    traffic = [asks("sendMessage", f"{at}s", body="Hi", to=[{"phone_number": to}]) for at, to in enumerate(phones)]
    traffic[5] = asks("createValidation", "5s", phoneNumber=phones[5])
    played = play({**example, "traffic": traffic})
    assert [played.messages[at].result for at in (0, 3)] == ["failed", "undelivered"]
    (inbound,) = entries(played, "inbound", **{"from": phones[4]})
    (delivered,) = entries(played, "transition", phone=phones[4], result="delivered")
    assert instant(inbound["at"]) - instant(delivered["at"]) == 60_000
    assert inbound["body"] == f"{NAMES[16]} here, yes please"
    assert Verify.of(played.world).sessions_of(phones[5])[0].code == "000042"
    lost = [event for entry in entries(played, "webhook_fault") for event in entry["events"]]
    assert (phones[6], "sent") in [(event["phone"], event["result"]) for event in lost]
    assert entries(played, "advice") == []


def signed_up(plan: Plan) -> int:
    """How long the provider takes for a signup, with a plan."""
    rules = {"signup": [{"name": "r", "after": "1m..9m"}]}
    scenario = load({"sendbox": 1, "partner": rules, "plan": as_scenario(plan)})
    world = World("test-w", scenario, start=START, services=_parts())
    signup = sign_up(world, client="bakery")
    partner = Partner.of(world)
    partner.open(signup)
    partner.give_number(signup, PHONE, {})
    partner.confirm(signup, signup.code or "")
    partner.finish(signup)
    advance(world, HOUR)
    (found,) = [at for at, what in journaled(world, "signup") if what.fields["status"] == "completed"]
    return found


def _parts() -> Any:
    from sendbox.interfaces import PARTS

    return PARTS


@pytest.mark.sample(3)
@pytest.mark.parametrize("value", [60_000, 123_456])
def test_a_plan_drives_the_time_of_a_signup(value: int) -> None:
    """The one kind of draw that no traffic can reach, since its page is for people."""
    assert signed_up(Plan(((Place("r", "bakery", 1, "after"), f"{value}ms"),))) == value


# --- nothing goes past the chooser


#: The modules of the chooser itself.
CHOOSERS: Final = ("engine.draws", "engine.plan")


def module_of(file: Path) -> str:
    """The dotted name of a module of the package, without `sendbox.`."""
    return ".".join(file.relative_to(SRC).with_suffix("").parts)


def drawing() -> Iterator[str]:
    """The functions outside the chooser that draw: module and name."""
    methods = {"between", "interval", "below", "weighted", "pick", "digits"}
    for path in sorted(SRC.rglob("*.py")):
        module = module_of(path)
        if not module.startswith(("engine.", "services.", "scenario.")) or module in CHOOSERS:
            continue
        text = path.read_text("utf-8")
        if not any(f".{method}(" in text for method in methods):
            continue
        for function in ast.walk(ast.parse(text)):
            if isinstance(function, ast.FunctionDef):
                calls = [each.func for each in ast.walk(function) if isinstance(each, ast.Call)]
                if any(isinstance(each, ast.Attribute) and each.attr in methods for each in calls):
                    yield f"{module}.{function.name}"


#: Draws again what was drawn, to explain it.
AGAIN: Final = {"engine.rules.book.not_its_turn"}


def test_every_function_that_draws_is_driven(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cases above reach all of them: who adds a kind of draw adds its case."""
    driven = set()
    answer = PlannedChooser.answer

    def noted(self: PlannedChooser, place: Place, form: Form[T], ordinary: T) -> T:
        if place in self._values:
            frame: Any = sys._getframe(1)
            while (
                module := module_of(Path(frame.f_code.co_filename))
            ) in CHOOSERS or frame.f_code.co_name == "<genexpr>":
                frame = frame.f_back
            driven.add(f"{module}.{frame.f_code.co_name}")
        return answer(self, place, form, ordinary)

    monkeypatch.setattr(PlannedChooser, "answer", noted)
    for case in CASES.values():
        play(planned(case, next(iter(case.values))))
    assert driven == set(drawing()) - AGAIN


class Constant(Overlay):
    """Always draws the same: the first option, the smallest number; numbers of a pool differ by their ordinal."""

    def answer(self, place: Place, form: Form[T], ordinary: T) -> T:
        asked: Any = form
        match asked:
            case Between():
                value: Value = asked.low
            case Time():
                value = written(asked, asked.low)
            case Option():
                value = written(asked, 0)
            case Digits():
                value = written(asked, f"{asked.prefix}{asked.low + place.ordinal:0{len(str(asked.high))}}")
            case _:
                value = False
        drawn = form.read(value)
        assert drawn is not None
        return drawn


@pytest.fixture
def lay(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Chooser], Chooser]], None]:
    """Lays something over the choosers of all worlds that are opened from now on."""

    def laying(over: Callable[[Chooser], Chooser]) -> None:
        monkeypatch.setattr(engine, "Chooser", lambda seed: over(Chooser(seed)))

    return laying


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", turn(library.names(), 0, 2))
def test_what_was_recorded_is_a_plan_of_the_same_run(name: str, lay: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another seed with the plan of a run ends in the digest of that run: the plan is all that the seed decides.

    In an ordinary run this is tried of every other scenario, and what follows of the others.
    """
    recordings: list[Recording] = []

    def recording(chooser: Chooser) -> Chooser:
        recordings.append(Recording(chooser))
        return recordings[-1]

    lay(recording)
    first = play(name)
    asked = tuple(entry for each in recordings for entry in each.asked)
    monkeypatch.undo()
    again = play(replace(load(name), plan=Plan(asked)), seed="another")
    assert again.canonical == first.canonical
    assert again.digest == first.digest
    assert load({"sendbox": 1, "plan": as_scenario(Plan(asked))}).plan == Plan(asked)


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", turn(library.names(), 1, 2))
def test_the_seed_decides_nothing_else(name: str, lay: Any) -> None:
    """With a chooser that always answers the same, seeds make no difference."""
    lay(Constant)
    first, again = play(name), play(name, seed="another")
    assert again.canonical == first.canonical
    assert again.digest == first.digest
