"""Coverage of a call: the error answer, the assumptions that the call rests on, the limits that it touched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sendbox.engine.kinds.own import json_of
from sendbox.services.coverage.assumptions import of_request
from sendbox.services.coverage.limits import CODE, EDITS, MEDIA, limits_of

if TYPE_CHECKING:
    from sendbox.engine.commands.requests import RequestRecord
    from sendbox.engine.coverage import Collector, Row

#: The calls whose refusal may be a good answer (A12).
SIMPLE: Final = ("sendSimpleMessage", "sendSimpleMessageByQuery")


def count_call(collector: Collector, row: Row, record: RequestRecord, request: Any) -> None:
    """Counts a call of an operation that coverage knows."""
    error = _error_of(row.interface, record)
    if error is not None:
        collector.count("errors", error)
    collector.lean(*of_request(row.interface, record, request))
    for limit in limits_of(row.operation, request, collector.at):
        collector.count("limits", limit)
    for finding in record.findings:
        if finding.rule == "size" and finding.section == "§8":
            collector.count("limits", MEDIA.name)
        elif finding.rule == "edit-limit":
            collector.count("limits", EDITS.name)
        elif row.operation == "verifyCode" and finding.path == "$.code" and finding.rule == "pattern":
            collector.count("limits", CODE.name)


def _error_of(interface: str, record: RequestRecord) -> str | None:
    """The item of an error answer: interface, and its status or own code (§7); None for a good one."""
    status = record.status
    if interface == "partner" and status < 400:
        return "partner success false" if b'"success":false' in record.answer else None
    if status < 400:
        return "simple accepted false" if record.operation in SIMPLE and b'"accepted":false' in record.answer else None
    if interface == "verify":
        answer = json_of(record.answer)
        return f"verify {answer.get('error')}" if isinstance(answer, dict) else f"verify {status}"
    if interface == "legacy":
        return f"legacy {record.answer.decode('utf-8', 'replace').partition('|')[2] or status}"
    return f"{interface} {status}"
