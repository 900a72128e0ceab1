"""Texts on handsets that are not messages of the account: codes from the provider (A41)."""

from __future__ import annotations

from typing import Any

from sendbox.engine.durations import iso


class Notice:
    """A text on a handset that is no message of the account: a code from the provider (A41)."""

    __slots__ = ("at", "body", "phone", "sender")

    def __init__(self, at: int, phone: str, sender: str, body: str) -> None:
        self.at = at
        self.phone = phone
        self.sender = sender
        self.body = body


def notice_view(notice: Notice) -> dict[str, Any]:
    """A text on a handset that is no message of the account."""
    return {
        "at": iso(notice.at),
        "direction": "in",
        "channel": "sms",
        "message_id": None,
        "from": notice.sender,
        "body": notice.body,
        "links": [],
        "seen": False,
    }
