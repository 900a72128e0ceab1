"""The assumptions that a client's traffic rested on, read from the journal on request.

Four sources show it: a remark (finding or advice) that names its assumption; an item of coverage that rests on one,
among them the fields of requests; an operation whose whole shape is assumed; and rules, one for each row that only what
really happened can show: those of calls stand here, others with the kinds of their service. A test says of every row
of `services/assumptions.py` which of them it is; a row that nothing in a world can show stands in `UNTOLD` with the
reason. Both change together with the registry.

`count_call` counts a call for coverage: its error answer, those assumptions, the limits that it touched.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sendbox.engine.answer import JsonObject
from sendbox.engine.commands.record import RequestRecord
from sendbox.engine.coverage import Collector, Row
from sendbox.engine.kinds.engine_kinds import json_of
from sendbox.services.coverage.limits import CODE, EDITS, MEDIA, limits_of
from sendbox.services.messaging.channels import ROWS, USUAL

#: Steps without a text of their own, that need one, use the root's; that a step of the usual channel does, is known.
_LENT: Final = frozenset(name for name, channel in ROWS.items() if channel.takes_body and name != USUAL)
#: What an accepted call of an operation rests on by being what it is.
OPERATIONS: Final[dict[str, tuple[str, ...]]] = {
    "sendMessages": ("A09", "A10"),
    "sendSimpleMessage": ("A12",),
    "sendSimpleMessageByQuery": ("A12",),
    "legacySend": ("A13",),
    "legacySendByQuery": ("A13",),
    "legacyApiSend": ("A13",),
    "legacyApiSendByQuery": ("A13",),
    "legacyUserInfo": ("A95",),
    "legacyUserInfoByQuery": ("A95",),
    "legacyPrice": ("A95",),
    "legacyPriceByQuery": ("A95",),
    "legacyRequestList": ("A96",),
    "legacyRequestListByQuery": ("A96",),
    "legacyRequestStatus": ("A96",),
    "legacyRequestStatusByQuery": ("A96",),
    "requestUpload": ("A35", "A79"),
    "blacklist": ("A27",),
    "optout": ("A27",),
    "listMessages": ("A28", "A65", "A71"),
    "getMessage": ("A29", "A30", "A65"),
    "showCredit": ("A94",),
    "orderService": ("A31",),
    "updateKey": ("A33",),
    "addSubKey": ("A32",),
    "listSubKeys": ("A32",),
    "changeSubKey": ("A32",),
    "showKey": ("A32",),
    "partnerSignup": ("A38", "A46"),
    "partnerRegistration": ("A39", "A46"),
    "listPartnerAccounts": ("A40",),
    "verifyPartnerNumber": ("A41",),
    "checkPartnerNumber": ("A41",),
    "listPartnerNumbers": ("A44",),
    "listTemplates": ("A42", "A43"),
    "createTemplate": ("A43",),
    "createLibraryTemplate": ("A42", "A43"),
    "editTemplate": ("A42", "A43"),
    "deleteTemplate": ("A42",),
    "testTemplate": ("A42",),
    "messageAnalytics": ("A45",),
    "conversationAnalytics": ("A45",),
    "templateAnalytics": ("A45",),
    "enableTemplateAnalytics": ("A45",),
    "createValidation": ("A47", "A73"),
    "verifyCode": ("A48",),
    "checkProof": ("A50",),
    "verifyProof": ("A51",),
}
#: What the text and status of a refusal rest on, by interface.
REFUSALS: Final = {"sending": "A11", "legacy": "A13", "rest": "A26", "partner": "A37", "verify": "A54"}

#: Rows that no entry of a journal shows, and why.
UNTOLD: Final[dict[str, str]] = {"A98": "it is about what others recorded, which no world has"}


def of_request(interface: str, record: RequestRecord, request: object) -> Iterator[str]:
    """The rows that a call rests on, besides those that its remarks and fields name."""
    several = record.operation == "sendMessages" and isinstance(request, list) and len(request) > 1
    if several and any(finding.assumed != "A08" for finding in record.findings):
        yield "A88"
    if record.status >= 400:
        if record.status < 500:
            yield REFUSALS[interface]
        if record.status == 403:
            yield "A19"
        if record.operation == "registerDevice":
            yield "A34"
        return
    yield from OPERATIONS.get(record.operation, ())
    if interface == "sending" and b'"rejected":[{' in record.answer:
        yield "A07"
    if interface == "verify":
        if b'"proof":"' in record.answer:
            yield "A52"
        if record.operation == "checkProof" and b'"valid":false' in record.answer:
            yield "A74"
    for message in request if isinstance(request, list) else [request]:
        if interface == "sending" and isinstance(message, dict) and _lends_its_body(message):
            yield "A55"


def _lends_its_body(message: JsonObject) -> bool:
    """True if a step that needs a text, and has none of its own, uses the root's."""
    steps = [element.items() for element in message.get("flow", ())]
    return "body" in message and any(name in _LENT and "body" not in step for pairs in steps for name, step in pairs)


#: The calls whose refusal may be a good answer (A12).
SIMPLE: Final = ("sendSimpleMessage", "sendSimpleMessageByQuery")


def count_call(collector: Collector, row: Row, record: RequestRecord, request: object) -> None:
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
