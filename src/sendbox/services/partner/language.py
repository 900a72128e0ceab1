"""Compiles `partner:` into what the core asks about reviews and signups, and the accounts that are there already."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, TypeVar

import orjson

from sendbox.engine.patterns import Pattern
from sendbox.engine.rules.rule import When
from sendbox.scenario.keys.timeline import Happening
from sendbox.scenario.lint.doubts import Doubts, nothing_like_it
from sendbox.scenario.model import Node, listed, nearest, plain, show
from sendbox.scenario.values import Reader, items, names_differ, text_of
from sendbox.scenario.vocabulary import Key, RuleList, Vocabulary
from sendbox.services.language import template_makes_sense
from sendbox.services.numbers.normal import normalize
from sendbox.services.partner.rules import BusinessSpec, NumberSpec, PartnerSpec, ReviewRule, SignupRule

T = TypeVar("T")


def compile_partner(node: Node | None, reader: Reader) -> PartnerSpec:
    """All of `partner:`, the defaults where nothing is said."""
    if node is None:
        return PartnerSpec()
    parts = {key: item.items() for key, item in node.entries().items()}
    for key in ("template_review", "signup"):
        names_differ(parts.get(key, []), reader)
    for item in parts.get("library", ()):
        template_makes_sense(item, reader)
    return PartnerSpec(
        accounts=_accounts(parts.get("accounts", []), reader),
        reviews=tuple(_review(item, reader) for item in parts.get("template_review", ())),
        signups=tuple(_signup(item, reader) for item in parts.get("signup", ())),
        library=tuple({"category": "UTILITY"} | plain(item) for item in parts.get("library", ())),
    )


def _accounts(nodes: list[Node], reader: Reader) -> tuple[BusinessSpec, ...]:
    """The accounts; an id and a number may stand once in all of them."""
    seen: set[tuple[str, str]] = set()

    def once(node: Node, what: str, value: str) -> str:
        if not node.cut and (what, value) in seen:
            reader.complain(node, "taken", f"{show(value)} is {what} of this scenario already")
        seen.add((what, value))
        return value

    accounts = []
    for node in nodes:
        fields = node.entries()
        numbers = []
        for item in items(node.get("numbers")):
            parts = item.entries()
            given = parts.get("phone_number_id")
            number = NumberSpec(
                phone_number=once(parts["phone_number"], "a business number", reader.number(parts["phone_number"])),
                id=None if given is None else once(given, "a Phone Number ID", str(given.value)),
                name=text_of(parts.get("name")),
            )
            numbers.append(_with(number, {"status": parts.get("status"), "quality": parts.get("quality")}))
        account = BusinessSpec(
            id=once(fields["waba_id"], "a business account", str(fields["waba_id"].value)),
            client_id=text_of(fields.get("client_id")),
            numbers=tuple(numbers),
        )
        accounts.append(_with(account, {"name": fields.get("name")}))
    return tuple(accounts)


def _review(node: Node, reader: Reader) -> ReviewRule:
    asked = node.get("when")
    when = {} if asked is None else asked.entries()
    after = node.get("after")
    rule = ReviewRule(
        _key(node),
        When(
            template=_pattern(when.get("template")),
            language=_pattern(when.get("language")),
            category=text_of(when.get("category")),
        ),
        after=None if after is None else reader.span(after),
        reason=text_of(node.get("reason")),
        name=text_of(node.get("name")),
    )
    return _with(rule, {"result": node.get("result")})


def _signup(node: Node, reader: Reader) -> SignupRule:
    asked = node.get("when")
    when = {} if asked is None else asked.entries()
    after = node.get("after")
    rule = SignupRule(
        _key(node),
        When(mode=text_of(when.get("mode")), client=_pattern(when.get("client"))),
        after=None if after is None else reader.span(after),
        reason=text_of(node.get("reason")),
        name=text_of(node.get("name")),
    )
    return _with(rule, {"result": node.get("result")})


def _key(node: Node) -> str:
    """What draws are keyed by: the rule's name, or else what it says."""
    return text_of(node.get("name")) or orjson.dumps(plain(node), option=orjson.OPT_SORT_KEYS).decode()


def _with(record: T, given: dict[str, Node | None]) -> T:
    """The record with the words that were given in place of its defaults."""
    words = {name: str(node.value) for name, node in given.items() if node is not None}
    return replace(record, **words)  # type: ignore[type-var] # records of the core, all of them dataclasses


def _pattern(node: Node | None) -> Pattern | None:
    return None if node is None else Pattern(str(node.value))


def _number(node: Node, what: dict[str, Any], reader: Reader) -> None:
    what["phone_number"] = reader.phones(node.entries()["phone_number"]).text
    if what.keys() == {"phone_number"} and not node.cut:
        reader.complain(node, "number", f"{show(what)} changes nothing; give it a status or a quality")


def _template_doubt(change: Node, doubts: Doubts) -> None:
    """Its name; a scenario with reviews is about templates that the client creates."""
    node = change.entries()["name"]
    known = [str(record["name"]) for record in doubts.blueprint.settled["account"].templates]
    defined = doubts.part("account")
    reviewed = doubts.blueprint.settled["partner"].reviews
    if (defined is not None and defined.cut) or reviewed or doubts.happens("account", "templates"):
        return
    if nothing_like_it(Pattern(str(node.value)), known):
        message = f"{show(node.value)} is no template of account.templates"
        doubts.warn(node, "template-unknown", _or_created(message, known), near=nearest(node.value, known))


def _number_doubt(change: Node, doubts: Doubts) -> None:
    """Its number; a scenario with signups is about numbers that clients bring."""
    node = change.entries()["phone_number"]
    text = str(node.value)
    country = doubts.country
    pattern = text if {"*", "?"} & set(text) else normalize(text, country) or text
    partner = doubts.blueprint.settled["partner"]
    defined = doubts.part("partner")
    if (defined is not None and defined.cut) or partner.signups:
        return
    known = [number.phone_number for account in partner.accounts for number in account.numbers]
    if nothing_like_it(Pattern(pattern, digits=True), known):
        message = f"{show(node.value)} is no business number of partner.accounts"
        doubts.warn(node, "number-unknown", _or_created(message, known), near=nearest(pattern, known))


def _or_created(message: str, known: list[str]) -> str:
    there = listed(known[:10]) or "none"
    return f"{message}; there are: {there}; nothing happens unless the client makes it before"


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
    happenings=(Happening("template", doubt=_template_doubt), Happening("number", _number, _number_doubt)),
)
