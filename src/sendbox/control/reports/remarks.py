"""The remarks of a report, in lines: refusals, rejections, advice, webhooks and messages that failed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sendbox.control.pending import OPEN

#: The results of messages that did not arrive.
LOST: Final = frozenset(("undelivered", "rejected", "failed"))
#: So much of a value that its message contains is not said again.
_SAID: Final = 10

Item = Mapping[str, Any]


def of_request(entry: Item) -> list[str]:
    """A line for each finding of a call."""
    word = "refused" if entry["status"] >= 400 else "rejected"
    return [f"{word} {entry['operation']}: {_finding(finding)}" for finding in entry["findings"]]


def of_advice(item: Item) -> str:
    """An item of advice."""
    return f"advice {item['code']}: {item['message']} at {item['path']}"


def of_failed(delivery: Item) -> str:
    """A webhook that failed, or that is to be tried again, with the error of its last try."""
    last = delivery["tries"][-1]
    rule = f', by the rule "{last["rule"]}" of webhooks' if "rule" in last else ""
    failed = "failed so far" if delivery["state"] in OPEN else "failed"
    return f"webhook to {delivery['target']} {failed}: {last['error'] or last['status']}{rule}"


def of_lost(message: Item) -> str:
    """A message that did not arrive."""
    return f"message to {message['phone']} ended {message['result']}, by {message['channel']}"


def of_warning(warning: Item) -> str:
    """A warning of an advance."""
    return f"warning {warning['code']}: {warning['message']}"


def _finding(finding: Item) -> str:
    """A finding in one line, with its value where the message does not contain it."""
    value = finding["value"]
    suffix = "" if value is None or value[:_SAID] in finding["message"] else f" (there is {value})"
    return f"{finding['message']} at {finding['path']}{suffix}"
