"""The operations `export` and `pending`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest
import yaml

from sendbox.app import SERVED
from sendbox.control.export.rows import ActStep, NoEntry
from sendbox.control.export.scenario import entry_of
from sendbox.engine import ENGINE
from sendbox.engine.durations import instant, iso
from sendbox.engine.journal import CODE, Capped
from sendbox.scenario import library
from tests.box import KEY, WORLD, boxed
from tests.scenarios import load

pytestmark = pytest.mark.asyncio


async def test_an_export_says_what_it_is() -> None:
    """Form, file name, text, the digest it ends in, and what is left out."""
    async with boxed() as box:
        await box.send("420777000105")
        await box.advance()
        shown = (await box.get(f"{WORLD}/export")).json
        assert {name: value for name, value in shown.items() if name != "text"} == {
            "as": "pytest",
            "file": "test_test_1.py",
            "digest": (await box.get(f"{WORLD}/digest")).json["digest"],
            "engine": ENGINE,
            "order_sensitive": False,
            "trusted": True,
            "lost": 0,
            "left_out": [],
        }
        compile(shown["text"], shown["file"], "exec")
        assert f'assert sendbox.digest == "{shown["digest"]}"' in shown["text"]


async def test_a_scenario_is_another_form() -> None:
    """`as=scenario` answers YAML that says in comments what it cannot carry over."""
    async with boxed() as box:
        await box.send("420777000105")
        await box.advance()
        await box.post(f"{WORLD}/phones/420777000105/offline")
        await box.post(f"{WORLD}/phones/420777000105/write", {"body": "Hello", "to": "420900000001"})
        await box.patch(f"{WORLD}/account", {"credit": {"eur": 1}})
        shown = (await box.get(f"{WORLD}/export?as=scenario")).json
        assert shown["file"] == "test_1.yaml"
        assert shown["left_out"] == []
        value = yaml.safe_load(shown["text"])
        assert value["timeline"] == [
            {"at": "1m", "phone": {"number": "420777000105", "act": "offline"}},
            {"at": "1m", "inbound": {"channel": "sms", "from": "420777000105", "body": "Hello", "to": "420900000001"}},
            {"at": "1m", "account": {"credit": {"eur": 1}}},
        ]
        assert len(value["traffic"]) == 1


async def test_acts_in_their_turn() -> None:
    """Where one act of several has no entry in a timeline, all of that instant go through control, in their order."""
    async with boxed() as box:
        await box.send("420777000105")
        await box.advance()
        await box.post(f"{WORLD}/phones/420777000105/offline")
        rule = {"when": {"phone": "1*"}, "then": "failed"}
        rule_id = (await box.post(f"{WORLD}/rules", rule)).json["id"]
        await box.delete(f"{WORLD}/rules/{rule_id}")
        shown = (await box.get(f"{WORLD}/export?as=scenario")).json
        assert shown["left_out"] == []
        value = yaml.safe_load(shown["text"])
        assert "timeline" not in value
        acts = [entry["control"] for entry in value["traffic"][1:]]
        assert acts == [
            {"operation": "phone_offline", "arguments": {"number": "420777000105"}},
            {"operation": "put_rule", "arguments": {"raw": rule}},
            {"operation": "drop_rule", "arguments": {"rule": f"${value['traffic'][2]['name']}.id"}},
        ]


async def test_rules_stand_in_their_lists() -> None:
    """What control put in front before the first call is in front in the scenario, list by list."""
    given: dict[str, dict[str, Any]] = {
        "attempts": {"when": {"phone": "1*"}, "then": "failed"},
        "api": {"when": {"phone": "2*"}, "fault": "disconnect"},
        "webhooks": {"when": {"phone": "3*"}, "fault": "drop"},
        "verify": {"when": {"phone": "4*"}, "then": {"code": "123456"}},
    }
    async with boxed() as box:
        await box.open(scenario={"sendbox": 1, "verify": {"limits": "off"}, "api": [{"fault": "garbage"}]})
        for where, rule in given.items():
            await box.post(f"{WORLD}/rules", {"in": where, **rule})
        shown = (await box.get(f"{WORLD}/export?as=scenario")).json
        value = yaml.safe_load(shown["text"])
        assert (shown["left_out"], value["traffic"]) == ([], [])
        assert value["attempts"] == [given["attempts"]]
        assert value["api"] == [given["api"], {"fault": "garbage"}]
        assert value["webhooks"] == [given["webhooks"]]
        assert value["verify"] == {"limits": "off", "rules": [given["verify"]]}


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("export?as=robot", 'as: "robot" is not known; legal: pytest, scenario, record'),
        ("pending?limit=0", "limit: 0 is not legal; legal: 1 and more"),
        ("pending?limit=x", "limit: 'x' is not a whole number"),
    ],
)
async def test_illegal_arguments(query: str, message: str) -> None:
    """An argument that is not legal is an error that says what is."""
    async with boxed() as box:
        await box.send("420777000105")
        answer = await box.get(f"{WORLD}/{query}")
        assert (answer.status, answer.json["message"]) == (400, message)


async def test_what_is_pending() -> None:
    """Steps with their instants, webhooks not delivered yet, codes that can still be entered."""
    async with boxed() as box:
        await box.send("420777000105")
        shown = (await box.get(f"{WORLD}/pending")).json
        assert [(step["what"], step["phone"]) for step in shown["steps"]] == [
            ("hand-over of sendMessage to 1 phones", "420777000105")
        ]
        assert (shown["scheduled"], shown["deliveries"], shown["codes"], shown["lists"]) == (1, [], [], [])


async def test_entries_of_lists_are_pending_until_they_are_in_force() -> None:
    """A81: an entry of the management interface is shown with its instant; one of the owner is in force at once."""
    async with boxed() as box:
        await box.post("/v1/optout", {"to": "420777000101\n420777000102"}, x_api_key=KEY)
        await box.post("/v1/blacklist", {"to": "420777000103"}, x_api_key=KEY)
        await box.post(f"{WORLD}/phones/420777000101/opt-out")
        now = (await box.get(f"{WORLD}/pending")).json["now"]
        later = iso(instant(now) + 1_000)
        wanted = [
            {"list": "blacklist", "phone": "420777000103", "subid": "default", "in_force": later},
            {"list": "optout", "phone": "420777000102", "subid": "default", "in_force": later},
        ]
        assert (await box.get(f"{WORLD}/pending")).json["lists"] == wanted
        assert (await box.get(f"{WORLD}/pending?limit=1")).json["lists"] == wanted[:1]
        await box.advance("1s")
        assert (await box.get(f"{WORLD}/pending")).json["lists"] == []


async def test_acts_are_journaled_with_their_arguments() -> None:
    """What a tester does is an entry of the kind `control` that tells enough to do it again."""
    async with boxed() as box:
        await box.send("420777000101")
        await box.advance()
        await box.post(f"{WORLD}/phones/420777000101/reply", {"body": "YES"})
        rule = (await box.post(f"{WORLD}/rules", {"when": {"phone": "1*"}, "then": "failed"})).json["id"]
        await box.delete(f"{WORLD}/rules/{rule}")
        await box.delete(f"{WORLD}/rules/{rule}")
        entries = (await box.get(f"{WORLD}/journal?kind=control")).json["entries"]
        assert [
            {name: value for name, value in entry.items() if name not in ("n", "at", "kind")} for entry in entries
        ] == [
            {"what": "phone_reply", "number": "420777000101", "body": "YES"},
            {"what": "rule", "id": rule, "rule": {"when": {"phone": "1*"}, "then": "failed"}, "in": "attempts"},
            {"what": "drop_rule", "rule": rule},
        ]


async def test_what_the_journal_forgot() -> None:
    """Once `--max-journal` has cut the record there is no export any more, in either form, and the bound is named."""
    async with boxed(max_journal=20) as box:
        for _ in range(12):
            await box.send("420777000101")
            await box.advance()
            await box.post(f"{WORLD}/phones/420777000101/reply", {"body": "YES"})
        for how in ("", "?as=scenario"):
            answer = await box.get(f"{WORLD}/export{how}")
            assert (answer.status, answer.json["error"], answer.json["bound"]) == (
                409, "record_cut", "--max-journal=20"
            )  # fmt: skip
            assert "--max-journal=20 cut it" in answer.json["message"]


async def test_a_bound_that_was_not_reached() -> None:
    """As long as nothing was forgotten a world with a bound is exported like any other."""
    async with boxed(max_journal=1_000) as box:
        await box.send("420777000101")
        await box.advance()
        text = (await box.get(f"{WORLD}/export")).json["text"]
        compile(text, "test_x.py", "exec")
        assert "xfail" not in text


async def test_an_act_whose_outcome_is_forgotten() -> None:
    """What a phone wrote cannot be told once only the act is left."""
    async with boxed() as box:
        await box.send("420777000101")
        await box.advance()
        await box.post(f"{WORLD}/phones/420777000101/reply", {"body": "YES"})
        world = box.runtime.worlds["test-1"].world
        number = len(world.journal) - 1
        _, _, what = world.journal.entry(number)
        world.journal = Capped()
        world.record.forget_all("--max-journal=1")
        for _ in range(number):
            world.journal.add(0, CODE["sent"], None)
        world.journal.forget(number, "--max-journal=1")
        step = ActStep(world.journal.add(world.now, CODE["control"], what), world.now, "phone_reply", what)
        with pytest.raises(NoEntry, match="the journal forgot what it did"):
            entry_of(world, step, SERVED.exported)


@pytest.mark.parametrize(
    ("scenario", "named"),
    [
        (lambda: library.path("default"), True),
        (lambda: {**dict(load("default").source or {}), "seed": 7}, False),
        (lambda: {"sendbox": 1, "name": "default"}, False),
    ],
    ids=["read again", "changed", "another of that name"],
)
async def test_the_default_scenario_goes_by_its_name(scenario: Callable[[], Any], named: bool) -> None:
    """Also when it was read as a file, as `serve` reads it; whatever is not the same is written out."""
    async with boxed(scenario()) as box:
        await box.send("420777000105")
        text = (await box.get(f"{WORLD}/export")).json["text"]
        assert ('SCENARIO = "default"' in text) is named
        assert ("extends: default\n" in (await box.get(f"{WORLD}/export?as=scenario")).json["text"]) is named


async def test_a_link_of_an_earlier_attempt() -> None:
    """A timeline follows the first link of a message, or a link of its newest attempt; any other one is looked up."""
    scenario = {"sendbox": 1, "attempts": [{"when": {"channel": "richmsg"}, "then": "undelivered"}]}
    async with boxed(scenario) as box:
        text = "https://acme.example/1 https://acme.example/2"
        flow = [{"richmsg": {"sender": "Acme"}}, {"sms": {}}]
        (message_id,) = await box.send(body=text, flow=flow, params={"_url": {}})
        await box.advance()
        links = (await box.get(f"{WORLD}/messages/{message_id}")).json["links"]
        assert len(links) == 4
        assert (await box.get("/s/" + links[1]["url"].rpartition("/")[2])).status == 302
        shown = (await box.get(f"{WORLD}/export?as=scenario")).json
        look, opened = yaml.safe_load(shown["text"])["traffic"][1:]
        assert (shown["left_out"], look["control"]) == ([], {"operation": "messages"})
        assert opened["request"] == {"call": f"GET ${look['name']}.messages.0.links.1.url"}


async def test_a_code_is_no_message_to_answer() -> None:
    """A phone that got nothing but a code writes of its own accord; at the instant of a call it does so in its turn."""
    async with boxed() as box:
        await box.open()
        await box.post("/v1/validations", {"phoneNumber": "420777000101"}, x_api_key=KEY)
        await box.post(f"{WORLD}/phones/420777000101/write", {"body": "Hello", "to": "420900000001"})
        value = yaml.safe_load((await box.get(f"{WORLD}/export?as=scenario")).json["text"])
        said = {"number": "420777000101", "body": "Hello", "to": "420900000001"}
        written = value["traffic"][-1]["control"]
        assert written["operation"] == "phone_write"
        assert {**written["arguments"], **said} == written["arguments"]


@pytest.mark.parametrize(
    ("what", "detail", "why"),
    [
        ("move_template", {"template": "gone", "status": "PAUSED"}, "the template is gone"),
        ("move_number", {"number": "420900000009"}, "the number is gone"),
        ("checkpoint", {}, "no entry of a timeline does that"),
    ],
)
async def test_what_is_gone_cannot_be_named(what: str, detail: dict[str, Any], why: str) -> None:
    """An act about something that is there no more, or that no timeline does, has no entry."""
    async with boxed() as box:
        await box.open()
        world = box.runtime.worlds[KEY].world
        with pytest.raises(NoEntry, match=why):
            entry_of(world, ActStep(0, world.now, what, detail), SERVED.exported)


async def test_a_template_goes_by_its_id_too() -> None:
    """The entry names what the act was about, by name and language."""
    components = [{"type": "BODY", "text": "Hi"}]
    scenario = {
        "sendbox": 1,
        "account": {"templates": [{"name": "a", "language": each, "components": components} for each in ("en", "cs")]},
    }
    async with boxed(scenario) as box:
        await box.open()
        (_, template) = (await box.get(f"{WORLD}/partner")).json["templates"]
        named = template["template_id"]
        assert (await box.patch(f"{WORLD}/templates/{named}", {"status": "PAUSED"})).status == 200
        value = yaml.safe_load((await box.get(f"{WORLD}/export?as=scenario")).json["text"])
        assert value["timeline"] == [{"at": "0s", "template": {"name": "a", "language": "cs", "status": "PAUSED"}}]


async def test_an_advance_that_was_refused() -> None:
    """It moved nothing, so no line of a pytest file lets what is due happen before the next call."""
    async with boxed() as box:
        await box.send("420777000101")
        assert (await box.post(f"{WORLD}/clock/advance", {"to": "2020-01-01T00:00:00Z"})).status >= 400
        await box.send("420777000102")
        text = (await box.get(f"{WORLD}/export")).json["text"]
        assert "sendbox.settle()" not in text


async def test_a_settled_instant() -> None:
    """What was due did happen between two calls, so it does so again."""
    async with boxed() as box:
        await box.send("420777000101")
        await box.post(f"{WORLD}/clock/advance", {"by": 0})
        await box.send("420777000102")
        assert (await box.get(f"{WORLD}/export")).json["text"].count("sendbox.settle()") == 1


async def test_a_token_without_a_key() -> None:
    """An entry of traffic always has a key, so the export says what a token alone was refused."""
    async with boxed() as box:
        await box.open()
        given = {"partner_callback_url": "http://client.example/x", "phone_number": "manual"}
        token = (await box.post("/v1/chatapp/signup", given, x_api_key=KEY)).json["token"]
        await box.advance("1h")
        assert (await box.post("/v1/chatapp/templates/list", {"waba_id": "1", "token": token})).json["success"] is False
        (line,) = (await box.get(f"{WORLD}/export?as=scenario")).json["left_out"]
        assert line.endswith("no key, and a token that did not let it do that; an entry always has a key")


@pytest.mark.parametrize("later", [False, True])
async def test_a_token_that_no_answer_gave(later: bool) -> None:
    """The code of the newest session shows it, so a look at the codes stands in front of the call."""
    async with boxed() as box:
        await box.open()
        rule = {"in": "api", "when": {"operation": "createValidation"}, "fault": "garbage", "times": 1}
        assert (await box.post(f"{WORLD}/rules", rule)).status == 201
        begun = {"phoneNumber": "420777000101"}
        with pytest.raises(httpx.RemoteProtocolError):
            await box.post("/v1/validations", begun, x_api_key=KEY)
        token = (await box.get(f"{WORLD}/codes")).json["codes"][0]["token"]
        await box.post(f"/v1/validations/{token}/verify", {"code": "0"}, x_api_key=KEY)
        if later:
            await box.post("/v1/validations", begun, x_api_key=KEY)
        shown = (await box.get(f"{WORLD}/export?as=scenario")).json
        assert any("which no answer gave" in line for line in shown["left_out"]) == later
        assert (".codes.0.token" in shown["text"]) != later


async def test_what_a_phone_writes_that_has_a_code_only() -> None:
    """A code is not a message that it could answer, at the first instant of a world too."""
    async with boxed() as box:
        await box.open()
        await box.post("/v1/validations", {"phoneNumber": "420777000101"}, x_api_key=KEY)
        detail = {"number": "420777000101", "body": "Hello", "to": "420900000001"}
        await box.post(f"{WORLD}/phones/420777000101/write", {"body": "Hello", "to": "420900000001"})
        world = box.runtime.worlds[KEY].world
        step = ActStep(len(world.journal) - 1, world.now, "phone_write", detail)
        said = {"channel": "sms", "from": "420777000101", "body": "Hello", "to": "420900000001"}
        assert entry_of(world, step, SERVED.exported) == {"inbound": said}


async def test_a_template_goes_by_its_name() -> None:
    """Where only one has it."""
    template = {"name": "a", "language": "en", "components": [{"type": "BODY", "text": "Hi"}]}
    async with boxed({"sendbox": 1, "account": {"templates": [template]}}) as box:
        await box.open()
        world = box.runtime.worlds[KEY].world
        step = ActStep(0, world.now, "move_template", {"template": "a", "status": "PAUSED"})
        change = {"name": "a", "language": "en", "status": "PAUSED"}
        assert entry_of(world, step, SERVED.exported) == {"template": change}


@pytest.mark.parametrize("text", ["%C5%99", "%F8", "\u0159"], ids=["escaped", "not UTF-8", "plain"])
async def test_refused_legacy_calls_are_exported(text: str) -> None:
    """Also those with letters beyond ASCII, however they are written."""
    form = {"content-type": "application/x-www-form-urlencoded"}
    async with boxed() as box:
        await box.open()
        answer = await box.call("POST", "/Send", f"apikey={KEY}&number={text}&message={text}".encode(), form)
        assert answer.body.startswith(b"ERROR")
        exported = await box.get(f"{WORLD}/export?as=scenario")
        assert (exported.status, "traffic" in exported.json["text"]) == (200, True)
