"""The bare app: parses the JSON of a request and answers a fixed MessageResponse. What everything is compared with."""

from __future__ import annotations

import json

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

ANSWER = {
    "request_id": "971f9e6e-d939-47c7-b762-6800fb66742d",
    "accepted": [
        {"key": "0", "message_id": "b7235e67-4b36-425d-bf21-15ffb35b49b1"},
        {"key": "1", "message_id": "fea9ec05-6844-46a9-846b-cdbf226d996e"},
        {"key": "2", "message_id": "bac96f15-38c9-4e53-b3d3-14162d072e3b"},
    ],
    "rejected": [],
}


async def message(request: Request) -> JSONResponse:
    """Answers without looking."""
    json.loads(await request.body())
    return JSONResponse(ANSWER)


app = Starlette(routes=[Route("/v2/message", message, methods=["POST"])])
