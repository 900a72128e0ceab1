"""Compiles `partner:` into rules of reviews and signups, and the accounts that exist from the start."""

from __future__ import annotations

from typing import Any, Final, TypeVar

import orjson
from msgspec.structs import replace

from sendbox.engine.texts import Pattern
from sendbox.scenario.keys.timeline import Happening
from sendbox.scenario.keys.when import Asks, compile_when, patterns
from sendbox.scenario.lint.linter import Linter, nothing_like_it
from sendbox.scenario.model import Node, listed, nearest, plain, show
from sendbox.scenario.values import Reader, items, names_differ, text_of, whole, words
from sendbox.scenario.vocabulary import Key, RuleList, Vocabulary
from sendbox.services.language import template_makes_sense
from sendbox.services.numbers.normal import normalize
from sendbox.services.partner.rules import BusinessSpec, NumberSpec, PartnerSpec, ReviewRule, SignupRule

T = TypeVar("T")
R = TypeVar("R", ReviewRule, SignupRule)


def compile_partner(node: Node | None, reader: Reader) -> PartnerSpec:
    """All of `partner:`, with defaults for the keys that are absent."""
    if node is None:
        return PartnerSpec()
    nodes = {key: item.items() for key, item in node.entries().items()}
    for key in ("template_review", "signup"):
        names_differ(nodes.get(key, []), reader)
    for item in nodes.get("library", ()):
        template_makes_sense(item, reader)
    return PartnerSpec(
        accounts=_accounts(nodes.get("accounts", []), reader),
        reviews=tuple(_rule(ReviewRule, item, reader, _template) for item in nodes.get("template_review", ())),
        signups=tuple(_rule(SignupRule, item, reader, _client) for item in nodes.get("signup", ())),
        library=tuple({"category": "UTILITY"} | plain(item) for item in nodes.get("library", ())),
    )


def _accounts(nodes: list[Node], reader: Reader) -> tuple[BusinessSpec, ...]:
    """The accounts; each id and number may be used once among them."""
    taken: set[tuple[str, str]] = set()

    def once(node: Node, kind: str, value: str) -> str:
        if not node.cut and (kind, value) in taken:
            reader.complain(node, "taken", f"{show(value)} is {kind} of this scenario already")
        taken.add((kind, value))
        return value

    accounts = []
    for node in nodes:
        fields = node.entries()
        numbers = []
        for item in items(node.get("numbers")):
            entries = item.entries()
            number_id = entries.get("phone_number_id")
            number = NumberSpec(
                phone_number=once(entries["phone_number"], "a business number", reader.number(entries["phone_number"])),
                id=None if number_id is None else once(number_id, "a Phone Number ID", str(number_id.value)),
                name=text_of(entries.get("name")),
            )
            numbers.append(_with(number, {"status": entries.get("status"), "quality": entries.get("quality")}))
        account = BusinessSpec(
            id=once(fields["waba_id"], "a business account", str(fields["waba_id"].value)),
            client_id=text_of(fields.get("client_id")),
            numbers=tuple(numbers),
        )
        accounts.append(_with(account, {"name": fields.get("name")}))
    return tuple(accounts)


def _template(when: Node, reader: Reader) -> dict[str, Any]:
    return {**patterns(when, reader, "template", "language"), "category": words(when.get("category"))}


def _client(when: Node, reader: Reader) -> dict[str, Any]:
    return {**patterns(when, reader, "client"), "mode": words(when.get("mode"))}


def _rule(kind: type[R], node: Node, reader: Reader, asks: Asks) -> R:
    """A rule of reviews or signups."""
    after, times = node.get("after"), node.get("times")
    rule = kind(
        key=_key(node),
        when=compile_when(node, reader, asks),
        after=None if after is None else reader.span(after),
        times=None if times is None else whole(times),
        reason=text_of(node.get("reason")),
        name=text_of(node.get("name")),
        place=node.place,
    )
    return _with(rule, {"result": node.get("result")})


def _key(node: Node) -> str:
    """The key of draws: the rule's name, or else its contents."""
    return text_of(node.get("name")) or orjson.dumps(plain(node), option=orjson.OPT_SORT_KEYS).decode()


def _with(record: T, nodes: dict[str, Node | None]) -> T:
    """The record with the words of the scenario in place of its defaults."""
    texts = {name: str(node.value) for name, node in nodes.items() if node is not None}
    return replace(record, **texts)  # type: ignore[type-var] # all records are dataclasses


def _number(node: Node, change: dict[str, Any], reader: Reader) -> None:
    change["phone_number"] = reader.phones(node.entries()["phone_number"]).text
    if change.keys() == {"phone_number"} and not node.cut:
        reader.complain(node, "number", f"{show(change)} changes nothing; give it a status or a quality")


def _template_lint(change: Node, linter: Linter) -> None:
    """Warns of an unknown name; a scenario with reviews is about templates that the client creates."""
    node = change.entries()["name"]
    names = [str(record["name"]) for record in linter.blueprint.compiled["account"].templates]
    defined = linter.part("account")
    reviewed = linter.blueprint.compiled["partner"].reviews
    if (defined is not None and defined.cut) or reviewed or linter.happens("account", "templates"):
        return
    if nothing_like_it(Pattern(str(node.value)), names):
        message = f"{show(node.value)} is not a template of account.templates"
        linter.warn(node, "template-unknown", _or_created(message, names), near=nearest(node.value, names))


def _number_lint(change: Node, linter: Linter) -> None:
    """Warns of an unknown number; a scenario with signups is about numbers that clients bring."""
    node = change.entries()["phone_number"]
    text = str(node.value)
    country = linter.country
    pattern = text if {"*", "?"} & set(text) else normalize(text, country) or text
    partner = linter.blueprint.compiled["partner"]
    defined = linter.part("partner")
    if (defined is not None and defined.cut) or partner.signups:
        return
    numbers = [number.phone_number for account in partner.accounts for number in account.numbers]
    if nothing_like_it(Pattern(pattern, digits=True), numbers):
        message = f"{show(node.value)} is not a business number of partner.accounts"
        linter.warn(node, "number-unknown", _or_created(message, numbers), near=nearest(pattern, numbers))


def _or_created(message: str, known: list[str]) -> str:
    known_names = listed(known[:10]) or "none"
    return f"{message}; there are: {known_names}; nothing happens unless the client creates it first"


PARTNER: Final = Vocabulary(
    keys=(
        Key(
            "partner",
            compile_partner,
            late=True,
            lists=(
                RuleList(
                    ("partner", "template_review"),
                    ("template", "language", "category"),
                    extra=("name", "after", "result", "reason"),
                ),
                RuleList(("partner", "signup"), ("client", "mode"), extra=("name", "after", "result", "reason")),
            ),
            times=(),
        ),
    ),
    happenings=(Happening("template", lint=_template_lint), Happening("number", _number, _number_lint)),
)
