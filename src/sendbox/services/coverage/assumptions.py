"""Leaning: which assumptions a client's traffic rested on, told from the journal when somebody asks.

Four things tell: a remark (finding or advice) that names its assumption; an item of coverage that rests on one, among
them the fields of requests; an operation whose whole shape is assumed; and rules, one for each row that only what
really happened can tell: those of calls stand here, others with the kinds of their service. `TOLD` says of every row of
`services/assumptions.py` which of them it is; a row that nothing in a world can tell stands in `UNTOLD` with the
reason. Both change together with the registry.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, Literal

from sendbox.services.messaging.channels import ROWS, USUAL

if TYPE_CHECKING:
    from sendbox.engine.commands.requests import RequestRecord

#: Steps without a text of their own, that need one, use the root's; that a step of the usual channel does, is known.
_LENT: Final = frozenset(name for name, channel in ROWS.items() if channel.takes_body and name != USUAL)
#: How a row is told.
Teller = Literal["remark", "item", "operation", "rule"]


#: What an accepted call of an operation rests on by being what it is.
OPERATIONS: Final[dict[str, tuple[str, ...]]] = {
    "sendMessages": ("A09", "A10"),
    "sendSimpleMessage": ("A12",),
    "sendSimpleMessageByQuery": ("A12",),
    "legacySend": ("A13",),
    "legacySendByQuery": ("A13",),
    "legacyApiSend": ("A13",),
    "legacyApiSendByQuery": ("A13",),
    "requestUpload": ("A35", "A79"),
    "blacklist": ("A27",),
    "optout": ("A27",),
    "listMessages": ("A28", "A65", "A71"),
    "getMessage": ("A29", "A30", "A65"),
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

TOLD: Final[dict[str, tuple[Teller, ...]]] = {
    "A01": ("item", "remark"), "A02": ("item", "remark"), "A03": ("item", "rule"), "A04": ("item",), "A05": ("item",),
    "A06": ("rule",), "A07": ("rule",), "A08": ("remark", "rule"), "A09": ("operation",), "A10": ("operation",),
    "A11": ("rule",), "A12": ("operation", "item"), "A13": ("operation", "item"), "A14": ("remark",), "A15": ("rule",),
    "A16": ("rule",), "A17": ("item",), "A18": ("rule",), "A19": ("rule", "item"), "A20": ("item", "remark"),
    "A21": ("item",), "A22": ("item",), "A23": ("item",), "A24": ("item",), "A25": ("item", "rule"),
    "A26": ("item", "rule"), "A27": ("operation", "item"), "A28": ("operation", "item"), "A29": ("operation", "item"),
    "A30": ("operation",), "A31": ("operation",), "A32": ("operation", "item"), "A33": ("operation", "item"),
    "A34": ("rule",), "A35": ("operation", "remark"), "A36": ("item",), "A37": ("item", "remark", "rule"),
    "A38": ("operation", "item"), "A39": ("operation", "item"), "A40": ("operation", "item"),
    "A41": ("operation", "item"), "A42": ("operation", "item"), "A43": ("operation", "item"),
    "A44": ("operation", "item"), "A45": ("operation", "item"), "A46": ("operation", "item"),
    "A47": ("operation", "item"), "A48": ("operation", "item"), "A49": ("item", "remark"), "A50": ("operation",),
    "A51": ("operation",), "A52": ("item", "rule"), "A53": ("item", "remark"), "A54": ("rule",), "A55": ("rule",),
    "A56": ("remark",), "A57": ("item", "remark"), "A58": ("remark",), "A59": ("remark", "item"),
    "A60": ("remark", "rule"),
    "A61": ("rule",), "A62": ("item",), "A63": ("rule",), "A64": ("item", "remark"), "A65": ("operation",),
    "A66": ("item", "rule"), "A67": ("rule",), "A68": ("item", "rule"), "A69": ("rule",), "A70": ("item",),
    "A71": ("operation",), "A72": ("rule",), "A73": ("operation",), "A74": ("rule",), "A75": ("item", "remark"),
    "A76": ("rule", "remark"), "A77": ("rule", "remark"), "A78": ("rule",), "A79": ("operation", "item"),
    "A80": ("remark", "rule"), "A81": ("rule",), "A82": ("rule",), "A83": ("item",), "A84": ("rule",),
    "A85": ("remark",), "A86": ("remark",),
}  # fmt: skip
#: Rows that no entry of a journal tells, and why.
UNTOLD: Final[dict[str, str]] = {}


def of_request(interface: str, record: RequestRecord, request: Any) -> Iterator[str]:
    """The rows that a call rests on, beside those that its remarks and fields name."""
    if record.status >= 400:
        if record.status < 500:
            yield REFUSALS[interface]
        if record.status == 403:
            yield "A19"
        if record.operation == "registerDevice":
            yield "A34"
        return
    yield from OPERATIONS.get(record.operation, ())
    if interface == "sending" and record.findings:
        yield "A07"
    if interface == "verify":
        if b'"proof":"' in record.answer:
            yield "A52"
        if record.operation == "checkProof" and b'"valid":false' in record.answer:
            yield "A74"
    for message in request if isinstance(request, list) else [request]:
        if interface == "sending" and isinstance(message, dict) and _lends_its_body(message):
            yield "A55"


def _lends_its_body(message: dict[str, Any]) -> bool:
    """Whether a step without a text of its own, that needs one, uses the root's."""
    steps = [element.items() for element in message.get("flow", ())]
    return "body" in message and any(name in _LENT and "body" not in step for pairs in steps for name, step in pairs)
