"""The page as HTML, from answers of control. No I/O except the templates.

Everything a client sent is escaped by the templates; nothing of it becomes a link.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from sendbox.control.addresses import addresses
from sendbox.page import lines

if TYPE_CHECKING:
    from jinja2 import Environment

    from sendbox.control.operation import View

#: How many of each are shown, the newest first.
MESSAGES: Final = 100
DELIVERIES: Final = 100
CODES: Final = 50
#: How many entries of the lists of other services.
LISTED: Final = 50
REMARKS: Final = 50
WORLDS: Final = 100
REFUSED: Final = 10
#: Calls and remarks of deliveries that are searched for findings and advice.
SEARCHED: Final = 200
#: The longest text that is shown whole.
TEXT: Final = 400
EVENTS: Final = 12

#: An entry of a journal in words.
Words = Callable[[Mapping[str, Any]], str]
_UNITS: Final = (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1))
#: The style of a result or a state.
_TONES: Final = {
    **dict.fromkeys(("delivered", "seen", "verified", "completed", "2xx"), "good"),
    **dict.fromkeys(("undelivered", "held", "dropped", "advice", "expired"), "fair"),
    **dict.fromkeys(("rejected", "failed", "refused", "error", "fault", "outage"), "bad"),
}


#: Why a step was not tried, by the word of its check.
REASONS: Final = {
    "number": "this is not a phone number",
    "allowed": "the number is not among those that the account may write to",
    "blacklist": "the number is on the blacklist",
    "optout": "the phone has opted out of promotional messages",
    "identical": "the phone got too many messages of this text recently",
    "sender": "the account has no such sender",
    "channel": "the phone does not have this channel",
    "conversation": "free text needs an open conversation",
    "template-unknown": "the account has no such template in this language",
    "template-not-approved": "the template is not approved",
    "credit": "the credit is not enough",
}


@functools.cache
def environment() -> Environment:
    """The templates. The first call imports jinja2, which takes too long for the event loop."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    templates = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    templates.filters |= {"since": since, "tone": tone, "cut": cut, "segment": segment, "when": when}
    return templates


def html(template: str, data: Mapping[str, Any]) -> str:
    """A template with its data."""
    return environment().get_template(template).render(data)


def since(at: str, start: str) -> str:
    """The time from `start` to `at`: `+1m30s`."""
    ms = (datetime.fromisoformat(at) - datetime.fromisoformat(start)) // timedelta(milliseconds=1)
    numbers = []
    remaining = abs(ms)
    for unit, size in _UNITS:
        number, remaining = divmod(remaining, size)
        if number:
            numbers.append(f"{number}{unit}")
    return ("-" if ms < 0 else "+") + ("".join(numbers[:3]) or "0s")


def when(at: str) -> str:
    """An instant for people: `2026-03-01 09:00:00`, in UTC."""
    return at.replace("T", " ").removesuffix("Z").removesuffix(".000")


def tone(word: str) -> str:
    """The style of a result or a state: good, fair, bad, or still open."""
    return _TONES.get(word, "open")


def cut(text: object, length: int = TEXT) -> str:
    """A text of bounded length."""
    complete = str(text)
    return complete if len(complete) <= length else f"{complete[: length - 1]}…"


def segment(text: str) -> str:
    """A text as one segment of a path."""
    return quote(text, safe="")


