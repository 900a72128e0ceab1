"""Traffic: what a sample client sends, for `sendbox play` and for tests. A world that is served never looks at it.

Values may be references, `$name.path.to.field`: a field of the answer to an earlier entry. They are resolved by
whoever plays the traffic; there is nothing in it that computes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final, Literal

#: What a call carries: a JSON body, a form, a query, or a file as it stands.
Part = Literal["body", "form", "query", "content"]
PARTS: Final[tuple[Part, ...]] = ("body", "form", "query", "content")
#: The word of `key` for the account's own key, and that of `expect.status` for a call that gets no answer.
PARENT: Final = "parent"
NONE: Final = "none"
#: The world in which traffic is played, also its key; rules may ask for it.
WORLD: Final = "test-play"

_REFERENCE: Final = re.compile(r"\$([A-Za-z_][A-Za-z0-9_-]*)((?:\.[A-Za-z0-9_-]+)+)")
_PARAMETER: Final = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Call:
    """How an operation is called: method, path with its parameters in braces, what it carries (None = nothing)."""

    method: str
    path: str
    part: Part | None

    @property
    def params(self) -> tuple[str, ...]:
        """The parameters that stand in the path."""
        return tuple(_PARAMETER.findall(self.path))


def _calls(part: Part | None, rows: str) -> dict[str, Call]:
    found = {}
    for row in rows.strip().splitlines():
        operation, method, path = row.split()
        found[operation] = Call(method, path, part)
    return found


#: Every operation that traffic may name. A test holds it against the rows that are served.
CALLS: Final[dict[str, Call]] = {
    **_calls(
        "body",
        """
        sendMessage POST /v2/message
        sendPriorityMessage POST /v2/message/priority
        sendMessages POST /v2/messages
        requestUpload POST /v1/messaging/url
        blacklist POST /v1/blacklist
        optout POST /v1/optout
        orderService POST /v1/credit/order
        registerDevice POST /v1/push/device
        updateKey POST /v1/apikey/update
        addSubKey POST /v1/apikey/add
        changeSubKey POST /v1/apikey/change
        createValidation POST /v1/validations
        verifyCode POST /v1/validations/{token}/verify
        checkProof PATCH /v1/validations/{token}
        verifyProof POST /v1/verify-proof
        partnerSignup POST /v1/chatapp/signup
        partnerRegistration POST /v1/chatapp/registration
        listPartnerAccounts POST /v1/chatapp/accounts/list
        verifyPartnerNumber POST /v1/chatapp/phone_numbers/verify
        checkPartnerNumber POST /v1/chatapp/phone_numbers/check
        listPartnerNumbers POST /v1/chatapp/phone_numbers/list
        listTemplates POST /v1/chatapp/templates/list
        createTemplate POST /v1/chatapp/templates/create
        createLibraryTemplate POST /v1/chatapp/templates/library/create
        editTemplate POST /v1/chatapp/templates/edit
        deleteTemplate POST /v1/chatapp/templates/delete
        testTemplate POST /v1/chatapp/templates/test
        messageAnalytics POST /v1/chatapp/analytics/messages
        conversationAnalytics POST /v1/chatapp/analytics/conversations
        templateAnalytics POST /v1/chatapp/analytics/templates
        enableTemplateAnalytics POST /v1/chatapp/analytics/templates/enable
        """,
    ),
    **_calls(
        "form",
        """
        sendSimpleMessage POST /v2/simple/message
        legacySend POST /Send
        legacyApiSend POST /api-send.php
        """,
    ),
    **_calls(
        "query",
        """
        sendSimpleMessageByQuery GET /v2/simple/message
        legacySendByQuery GET /Send
        legacyApiSendByQuery GET /api-send.php
        listMessages GET /v1/messages
        getMessage GET /v1/message
        """,
    ),
    **_calls(
        None,
        """
        listServices GET /v1/credit/services
        listSubKeys GET /v1/apikey/list
        showKey GET /v1/apikey/me
        """,
    ),
    # a file goes to the address that requestUpload answered; a short link is that of a message
    **_calls("content", "uploadBulk PUT {url}"),
    **_calls(None, "openLink GET {message_id}"),
}


@dataclass(frozen=True, slots=True)
class Traffic:
    """One call of the sample client.

    `at` in milliseconds, from the start of the epoch when `relative`, else an instant. `value` is what the call carries
    (`CALLS[operation].part` says how). `key` None = the account's own, else a suffix, or a reference to a whole key.
    `status` is the answer's that is expected, 0 = no answer at all, None = any.
    """

    at: int
    relative: bool
    operation: str
    value: Any = None
    params: tuple[tuple[str, Any], ...] = ()
    key: str | None = None
    name: str | None = None
    status: int | None = None
    place: str | None = None


def reference(value: object) -> tuple[str, tuple[str, ...]] | None:
    """The name and the path of a reference, None for any other value."""
    found = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
    return None if found is None else (found[1], tuple(found[2][1:].split(".")))


def field(answer: Any, path: tuple[str, ...]) -> Any:
    """What a path leads to in an answer, by keys and indexes. LookupError says where it ends."""
    value = answer
    for step, word in enumerate(path):
        if isinstance(value, dict) and word in value:
            value = value[word]
        elif isinstance(value, list) and word.isdecimal() and int(word) < len(value):
            value = value[int(word)]
        else:
            where = ".".join(path[:step]) or "the answer"
            legal = (
                ", ".join(value)
                if isinstance(value, dict)
                else f"{len(value)} items"
                if isinstance(value, list)
                else "nothing"
            )
            raise LookupError(f'"{word}" is not in {where}, which has {legal}')
    return value


def resolved(value: Any, answers: dict[str, Any]) -> Any:
    """The value with every reference replaced. LookupError where one leads nowhere."""
    if isinstance(value, dict):
        return {key: resolved(item, answers) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [resolved(item, answers) for item in value]
    found = reference(value)
    if found is None:
        return value
    name, path = found
    if name not in answers:
        raise LookupError(f'"{value}" refers to "{name}", which got no answer')
    return field(answers[name], path)
