"""More findings of a Message of a wrong shape: it is read once more with stand-ins where the schema found problems.

So a refusal's diagnosis has the findings of meaning beside those of shape. Stand-ins are legal everywhere, and
findings at or below their places do not count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sendbox.services.advice import UNKNOWN_FIELD
from sendbox.services.http.diagnosis import Step, steps_of
from sendbox.services.http.exchange import Refused
from sendbox.services.messaging.channels import USUAL
from sendbox.services.messaging.http.sending.decode import decode_message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sendbox.engine.remarks import Advice, Finding
    from sendbox.services.http.exchange import Exchange

MESSAGE: Final = "sending.json#/$defs/Message"
#: What stands in for a field that is required somewhere, by its name; others are left out.
_STAND_INS: Final[dict[str, Any]] = {
    "to": [{"phone_number": "420777000101"}],
    "flow": [{USUAL: {}}],
    "phone_number": "420777000101",
    "body": "x",
    "sender": "1",
    "template_name": "x",
    "language": "x",
    "title": "x",
    "url": "https://stand.in/",
}
#: And for an entry of a list, by the list's name.
_ENTRIES: Final[dict[str, Any]] = {"to": {"phone_number": "420777000101"}, "flow": {USUAL: {}}}
_GONE: Final = object()


def further(message: Any, path: str, findings: Sequence[Finding], exchange: Exchange) -> list[Finding]:
    """The findings of meaning of a Message at `path` of the request, whose shape has the problems `findings`.

    Its unknown fields go to the advice of the exchange.
    """
    broken = [finding.path for finding in findings if _below(finding.path, path)]
    if path in broken or not isinstance(message, dict):
        return []
    repaired = message
    for place in broken:
        repaired = _repaired(repaired, steps_of(place.removeprefix(path)))
    if not exchange.contract.checker(MESSAGE).is_valid(repaired):
        return []
    remarks: list[Advice] = []
    meant: list[Finding] = []
    try:
        decode_message(repaired, path, exchange, remarks)
    except Refused as refused:
        meant = refused.findings
    exchange.advice += [remark for remark in remarks if remark.code == UNKNOWN_FIELD]
    return [finding for finding in meant if not any(_below(finding.path, place) for place in broken)]


def _below(path: str, above: str) -> bool:
    return path == above or path.startswith((f"{above}.", f"{above}["))


def _repaired(value: Any, steps: list[Step], holder: str = "") -> Any:
    """The value with something legal where the steps lead; what lies on the way is copied."""
    if not steps:
        return _ENTRIES.get(holder, _GONE)
    step, *deeper = steps
    if isinstance(value, dict) and isinstance(step, str):
        copy = dict(value)
        stand_in = _STAND_INS.get(step, _GONE) if not deeper else _repaired(copy.get(step), deeper, step)
        copy.pop(step, None)
        return copy if stand_in is _GONE else copy | {step: stand_in}
    if isinstance(value, list) and isinstance(step, int) and step < len(value):
        made_list = list(value)
        stand_in = _repaired(made_list[step], deeper, holder)
        if stand_in is _GONE:
            return _GONE
        made_list[step] = stand_in
        return made_list
    return _GONE
