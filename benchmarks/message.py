"""`POST /v2/message`, typical, everything on, against the bare app, in one run.

    python -m benchmarks.message [ROUNDS]

Each round measures bare and Sendbox in turn (16 connections, 8,000 requests), each server in a process of its own; the
ratio is the median over the rounds. The world is manual: what follows from a message waits for the clock.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys

REQUESTS = 8_000
CONNECTIONS = 16


def serve_bare() -> None:
    """The bare app on uvicorn, one worker, uvloop, httptools, no access log; prints its port."""
    import uvicorn

    from benchmarks.bare import app

    config = uvicorn.Config(app, port=0, loop="uvloop", http="httptools", access_log=False, log_level="error")
    server = uvicorn.Server(config)

    async def run() -> None:
        task = asyncio.create_task(server.serve())
        while not server.started:  # uvicorn offers nothing to wait for
            await asyncio.sleep(0)
        print(server.servers[0].sockets[0].getsockname()[1], flush=True)
        await task

    import uvloop

    uvloop.run(run())


def serve_sendbox() -> None:
    """Sendbox with its default scenario and a manual clock; prints its port."""
    from sendbox.app import PARTS, make_app
    from sendbox.contract.validators import Contract
    from sendbox.language import LANGUAGE
    from sendbox.runtime import collector
    from sendbox.runtime.worlds import Runtime
    from sendbox.server.listener import HttpServer
    from sendbox.server.loop import new_loop
    from sendbox.settings import Settings

    async def run() -> None:
        runtime = Runtime(Settings(mode="manual"), LANGUAGE.load("default"), PARTS)
        server = HttpServer(make_app(runtime, Contract()), "127.0.0.1", 0)
        port = await server.start()
        collector.tune()
        print(port, flush=True)
        await asyncio.Event().wait()

    loop = new_loop()
    loop.run_until_complete(run())


class Server:
    """A server in a process of its own."""

    def __init__(self, what: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.message", f"--serve-{what}"], stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())

    def stop(self) -> None:
        """Ends the process."""
        self._process.terminate()
        self._process.wait()


def load(port: int) -> tuple[float, float]:
    """One measurement from a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.load", str(port), str(REQUESTS), str(CONNECTIONS)],
        capture_output=True,
        text=True,
        check=True,
    )
    rate, p99 = map(float, done.stdout.split())
    return rate, p99


def main() -> None:
    """Measures and prints."""
    if "--serve-bare" in sys.argv:
        return serve_bare()
    if "--serve-sendbox" in sys.argv:
        return serve_sendbox()
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    bare, box = Server("bare"), Server("sendbox")
    try:
        load(bare.port), load(box.port)
        pairs = []
        for number in range(1, rounds + 1):
            (bare_rate, bare_p99), (rate, p99) = load(bare.port), load(box.port)
            pairs.append((rate / bare_rate, p99 / bare_p99))
            print(
                f"round {number}: bare {bare_rate:,.0f} req/s, p99 {bare_p99:.2f} ms; "
                f"sendbox {rate:,.0f} req/s, p99 {p99:.2f} ms; ratio {rate / bare_rate:.2f}"
            )
        print(
            f"median ratio {statistics.median(p[0] for p in pairs):.2f} of bare (goal 0.60); "
            f"p99 {statistics.median(p[1] for p in pairs):.2f} of bare's (goal 1.4), "
            f"{(rounds + 1) * REQUESTS * 3:,} messages retained; {os.cpu_count()} cores"
        )
    finally:
        bare.stop()
        box.stop()
    return None


if __name__ == "__main__":
    main()
