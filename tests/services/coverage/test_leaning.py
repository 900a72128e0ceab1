"""Which assumptions a client's traffic rested on: the table is whole, and each way of telling tells."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from sendbox import data
from sendbox.app import SERVED
from sendbox.control.catalog import catalog
from sendbox.engine.coverage import MOST_ENTRIES, Leaned
from sendbox.engine.delivery.batches import Target
from sendbox.engine.durations import Rate
from sendbox.engine.journal import CODE
from sendbox.engine.remarks import Advice, Finding
from sendbox.engine.world import World
from sendbox.services.account.account import Account
from sendbox.services.account.http import enter_numbers
from sendbox.services.assume import Assume, PromotionalHours
from sendbox.services.assumptions import registry
from sendbox.services.coverage.assumptions import OPERATIONS, REFUSALS, UNTOLD
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.model import Shortening
from sendbox.services.templates.templates import TemplateUse
from sendbox.services.verify.verify import Verify
from sendbox.services.windows import Window
from tests.core.asked import asked
from tests.core.managed import manage
from tests.core.observed import collect
from tests.core.worlds import HOOK, HOUR, PHONE, START, advance, make_world, path, rule, send_one, step
from tests.documentation.markdown import ROOT

SENDER: Final = "109876543210987"
IDS: Final = [row.id for row in registry()]

#: How each row of the registry is told.
TOLD: Final[dict[str, tuple[str, ...]]] = {
    "A01": ("item", "remark"), "A02": ("item", "remark"), "A03": ("item", "rule"), "A04": ("item",), "A05": ("item",),
    "A06": ("rule",), "A07": ("rule",), "A08": ("remark", "rule"), "A09": ("operation",), "A10": ("operation",),
    "A11": ("rule",), "A12": ("operation", "item"), "A13": ("operation", "item"), "A14": ("remark",), "A15": ("rule",),
    "A16": ("rule",), "A17": ("item",), "A18": ("rule",), "A19": ("rule", "item"), "A20": ("item", "remark"),
    "A21": ("item",), "A22": ("item",), "A23": ("item",), "A24": ("item",), "A25": ("item", "rule"),
    "A26": ("item", "rule"), "A27": ("operation", "item"), "A28": ("operation", "item"), "A29": ("operation", "item"),
    "A30": ("operation",), "A31": ("operation",), "A32": ("operation", "item"), "A33": ("operation", "item"),
    "A34": ("rule",), "A35": ("operation", "remark"), "A36": ("item",), "A37": ("item", "remark", "rule"),
    "A38": ("operation", "item"), "A39": ("operation", "item"), "A40": ("operation", "item"),
    "A41": ("operation", "item"), "A42": ("operation", "item"), "A43": ("operation", "item"),
    "A44": ("operation", "item"), "A45": ("operation", "item"), "A46": ("operation", "item"),
    "A47": ("operation", "item"), "A48": ("operation", "item"), "A49": ("item", "remark"), "A50": ("operation",),
    "A51": ("operation", "item", "remark"), "A52": ("item", "rule"), "A53": ("item", "remark"), "A54": ("rule",),
    "A55": ("rule",),
    "A56": ("remark",), "A57": ("item", "remark"), "A58": ("remark",), "A59": ("remark", "item"),
    "A60": ("remark", "rule"),
    "A61": ("rule",), "A62": ("item",), "A63": ("rule",), "A64": ("item", "remark"), "A65": ("operation",),
    "A66": ("item", "rule"), "A67": ("rule",), "A68": ("item", "rule"), "A69": ("rule",), "A70": ("item",),
    "A71": ("operation",), "A72": ("rule",), "A73": ("operation",), "A74": ("rule",), "A75": ("item", "remark"),
    "A76": ("rule", "remark"), "A77": ("rule", "remark"), "A78": ("rule",), "A79": ("operation", "item"),
    "A80": ("remark", "rule"), "A81": ("rule",), "A82": ("rule",), "A83": ("item",), "A84": ("rule", "remark"),
    "A85": ("remark",), "A86": ("remark",), "A87": ("item",), "A88": ("rule",), "A89": ("remark", "rule"),
    "A90": ("rule",), "A91": ("item",), "A92": ("item",), "A93": ("item",),
    "A94": ("operation",), "A95": ("operation",), "A96": ("operation", "remark"), "A97": ("item", "remark"),
}  # fmt: skip


# --- the table


def test_the_table_is_whole() -> None:
    """Every row of the registry is told somehow, or says why nothing tells it; no other row is there."""
    assert sorted([*TOLD, *UNTOLD]) == sorted(IDS)
    assert all(UNTOLD.values())


def _named(pattern: str, *folders: Path) -> set[str]:
    files = [file for folder in folders for file in folder.rglob("*.*") if file.suffix in (".py", ".json")]
    text = "\n".join(file.read_text("utf-8") for file in files)
    return set(re.findall(pattern, text))


def test_the_tellers_are_there() -> None:
    """A row that an item tells stands on one, one that an operation tells on an operation, one that a remark tells in
    the code or schemas that remark, one that a rule tells in the module of rules.
    """  # fmt: skip
    src = ROOT / "src" / "sendbox"
    tellers: dict[str, set[str | None]] = {
        "item": {item.assumed for item in catalog(SERVED).items},
        "operation": {id_ for ids in OPERATIONS.values() for id_ in ids},
        "remark": {*_named(r'"(A\d\d)"', src / "contract", src / "engine", src / "services", data.folder("schemas"))},
        "rule": {*_named(r'"(A\d\d)"', src / "services")},
    }
    for id_, by in TOLD.items():
        for teller in by:
            assert id_ in tellers[teller], (id_, teller)
    for teller in ("item", "operation"):
        missing = [id_ for id_ in tellers[teller] if id_ is not None and teller not in TOLD[id_]]
        assert missing == []


def test_the_table_names_operations_that_there_are() -> None:
    """Operations and interfaces of the tables are those that are served."""
    assert set(OPERATIONS) <= set(catalog(SERVED).rows)
    assert set(REFUSALS) == {row.interface for row in catalog(SERVED).rows.values()}


def test_an_entry_counts_once_and_the_first_few_are_named() -> None:
    """However many things in an entry rest on a row, it is one entry; only the first entries are named."""
    leaned = Leaned()
    for entry in (1, 1, 2, 3, 4, 5, 6):
        leaned.note(entry)
    assert (leaned.count, leaned.entries) == (6, [1, 2, 3, 4, 5])
    assert len(leaned.entries) == MOST_ENTRIES


# --- what happened


def leaned(world: World) -> dict[str, list[int]]:
    """The rows that a world's client leaned on, with their entries."""
    return {id_: mine.entries for id_, mine in collect(world, catalog(SERVED)).leaned.items()}


