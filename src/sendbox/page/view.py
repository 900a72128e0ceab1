"""What the page shows, from what control answers: plain data in, HTML out. No I/O but the templates.

Everything a client sent goes through the escaping of the templates; nothing of it becomes an address to click on.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from sendbox.page import lines

if TYPE_CHECKING:
    from jinja2 import Environment

    from sendbox.control.operation import View

#: So much of each is shown, the newest first.
MESSAGES: Final = 100
DELIVERIES: Final = 100
CODES: Final = 50
#: And of what each further service lists.
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
#: What a result or a state means for the eye.
_TONES: Final = {
    **dict.fromkeys(("delivered", "seen", "verified", "completed", "2xx"), "good"),
    **dict.fromkeys(("undelivered", "held", "dropped", "advice", "expired"), "fair"),
    **dict.fromkeys(("rejected", "failed", "refused", "error", "fault", "outage"), "bad"),
}


#: Why a step was not even tried, by the words that views have for it.
_REASONS: Final = {
    "number": "this is no phone number",
    "allowed": "the number is not among those that the account may write to",
    "blacklist": "the number is on the blacklist",
    "optout": "the phone has opted out of promotional messages",
    "identical": "the phone got too many messages of this text lately",
    "sender": "the account has no such sender",
    "channel": "the phone does not have this channel",
    "conversation": "free text needs an open conversation",
    "template-unknown": "the account has no such template in this language",
    "template-not-approved": "the template is not approved",
    "credit": "the credit is not enough",
}


@functools.cache
def environment() -> Environment:
    """The templates. Its first call imports their engine, which takes too long for the event loop."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters |= {"since": since, "tone": tone, "cut": cut, "segment": segment, "when": when}
    return made


def html(template: str, data: Mapping[str, Any]) -> str:
    """A template with its data."""
    return environment().get_template(template).render(data)


def since(at: str, start: str) -> str:
    """How much later than `start` something was: `+1m30s`."""
    ms = (datetime.fromisoformat(at) - datetime.fromisoformat(start)) // timedelta(milliseconds=1)
    parts = []
    left = abs(ms)
    for unit, size in _UNITS:
        number, left = divmod(left, size)
        if number:
            parts.append(f"{number}{unit}")
    return ("-" if ms < 0 else "+") + ("".join(parts[:3]) or "0s")


def when(at: str) -> str:
    """An instant for the eye: `2026-03-01 09:00:00`, in UTC like everything."""
    return at.replace("T", " ").removesuffix("Z").removesuffix(".000")


def tone(word: str) -> str:
    """The class of a word that names a result or a state: good, fair, bad, or still open."""
    return _TONES.get(word, "open")


def cut(text: object, length: int = TEXT) -> str:
    """A text of bounded length."""
    whole = str(text)
    return whole if len(whole) <= length else f"{whole[: length - 1]}…"


def segment(text: str) -> str:
    """A text as one segment of a path."""
    return quote(text, safe="")


