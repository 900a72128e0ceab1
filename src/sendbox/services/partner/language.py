"""Compiles `partner:` into rules of reviews and signups, and the accounts that exist from the start."""

from __future__ import annotations

from typing import Any, Final, TypeVar

import msgspec
from msgspec.structs import replace

from sendbox.engine.answer import JsonObject
from sendbox.engine.forms import Value, either, sequence, span, text, word
from sendbox.engine.rules.rule import When
from sendbox.engine.texts import Pattern
from sendbox.scenario.keys.rules import RuleForm
from sendbox.scenario.keys.timeline import Happening
from sendbox.scenario.keys.when import Conditions, pattern
from sendbox.scenario.lint.linter import Linter, nothing_like_it
from sendbox.scenario.model import Node, listed, nearest, plain, show
from sendbox.scenario.values import Reader, canonical, items, text_of, words
from sendbox.scenario.vocabulary import Key, Vocabulary
from sendbox.services.language import template_makes_sense
from sendbox.services.numbers.notation import normalize
from sendbox.services.partner.records import CATEGORIES, MODES
from sendbox.services.partner.rules import BusinessSpec, NumberSpec, PartnerSpec, ReviewRule, SignupRule

T = TypeVar("T", bound=msgspec.Struct)


def _make(values: dict[str, Any], _when: When, node: Node, _reader: Reader) -> tuple[str, dict[str, object]]:
    """The contents of a rule as its text, and what was read of it."""
    return canonical(plain(node)), values


def _words(description: str, legal: tuple[str, ...], says: str, plural: str, **rules: object) -> Value:
    """One of some words, or a list of them."""
    one = word(description, legal, says, **rules)
    several = sequence("Several of them; one is enough.", one, f"a list of {plural}", minItems=1)
    node = either(description, one, several, f"{says} or a list of {plural}").node
    return Value(node, lambda source, _: words(source))


def _reason(description: str) -> Value:
    return text(description, "a text", minLength=1, maxLength=1000)


REVIEW_RULES: Final = RuleForm(
    ("partner", "template_review"),
    ReviewRule,
    Conditions(
        "review",
        "a template",
        {
            "template": pattern("Its name."),
            "language": pattern("Its language code."),
            "category": _words("What it is for.", CATEGORIES, "a category", "categories", **{"x-assumed": "A43"}),
        },
        per=("template",),
    ),
    "A rule: which templates, and how their review goes.",
    {
        "after": span("How long the review takes; assume.template_review unless given."),
        "result": word(
            "How it ends; APPROVED unless given.",
            ("APPROVED", "REJECTED"),
            "a result of a review",
            default="APPROVED",
            **{"x-assumed": "A43"},
        ),
        "reason": _reason("Why; shown by control and in the journal."),
    },
    "How many reviews the rule may decide",
    "a review rule",
    _make,
)
SIGNUP_RULES: Final = RuleForm(
    ("partner", "signup"),
    SignupRule,
    Conditions(
        "signup",
        "a signup",
        {
            "client": pattern("The partner's own id of the client."),
            "mode": _words("How the client's number comes to it.", MODES, "a mode", "modes"),
        },
        per=("client",),
    ),
    "A rule: which signups, and how they end once the client has finished.",
    {
        "after": span("How long the provider takes to connect the account; no time unless given.", default=0),
        "result": word(
            "How it ends; completed unless given.",
            ("completed", "failed"),
            "a result of a signup",
            default="completed",
            **{"x-assumed": "A46"},
        ),
        "reason": _reason("Why it failed; shown to the client."),
    },
    "How many signups the rule may decide",
    "a signup rule",
    _make,
)


def compile_partner(node: Node | None, reader: Reader) -> PartnerSpec:
    """All of `partner:`, with defaults for the keys that are absent."""
    if node is None:
        return PartnerSpec()
    nodes = {key: item.items() for key, item in node.entries().items()}
    for item in nodes.get("library", ()):
        template_makes_sense(item, reader)
    return PartnerSpec(
        accounts=_accounts(nodes.get("accounts", []), reader),
        reviews=REVIEW_RULES.compile_list(node, reader),
        signups=SIGNUP_RULES.compile_list(node, reader),
        library=tuple({"category": "UTILITY"} | plain(item) for item in nodes.get("library", ())),
    )


def _accounts(nodes: list[Node], reader: Reader) -> tuple[BusinessSpec, ...]:
    """The accounts; each id and number may be used once among them."""
    taken: set[tuple[str, str]] = set()

    def once(node: Node, kind: str, value: str) -> str:
        if not node.incomplete and (kind, value) in taken:
            reader.add_problem(node, "taken", f"{show(value)} is {kind} of this scenario already")
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


def _with(record: T, nodes: dict[str, Node | None]) -> T:
    """The record with the words of the scenario in place of its defaults."""
    texts = {name: str(node.value) for name, node in nodes.items() if node is not None}
    return replace(record, **texts)


def _number(node: Node, change: JsonObject, reader: Reader) -> None:
    change["phone_number"] = reader.phones(node.entries()["phone_number"]).text
    if change.keys() == {"phone_number"} and not node.incomplete:
        reader.add_problem(node, "number", f"{show(change)} changes nothing; give it a status or a quality")


def _template_lint(change: Node, linter: Linter) -> None:
    """Warns of an unknown name; a scenario with reviews is about templates that the client creates."""
    node = change.entries()["name"]
    names = [str(record["name"]) for record in linter.blueprint.compiled["account"].templates]
    defined = linter.part("account")
    reviewed = linter.blueprint.compiled["partner"].reviews
    if (defined is not None and defined.incomplete) or reviewed or linter.happens("account", "templates"):
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
    if (defined is not None and defined.incomplete) or partner.signups:
        return
    numbers = [number.phone_number for account in partner.accounts for number in account.numbers]
    if nothing_like_it(Pattern(pattern, digits=True), numbers):
        message = f"{show(node.value)} is not a business number of partner.accounts"
        linter.warn(node, "number-unknown", _or_created(message, numbers), near=nearest(pattern, numbers))


def _or_created(message: str, names: list[str]) -> str:
    known_names = listed(names[:10]) or "none"
    return f"{message}; there are: {known_names}; nothing happens unless the client creates it first"


PARTNER: Final = Vocabulary(
    keys=(Key("partner", compile_partner, late=True, lists=(REVIEW_RULES.list, SIGNUP_RULES.list), times=()),),
    happenings=(Happening("template", lint=_template_lint), Happening("number", _number, _number_lint)),
)
