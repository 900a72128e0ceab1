"""What clients really send: requests of `POST /v2/message` drawn from a seed, in the shares of `KINDS`.

Phones, texts, tags and payloads differ in every request, and numbers are written in the ways that are legal (A14).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any, Final

_NAMES: Final = ("Anna", "Petr", "Zoë", "Jiří", "Marie", "Lukáš", "Eva", "Tomáš", "Hana", "Karel")
_TAGS: Final = ("order", "parcel", "login", "invoice", "visit")


def _phone(draw: Random) -> str:
    """A number in one of five ways: with or without the calling code, a plus, zeros and blanks."""
    digits = f"777{draw.randrange(10**6):06}"
    blanks = f"{digits[:3]} {digits[3:6]} {digits[6:]}"
    return draw.choice((f"420{digits}", f"+420{digits}", f"00420{digits}", digits, f"+420 {blanks}"))


def _to(draw: Random, count: int) -> list[dict[str, str]]:
    return [{"phone_number": _phone(draw)} for _ in range(count)]


def _text(draw: Random) -> dict[str, Any]:
    """One recipient, and a text with a name and a number of its own."""
    body = f"Hello {draw.choice(_NAMES)}, your order {draw.randrange(10**8)} is on its way and comes tomorrow."
    return {"body": body, "to": _to(draw, 1), "tag": f"{draw.choice(_TAGS)}-{draw.randrange(50)}"}


def _code(draw: Random) -> dict[str, Any]:
    """A code."""
    return {"body": f"{draw.randrange(10**6):06} is your code.", "to": _to(draw, 1), "tag": "transactional"}


def _flow(draw: Random) -> dict[str, Any]:
    """Two steps with buttons, a link, a payload and a callback, to three recipients."""
    order = draw.randrange(10**8)
    steps = [
        {
            "richmsg": {
                "sender": "Acme",
                "body": f"{draw.choice(_NAMES)}, order {order} is ready. See https://shop.example/orders/{order}",
                "ttl": draw.choice((2, 5, 10)),
                "buttons": [{"title": "Open the order", "url": f"https://shop.example/orders/{order}"}],
            }
        },
        {"sms": {"sender": "Acme", "body": f"Order {order} is ready.", "type": "utf", "ttl": 60}},
    ]
    return {
        "body": f"Order {order} is ready.",
        "to": _to(draw, 3),
        "tag": f"{draw.choice(_TAGS)}-{draw.randrange(50)}",
        "callback": f"http://127.0.0.1:9/hooks/delivery?tenant={draw.randrange(20)}",
        "payload": {"order": order, "tenant": draw.randrange(20), "trace": f"{draw.randrange(2**64):016x}"},
        "flow": steps,
    }


def _many(draw: Random) -> dict[str, Any]:
    """Ten recipients."""
    return {"body": f"News of {draw.choice(_NAMES)}, number {draw.randrange(10**6)}.", "to": _to(draw, 10)}


#: How many of a hundred requests are of each kind.
KINDS: Final[tuple[tuple[int, Callable[[Random], dict[str, Any]]], ...]] = (
    (45, _text),
    (25, _code),
    (20, _flow),
    (10, _many),
)


def bodies(seed: int, count: int, *, callbacks: bool = True) -> list[str]:
    """So many bodies; equal seeds give equal ones."""
    draw = Random(seed)
    shares, kinds = zip(*KINDS, strict=True)
    messages = [kind(draw) for kind in draw.choices(kinds, shares, k=count)]
    if not callbacks:
        messages = [{name: value for name, value in message.items() if name != "callback"} for message in messages]
    return [json.dumps(message, ensure_ascii=False) for message in messages]
