"""Worlds that come and go at one server: what its memory does.

`python -m benchmarks.soak --worlds N` opens so many worlds, does in each what clients and testers do, and closes them;
four clients are at work at a time, each in another world. It prints the memory of the server after each thirtieth of
the worlds. `--seconds` spreads the worlds over so much time, so that a run of 900 prints a line each 30 s. `--without`
leaves kinds of acts out, so that it can be seen which of them costs memory.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import re
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from benchmarks.load import TYPICAL
from benchmarks.processes import Broken, Process
from benchmarks.trees import Tree, here

#: So many worlds begin between two stages of one, and so many figures a run has.
APART: Final = 3
PARTS: Final = 30
_ACCEPTED: Final = re.compile(rb"^sendbox_messages_accepted_total ([0-9.e+]+)$", re.MULTILINE)
#: Lists and views of a world that a tester reads.
READ: Final = (
    "messages",
    "phones",
    "requests",
    "deliveries",
    "events",
    "journal?form=told",
    "advice",
    "pending",
    "verdict",
    "hook",
    "codes",
    "account",
    "coverage",
    "report",
)
#: So many of them in a world, in turn.
VIEWS: Final = 3
#: The scenario of each third world that control opens.
SCENARIO: Final = """
sendbox: 1
extends: default
attempts:
  - when: {phone: "4207770001*", channel: richmsg}
    then: undelivered
  - when: {channel: sms}
    then: delivered
    replies: [{after: 30s, body: "Yes, please"}]