def sent(**fields: Any) -> Callable[[World], object]:
    """Something that sends."""
    return lambda world: send_one(world, **fields)


def flow(*steps: Any, **fields: Any) -> Callable[[World], object]:
    return sent(steps=list(steps), **fields)


def template(**fields: Any) -> Any:
    return step("chatapp_template", None, template=TemplateUse("otp", "en", ["1"], **fields))


def called(operation: str, status: int = 200, body: Any = None, answer: bytes = b"{}", **remarks: Any) -> Any:
    """A call that was journaled."""

    def do(world: World) -> None:
        record = asked(operation, body, path="/", key=world.id, status=status, answer=answer)
        record.findings = remarks.get("findings", ())
        record.kept_advice = remarks.get("advice", ())
        world.request(record)

    return do


def _written(world: World) -> None:
    Messaging.of(world).phones.write("sms", PHONE, "420900000001", "Hello")


def _listed(world: World) -> None:
    for _ in enter_numbers(world, "optout", Account.of(world), PHONE):
        pass


def _advised(world: World) -> None:
    world.advise(Advice("no-target", "x", "$", "§6", "A68"))


def _conversation(world: World) -> None:
    Messaging.of(world).phones.write("chatapp", PHONE, SENDER, "Hello")
    send_one(world, steps=[step("chatapp_text", sender=SENDER)])


