"""Message rows and uploads as rows of the management interface (§4.2, §4.4, base `{rest_url}` with its `/v1`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sendbox.services.http.rest import row, unauthorized_or
from sendbox.services.messaging.http.rest import messages, uploads

if TYPE_CHECKING:
    from sendbox.services.http.exchange import Route

ROUTES: Final[tuple[Route, ...]] = (
    row(
        "requestUpload", "Get an address to upload a bulk file to", uploads.upload_url,
        "UploadResponse", "A35", "A58", "A79", "A87", schema="UploadRequest", section="§4.2",
    ),
    row(
        "listMessages", "List the messages of a day", messages.messages, "MessagesListResponse",
        "A28", "A60", "A65", "A70", "A71", schema="MessagesQuery", deny=unauthorized_or(messages.NO_DATE),
    ),
    row(
        "getMessage", "Look one message up", messages.message, "MessageStatusResponse",
        "A29", "A30", "A65", "A89", schema="MessageQuery", deny=unauthorized_or(messages.NO_ID),
    ),
)  # fmt: skip
