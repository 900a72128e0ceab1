"""The product and the model play the same world; what differs between them is told."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Final

import orjson

from sendbox.runtime.policy import HttpCall, Outcome
from tests.box import Box
from tests.model.drawn import script
from tests.model.rows import codes, row
from tests.model.webhooks import NO_ANSWER, Target
from tests.model.windows import EPOCH
from tests.model.world import World

Json = dict[str, Any]
#: What an event says of the operator is drawn (A82).
_DRAWN: Final = "operator"
#: Endings of the fields of a row that nothing here sets.
_UNSET: Final = ("clicked", "replied", "optout")


class Receiver:
    """Answers each try of a webhook as its address says, and keeps what was sent."""

    def __init__(self) -> None:
        self.bodies: dict[str, list[Json]] = {}
        self._tries: Counter[str] = Counter()

    async def __call__(self, call: HttpCall) -> Outcome:
        webhook, events = dict(call.headers)["X-Request-Id"], orjson.loads(call.body)
        assert self.bodies.setdefault(webhook, events) == events  # every try is the same (A22)
        answers = Target(call.url).answers
        self._tries[webhook] += 1
        end = answers[min(self._tries[webhook], len(answers)) - 1]
        return Outcome(end) if isinstance(end, int) else Outcome(None, "timeout" if end == NO_ANSWER else "closed")


def _ms(text: str | None) -> int | None:
    return None if text is None else (datetime.fromisoformat(text) - EPOCH) // timedelta(milliseconds=1)


def _iso(at: int) -> str:
    return (EPOCH + timedelta(milliseconds=at)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Product:
    """Sendbox, seen through its interfaces, with the names that the model gives to messages."""

    def __init__(self, box: Box, number: int) -> None:
        self._box = box
        self.key = f"test-model-{number}"
        self._world = f"/_sandbox/worlds/{self.key}"
        self._receiver = Receiver()
        self._names: dict[str, str] = {}
        self._calls = 0

    async def open(self, drawn: Json) -> None:
        """A world of its own, whose webhooks the receiver takes."""
        clock = {"mode": "manual", "start": _iso(drawn["start"])}
        await self._box.open(self.key, scenario=drawn["scenario"], clock=clock)
        runtime = self._box.runtime
        runtime.deliver_to(runtime.worlds[self.key], self._receiver)

    async def close(self) -> None:
        """The world is over."""
        await self._box.delete(self._world)

    async def send(self, path: str, body: Any) -> Json:
        """A send call, and what its answer says."""
        answer = await self._box.post(path, body, x_api_key=self.key)
        call, self._calls = self._calls, self._calls + 1
        if answer.status != 200:
            return {"status": answer.status}
        self._names[answer.json["request_id"]] = str(call)
        for entry in answer.json["accepted"]:
            key, message_id = entry["key"], entry["message_id"]
            if isinstance(body, list) and "-" not in key:
                self._names |= {f"{message_id}-{place}": f"{call}/{key}-{place}" for place in range(10)}
            else:
                self._names[message_id] = f"{call}/{key}" if isinstance(body, list) else f"{call}/0-{key}"
        keys = {field: [entry["key"] for entry in answer.json[field]] for field in ("accepted", "rejected")}
        return {"status": 200, **keys}

    async def listing(self, name: str, to: str) -> Json:
        """A call of a list."""
        answer = await self._box.post(f"/v1/{name}", {"to": to}, x_api_key=self.key)
        return {"status": answer.status, "accepted": answer.json["accepted"], "invalid": answer.json["invalid"]}

    async def top_up(self, credit: Json) -> None:
        """The account gets another credit."""
        await self._box.patch(f"{self._world}/account", {"credit": credit})

    async def advance(self, by: int | None) -> Decimal:
        """Time passes. What is left of the credit."""
        await self._box.advance(key=self.key, **({"until": "idle"} if by is None else {"by": f"{by}ms"}))
        account = (await self._box.get(f"{self._world}/account")).json
        return Decimal(str(account["credit"]))

    async def messages(self) -> dict[str, Json]:
        """Each message: its states, the row of its day, its codes."""
        shown: dict[str, Json] = {}
        for message in (await self._box.get(f"{self._world}/messages")).json["messages"]:
            states = [
                (_ms(move["at"]), attempt["channel"], move["result"], move["info"])
                for attempt in message["attempts"]
                for move in attempt["timeline"]
            ]
            shown[self._names[message["message_id"]]] = {"states": states, "result": message["result"]}
        for values in await self._rows(shown):
            values["message_id"] = self._names[values["message_id"]]
            shown[values["message_id"]]["row"] = {
                field: _ms(value) if field.startswith("ts_") else Decimal(value) if "price" in field else value
                for field, value in values.items()
                if not field.endswith(_UNSET)
            }
        return shown

    async def _rows(self, shown: dict[str, Json]) -> list[Json]:
        """The rows of all days on which something happened."""
        days = {_iso(state[0])[:10] for message in shown.values() for state in message["states"]}
        rows: list[Json] = []
        for day in sorted(days):
            cursor: str | None = ""
            while cursor is not None:
                page = (await self._box.get(f"/v1/messages?date={day}{cursor}", x_api_key=self.key)).json
                rows += [{**values, "day": day} for values in page["messages"]]
                cursor = None if page["next_cursor"] is None else f"&cursor={page['next_cursor']}"
        return rows

    async def codes(self, name: str) -> tuple[str | None, str | None]:
        """`status_code` and `delivery_code` of a message."""
        message_id = next(message_id for message_id, known in self._names.items() if known == name)
        status = (await self._box.get(f"/v1/message?id={message_id}", x_api_key=self.key)).json["message"]
        return status["status_code"], status["delivery_code"]

    async def batches(self) -> list[Any]:
        """Each webhook: its target, when it left, its events, and each try with its answer."""
        batches = []
        for delivery in (await self._box.get(f"{self._world}/deliveries")).json["deliveries"]:
            events = [self._event(event) for event in self._receiver.bodies[delivery["id"]]]
            tries = [(_ms(one["at"]), one["status"] or one["error"]) for one in delivery["tries"]]
            batches.append((_ms(delivery["at"]), delivery["target"], events, tries))
        return sorted(batches, key=lambda batch: batch[:2])

    def _event(self, event: Json) -> Json:
        known = {**event, **{name: self._names[event[name]] for name in ("message_id", "request_id")}}
        for field, value in known.items():
            if isinstance(value, dict) and "operator" in value:
                known[field] = {
                    name: Decimal(str(detail)) if "price" in name else detail
                    for name, detail in value.items()
                    if name != _DRAWN
                }
        return known


def _shown(world: World) -> tuple[dict[str, Json], list[Any]]:
    """What the model says of messages and webhooks, in the form in which the product shows them."""
    messages = {
        message.name: {
            "states": [(at, attempt.gateway, state, info) for attempt in message.attempts
                       for at, state, info in attempt.timeline],
            "result": message.shown.state,
            "row": row(message),
        }
        for message in world.messages
    }  # fmt: skip
    batches = [(batch.at, batch.target.url, batch.events, batch.tries) for batch in world.batches]
    return messages, sorted(batches, key=lambda batch: batch[:2])


class Differs(AssertionError):
    """The model and the product do not agree."""


def _apart(product: Any, model: Any, path: str = "") -> str:
    """The first place at which two values differ, and both values there."""
    if isinstance(product, dict) and isinstance(model, dict) and product.keys() == model.keys():
        return next(
            _apart(product[name], model[name], f"{path}.{name}") for name in product if product[name] != model[name]
        )
    if isinstance(product, list | tuple) and isinstance(model, list | tuple) and len(product) == len(model):
        pairs = enumerate(zip(product, model, strict=True))
        return next(_apart(*pair, f"{path}[{index}]") for index, pair in pairs if pair[0] != pair[1])
    return f"  at:      {path}\n  product: {product}\n  model:   {model}"


def _same(number: int, what: str, product: Any, model: Any) -> None:
    if product != model:
        raise Differs(f"world {number}, {what}\n{_apart(product, model)}")


async def compare(box: Box, number: int) -> World:
    """Plays a world with both. Raises `Differs` at the first difference."""
    drawn = script(number)
    world, product = World(drawn["scenario"], drawn["start"]), Product(box, number)
    await product.open(drawn)
    for place, step in enumerate(drawn["steps"]):
        what = f"step {place}: {step}"
        if "send" in step:
            _same(number, what, await product.send(step["send"], step["body"]), world.send(step["body"]))
        elif "list" in step:
            _same(
                number, what, await product.listing(step["list"], step["to"]), world.listing(step["list"], step["to"])
            )
        elif "credit" in step:
            await product.top_up(step["credit"])
            world.top_up(step["credit"])
        else:
            world.advance(step["advance"])
            _same(number, what, await product.advance(step["advance"]), world.balance.left)
    world.deliver()
    messages, batches = _shown(world)
    seen = await product.messages()
    for message in world.messages:
        _same(number, f"message {message.name}: {message.request}", seen.get(message.name), messages[message.name])
    _same(number, "messages", sorted(seen), sorted(messages))
    for message in world.messages[:: max(1, len(world.messages) // 5)]:
        if (expected := codes(message)) is not None:
            _same(number, f"codes of {message.name}", await product.codes(message.name), expected)
    delivered = await product.batches()
    for place, (one, other) in enumerate(zip(delivered, batches, strict=False)):
        _same(number, f"webhook {place}", one, other)
    _same(number, "webhooks", len(delivered), len(batches))
    await product.close()
    return world