def attempts(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The attempts of a message: what happened, when, and what is still planned."""
    start = message["accepted_at"]
    return [
        {
            "channel": attempt["channel"],
            "steps": [
                {"result": step["result"], "after": since(step["at"], start), "info": _info(step)}
                for step in attempt["timeline"]
            ],
            "planned": attempt["planned"],
            "refused": REASONS.get(refused, refused) if (refused := attempt.get("refused")) else None,
        }
        for attempt in message["attempts"]
    ]


def _info(step: Mapping[str, Any]) -> str | None:
    """The `result_info` of a result, where it says more than the result."""
    info: str | None = step["info"]
    return None if info is None or info.lower() == step["result"] else info


def event(body: Mapping[str, Any]) -> dict[str, str]:
    """An event of a webhook: its word, the phone that it is about, and its text."""
    if body["event"] == "sentMessage":
        return {"word": body["result"], "phone": body["phone"], "text": ""}
    if body["event"] == "partnerOnboarding":
        title = f"signup of {body['partner_client_id']}" if body["partner_client_id"] else "signup"
        return {"word": body["status"], "phone": body.get("phone_number") or "", "text": title}
    if "body" in body:
        return {"word": body["event"], "phone": body["from"], "text": body["body"]}
    fields = ", ".join(f"{name} {value}" for name, value in body.items() if name not in ("event", "phone"))
    return {"word": body["event"], "phone": body.get("phone", ""), "text": fields}


def tries(delivery: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The tries of a delivery: instant, outcome, and the rule that answered instead of the receiver."""
    rows: list[dict[str, Any]] = []
    for attempt in delivery["tries"]:
        outcome = attempt["error"] or attempt["status"]
        good = not attempt["error"] and attempt["status"] is not None and 200 <= attempt["status"] < 300
        rows.append(
            {
                "after": since(attempt["at"], delivery["at"]),
                "outcome": "under way" if outcome is None else str(outcome),
                "tone": "open" if outcome is None else tone("2xx" if good else "error"),
                "rule": attempt.get("rule"),
            }
        )
    return rows


def remarks(words: Words, entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Findings, advice, faults and outages of journal entries, newest first."""
    rows = []
    for entry in reversed(entries):
        if entry["kind"] == "request":
            about = f"{entry['operation']} {entry['status']}"
            word = "refused" if entry["status"] >= 400 else "rejected"
            notes = [(word, remark["rule"], remark) for remark in entry["findings"]]
            notes += [("advice", remark["code"], remark) for remark in entry["advice"]]
        elif entry["kind"] == "fault":
            about = entry["operation"]
            place = {"path": f"rule {entry['rule']}", "section": "api: of the scenario", "assumed": None}
            notes = [("fault", "api", {"message": entry["message"], **place})]
        elif entry["kind"] == "outage":
            about = f"until {when(entry['until'])}"
            place = {"path": "timeline: of the scenario", "section": "", "assumed": None}
            notes = [("outage", "outage", {"message": words(entry), **place})]
        else:
            about = "delivery"
            notes = [("advice", entry["advice"]["code"], entry["advice"])]
        for word, rule, remark in notes:
            rows.append({"at": entry["at"], "entry": entry["n"], "about": about, "word": word, "rule": rule, **remark})
            if len(rows) == REMARKS:
                return rows
    return rows


def masked(key: str | None) -> str:
    """A refused key for people: what might be a key of the real service is not shown in full."""
    if key is None:
        return "no key"
    return key if key.startswith("test-") else f"{key[:4]}…"


def overview(worlds: list[dict[str, Any]], total: int, refused: list[dict[str, Any]], origin: str, version: str) -> str:
    """The page with the list of worlds, and how to open one."""
    data = {
        "version": version,
        "origin": origin,
        "worlds": worlds[::-1],
        "total": total,
        "refused": [{**refusal, "key": masked(refusal["key"])} for refusal in refused[: -REFUSED - 1 : -1]],
        "addresses": addresses(origin),
        "send_line": lines.send_line(f"{origin}/v2", "test-demo"),
        "open_line": lines.open_line(f"{origin}/_sandbox"),
        "refresh": 0,
    }
    return html("overview.html", data)


def world(
    words: Words,
    shown: dict[str, Any],
    messages: list[dict[str, Any]] | None,
    codes: list[dict[str, Any]] | None,
    lists: list[tuple[View, list[dict[str, Any]]]],
    deliveries: list[dict[str, Any]],
    entries: list[dict[str, Any]],
    refresh: int,
    origin: str,
    version: str,
) -> str:
    """The page of one world: its clock, and the newest of everything in it; `messages` None = no service sends any."""
    world_url = f"{origin}/_sandbox/worlds/{segment(shown['id'])}"
    data = {
        "version": version,
        "origin": origin,
        "world": shown,
        "clock": shown["clock"],
        "address": f"?world={segment(shown['id'])}",
        "api": f"worlds/{segment(shown['id'])}",
        "messages": messages and [{**row, "way": attempts(row)} for row in reversed(messages)],
        "codes": codes,
        "lists": lists,
        "deliveries": [
            {
                **row,
                "tried": tries(row),
                "more": max(0, len(row["events"]) - EVENTS),
                "events": [event(body) for body in row["events"][:EVENTS]],
            }
            for row in reversed(deliveries)
        ],
        "remarks": remarks(words, entries),
        "send_line": lines.send_line(f"{origin}/v2", shown["id"]),
        "advance_line": lines.advance_line(world_url, "1m"),
        "refresh": refresh,
        "most": {"messages": MESSAGES, "deliveries": DELIVERIES, "remarks": REMARKS, "searched": SEARCHED},
    }
    return html("world.html", data)
