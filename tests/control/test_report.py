"""The report of a world: one document, as JSON and as a page that needs nothing else."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest

from sendbox.app import SERVED
from sendbox.control.operation import ControlError, Served
from sendbox.control.reports.report import of_failed
from sendbox.engine.kinds.happened import line_of
from sendbox.engine.kinds.narration import Names, Narrator
from tests.box import KEY, ORIGIN, WORLD, Box, boxed

pytestmark = pytest.mark.asyncio

HOSTILE = '</style><script>alert("x")</script>'
SCENARIO = {
    "sendbox": 1,
    "name": "a <b>job</b>",
    "expect": [
        {"name": f"it {HOSTILE}", "that": "messages", "where": {"result": "delivered"}, "count": 1},
        {"name": "later", "that": "messages", "where": {"result": "seen"}, "within": "1h", "count": 1},
    ],
}


async def fail(box: Box) -> None:
    """A job that fails: a call is refused, a webhook gets nowhere, an expectation does not hold."""
    await box.open(scenario=SCENARIO)
    await box.send("420777000101", body=HOSTILE, wrong=1)
    await box.send("420777000101", wrong=2)
    assert (await box.post("/v2/message", {"to": []}, x_api_key=KEY)).status == 400
    await box.post(f"{WORLD}/rules", {"in": "webhooks", "fault": {"answer": 503}, "name": "down"})
    await box.advance("1h")


async def test_a_world_in_text() -> None:
    """In the words of a failed test: what went wrong, what happened, what is still to come; and nothing else."""
    async with boxed() as box:
        await fail(box)
        document = (await box.get(f"{WORLD}/report")).json
        answer = await box.get(f"{WORLD}/report?format=text")
        assert answer.headers["content-type"].startswith("text/plain")
        lines = answer.body.decode().splitlines()
        assert f"world {KEY}, now {document['world']['clock']['now']}" in lines
        for line in (*document["findings"], *document["verdict"]["lines"], *document["pending"]):
            assert line in lines
        assert any(line.startswith("what happened (") for line in lines)
        assert any(line.endswith(document["story"]["lines"][-1]["text"]) for line in lines)
        short = (await box.get(f"{WORLD}/report?format=text&lines=2")).body.decode()
        assert "the newest 2 lines" in short
        parts = [(await box.get(f"{WORLD}/report?format=text&only={part}")).body for part in ("remarks", "story")]
        verdict = "".join(f"{line}\n" for line in document["verdict"]["lines"]).encode()
        assert parts[0] + verdict + parts[1] == answer.body


@pytest.mark.unmeasured
async def test_a_world_in_one_document() -> None:
    """Each part is what the operation of its own says, in short."""
    async with boxed() as box:
        await fail(box)
        shown = (await box.get(f"{WORLD}/report")).json
        for name, path in {"world": "", "scenario": "/scenario", "digest": "/digest"}.items():
            assert shown[name] == (await box.get(f"{WORLD}{path}")).json
        verdict = (await box.get(f"{WORLD}/verdict")).json
        assert {name: value for name, value in shown["verdict"].items() if name != "lines"} == verdict
        assert shown["verdict"]["lines"][0].startswith("verdict: ")
        assert shown["findings"][0].startswith("refused sendMessage: [] has fewer entries than the minimum of 1")
        failed = r'webhook to .* failed: 503, by the rule "down" of webhooks.*'
        assert any(re.fullmatch(failed, line) for line in shown["findings"])
        assert [(item["code"], item["count"]) for item in shown["advice"]] == [("unknown-field", 2)]
        assert shown["advice"][0]["line"].startswith("advice unknown-field: ")
        story = shown["story"]
        assert story["entries"] == shown["world"]["entries"]
        assert (story["told"] >= len(story["lines"]), story["left_out"]) == (True, 0)
        assert story["lines"][0] == {
            "at": "2026-03-01T09:00:00.000Z",
            "text": "opened scenario a <b>job</b>",
            "tone": "plain",
        }
        assert shown["pending"][0] == "nothing is still to come"
        coverage = (await box.get(f"{WORLD}/coverage")).json
        assert shown["coverage"] == {name: coverage[name] for name in ("scope", "total", "dimensions")}
        everything = (await box.get(f"{WORLD}/assumptions")).json
        assert shown["settings"] == everything["settings"]
        assert [(row["id"], row["count"]) for row in shown["assumptions"]] == [
            (row["id"], row["count"]) for row in everything["leaned"]
        ]
        assert shown["record"] == f"{ORIGIN}{WORLD}/record"
        ended = (await box.get(f"{WORLD}/report?ended=true")).json
        assert ended["verdict"]["state"] == "failed"


async def test_the_lines_are_bounded() -> None:
    """The newest lines stay, and the report says how many are left out; a past world is reported as it was."""
    async with boxed() as box:
        await fail(box)
        whole = (await box.get(f"{WORLD}/report")).json["story"]
        cut = (await box.get(f"{WORLD}/report?lines=2")).json["story"]
        assert cut["lines"] == whole["lines"][-2:]
        assert cut["left_out"] == len(whole["lines"]) - 2
        past = (await box.get(f"{WORLD}/report?then=1")).json
        assert past["story"]["entries"] == 2
        assert (await box.get(f"{WORLD}/report?then=1&format=html")).body.startswith(b"<!doctype html>")


class _Reader(HTMLParser):
    """The elements and the text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.unmeasured
