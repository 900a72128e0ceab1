"""The operations that send, by their ids: what a rule of a scenario may ask for in `when.operation`."""

from __future__ import annotations

from typing import Final

#: In the order of the routes. The lines of a bulk file are sent as `sendMessage` (§4.2), so an upload has no name here.
SENDING: Final = (
    "sendMessage",
    "sendPriorityMessage",
    "sendMessages",
    "sendSimpleMessageByQuery",
    "sendSimpleMessage",
    "legacySend",
    "legacySendByQuery",
    "legacyApiSend",
    "legacyApiSendByQuery",
    "createValidation",
    "testTemplate",
)
