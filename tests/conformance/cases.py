"""The cases of `requests/*.yaml`, typed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

FOLDER: Final = Path(__file__).parent / "requests"

#: The schema that each operation's request is checked against.
SCHEMAS: Final = {
    "sendMessage": "sending.json#/$defs/Message",
    "sendPriorityMessage": "sending.json#/$defs/Message",
    "sendMessages": "sending.json#/$defs/Messages",
    "sendSimpleMessageByQuery": "sending.json#/$defs/SimpleQuery",
    "sendSimpleMessage": "sending.json#/$defs/SimpleForm",
    "legacySend": "legacy.json#/$defs/SendForm",
    "legacyApiSend": "legacy.json#/$defs/ApiSendForm",
    "legacyUserInfo": "legacy.json#/$defs/KeyForm",
    "legacyPrice": "legacy.json#/$defs/SendForm",
    "legacyRequestList": "legacy.json#/$defs/KeyForm",
    "legacyRequestStatus": "legacy.json#/$defs/RequestForm",
    "createValidation": "verify.json#/$defs/ValidationRequest",
    "verifyCode": "verify.json#/$defs/CodeRequest",
    "checkProof": "verify.json#/$defs/ProofRequest",
    "verifyProof": "verify.json#/$defs/OfflineProofRequest",
}


@dataclass(frozen=True, slots=True)
class Case:
    """One case; the README beside this file says what the fields hold."""

    name: str
    section: str
    operation: str
    body: Any
    valid: bool
    path: str | None = None
    rule: str | None = None
    stage: str = "schema"


def load() -> list[Case]:
    """Every case, in the order of the files."""
    return [
        Case(**row)
        for path in sorted(FOLDER.glob("*.yaml"))
        for row in yaml.load(path.read_text("utf-8"), Loader=yaml.CSafeLoader)
    ]
