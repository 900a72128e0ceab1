"""The decision about a typical and a big message beside that of `jsonschema-rs` alone, and a refusal with its text."""

from __future__ import annotations

from typing import Any

import orjson
from jsonschema_rs import Draft202012Validator, RegexOptions

from benchmarks.load import TYPICAL
from benchmarks.probes.timing import seconds, tell
from sendbox.contract import schemas
from sendbox.contract.validators import Contract


def main() -> None:
    """Measures and prints."""
    contract = Contract()

    def alone(name: str) -> Draft202012Validator:
        schema = {"$ref": f"#/$defs/{name}", "$defs": contract.definitions}
        return Draft202012Validator(schema, validate_formats=False, pattern_options=RegexOptions())

    one, many = (contract.checker(f"sending.json{schemas.LOCAL}{name}") for name in ("Message", "Messages"))
    one_alone, many_alone = alone("Message"), alone("Messages")
    typical: dict[str, Any] = orjson.loads(TYPICAL)
    big = [{**typical, "to": [{"phone_number": f"4207771234{n:02}"} for n in range(10)]} for _ in range(10)]
    wrong = {**typical, "flow": [{"sms": {"gateway": "hgh"}}]}
    assert one.is_valid(typical)
    assert many.is_valid(big)
    assert one.findings(wrong)
    assert one_alone.is_valid(typical)
    assert many_alone.is_valid(big)
    decided = seconds(
        {"typical": lambda: one.is_valid(typical), "typical alone": lambda: one_alone.is_valid(typical)}, 5_000
    )
    decided |= seconds({"big": lambda: many.is_valid(big), "big alone": lambda: many_alone.is_valid(big)}, 500)
    tell(decided | seconds({"refusal": lambda: one.findings(wrong)}, 200))


if __name__ == "__main__":
    main()
