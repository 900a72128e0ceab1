"""A story that is told once, over HTTP, so that what came of it can be counted by hand; see its comments.

09:00:00  two messages: to …101, which is delivered at 09:00:03, and to …102, which is undelivered then
09:01:00  a message to …107, delivered at 09:01:03; the phone replies YES at 09:01:08
09:02:00  a request without recipients (400), and one with a field that nobody knows, to …109: delivered at 09:02:03,
          the phone replies STOP five seconds later, which opts it out
09:03:00  a validation of …113: its SMS never arrives; a wrong code is given

So there are 7 requests, of which two were answered with 400, and 5 messages (the SMS of the validation among them)
with 5 attempts and 15 transitions; two phones wrote, one opted out.
"""

from __future__ import annotations

import functools

from sendbox.engine.world import World
from sendbox.server.loop import new_loop
from tests.box import KEY, boxed


async def _tell() -> World:
    async with boxed() as box:
        await box.send("420777000101", body="Your code is 1234", tag="otp")
        await box.send("420777000102", body="Your code is 5678", tag="otp")
        await box.advance("1m")
        await box.send("420777000107", body="Will you come?", payload={"order": {"id": 17, "who": "Jana"}})
        await box.advance("1m")
        assert (await box.post("/v2/message", {"body": "Hello"}, x_api_key=KEY)).status == 400
        await box.send("420777000109", body="News", tag="promo", colour="red")
        await box.advance("1m")
        made = await box.post("/v1/validations", {"phoneNumber": "420777000113"}, x_api_key=KEY)
        token = made.json["token"]
        await box.post(f"/v1/validations/{token}/verify", {"code": "000000"}, x_api_key=KEY)
        await box.advance("1m")
        return box.runtime.worlds[KEY].world


@functools.cache
def told() -> World:
    """The world after the story."""
    import asyncio

    with asyncio.Runner(loop_factory=new_loop) as runner:
        return runner.run(_tell())
