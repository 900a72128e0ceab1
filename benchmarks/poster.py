"""aiohttp alone: `python -m benchmarks.poster PORT FILE` posts the bodies in FILE (one a line), one at a time.

Prints the seconds of processor time a POST. What the bodies hold was made before.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import aiohttp
import uvloop

#: At least so many are posted.
LEAST = 1_000


async def post(port: int, bodies: list[bytes]) -> float:
    """Seconds a POST."""
    url = f"http://127.0.0.1:{port}/hook"
    headers = {"content-type": "application/json"}
    posts = bodies * (LEAST // len(bodies) + 1)
    async with aiohttp.ClientSession() as session:

        async def one(body: bytes) -> None:
            async with session.post(url, data=body, headers=headers) as answer:
                await answer.read()

        for body in posts[:100]:
            await one(body)
        began = time.process_time()
        for body in posts:
            await one(body)
        return (time.process_time() - began) / len(posts)


if __name__ == "__main__":
    print(uvloop.run(post(int(sys.argv[1]), Path(sys.argv[2]).read_bytes().splitlines())))
