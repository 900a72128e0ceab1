"""`rate_limit`: calls beyond a rate are refused."""

from __future__ import annotations

from typing import ClassVar, Final

from sendbox.engine.answer import JsonObject
from sendbox.engine.durations import Rate, show
from sendbox.engine.faults.fault import ApiFault, Error
from sendbox.engine.forms import Value, ValueNode, ValueReader, either, mapping, positive, text, window, word

#: What a rule always says otherwise.
_NONE: Final = Rate(0, 0)
_NODE: Final = either(
    "More calls than that are answered with 429 and Retry-After, by the world's clock.",
    text("Short form, such as 10/s.", "a rate such as 10/s or 5/10m", "rate", "10/s", "5/10m", minLength=1),
    mapping(
        "rate limit",
        "Long form.",
        {
            "max": positive("How many calls."),
            "within": window("In how much time."),
            "per": word(
                "What has a limit of its own; each API key unless given.",
                ("key", "phone", "world"),
                "what has a limit of its own",
            ),
        },
        "a rate such as {max: 5, within: 1h, per: key}",
        required=["max", "within"],
    ),
    says="a rate such as 10/s, or {max: 5, within: 1h, per: key}",
).node


def _limit(source: ValueNode, reader: ValueReader) -> dict[str, object]:
    per = source.get("per")
    return {"rate": reader.rate(source), **({} if per is None else {"per": per.value})}


class RateLimit(ApiFault, frozen=True):
    """`per` says what has a limit of its own."""

    rate: Rate = _NONE
    per: str = "key"

    kind: ClassVar = "rate_limit"
    bare: ClassVar = False
    effective: ClassVar = False
    lenient: ClassVar = True
    value: ClassVar = Value(_NODE, _limit)
    examples: ClassVar = {
        "{rate_limit: 2/1m}": "429 of that interface, with `Retry-After` in seconds, for every call over the limit",
        "{rate_limit: {max: 100, within: 1m, per: phone}}": "the same, with a limit for each phone",
    }

    def replacement(self, _body: bytes, wait: int) -> Error:
        return Error(429, headers=(("Retry-After", str(-(-wait // 1000))),))

    def shown(self, _time: int) -> JsonObject:
        return {self.kind: f"{self.rate.count}/{show(self.rate.within)}"}