"""


class Figure(NamedTuple):
    """The server after so many seconds and worlds: messages so far, and bytes of resident memory."""

    seconds: float
    worlds: int
    messages: int
    memory: int

    def __str__(self) -> str:
        return (
            f"{self.seconds:>6.0f} s {self.worlds:>7} worlds {self.messages:>8} messages {self.memory / 1e6:>6.0f} MB"
        )


@dataclass
class Visit:
    """One world, by its number; its `target` takes webhooks where the built-in receiver and the outbox do not."""

    server: Process
    number: int
    target: str
    stack: ExitStack = field(default_factory=ExitStack)

    @property
    def key(self) -> str:
        """Its id."""
        return f"test-soak-{self.number}"

    @property
    def path(self) -> str:
        """Where control has it."""
        return f"/_sandbox/worlds/{self.key}"

    @property
    def callback(self) -> str:
        """Where its webhooks go: half of them to the built-in receiver."""
        return self.target if self.number % 2 else f"http://127.0.0.1:{self.server.port}{self.path}/hook"

    def phone(self, at: int = 0) -> str:
        """A phone of this world."""
        return f"4207{self.number % 10**6:06}{at:02}"

    def do(self, acts: Iterable[Callable[[Visit], None]]) -> None:
        """Does acts one after another."""
        for act in acts:
            act(self)

    def call(self, method: str, path: str, value: Any = None, kind: str = "application/json") -> Any:
        """A call with the key of the world."""
        return self.server.ask(method, path, value, self.key, kind)

    def ask(self, method: str, path: str = "", value: Any = None) -> Any:
        """A call of control about the world."""
        return self.server.ask(method, f"{self.path}{path}", value)


def open_world(visit: Visit) -> None:
    """Opens each second world by control; the others open at their first call."""
    if visit.number % 2:
        scenario = {"scenario": SCENARIO} if visit.number % 3 == 0 else {}
        visit.server.ask("POST", "/_sandbox/worlds", {"id": visit.key, "seed": visit.number, **scenario})
    else:
        visit.call("GET", "/v1/apikey/me")


def stream(visit: Visit) -> None:
    """Reads the stream of the world until it ends with it."""
    connection = http.client.HTTPConnection("127.0.0.1", visit.server.port, timeout=60)
    visit.stack.callback(connection.close)
    connection.request("GET", f"{visit.path}/stream")
    answer = connection.getresponse()
    visit.stack.callback(answer.read)


def send_flows(visit: Visit) -> None:
    """Sends flows with buttons of their own, and several messages at once."""
    typical = json.loads(TYPICAL.replace("@n", str(visit.number)))
    for at in range(2):
        to = [{"phone_number": visit.phone(at * 3 + recipient)} for recipient in range(3)]
        visit.call("POST", "/v2/message", typical | {"to": to, "callback": visit.callback})
    message = {"body": f"Hello {visit.number}", "to": [{"phone_number": visit.phone(7)}], "tag": f"tag{visit.number}"}
    visit.call("POST", "/v2/messages", [message, message | {"callback": visit.callback}])


def send_legacy(visit: Visit) -> None:
    """Sends by a query."""
    query = f"apikey={visit.key}&number={visit.phone(8)}&message=Hello+{visit.number}&gateway=high&sender=Acme"
    visit.server.read("GET", f"/Send?{query}")


def send_templates(visit: Visit) -> None:
    """Connects a client, creates a template and sends it."""
    token = visit.call("POST", "/v1/chatapp/signup", {"partner_callback_url": visit.callback})["token"]
    body = {"token": token, "waba_id": "102030405060708", "code": "c-1", "country": "CZ"}
    sender = visit.call("POST", "/v1/chatapp/registration", body)["phone_number_id"]
    template = {"name": "order_ready", "language": "en", "category": "UTILITY"}
    template["components"] = [{"type": "BODY", "text": "Your order {{1}} is ready."}]  # type: ignore[assignment]
    visit.call("POST", "/v1/chatapp/templates/create", {"waba_id": body["waba_id"], "template": template})
    visit.ask("POST", "/clock/advance", {"by": "1m"})
    step = {"template_name": "order_ready", "language": "en", "params": [f"A-{visit.number}"], "sender": sender}
    to = [{"phone_number": visit.phone(9)}]
    visit.call("POST", "/v2/message", {"to": to, "flow": [{"chatapp_template": step}], "callback": visit.callback})


def verify(visit: Visit) -> None:
    """Has a code sent, and submits it."""
    token = visit.call("POST", "/v1/validations", {"phoneNumber": visit.phone(10)})["token"]
    visit.ask("POST", "/clock/advance", {"by": "10s"})
    code = visit.ask("GET", "/codes")["codes"][0]["code"]
    visit.call("POST", f"/v1/validations/{token}/verify", {"code": code})


def send_bulk(visit: Visit) -> None:
    """Uploads a file of messages."""
    address = visit.call("POST", "/v1/messaging/url", {"bulk_id": f"b{visit.number}", "filetype": "jsonl"})
    url = urlsplit((address.get("data") or address)["url"]).path
    lines = (f'{{"to":[{{"phone_number":"{visit.phone(20 + at)}"}}],"body":"Hello {at}"}}\n' for at in range(5))
    visit.server.ask("PUT", url, "".join(lines).encode(), kind="application/jsonl")


def advance(visit: Visit) -> None:
    """Moves the clock until nothing is due; deliveries go to their receivers."""
    visit.ask("POST", "/clock/advance", {"by": "5m"})
    visit.ask("POST", f"/phones/{visit.phone()}/reply", {"body": "Yes"})
    visit.ask("POST", "/clock/advance", {"until": "idle"})


def fetch(visit: Visit) -> None:
    """Fetches the webhooks of a further message from the outbox while the clock moves, and reports them."""
    visit.ask("GET", "/outbox")
    message = {"body": "Hi", "to": [{"phone_number": visit.phone(11)}], "callback": visit.target}
    visit.call("POST", "/v2/message", message)
    with ThreadPoolExecutor(1) as pool:
        advance = pool.submit(visit.ask, "POST", "/clock/advance", {"by": "1m"})
        while not advance.done():
            for call in visit.ask("GET", "/outbox?wait=1s&during=advance")["calls"]:
                visit.ask("POST", f"/outbox/{call['id']}", {"status": 200})
    visit.ask("DELETE", "/outbox")


def read(visit: Visit) -> None:
    """Reads lists and views, and why a message has its result."""
    for at in range(VIEWS):
        visit.ask("GET", f"/{READ[(visit.number * VIEWS + at) % len(READ)]}")
    message = visit.ask("GET", "/messages")["messages"][0]["message_id"]
    visit.ask("GET", f"/{('explain?message_id=', 'messages/')[visit.number % 2]}{message}")
    visit.call("GET", "/v1/messages?date=2026-03-01")


def export(visit: Visit) -> None:
    """Takes the world away as files, with the proof of what happened in it."""
    form = ("pytest", "scenario", "record")[visit.number // 3 % 3]
    visit.ask("GET", f"/export?as={form}")
    visit.ask("GET", "/digest")


def checkpoint(visit: Visit) -> None:
    """Takes a checkpoint, sends, goes back, and begins anew."""
    visit.ask("PUT", "/checkpoints/here")
    visit.call("POST", "/v2/message", {"body": "Hi", "to": [{"phone_number": visit.phone(12)}]})
    visit.ask("POST", "/checkpoints/here")
    visit.ask("GET", "/messages?then=1")
    visit.ask("POST", "/reset")
    visit.call("POST", "/v2/message", {"body": "Hi", "to": [{"phone_number": visit.phone(13)}]})


def close_world(visit: Visit) -> None:
    """Closes the world; its key is denied afterwards."""
    visit.ask("DELETE")
    visit.stack.close()
    with contextlib.suppress(Broken):
        visit.call("GET", "/v1/apikey/me")


#: Acts in the order of a visit, each with how many worlds have one that does it. Between two stages other worlds have
#: theirs.
STAGES: Final[tuple[dict[Callable[[Visit], None], int], ...]] = (
    {open_world: 1, stream: 2, send_flows: 1, send_legacy: 1},
    {send_templates: 5, verify: 2, send_bulk: 3, advance: 1},
    {fetch: 4, read: 1, export: 3, checkpoint: 5},
    {close_world: 1},
)
OPTIONAL: Final = tuple(act.__name__ for acts in STAGES for act in acts if act not in (open_world, close_world))


def soak(
    server: Process, worlds: int, target: str, seconds: float = 0, without: Collection[str] = ()
) -> Iterator[Figure]:
    """Lets so many worlds come and go, within so many seconds at least; the figures after each part of them."""
    stages = [{act: of for act, of in acts.items() if act.__name__ not in without} for acts in STAGES]
    under_way: dict[int, Visit] = {}
    began, paced = time.monotonic(), threading.Event()  # never set: the pace is that of real time
    with ThreadPoolExecutor(len(stages)) as pool:
        for step in range(worlds + APART * (len(stages) - 1)):
            paced.wait(max(0.0, began + seconds * min(step / worlds, 1) - time.monotonic()))
            calls = []
            for stage, acts in enumerate(stages):
                number = step - APART * stage
                if 0 <= number < worlds:
                    visit = under_way.setdefault(number, Visit(server, number, target))
                    calls.append(pool.submit(visit.do, [act for act, of in acts.items() if number % of == 0]))
            for call in calls:
                call.result()
            under_way.pop(step - APART * (len(stages) - 1), None)
            if (step + 1) * PARTS // worlds > step * PARTS // worlds:
                yield Figure(time.monotonic() - began, min(step + 1, worlds), accepted(server), server.rss)


def accepted(server: Process) -> int:
    """Messages that the worlds have accepted so far."""
    return int(float(_ACCEPTED.findall(server.read("GET", "/metrics"))[0]))


@contextlib.contextmanager
def served(tree: Tree, *arguments: str) -> Iterator[tuple[Process, str]]:
    """A server with these options, and the address of a receiver of webhooks."""
    with (
        Process([tree.python, "-m", "benchmarks.receiver"], env=tree.env) as receiver,
        tree.serve(*arguments) as server,
    ):
        yield server, f"http://127.0.0.1:{receiver.port}/hook"


def parser() -> argparse.ArgumentParser:
    """The options."""
    made = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    made.add_argument("--worlds", type=int, default=3_000, help="so many worlds come and go")
    made.add_argument("--seconds", type=float, default=0, help="spread them over so much time")
    made.add_argument("--data", help="keep the worlds in this store")
    made.add_argument("--without", nargs="+", default=(), choices=OPTIONAL, help="leave these acts out")
    return made


def main() -> None:
    """Measures and prints."""
    given = parser().parse_args()
    with served(here(), *(("--data", given.data) if given.data else ())) as (server, target):
        for figure in soak(server, given.worlds, target, given.seconds, given.without):
            print(figure, flush=True)


if __name__ == "__main__":
    main()