def _listed_for_a_subkey(world: World) -> None:
    key = Account.of(world).subkeys.add(b"{}", currency="EUR")
    Account.of(world).blacklist[PHONE] = 0
    send_one(world, key=key)


def _verified(world: World) -> None:
    session = Verify.of(world).create(PHONE, {}, Account.of(world).keys[world.id], b"", "")
    Verify.of(world).submit(session, "no")


def _expired(world: World) -> None:
    Verify.of(world).create(PHONE, {}, Account.of(world).keys[world.id], b"", "")


OTP: Final[dict[str, Any]] = {
    "name": "otp",
    "language": "en",
    "status": "APPROVED",
    "components": [{"type": "BODY", "text": "{{1}}"}],
}
PICTURED: Final = {**OTP, "components": [{"type": "HEADER", "format": "IMAGE"}, *OTP["components"]]}
RICH: Final = step("richmsg", ttl=60_000)
NIGHT: Final = Window(start=22 * 60, end=6 * 60)
ROOT_BODY: Final = {"body": "Hello", "flow": [{"richmsg": {"sender": "Acme"}}]}
OWN_BODY: Final = {"body": "Hello", "flow": [{"richmsg": {"body": "Hi"}}, {"sms": {}}]}


@pytest.mark.parametrize(
    ("id_", "does", "settings"),
    [
        ("A03", flow(step("chatapp_text", sender=SENDER), step("sms")), {"conversation": True}),
        ("A04", flow(RICH, step("sms")), {"attempts": (rule("failed", key="f"),)}),
        ("A06", flow(template()), {}),
        ("A07", called("sendMessage", answer=b'{"rejected":[{"key":"0"}]}'), {}),
        ("A08", sent(body="x"), {"number": "none"}),
        ("A08", called("sendMessage", findings=[Finding("$", "x", "x", "§2.3", "A08")]), {}),
        ("A09", called("sendMessages", body=[]), {}),
        ("A11", called("sendMessage", 400), {}),
        ("A15", sent(window=NIGHT), {}),
        ("A16", sent(window=Window(start=600)), {}),
        ("A17", sent(body="https://a.example/b", shortening=Shortening()), {}),
        ("A18", sent(), {"assume": Assume(queue=Rate(1, HOUR)), "twice": True}),
        ("A19", called("updateKey", 403), {}),
        ("A20", sent(callback=HOOK), {"answer": 500}),
        ("A21", sent(callback=Target(HOOK, secret="s")), {}),
        ("A25", sent(), {"attempts": (rule(path("sending", ("delivered", 0)), key="x"),)}),
        ("A34", called("registerDevice", 400), {}),
        ("A35", called("requestUpload"), {}),
        ("A52", called("createValidation", answer=b'{"proof":"ab"}'), {}),
        ("A54", called("createValidation", 400), {}),
        ("A55", called("sendMessage", body=ROOT_BODY), {}),
        ("A57", called("sendMessage", advice=[Advice("unknown-field", "x", "$", "§2", "A57")]), {}),
        ("A60", sent(tags=("priority",)), {}),
        ("A61", sent(), {}),
        ("A63", sent(), {}),
        ("A66", _conversation, {}),
        ("A67", sent(body="x"), {"number": "none"}),
        ("A68", _written, {}),
        ("A68", _advised, {}),
        ("A69", sent(callback=Target(HOOK, method="GET")), {}),
        ("A69", sent(callback=Target(HOOK, content_type="application/x-www-form-urlencoded")), {}),
        ("A72", _verified, {}),
        ("A72", _expired, {}),
        ("A74", called("checkProof", answer=b'{"valid":false}'), {}),
        ("A76", flow(template(header=["https://a.example/b.png"])), {"templates": PICTURED}),
        ("A77", sent(body="https://a.example/b", shortening=Shortening(domain="go.acme.example")), {}),
        ("A78", sent(body="https://a.example/b", shortening=Shortening()), {}),
        ("A79", manage, {}),
        ("A80", flow(step("sms", gateway="direct")), {}),
        ("A81", _listed, {}),
        ("A82", sent(), {}),
        ("A84", sent(), {"assume": Assume(promotional_window=PromotionalHours(Window(None, 0, 60)))}),
        ("A89", flow(step("sms")), {"assume": Assume(test_number="on"), "number": "420777777777"}),
        ("A89", flow(step("sms")), {"number": "420777777777"}),
        ("A84", sent(), {}),
        ("A90", _listed_for_a_subkey, {}),
        ("A88", called("sendMessages", 400, [{}, {}], findings=[Finding("$[0].to", "x", "x", "§2.1")]), {}),
    ],
)
def test_a_row_is_told(id_: str, does: Any, settings: dict[str, Any]) -> None:
    """The events rest on the row, and a world without events rests on no row."""
    from sendbox.engine.texts import Pattern
    from sendbox.services.account.spec import AccountSpec
    from sendbox.services.messaging.model import PhoneSpec

    fields: dict[str, Any] = {name: settings[name] for name in ("assume", "attempts") if name in settings}
    if settings.get("conversation"):
        fields["phones"] = (PhoneSpec(Pattern("*", digits=True), conversation=True),)
    world = make_world(account=AccountSpec(templates=(settings.get("templates", OTP),)), **fields)
    assert leaned(world) == {}
    if "number" in settings:
        send_one(world, settings["number"])
    else:
        does(world)
    if settings.get("twice"):
        does(world)
    advance(world, 24 * HOUR, answer=lambda _: (settings.get("answer", 200), None))
    assert id_ in leaned(world)
    assert leaned(world)[id_]


