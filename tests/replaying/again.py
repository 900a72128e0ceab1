"""Another process: makes worlds again from their records, and says what control shows of them.

Started once with `-m tests.replaying.again`. A line of its input is a record; a line of its output is what came of it:
what control shows, the record of the world that was made, and whether record and world agree entry by entry.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import httpx

from sendbox.app import SERVED
from sendbox.control.export.record import Recorded, compare, read
from sendbox.control.replaying import Replay
from sendbox.fixture import SandboxServer
from sendbox.language import LANGUAGE
from tests.recorded.box import served
from tests.replaying.shown import shown


def main() -> None:
    """Reads records until there are none."""
    with (
        served() as server,
        httpx.Client(base_url=f"http://127.0.0.1:{server.port}", trust_env=False, timeout=60) as client,
    ):
        server.runtime.reading = lambda: 0  # no time passes here
        for line in sys.stdin:
            sys.stdout.write(json.dumps(_again(server, client, line)) + "\n")
            sys.stdout.flush()


def _again(server: SandboxServer, client: httpx.Client, text: str) -> dict[str, Any]:
    try:
        recorded = read(text.encode(), LANGUAGE)
        first, digest = server.thread.run(_made(server, recorded))
        world = recorded.world
        found = {"shown": shown(client, world), "first": first, "digest": digest}
        found["record"] = client.get(f"/_sandbox/worlds/{world}/record").json()
        client.delete(f"/_sandbox/worlds/{world}")
    except Exception as error:
        return {"failed": f"{type(error).__name__}: {error}"}
    return found


async def _made(server: SandboxServer, recorded: Recorded) -> tuple[int | None, str]:
    """Makes the world under its id; answers the first entry that differs, and the digest."""
    runtime = server.runtime
    replay = Replay(server.app.control, recorded.commands, recorded.ends)
    world = replay.finish()
    world.clock.rebase(runtime.reading())
    hosted = replay.hosted
    runtime.worlds[world.id] = hosted
    runtime.open_worlds.add(hosted)
    runtime._tags[world.tag] = world.id
    compared = compare(recorded, world, SERVED.kinds)
    return compared.first, compared.digest


if __name__ == "__main__":
    main()
