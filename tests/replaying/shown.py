"""What control shows of a world, wherever it was made."""

from __future__ import annotations

from typing import Any, Final

import httpx

#: Parts that control answers in one piece. What belongs to the process is left out: outbox, checkpoints, whether
#: deliveries are pulled; and the file and line of an expectation, as a record holds the scenario as one text.
PARTS: Final = (
    "/account", "/advice", "/clock", "/codes", "/deliveries", "/digest", "/hook", "/messages", "/partner", "/pending",
    "/phones", "/verdict", "",
)  # fmt: skip
#: The most entries of a journal that one call answers.
PAGE: Final = 1000


def shown(client: httpx.Client, world: str) -> dict[str, Any]:
    """The parts of a world by the paths at which control shows them."""

    def ask(path: str, **query: str) -> Any:
        answer = client.get(f"/_sandbox/worlds/{world}{path}", params=query)
        assert answer.status_code == 200, f"GET {path} {query}: {answer.status_code} {answer.text[:500]}"
        return answer.json()

    def paged(path: str, field: str) -> list[Any]:
        found: list[Any] = []
        while True:
            after = str(found[-1]["n"]) if found else "-1"
            page = ask(path, after=after, limit=str(PAGE))[field]
            found += page
            if len(page) < PAGE:
                return found

    found = {path: ask(path) for path in PARTS}
    for name in ("deliveries", "checkpoints"):
        del found[""][name]
    verdict = found["/verdict"]
    for row in (*verdict["expectations"], *verdict["unused"], *verdict["warnings"]):
        del row["place"]
    found["/journal"] = paged("/journal", "entries")
    found["/requests"] = paged("/requests", "requests")
    for each in found["/phones"]["phones"]:
        found[f"/phones/{each['number']}"] = ask(f"/phones/{each['number']}")
    for each in found["/messages"]["messages"]:
        found[f"/messages/{each['message_id']}"] = ask(f"/messages/{each['message_id']}")
    return found


def differences(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """A line for each part that differs, with the first place in it; the journal comes first."""
    names = sorted({*one, *other}, key=lambda name: (name != "/journal", name))
    return [f"{name}: {_place(one.get(name), other.get(name))}" for name in names if one.get(name) != other.get(name)]


def _place(one: Any, other: Any, place: str = "$") -> str:
    """Where two values differ first, and how."""
    if isinstance(one, dict) and isinstance(other, dict):
        for name in [*one, *(name for name in other if name not in one)]:
            if name not in one or name not in other:
                return f"{place}.{name} is only in {'the first' if name in one else 'the second'}"
            if one[name] != other[name]:
                return _place(one[name], other[name], f"{place}.{name}")
    if isinstance(one, list) and isinstance(other, list):
        for number, (left, right) in enumerate(zip(one, other, strict=False)):
            if left != right:
                return _place(left, right, f"{place}[{number}]")
        return f"{place} has {len(one)} items, and {len(other)}"
    return f"{place}: {str(one)[:300]!r}, and {str(other)[:300]!r}"
