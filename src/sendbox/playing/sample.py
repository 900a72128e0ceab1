"""Traffic for scenarios that have none: a message for each rule, made so that the rule decides about it.

Every condition of a rule is turned into a value that matches it: a pattern into a text, a phone pattern into a number.
The rules of the default scenario are used only where a scenario has none of its own.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, TypeVar

from sendbox import data
from sendbox.engine.answer import JsonObject
from sendbox.engine.blueprint import Blueprint
from sendbox.engine.rules.conditions import several
from sendbox.engine.rules.rule import When
from sendbox.engine.texts import Pattern
from sendbox.engine.traffic import WORLD, Traffic
from sendbox.services.account.spec import AccountSpec
from sendbox.services.messaging.channels import ROWS, USUAL, Channel
from sendbox.services.messaging.model import LABELS
from sendbox.services.messaging.rules.conditions import Payload
from sendbox.services.messaging.rules.rules import Rule
from sendbox.services.operations import CALLS
from sendbox.services.verify.rules import RANDOM, VerifyRule

R = TypeVar("R", "Rule", VerifyRule)

#: Milliseconds between two samples.
GAP: Final = 10_000
#: The greatest number of samples, and of those for one rule that counts messages.
MAX_SAMPLES: Final = 40
REPEATED: Final = 5
#: Digits of a phone number.
DIGITS: Final = 12
_VARIABLE: Final = re.compile(r"\{\{\s*([^{}\s]+)\s*\}\}")
#: A text with a link that can be opened.
_LINKED: Final = "Sample https://acme.example/offer"
#: Texts of a message that a rule may ask for, with what stands for their wildcards.
_WORDS: Final = {"sender": "Acme", "tag": "x", **{row.name: "x" for row in LABELS}}
#: Operations that need nothing that was made before.
_JSON: Final = ("sendMessage", "sendPriorityMessage")


def sample(blueprint: Blueprint) -> tuple[Traffic, ...]:
    """Requests that demonstrate a scenario; none where no service of its language sends messages."""
    if "attempts" not in blueprint.compiled:
        return ()
    samples = _Samples(blueprint)
    for rule in _own_rules(blueprint.compiled["attempts"]):
        samples.rule(rule)
    for verify in _own_rules(blueprint.compiled["verify"], or_all=False):
        samples.verify(verify)
    for subkey in blueprint.compiled["account"].subkeys:
        samples.message(f"key {subkey.name}", "Sent with a sub-key", key=subkey.name)
    if not samples.made:
        samples.message(None, "Hello")
    return tuple(samples.made[:MAX_SAMPLES])


def _own_rules(rules: tuple[R, ...], *, or_all: bool = True) -> list[R]:
    """The rules that are not from the default scenario; with `or_all` those, where there are no others."""
    default = data.folder("scenarios") / "default.yaml"
    kept_rules = [rule for rule in rules if not _stands_in(rule.place, default)]
    return kept_rules or (list(rules) if or_all else [])


def _stands_in(place: str | None, file: Path) -> bool:
    return place is not None and Path(place.rpartition(":")[0]).resolve() == file.resolve()


class _Samples:
    """Collects samples; each has a phone of its own, where its rule allows it."""

    def __init__(self, blueprint: Blueprint) -> None:
        self.made: list[Traffic] = []
        self._account: AccountSpec = blueprint.compiled["account"]
        self._free = 0

    def rule(self, rule: Rule) -> None:
        """A message that the rule decides about, or as many as it counts."""
        when = rule.when
        key_pattern = _first_pattern(when, "key")
        key = None if key_pattern is None else self._key(key_pattern)
        if key_pattern is not None and key is None and not key_pattern.matches(WORLD):
            return
        operation = (when.words("operation") or ("sendMessage",))[0]
        if operation == "testTemplate":  # it needs a business account with a template
            return
        send = self._send(rule)
        times = max(several(when.nth), default=when.every or (REPEATED if rule.mix is not None else 1))
        phone = None
        for _ in range(min(times, REPEATED)):
            if phone is None or when.per != "phone":
                phone = self._phone(_first_pattern(when, "phone"))
            self._add(
                rule.name, operation, _request_value(operation, {**send, "to": [{"phone_number": phone}]}, phone), key
            )

    def _send(self, rule: Rule) -> JsonObject:
        """A message that matches a rule, without its recipient."""
        when = rule.when
        text = _first_pattern(when, "body")
        body = "Sample" if text is None else fill_pattern(text, "Sample")
        send: JsonObject = {"body": body}
        if "click" in rule.decides:
            send["body"] = body = body.replace("Sample", _LINKED) if text else _LINKED
            send["params"] = {"_url": {"type": "full"}}
        for name, word in _WORDS.items():
            if (pattern := _first_pattern(when, name)) is not None:
                send[name] = fill_pattern(pattern, word)
        if isinstance(payload := when.asked.get("payload"), Payload):
            send["payload"] = _payload(payload.expected)
        channel = (when.words("channel") or (USUAL,))[0]
        attempts = several(when.asked.get("attempt"))
        before = attempts[0] - 1 if attempts and isinstance(attempts[0], int) else 0
        if channel != USUAL or before:
            # goes on to the next step where it is not delivered
            given_up = {USUAL: {"body": body, "ttl": 5, "ttl_condition": "delivered"}}
            last = [self._step(USUAL, body)] if channel != USUAL else []
            send["flow"] = [*[given_up] * before, self._step(channel, body), *last]
        return send

    def message(self, title: str | None, body: str, key: str | None = None) -> None:
        """A message to a phone without a rule."""
        self._add(title, "sendMessage", {"body": body, "to": [{"phone_number": self._phone(None)}]}, key)

    def verify(self, rule: VerifyRule) -> None:
        """A session, and its right code where the rule sets it."""
        phone = self._phone(_first_pattern(rule.when, "phone"))
        name = f"session{len(self.made)}"
        self._add(name, "createValidation", {"phoneNumber": phone}, None)
        if rule.code is not None and rule.code != RANDOM:
            self._add(None, "verifyCode", {"code": rule.code}, None, (("token", f"${name}.token"),))

    def _add(
        self,
        name: str | None,
        operation: str,
        value: object,
        key: str | None,
        params: tuple[tuple[str, object], ...] = (),
    ) -> None:
        at = len(self.made) * GAP
        self.made.append(Traffic(at, True, operation, value, params, key, name))

    def _phone(self, pattern: Pattern | None) -> str:
        """A number that matches a pattern; without one, a number that is not magic."""
        self._free += 1
        if pattern is None:
            return f"420601{self._free:06}"
        if pattern.literal:
            return pattern.text
        text = pattern.text
        if "*" in text:  # the first star gets the missing digits
            others = len(text) - text.count("*")
            text = text.replace("*", "?" * max(DIGITS - others, 0), 1).replace("*", "")
        digits = f"{self._free:0{max(text.count('?'), 1)}}"[-max(text.count("?"), 1) :]
        free = iter(digits)
        return "".join(next(free) if char == "?" else char for char in text)

    def _key(self, pattern: Pattern) -> str | None:
        """The first sub-key that matches."""
        for subkey in self._account.subkeys:
            if pattern.matches(f"{WORLD}~{subkey.name}"):
                return subkey.name
        return None

    def _step(self, channel: str, body: str) -> JsonObject:
        """A step of a flow that can be sent."""
        row = ROWS[channel]
        step: JsonObject = {"body": body} if row.takes_body else self._template(row)
        if row.needs_sender:
            step["sender"] = self._sender(row)
        if channel != USUAL:  # which is the last
            step["ttl"] = 5
        return {channel: step}

    def _template(self, row: Channel) -> JsonObject:
        """The template of a step: one of the account that any text can fill."""
        for template in self._account.templates:
            components = {component["type"]: component for component in template["components"]}
            names = list(dict.fromkeys(_VARIABLE.findall(components.get("BODY", {}).get("text", ""))))
            if "HEADER" not in components and all(name.isdecimal() for name in names):
                use: JsonObject = {"template_name": template["name"], "language": template["language"]}
                if names:
                    use["params"] = ["1234"] * len(names)
                return use
        return dict(row.least)

    def _sender(self, row: Channel) -> str:
        """A sender of the account."""
        senders = self._account.senders
        choices = senders.get(row.family, ()) if isinstance(senders, dict) else ()
        return min(choices, default=row.least["sender"])


def _first_pattern(when: When, name: str) -> Pattern | None:
    """The first pattern of which a rule wants one, None if it wants none."""
    return next(iter(when.patterns(name)), None)


def fill_pattern(pattern: Pattern, word: str) -> str:
    """A text that matches a pattern: its first wildcard is `word`, the others are empty."""
    return pattern.text.replace("*", word, 1).replace("*", "")


def _payload(conditions: tuple[tuple[tuple[str, ...], object], ...]) -> JsonObject:
    payload: JsonObject = {}
    for path, values in conditions:
        expected = next(iter(several(values)), None)
        inner = payload
        for name in path[:-1]:
            inner = inner.setdefault(name, {})
        inner[path[-1]] = fill_pattern(expected, "x") if isinstance(expected, Pattern) else expected
    return payload


def _request_value(operation: str, send: JsonObject, phone: str) -> object:
    """A message in the form that an operation takes."""
    if operation in _JSON:
        return send
    if operation == "sendMessages":
        return [send]
    if operation == "createValidation":
        return {"phoneNumber": phone}
    assert CALLS[operation].part in ("form", "query")
    fields = {"to" if "Api" in operation else "number": phone, "message": send["body"]}
    return {**fields, "sender": send["sender"]} if "sender" in send else fields
