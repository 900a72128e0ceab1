"""Scenarios that are written down again: alone, without what they were built on, and with the same meaning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import asdict, replace

from sendbox.engine.blueprint import Blueprint
from sendbox.scenario import library
from sendbox.scenario.write import dump
from tests.scenarios import check, load


def meaning(value: Any) -> Any:
    """A blueprint without the places at which its parts were written, and without its text."""
    if isinstance(value, Blueprint):
        value = replace(value, source=None, written=None)
    if isinstance(value, msgspec.Struct):
        return {name: meaning(part) for name, part in asdict(value).items() if name != "place"}
    if isinstance(value, dict):
        return {key: meaning(each) for key, each in value.items()}
    return [meaning(each) for each in value] if isinstance(value, tuple | list) else value


def template(text: str, name: str = "otp") -> dict[str, Any]:
    return {"name": name, "language": "en", "components": [{"type": "BODY", "text": text}]}


#: What the scenario has and what it builds on has, by what is overridden or joined.
PAIRS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "templates": (
        {"account": {"templates": [template("mine"), template("new", "new")]}},
        {"account": {"templates": [template("theirs"), template("old", "old")]}},
    ),
    "subkeys": (
        {"account": {"subkeys": [{"name": "shop", "credit": 1}]}},
        {"account": {"subkeys": [{"name": "shop", "shared": True}, {"name": "web"}]}},
    ),
    "senders": (
        {"account": {"senders": {"richmsg": ["Acme", "Shop"]}}},
        {"account": {"senders": {"richmsg": ["Acme"], "sms": ["Acme"]}}},
    ),
    "any sender": ({"account": {"senders": "any"}}, {"account": {"senders": {"richmsg": ["Acme"]}}}),
    "some senders": ({"account": {"senders": {"richmsg": ["Acme"]}}}, {"account": {"senders": "any"}}),
    **{
        name: ({"account": {name: [mine, both]}}, {"account": {name: [both, theirs]}})
        for name, mine, both, theirs in (
            ("numbers", "420900000001", "420900000002", "420900000003"),
            ("optout", "420777000001", "420777000002", "420777000003"),
            ("blacklist", "420777000001", "420777000002", "420777000003"),
            ("domains", "a.example", "b.example", "c.example"),
            ("stop_words", "END", "HALT", "QUIT"),
        )
    },
    "credit": (
        {"account": {"credit": {"czk": 7}, "currency": "CZK"}},
        {"account": {"credit": {"eur": 5}, "country": "421", "default_callback_url": None}},
    ),
    "phones": (
        {"phones": [{"name": "mine", "number": "4207770001*", "channels": ["sms"]}]},
        {"phones": [{"name": "mine", "number": "420777*", "offline": True}]},
    ),
    "attempts": (
        {"attempts": [{"name": "r", "when": {"nth": 1}, "then": "failed"}, {"then": "delivered"}]},
        {"attempts": [{"name": "r", "mix": {"delivered": 1, "failed": 1}}]},
    ),
    "verify": (
        {"verify": {"limits": {"number": "off"}, "rules": [{"name": "r", "then": {"code": "123456"}}]}},
        {"verify": {"limits": {"account": "9/1m"}, "rules": [{"name": "r", "then": {"sms": "undelivered"}}]}},
    ),
    "api": ({"api": [{"name": "r", "fault": "garbage"}]}, {"api": [{"name": "r", "fault": "timeout"}]}),
    "webhooks": (
        {"webhooks": [{"name": "r", "when": {"result": "sent"}, "fault": "drop"}]},
        {"webhooks": [{"name": "r", "fault": "duplicate"}]},
    ),
    "partner": (
        {
            "partner": {
                "template_review": [{"name": "r", "result": "REJECTED"}],
                "signup": [{"name": "r", "after": "1s"}],
            }
        },
        {"partner": {"template_review": [{"name": "r", "after": "1m"}], "signup": [{"name": "r", "after": "1m"}]}},
    ),
    "expect": (
        {"expect": [{"name": "e", "that": "messages", "count": 1}]},
        {"expect": [{"name": "e", "that": "requests", "at_most": 3}]},
    ),
    "timeline": (
        {"timeline": [{"at": "1m", "phone": {"number": "420777000001", "act": "offline"}}]},
        {"timeline": [{"at": "1m", "phone": {"number": "420777000001", "act": "online"}}]},
    ),
    "assume": ({"assume": {"webhook_retry": ["5s"]}}, {"assume": {"webhook_retry": ["1s", "2s"], "bundle": False}}),
    "traffic": (
        {"traffic": [{"at": 0, "request": {"operation": "showKey"}}]},
        {"traffic": [{"at": 0, "name": "x", "request": {"operation": "showKey"}}]},
    ),
    "clock": ({"clock": {"start": "2026-03-01T09:00:00Z"}}, {"clock": {"mode": "manual"}, "digest": {"ignore": ["a"]}}),
    "texts": (
        {"account": {"templates": [template("$${A} $${{1}} $$$${B} $${")]}},
        {"seed": "$${SEED}"},
    ),
}


@pytest.mark.parametrize(("mine", "theirs"), PAIRS.values(), ids=PAIRS)
def test_a_scenario_alone_means_the_same(mine: dict[str, Any], theirs: dict[str, Any]) -> None:
    """Whatever it overrides, and wherever lists are joined: written out it can be used, without a doubt, as before."""
    before = load([{"sendbox": 1, **theirs}, {"sendbox": 1, **mine}])
    assert before.source is not None
    text = dump(before.source)
    assert check(text) == []
    assert meaning(load(text)) == meaning(replace(before, name="scenario"))


def test_what_it_was_built_on_is_gone(tmp_path: Path) -> None:
    """Files of several folders, one on the other, end in a text that names none of them and is the same again."""
    rule = "attempts: [{name: r, when: {nth: %d}, then: failed}]\n"
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "one.yaml").write_text(f"sendbox: 1\nextends: ../base.yaml\n{rule % 2}")
    (tmp_path / "parts" / "two.yaml").write_text(f"sendbox: 1\n{rule % 3}")
    (tmp_path / "base.yaml").write_text(f"sendbox: 1\nextends: default\n{rule % 4}")
    mine = tmp_path / "mine.yaml"
    mine.write_text(f"sendbox: 1\nname: mine\ninclude: [parts/one.yaml, parts/two.yaml]\n{rule % 1}")
    before = load(mine)
    assert before.source is not None
    text = dump(before.source)
    assert "yaml" not in text
    after = load(text, paths=False)
    assert meaning(after) == meaning(before)
    assert after.source == before.source


@pytest.mark.parametrize("count", [2, 50, 51, 52, 99])
def test_many_scenarios_in_one(count: int) -> None:
    """As many files as a scenario may be made of, each with its own version of a rule."""
    before = load(
        [{"sendbox": 1, "attempts": [{"name": "r", "when": {"nth": n}, "then": "sent"}]} for n in range(1, count + 1)]
    )
    assert before.source is not None
    text = dump(before.source)
    assert check(text) == []
    assert meaning(load(text)) == meaning(replace(before, name="scenario"))


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", library.names())
def test_scenarios_of_the_library_alone(name: str) -> None:
    """Each of them means the same without the one that it extends, and draws no doubt that it did not draw before."""
    before = load(name)
    assert before.source is not None
    text = dump(before.source)
    assert [found.message for found in check(text)] == [found.message for found in check(name)]
    assert meaning(load(text, name=name)) == meaning(before)