async def test_the_page_needs_nothing_else() -> None:
    """No script, no address of another file; what a client wrote is text; the policy allows the one style."""
    async with boxed() as box:
        await fail(box)
        answer = await box.get(f"{WORLD}/report?format=html")
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        page = answer.body.decode()
        read = _Reader(page)
        tags = [tag for tag, _ in read.elements]
        assert {"script", "a", "img", "iframe", "form", "b"}.isdisjoint(tags)
        assert [given["href"] for tag, given in read.elements if tag == "link"] == ["data:,"]
        assert not [
            given for _, given in read.elements if any(name.startswith("on") or name == "style" for name in given)
        ]
        assert HOSTILE in read.text
        (policy,) = [given["content"] for _, given in read.elements if given.get("http-equiv")]
        style = page.partition("<style>")[2].partition("</style>")[0]
        digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
        assert f"style-src 'sha256-{digest}'" in (policy or "")
        for part in ("@media print", "light-dark(", "@media (max-width: 40rem)"):
            assert part in style
        assert "url(" not in style
        for text in ("a <b>job</b>", "refused sendMessage", "advice unknown-field", "×2", "FAILED", "/record"):
            assert text in read.text, text


@pytest.mark.unmeasured
async def test_a_page_of_a_world_without_anything() -> None:
    """A world in which nothing happened has a page too, and one whose entries were forgotten says so."""
    async with boxed(max_journal=3, when_full="forget") as box:
        await box.open()
        assert "Nothing was refused" in (await box.get(f"{WORLD}/report?format=html")).body.decode()
        for _ in range(3):
            await box.send()
        await box.advance()
        shown = (await box.get(f"{WORLD}/report?lines=1")).json
        assert (shown["digest"]["trusted"], shown["story"]["left_out"] > 0) == (False, True)
        page = (await box.get(f"{WORLD}/report?format=html&lines=1")).body.decode()
        assert "not to be trusted: entries were forgotten" in page
        assert "older lines are left out" in page


@pytest.mark.unmeasured
async def test_what_failed_is_a_finding() -> None:
    """Messages that did not arrive, and webhooks whose last try failed, though they are to be tried again."""
    async with boxed() as box:
        await box.open()
        await box.send("420777000101", "420777000102", "420777000103", "420777000104")
        await box.post(f"{WORLD}/rules", {"in": "webhooks", "fault": {"answer": 503}, "name": "down"})
        await box.advance("1m")
        findings = (await box.get(f"{WORLD}/report")).json["findings"]
        for ending in ("420777000102 ended undelivered", "420777000103 ended rejected", "420777000104 ended failed"):
            assert f"message to {ending}, by sms" in findings
        so_far = 'webhook to .* failed so far: 503, by the rule "down" of webhooks.*'
        assert any(re.fullmatch(so_far, line) for line in findings)
        assert "Nothing was refused" not in (await box.get(f"{WORLD}/report?format=html")).body.decode()


