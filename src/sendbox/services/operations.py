"""The operations of the emulated interfaces: method, path and request of each, and whether it sends.

The one table of them, in the order in which they are listed. What is served is built from it, rules and traffic of
scenarios name its rows.
"""

from __future__ import annotations

from typing import Final, Literal, cast

import msgspec

from sendbox.engine.texts import regex

#: The part of a request with its values: a JSON body, a form, a query, or a file as it is.
RequestPart = Literal["body", "form", "query", "content"]
REQUEST_PARTS: Final[tuple[RequestPart, ...]] = ("body", "form", "query", "content")
_PARAMETER: Final = regex(r"\{(\w+)\}")


class Operation(msgspec.Struct, frozen=True):
    """An operation: its method, its path with parameters in braces, and the part with its values (None = it has none).

    `interface` is empty for an operation that belongs to none. `sends` says that it sends messages, `phones` that a
    call can name a phone, or something that belongs to one.
    """

    interface: str
    name: str
    method: str
    path: str
    part: RequestPart | None
    sends: bool
    phones: bool = True

    @property
    def params(self) -> tuple[str, ...]:
        """The parameters that stand in the path."""
        return tuple(_PARAMETER.findall(self.path))


#: Interface, name, method, path, part, and `sends` of those that send to phones, `phone` of the others that
#: name one. A file goes to the address in the answer of requestUpload; its lines are sent as `sendMessage` (§4.2). A
#: short link is that of a message.
_TABLE: Final = """
    sending sendMessage POST /v2/message body sends
    sending sendPriorityMessage POST /v2/message/priority body sends
    sending sendMessages POST /v2/messages body sends
    sending sendSimpleMessageByQuery GET /v2/simple/message query sends
    sending sendSimpleMessage POST /v2/simple/message form sends
    legacy legacySend POST /Send form sends
    legacy legacySendByQuery GET /Send query sends
    legacy legacyApiSend POST /api-send.php form sends
    legacy legacyApiSendByQuery GET /api-send.php query sends
    legacy legacyUserInfo POST /GetUserInfo form
    legacy legacyUserInfoByQuery GET /GetUserInfo query
    legacy legacyPrice POST /GetPrice form phone
    legacy legacyPriceByQuery GET /GetPrice query phone
    legacy legacyRequestList POST /RequestList form
    legacy legacyRequestListByQuery GET /RequestList query
    legacy legacyRequestStatus POST /RequestStatus form
    legacy legacyRequestStatusByQuery GET /RequestStatus query
    rest requestUpload POST /v1/messaging/url body
    rest blacklist POST /v1/blacklist body phone
    rest optout POST /v1/optout body phone
    rest listMessages GET /v1/messages query phone
    rest getMessage GET /v1/message query
    rest showCredit GET /v1/credit -
    rest listServices GET /v1/credit/services -
    rest orderService POST /v1/credit/order body
    rest registerDevice POST /v1/push/device body
    rest updateKey POST /v1/apikey/update body
    rest addSubKey POST /v1/apikey/add body
    rest listSubKeys GET /v1/apikey/list -
    rest changeSubKey POST /v1/apikey/change body
    rest showKey GET /v1/apikey/me -
    verify createValidation POST /v1/validations body sends
    verify verifyCode POST /v1/validations/{token}/verify body phone
    verify checkProof PATCH /v1/validations/{token} body phone
    verify verifyProof POST /v1/verify-proof body phone
    partner partnerSignup POST /v1/chatapp/signup body phone
    partner partnerRegistration POST /v1/chatapp/registration body
    partner listPartnerAccounts POST /v1/chatapp/accounts/list body
    partner verifyPartnerNumber POST /v1/chatapp/phone_numbers/verify body phone
    partner checkPartnerNumber POST /v1/chatapp/phone_numbers/check body phone
    partner listPartnerNumbers POST /v1/chatapp/phone_numbers/list body
    partner listTemplates POST /v1/chatapp/templates/list body
    partner createTemplate POST /v1/chatapp/templates/create body
    partner createLibraryTemplate POST /v1/chatapp/templates/library/create body
    partner editTemplate POST /v1/chatapp/templates/edit body
    partner deleteTemplate POST /v1/chatapp/templates/delete body
    partner testTemplate POST /v1/chatapp/templates/test body sends
    partner messageAnalytics POST /v1/chatapp/analytics/messages body phone
    partner conversationAnalytics POST /v1/chatapp/analytics/conversations body phone
    partner templateAnalytics POST /v1/chatapp/analytics/templates body
    partner enableTemplateAnalytics POST /v1/chatapp/analytics/templates/enable body
    bulk uploadBulk PUT {url} content phone
    links openLink GET {message_id} -
"""


def _operation(interface: str, name: str, method: str, path: str, part: str, about: str = "") -> Operation:
    request_part = None if part == "-" else cast("RequestPart", part)
    return Operation(interface, name, method, path, request_part, about == "sends", bool(about))


_ROWS: Final = tuple(_operation(*line.split()) for line in _TABLE.strip().splitlines())
_LINKS: Final = "links"
_PART_ORDER: Final = ("body", "form", "query", None, "content")
#: The operations that traffic may call, by name, in the order of their parts.
CALLS: Final = {
    row.name: row for row in sorted(_ROWS, key=lambda row: (row.interface == _LINKS, _PART_ORDER.index(row.part)))
}
#: The operations that send messages, for rules of `attempts`.
SENDING: Final = tuple(row.name for row in _ROWS if row.sends)
#: The operations by which a client asks for the status of its messages or sessions.
STATUS_QUERIES: Final = tuple(
    row.name for row in _ROWS if row.method in ("GET", "PATCH") and row.part is not None and not row.sends
)
#: All emulated operations, for rules of `api`; the last is the upload of a bulk file.
EMULATED: Final = tuple(row.name for row in _ROWS if row.interface != _LINKS)
