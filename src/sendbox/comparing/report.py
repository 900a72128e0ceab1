"""A comparison in words, and as an object to send: without bodies, values, keys and phone numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

import orjson

from sendbox import __version__
from sendbox.comparing.comparison import ComparedCall, NamedDifference
from sendbox.comparing.differences import Difference, mask_text
from sendbox.comparing.running import OUTSIDE, CallOutcome
from sendbox.engine.answer import JsonObject
from sendbox.services.assumptions import registry

#: The greatest number of assumptions of an operation that are named where nothing says which one it is.
_MAX_ASSUMPTIONS: Final = 4
#: The greatest number of paths outside the specification that are named.
_MAX_OUTSIDE: Final = 5
#: The fields with the words of a refusal (§7.2).
_REFUSALS: Final = ("error", "Message", "message")


def differing(compared: Sequence[ComparedCall]) -> int:
    """The number of calls that differ."""
    return sum(bool(one.named) for one in compared)


def lines(compared: Sequence[ComparedCall]) -> Iterator[str]:
    """The report for people."""
    for one in compared:
        for named in one.named:
            yield f"call {one.call.number}, {one.call.method} {path_of(one)}: {_describe_difference(named.difference)}"
            yield f"    {_about(named)}{'' if named.agreeing else _refusal(one.made)}"
    passed = [one for one in compared if one.made.answer is None]
    yield f"{differing(compared)} of {len(compared) - len(passed)} calls differ"
    for one in passed:
        if one.made.why != OUTSIDE:
            yield f"passed over: call {one.call.number}, {one.call.method} {path_of(one)}: {one.made.why}"
    if outside := Counter(f"{one.call.method} {path_of(one)}" for one in compared if one.made.why == OUTSIDE):
        names = [f"{name} ({count} times)" if count > 1 else name for name, count in outside.most_common(_MAX_OUTSIDE)]
        more = f", and {len(outside) - _MAX_OUTSIDE} more" if len(outside) > _MAX_OUTSIDE else ""
        calls = f"{outside.total()} call{'s' * (outside.total() > 1)}"
        yield f"passed over, outside the specification: {calls}: {', '.join(names)}{more}"


def _refusal(outcome: CallOutcome) -> str:
    """The words with which the sandbox refused a call, and the reason, behind a semicolon; "" if it did not."""
    if outcome.answer is None:
        return ""
    try:
        value = orjson.loads(outcome.answer.body)
        fields = value if isinstance(value, dict) else {}
        refused = outcome.answer.status >= 400 or fields.get("success") is False
        words = ": ".join(text for name in _REFUSALS if isinstance(text := fields.get(name), str))
    except orjson.JSONDecodeError:
        words = outcome.answer.body.decode("utf-8", "replace")
        refused = outcome.answer.status >= 400
    if not refused:
        return ""
    reason = "" if outcome.reason in words else f", because {outcome.reason}"
    return f"; the sandbox refused it with {outcome.answer.status}: {words}{reason}"


def as_object(compared: Sequence[ComparedCall]) -> JsonObject:
    """The report to send."""
    rows = {row.id: row for row in registry()}
    return {
        "sendbox_comparison": 1,
        "version": __version__,
        "calls": len(compared),
        "compared": sum(one.made.answer is not None for one in compared),
        "outside": sum(one.made.why == OUTSIDE for one in compared),
        "differences": [
            {
                "call": one.call.number,
                "operation": None
                if one.made.place is None or one.made.place.route is None
                else one.made.place.route.operation,
                "method": one.call.method,
                "path": path_of(one),
                "kind": named.difference.kind,
                "at": mask_text(named.difference.path),
                "recorded": named.difference.recorded,
                "here": named.difference.here,
                "assumptions": [
                    {"id": id_, "title": rows[id_].title, "confidence": rows[id_].confidence}
                    for id_ in named.assumptions
                ],
                "agrees": [{"setting": other.setting, "value": other.value} for other in named.agreeing],
                "body_differs": named.partly,
            }
            for one in compared
            for named in one.named
        ],
        "passed_over": [
            {"call": one.call.number, "method": one.call.method, "path": path_of(one), "why": one.made.why}
            for one in compared
            if one.made.answer is None
        ],
    }


def path_of(one: ComparedCall) -> str:
    """The path of the operation; for a call without an operation, the call's own path, without names."""
    place = one.made.place
    return mask_text(one.call.path) if place is None or place.route is None else place.route.path


def _describe_difference(difference: Difference) -> str:
    recorded, here = difference.values
    match difference.kind:
        case "status":
            return f"the recording has the status {recorded}, the answer here has {here}"
        case "schema":
            return f"the recorded value at {difference.path} is not legal here: {recorded}"
        case _:
            return f"at {difference.path} the recording has {recorded}, the answer here has {here}"


def _about(named: NamedDifference) -> str:
    rows = {row.id: row for row in registry()}
    ids = named.assumptions
    text = (
        ", ".join(f"{id_} ({rows[id_].confidence}) {rows[id_].title}" for id_ in ids[:_MAX_ASSUMPTIONS])
        or "no assumption"
    )
    if len(ids) > _MAX_ASSUMPTIONS:
        text += f", and {len(ids) - _MAX_ASSUMPTIONS} more"
    if named.agreeing:
        still = "; the body still differs" if named.partly else ""
        return f"{text}; agrees with {' or '.join(other.text for other in named.agreeing)}{still}"
    return f"{text}; no setting agrees"