def attempts(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The way of a message: each attempt with what happened, when, and what is still planned."""
    start = message["accepted_at"]
    return [
        {
            "channel": attempt["channel"],
            "steps": [
                {"result": step["result"], "after": since(step["at"], start), "info": step["info"]}
                for step in attempt["timeline"]
            ],
            "planned": attempt["planned"],
            "refused": _REASONS.get(refused, refused) if (refused := attempt.get("refused")) else None,
        }
        for attempt in message["attempts"]
    ]


def event(told: Mapping[str, Any]) -> dict[str, str]:
    """An event of a webhook: the word for it, the phone that it is about, and what else it says."""
    if told["event"] == "sentMessage":
        return {"word": told["result"], "phone": told["phone"], "text": ""}
    if told["event"] == "partnerOnboarding":
        whose = f"signup of {told['partner_client_id']}" if told["partner_client_id"] else "signup"
        return {"word": told["status"], "phone": told.get("phone_number") or "", "text": whose}
    if "body" in told:
        return {"word": told["event"], "phone": told["from"], "text": told["body"]}
    rest = ", ".join(f"{name} {value}" for name, value in told.items() if name not in ("event", "phone"))
    return {"word": told["event"], "phone": told.get("phone", ""), "text": rest}


def tries(delivery: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The tries of a delivery: when, what came of each, and the rule that answered in the receiver's place."""
    found: list[dict[str, Any]] = []
    for each in delivery["tries"]:
        outcome = each["error"] or each["status"]
        good = not each["error"] and each["status"] is not None and 200 <= each["status"] < 300
        found.append(
            {
                "after": since(each["at"], delivery["at"]),
                "outcome": "under way" if outcome is None else str(outcome),
                "tone": "open" if outcome is None else tone("2xx" if good else "error"),
                "rule": each.get("rule"),
            }
        )
    return found


def remarks(words: Words, entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Findings, advice, faults and outages of journal entries, newest first."""
    found = []
    for entry in reversed(entries):
        if entry["kind"] == "request":
            about = f"{entry['operation']} {entry['status']}"
            word = "refused" if entry["status"] >= 400 else "rejected"
            given = [(word, each["rule"], each) for each in entry["findings"]]
            given += [("advice", each["code"], each) for each in entry["advice"]]
        elif entry["kind"] == "fault":
            about = entry["operation"]
            place = {"path": f"rule {entry['rule']}", "section": "api: of the scenario", "assumed": None}
            given = [("fault", "api", {"message": entry["message"], **place})]
        elif entry["kind"] == "outage":
            about = f"until {when(entry['until'])}"
            place = {"path": "timeline: of the scenario", "section": "", "assumed": None}
            given = [("outage", "outage", {"message": words(entry), **place})]
        else:
            about = "delivery"
            given = [("advice", entry["advice"]["code"], entry["advice"])]
        for word, rule, each in given:
            found.append({"at": entry["at"], "entry": entry["n"], "about": about, "word": word, "rule": rule, **each})
            if len(found) == REMARKS:
                return found
    return found


def masked(key: str | None) -> str:
    """A refused key for the eye: what might be a key of the real service is not spelled out."""
    if key is None:
        return "no key"
    return key if key.startswith("test-") else f"{key[:4]}…"


def overview(worlds: list[dict[str, Any]], total: int, refused: list[dict[str, Any]], origin: str, version: str) -> str:
    """The list of worlds, and how to open one."""
    data = {
        "version": version,
        "origin": origin,
        "worlds": worlds[::-1],
        "total": total,
        "refused": [{**each, "key": masked(each["key"])} for each in refused[: -REFUSED - 1 : -1]],
        "addresses": addresses(origin),
        "send_line": lines.send_line(f"{origin}/v2", "test-demo"),
        "open_line": lines.open_line(f"{origin}/_sandbox"),
        "refresh": 0,
    }
    return html("overview.html", data)


def addresses(origin: str) -> dict[str, str]:
    """The four base addresses, by the names that clients know them by."""
    return {
        "base_url": f"{origin}/v2",
        "rest_url": f"{origin}/v1",
        "verify_url": origin,
        "http_api_url": origin,
    }


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
    """One world: its clock, and the newest of what happened in it; `messages` None = no service sends any."""
    world_url = f"{origin}/_sandbox/worlds/{segment(shown['id'])}"
    data = {
        "version": version,
        "origin": origin,
        "world": shown,
        "clock": shown["clock"],
        "address": f"?world={segment(shown['id'])}",
        "api": f"worlds/{segment(shown['id'])}",
        "messages": messages and [{**each, "way": attempts(each)} for each in reversed(messages)],
        "codes": codes,
        "lists": lists,
        "deliveries": [
            {
                **each,
                "tried": tries(each),
                "more": max(0, len(each["events"]) - EVENTS),
                "events": [event(told) for told in each["events"][:EVENTS]],
            }
            for each in reversed(deliveries)
        ],
        "remarks": remarks(words, entries),
        "send_line": lines.send_line(f"{origin}/v2", shown["id"]),
        "advance_line": lines.advance_line(world_url, "1m"),
        "refresh": refresh,
        "most": {"messages": MESSAGES, "deliveries": DELIVERIES, "remarks": REMARKS, "searched": SEARCHED},
    }
    return html("world.html", data)