async def test_webhooks_that_no_client_fetches_are_a_finding() -> None:
    """The warning of the advance is in the report."""
    async with boxed(patience=0.01) as box:
        await box.open(deliveries="pull")
        await box.send("420777000101")
        (warning,) = (await box.advance("1m"))["warnings"]
        findings = (await box.get(f"{WORLD}/report")).json["findings"]
        assert f"warning outbox-not-fetched: {warning['message']}" in findings
        assert any(line.startswith("webhook to hook failed so far: not_fetched") for line in findings)


@pytest.mark.unmeasured
async def test_what_was_made_good_is_no_finding() -> None:
    """A webhook that came at its second try: the page does not say that nothing failed, where a line is red."""
    async with boxed() as box:
        await box.open()
        rule = {"in": "webhooks", "fault": {"answer": 503}, "times": 1}
        await box.post(f"{WORLD}/rules", rule)
        await box.send("420777000101")
        await box.advance("2h")
        shown = (await box.get(f"{WORLD}/report")).json
        findings = [line for line in shown["findings"] if line.startswith(("webhook to", "message"))]
        assert findings == []
        assert "bad" in [line["tone"] for line in shown["story"]["lines"]]
        assert "Nothing was refused" not in (await box.get(f"{WORLD}/report?format=html")).body.decode()


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("format=xml", 'format: "xml" is not known; legal: json, html, text'),
        ("lines=0", "lines: 0 is not legal; legal: 1 to 5000"),
        ("only=story", "only: story is not legal here; legal: with format=text"),
        ("ended=perhaps", "ended: 'perhaps' is not legal; legal: true, false"),
    ],
)
async def test_what_is_not_legal(query: str, message: str) -> None:
    """An argument of another form is refused, with what is legal."""
    async with boxed() as box:
        await box.open()
        answer = await box.get(f"{WORLD}/report?{query}")
        assert (answer.status, answer.json) == (400, {"error": "bad_argument", "message": message})


async def test_a_service_without_pages_has_json() -> None:
    """Where no page was handed in there is the JSON; a service without messages has a story too."""
    fields = {name: getattr(SERVED, name) for name in Served.__dataclass_fields__}
    rows = [row for row in SERVED.operations if row.name != "messages"]
    bare = Served(**{**fields, "document": None, "operations": rows, "phones_by_id": Served.phones_by_id})
    async with boxed() as box:
        await box.open()
        await box.send()
        control = replace(box.app.control, served=bare)
        shown: dict[str, Any] = await control.perform(ORIGIN, "report", KEY)
        assert [line["text"] for line in shown["story"]["lines"]][1] == "POST /v2/message -> 200 sendMessage"
        with pytest.raises(ControlError, match="legal: json"):
            await control.perform(ORIGIN, "report", KEY, {"format": "html"})


async def test_a_webhook_that_failed() -> None:
    """Its line has the status, or the word for why there was none."""
    assert of_failed({"target": "http://a", "state": "failed", "tries": [{"error": "refused", "status": None}]}) == (
        "webhook to http://a failed: refused"
    )


async def test_an_entry_is_told_in_one_line() -> None:
    """None where other entries tell it."""
    async with boxed() as box:
        await box.send()
        await box.advance("1m")
        entries = (await box.get(f"{WORLD}/journal")).json["entries"]
        teller = Narrator(SERVED.kinds.narrators, Names(), entries)
        lines = [line_of(teller, entry) for entry in entries]
        assert "POST /v2/message" in (lines[1] or "")
        assert None in lines
