"""Operations by their ids, in the order of their routes: what rules of a scenario may ask for in `when.operation`."""

from __future__ import annotations

from typing import Final

#: Those that take messages (§4.1).
MESSAGES: Final = (
    "sendMessage",
    "sendPriorityMessage",
    "sendMessages",
    "sendSimpleMessageByQuery",
    "sendSimpleMessage",
    "legacySend",
    "legacySendByQuery",
    "legacyApiSend",
    "legacyApiSendByQuery",
)
#: Those that send, for rules of `attempts`. The lines of a bulk file are sent as `sendMessage` (§4.2), so an upload has
#: no name here.
SENDING: Final = (
    *MESSAGES,
    "createValidation",
    "testTemplate",
)
#: Every one that is emulated, for rules of `api`; the last is the upload of a bulk file.
EMULATED: Final = (
    *MESSAGES,
    "requestUpload",
    "blacklist",
    "optout",
    "listMessages",
    "getMessage",
    "listServices",
    "orderService",
    "registerDevice",
    "updateKey",
    "addSubKey",
    "listSubKeys",
    "changeSubKey",
    "showKey",
    "createValidation",
    "verifyCode",
    "checkProof",
    "verifyProof",
    "partnerSignup",
    "partnerRegistration",
    "listPartnerAccounts",
    "verifyPartnerNumber",
    "checkPartnerNumber",
    "listPartnerNumbers",
    "listTemplates",
    "createTemplate",
    "createLibraryTemplate",
    "editTemplate",
    "deleteTemplate",
    "testTemplate",
    "messageAnalytics",
    "conversationAnalytics",
    "templateAnalytics",
    "enableTemplateAnalytics",
    "uploadBulk",
)
