"""The bare app: parses the JSON of a request and answers a fixed MessageResponse. What everything is compared with.

`python -m benchmarks.bare` serves it on uvicorn (one worker, uvloop, httptools, no access log) and prints its address.
It imports what it needs to serve, and nothing of the product.
"""

from __future__ import annotations

import asyncio
import json

import uvicorn
import uvloop
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


async def health(request: Request) -> JSONResponse:
    """Answers that it listens."""
    return JSONResponse({"status": "ok"})


app = Starlette(routes=[Route("/v2/message", message, methods=["POST"]), Route("/_sandbox/health", health)])


async def serve() -> None:
    """Serves on a free port until the process ends."""
    config = uvicorn.Config(app, port=0, loop="uvloop", http="httptools", access_log=False, log_level="error")
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve())
    while not server.started:  # uvicorn offers nothing to wait for
        await asyncio.sleep(0)
    print(f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}", flush=True)
    await task


if __name__ == "__main__":
    uvloop.run(serve())