@pytest.mark.parametrize(
    ("id_", "does"),
    [
        ("A03", flow(step("chatapp_text", sender=SENDER))),
        ("A06", flow(template(), step("sms"))),
        ("A07", called("sendMessage", answer=b'{"rejected":[]}')),
        ("A15", sent(window=Window(start=600, end=1300))),
        ("A17", sent(body="no link", shortening=Shortening())),
        ("A18", sent()),
        ("A34", called("blacklist", 400)),
        ("A52", called("createValidation", answer=b"{}")),
        ("A55", called("sendMessage", body=OWN_BODY)),
        ("A55", called("sendMessage", body={"body": "Hello"})),
        ("A60", sent(tags=("promotional",))),
        ("A67", sent(payload={"order": 1})),
        ("A74", called("checkProof", answer=b'{"valid":true}')),
        ("A76", flow(template())),
        ("A77", sent(body="https://a.example/b", shortening=Shortening())),
        ("A80", sent()),
        ("A84", sent(tags=("transactional",))),
        ("A89", sent()),
        ("A88", called("sendMessages", 400, [{}], findings=[Finding("$[0].to", "x", "x", "§2.1")])),
        ("A88", called("sendMessages", 200, [{}, {}], findings=[Finding("$[0].to", "x", "x", "§2.3", "A08")])),
    ],
)
def test_a_row_is_not_told_by_what_rests_on_the_law(id_: str, does: Any) -> None:
    """An event that the specification settles rests on no row."""
    from sendbox.engine.texts import Pattern
    from sendbox.services.account.spec import AccountSpec
    from sendbox.services.messaging.model import PhoneSpec

    phones = (PhoneSpec(Pattern("*", digits=True), conversation=True),)
    world = make_world(account=AccountSpec(templates=(OTP,)), phones=phones)
    does(world)
    advance(world, HOUR)
    assert id_ not in leaned(world)


def test_entries_are_those_that_rest_on_it() -> None:
    """The entries that are named are the journal's: here the three results by default timing."""
    world = make_world()
    send_one(world)
    advance(world, HOUR)
    entries = leaned(world)["A63"]
    assert [world.journal.kind[entry] for entry in entries] == [CODE["sending"], CODE["sent"], CODE["delivered"]]
    assert world.start == START


def test_what_was_remembered_only_leans_on_nothing() -> None:
    """Entries that are not counted are not told either."""
    world = make_world()
    send_one(world)
    advance(world, HOUR)
    collected = collect(world, catalog(SERVED), len(world.journal))
    assert (collected.tally, collected.leaned) == ({}, {})
