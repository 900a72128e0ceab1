"""A comparison in words, and as an object to send: without bodies, values, keys and phone numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from sendbox import __version__
from sendbox.comparing.differences import Difference, mask_text
from sendbox.engine.answer import JsonObject
from sendbox.services.assumptions import registry

if TYPE_CHECKING:
    from sendbox.comparing.comparison import ComparedCall, NamedDifference

#: The greatest number of assumptions of an operation that are named where nothing says which one it is.
_MAX_ASSUMPTIONS: Final = 4


def differing(compared: Sequence[ComparedCall]) -> int:
    """The number of calls that differ."""
    return sum(bool(one.named) for one in compared)


def lines(compared: Sequence[ComparedCall]) -> Iterator[str]:
    """The report for people."""
    for one in compared:
        for named in one.named:
            yield f"call {one.call.number}, {one.call.method} {_path(one)}: {_describe_difference(named.difference)}"
            yield f"    {_about(named)}"
    passed = [one for one in compared if one.made.answer is None]
    yield f"{differing(compared)} of {len(compared) - len(passed)} calls differ"
    for one in passed:
        yield f"passed over: call {one.call.number}, {one.call.method} {_path(one)}: {one.made.why}"


def as_object(compared: Sequence[ComparedCall]) -> JsonObject:
    """The report to send."""
    rows = {row.id: row for row in registry()}
    return {
        "sendbox_comparison": 1,
        "version": __version__,
        "calls": len(compared),
        "compared": sum(one.made.answer is not None for one in compared),
        "differences": [
            {
                "call": one.call.number,
                "operation": None
                if one.made.place is None or one.made.place.route is None
                else one.made.place.route.operation,
                "method": one.call.method,
                "path": _path(one),
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
            {"call": one.call.number, "method": one.call.method, "path": _path(one), "why": one.made.why}
            for one in compared
            if one.made.answer is None
        ],
    }


def _path(one: ComparedCall) -> str:
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
