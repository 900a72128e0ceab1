"""Reports of coverage: figures, formats, sums, minima."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sendbox import __version__
from sendbox.app import SERVED
from sendbox.control.catalog import catalog
from sendbox.control.reports.coverage import Report, Unreadable, minimum, scope_of
from sendbox.engine import ENGINE
from sendbox.engine.coverage import Catalog, Item, Row, Tally
from sendbox.services.coverage.catalog import DIMENSIONS, FACTS

#: A service with one operation that has one field.
SMALL = Catalog(
    DIMENSIONS,
    FACTS,
    {"ask": Row("ask", "rest", "§4", "json", {"$.q<b>": "A01"}, lambda _: 'GET /ask {"q": "<i>"}', "GET /ask", None)},
    SERVED.kinds,
)
ITEMS = len(SMALL.items)
SERVED_CATALOG = catalog(SERVED)


def report(**dimensions: dict[str, int]) -> Report:
    return Report(SMALL, {name.replace("_", " "): counts for name, counts in dimensions.items()}, {"A63": 3})


def test_figures() -> None:
    """What counts is whether an item was tried, not how often; names that are in no catalog count nowhere."""
    found = report(operations={"ask accepted": 7, "unheard of": 1}, unheard={"x": 1})
    assert found.figures("operations") == (1, 1)
    assert found.figures("fields") == (0, 1)
    assert found.figures() == (1, ITEMS)
    assert found.percent("operations") == 100
    assert found.percent() == pytest.approx(100 / ITEMS)


def test_json_is_read_back() -> None:
    """A report and its JSON say the same, every item is in it, and two of them add up."""
    first = report(operations={"ask accepted": 2})
    told = json.loads(first.render("json"))
    assert (told["sendbox"], told["engine"]) == (__version__, ENGINE)
    assert list(told["items"]) == list(DIMENSIONS)
    assert sum(map(len, told["items"].values())) == ITEMS
    assert told["leaned"] == {"A63": 3}
    both = report(operations={"ask accepted": 1})
    both.add_json(told)
    assert both.as_json()["items"]["operations"] == {"ask accepted": 3}
    assert both.as_json()["leaned"] == {"A63": 6}


@pytest.mark.parametrize(
    "given",
    [None, [], {}, {"items": []}, {"items": {"a": 1}}, {"items": {"a": {"b": "c"}}}, {"items": {"a": {"b": -1}}},
     {"items": {"a": {"b": True}}}, {"items": {}, "leaned": None}],
    ids=repr,
)  # fmt: skip
def test_what_is_no_report(given: Any) -> None:
    """A value of another form is refused in one line."""
    with pytest.raises(Unreadable, match=r"^it is not a report of coverage; legal: "):
        report().add_json(given)


def test_text_says_first_what_was_never_tried() -> None:
    """A bar for each dimension, then what was never tried with how to try it; a terminal gets a few of each."""
    lines = report(operations={"ask accepted": 1}).text(1).splitlines()
    assert lines[0] == f"1 of {ITEMS} items tried, {100 / ITEMS:.1f} %"
    assert lines[2].split() == ["Operations", "#" * 20, "1", "of", "1", "100.0", "%"]
    assert "Operations, never tried:" not in lines
    at = lines.index("Fields of requests, never tried:")
    assert lines[at + 1] == '  ask $.q<b>  GET /ask {"q": "<i>"}'
    at = lines.index("What recipients do, never tried:")
    assert lines[at + 2] == "  and 4 more"
    assert lines[-2:] == [
        "Assumptions leaned on:",
        "  A63       3  timing without a rule (§3.1)",
    ]
    whole = Report(SMALL).text()
    assert " more" not in whole
    assert "Assumptions" not in whole


#: A service with two operations, and what a message and a code can become.
PAIR = Catalog(
    {"operations": "Operations", "results": "Results", "states": "States"},
    [
        Item("results", "sms sent", "§1", "python", "1", of=("sending",)),
        Item("results", "sms failed", "§1", "python", "2", of=("sending",)),
        Item("results", "rcs sent", "§1", "python", "3", of=("sending",)),
        Item("states", "code gone", "§1", "python", "4", of=("ask",)),
    ],
    {
        "send": Row("send", "sending", "§4", "json", {}, str, "POST /send", ("request", "POST /send {}")),
        "ask": Row("ask", "verify", "§4", "json", {}, str, "GET /ask", None),
    },
    SERVED.kinds,
)


def test_a_scope() -> None:
    """Only what is about its operations is counted and shown; an empty dimension is left out, and below no minimum."""
    counts: Tally = {"operations": {"send accepted": 3}, "results": {"sms sent": 2}}
    asked = Report(PAIR, counts, scope=scope_of(["ask"], PAIR.rows))
    assert (asked.scope, asked.figures(), list(asked.headings)) == (["ask"], (0, 2), ["operations", "states"])
    assert asked.below({"results": 50, "operations": 1}) == [
        "coverage of operations is 0.0 %, below the minimum of 1 %"
    ]
    lines = asked.text().splitlines()
    assert lines[:2] == ["0 of 2 items tried, 0.0 %", "in the scope of ask"]
    assert "In the scope of ask" in asked.html()
    assert asked.as_json()["items"]["results"]["sms sent"] == 2
    used = Report(PAIR, counts, scope=scope_of(["used"], PAIR.rows))
    assert (used.scope, used.figures()) == (["send"], (2, 5))
    nothing = Report(PAIR, scope="used")
    assert (nothing.scope, nothing.figures(), nothing.percent()) == ([], (0, 0), 0)
    assert "in the scope of no operation: none was called" in nothing.text()
    assert "In the scope of no operation: none was called" in nothing.html()
    assert nothing.below({None: 0.1}) == [
        "coverage of the scope, in which no operation was called, is 0.0 %, below the minimum of 0.1 %"
    ]
    assert asked.below({None: 1}) == ["coverage of the scope is 0.0 %, below the minimum of 1 %"]


def test_what_is_declared_is_the_scope() -> None:
    """Without a scope that is asked for; worlds that declare nothing add nothing."""
    assert Report(PAIR, declared=["ask"]).scope == ["ask"]
    assert Report(PAIR, scope=frozenset({"send"}), declared=["ask"]).scope == ["send"]
    assert Report(PAIR).scope is None


def test_gaps_come_in_order_of_use() -> None:
    """First what is about operations that the client calls most, then what is like something that it tried."""
    report = Report(PAIR, {"operations": {"ask accepted": 1, "send accepted": 5}, "results": {"rcs sent": 2}})
    assert [item.name for item, _ in report.items("results")] == ["sms sent", "sms failed", "rcs sent"]
    report = Report(PAIR, {"results": {"rcs sent": 2, "sms failed": 1}, "operations": {"ask accepted": 9}})
    assert [item.name for item, _ in report.items("operations")] == ["send accepted", "send refused", "ask accepted"]
    channels = Report(SERVED_CATALOG, {"results": {"richmsg sent": 1}, "operations": {"verifyCode refused": 1}})
    assert channels.items("results")[0][0].name.startswith("richmsg ")
    assert channels.items("operations")[0][0].name == "verifyCode accepted"


def test_every_item_is_about_something() -> None:
    """The words of an item are operations or interfaces; what is about every operation is known."""
    words = {word for row in SERVED_CATALOG.rows.values() for word in (row.operation, row.interface)}
    assert [item.name for item in SERVED_CATALOG.items if not words.issuperset(item.of)] == []
    assert {(item.dimension, item.name) for item in SERVED_CATALOG.items if not item.of} == {
        ("errors", "unknown path"),
        ("errors", "wrong method"),
        *(("api faults", item.name) for item in SERVED_CATALOG.dimensions["api faults"]),
    }


def test_html_escapes_everything() -> None:
    """The page needs nothing from elsewhere, and no name or snippet becomes a tag of it."""
    page = report(operations={"ask accepted": 5}).render("html")
    assert "<i>" not in page
    assert "q&lt;b&gt;" in page
    assert "&quot;q&quot;: &quot;&lt;i&gt;&quot;" in page
    assert "class=yes><td class=num>5</td><td class=item>ask accepted" in page
    assert "A63" in page
    assert "src=" not in page
    assert "href=" not in page
    assert page.count("<h1>") == 1
    assert "leaned on" not in Report(SMALL).render("html")
    assert Report(SMALL).render("text") == Report(SMALL).text()


def test_minima() -> None:
    """A minimum that is not reached is said with its figure; one that is, is not."""
    found = report(operations={"ask accepted": 1})
    assert found.below({"operations": 100, "fields": 0}) == []
    assert found.below({None: 50, "fields": 0.5}) == [
        f"coverage of everything is {100 / ITEMS:.1f} %, below the minimum of 50 %",
        "coverage of fields is 0.0 %, below the minimum of 0.5 %",
    ]


@pytest.mark.parametrize(
    ("given", "expected"),
    [("60", (None, 60.0)), ("operations=80.5", ("operations", 80.5)), ("webhook faults=0", ("webhook faults", 0.0))],
)
def test_how_a_minimum_is_given(given: str, expected: tuple[str | None, float]) -> None:
    """A percentage, of all or of a dimension."""
    assert minimum(given, DIMENSIONS) == expected


@pytest.mark.parametrize("given", ["", "x", "101", "-1", "nan", "operations=", "operation=5"])
def test_what_is_no_minimum(given: str) -> None:
    """Anything else is refused with what is legal."""
    with pytest.raises(ValueError, match="; legal: "):
        minimum(given, DIMENSIONS)
