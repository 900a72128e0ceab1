# mypy: ignore-errors
from __future__ import annotations

import os
import sys

import control
import service
from control.api.messaging import message as read_message
from control.api.time import advance
from control.api.worlds import close_world, open_world
from control.models import AdvanceBody, Advanced, OpenWorldBody, OpenWorldBodyClock, OpenWorldBodyClockMode, World
from control.models import Message as ShownMessage
from service.api.sending import send_message
from service.models import Message, MessageResponse, Recipient

key, origin = os.environ["KEY"], os.environ["SANDBOX"]
client = control.Client(base_url=origin)
clock = OpenWorldBodyClock(mode=OpenWorldBodyClockMode.MANUAL)
world = open_world.sync(client=client, body=OpenWorldBody(id=key, clock=clock))
assert isinstance(world, World)
sys.stdout.write(f"clock: {world.clock.mode}\n")

keyed = service.AuthenticatedClient(base_url=origin, token=key, prefix="", auth_header_name="x-api-key")
sent = send_message.sync(client=keyed, body=Message(body="Hello", to=[Recipient(phone_number="420777000101")]))
assert isinstance(sent, MessageResponse)
assert sent.accepted
moved = advance.sync(key, client=client, body=AdvanceBody(by="1m"))
assert isinstance(moved, Advanced)
sys.stdout.write(f"webhooks: {moved.deliveries}\n")
message = read_message.sync(key, sent.accepted[0].message_id, client=client)
assert isinstance(message, ShownMessage)
sys.stdout.write(f"{message.phone}: {message.result}\n")
close_world.sync(key, client=client)
