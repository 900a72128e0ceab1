"""What is invented for texts: pools that are the same everywhere, and that no start pays for."""

from __future__ import annotations

import subprocess
import sys
from typing import Any, Final

import pytest
from faker import config

from sendbox.engine.texts import FAKES, POOL, Fake
from sendbox.scenario.keys import texts
from sendbox.scenario.model import ScenarioError
from sendbox.scenario.shape import schema
from tests.scenarios import load

LOCALES: Final[list[str]] = schema()["$defs"]["locale"]["enum"]


def invented(name: str, locale: str = "cs_CZ") -> tuple[str, ...]:
    """The pool of a gap."""
    scenario = {"sendbox": 1, "attempts": [{"locale": locale, "replies": [{"body": f"{{{{fake.{name}}}}}"}]}]}
    (rule,) = load(scenario).compiled["attempts"]
    assert rule.replies is not None
    text = rule.replies[0].text
    assert text is not None
    (part,) = text.parts
    assert isinstance(part, Fake)
    return part.pool


@pytest.mark.parametrize("name", FAKES)
@pytest.mark.unmeasured
def test_every_kind_can_be_invented(name: str) -> None:
    """A pool of the agreed size, of one line each."""
    pool = invented(name)
    assert len(pool) == POOL
    assert all(each and "\n" not in each for each in pool)
    assert len(set(pool)) > 20


def test_every_locale_of_the_schema_exists() -> None:
    """What an editor offers is what the library has."""
    assert set(LOCALES) <= set(config.AVAILABLE_LOCALES)
    assert texts.LOCALE in LOCALES


@pytest.mark.unmeasured
def test_locales_differ() -> None:
    """Names are those of the place."""
    assert set(invented("city", "cs_CZ")).isdisjoint(invented("city", "ja_JP"))


@pytest.mark.unmeasured
def test_pools_are_the_same_in_every_process() -> None:
    """What is invented depends on the version of the library and on nothing of the process."""
    code = (
        "from sendbox.engine.draws import UNSEEDED; from sendbox.scenario.keys.texts import _pool; "
        "print(_pool('cs_CZ', 'name', UNSEEDED)[:5])"
    )
    there = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert there.stdout.strip() == str(invented("name")[:5])


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param({"body": "{{fake.name}}"}, True, id="object"),
        pytest.param("body: '{{ fake.name }}'", True, id="text"),
        pytest.param({"body": "{{body}} is fake.name"}, False, id="nothing"),
        pytest.param({"seed": 1 << 80}, True, id="beyond JSON"),
    ],
)
def test_whether_something_is_invented_is_known_before(source: Any, expected: bool) -> None:
    """Who must not wait for the library can ask first."""
    assert texts.invents(source) is expected


def test_a_scenario_of_the_library_that_invents_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that builds on it invents too."""
    monkeypatch.setattr(texts, "_inventing", lambda: ("chatty",))
    assert texts.invents("chatty")
    assert texts.invents({"sendbox": 1, "extends": "chatty"})
    assert not texts.invents("default")


def test_without_faker(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text that is to be invented is a problem at its place, which names the extra; other texts need nothing."""
    monkeypatch.setitem(sys.modules, "faker", None)
    texts._invented.cache_clear()
    replies = [{"body": "{{body}}"}, {"body": "I am {{fake.name}}"}]
    with pytest.raises(ScenarioError) as caught:
        load({"sendbox": 1, "attempts": [{"locale": "fi_FI", "replies": replies}]})
    (problem,) = caught.value.problems
    assert problem.path == "$.attempts[0].replies[1].body"
    assert problem.message == "\"{{fake.name}}\" needs Faker, which is not installed: pip install 'sendbox[people]'"
