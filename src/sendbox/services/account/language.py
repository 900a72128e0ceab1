"""Compiles `account:`, and changes of an account, into the fields of `AccountSpec`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from sendbox.engine.answer import JsonMapping, JsonObject
from sendbox.engine.texts import PARENT
from sendbox.engine.traffic import parse_reference
from sendbox.scenario.keys.timeline import Happening
from sendbox.scenario.lint.linter import Linter
from sendbox.scenario.model import Node, listed, nearest, plain, show
from sendbox.scenario.values import Reader
from sendbox.scenario.vocabulary import Key, Vocabulary
from sendbox.services.account.spec import AccountSpec, SubKeySpec
from sendbox.services.language import compile_sender, template_makes_sense
from sendbox.services.ports import SenderForm

#: A code of a language, with that of a country or without.
_LANGUAGE: Final = re.compile(r"[a-z]{2,3}(_[A-Z]{2})?")


def compile_account(node: Node | None, reader: Reader, forms: Mapping[str, SenderForm]) -> AccountSpec:
    """The account a world starts with. The credit that the loaded file itself gives must have an effect."""
    if node is None:
        return AccountSpec()
    currency = currency_of(node)
    return AccountSpec(**{"currency": currency, **changes(node, reader, currency, reader.file, forms)})


def changes(node: Node, reader: Reader, currency: str, root_file: str, forms: Mapping[str, SenderForm]) -> JsonObject:
    """The fields of `AccountSpec` that a mapping names.

    `currency` is the one in which credit counts, `forms` what the senders of each family of channels are.
    """
    fields: JsonObject = {}
    for key, item in node.entries().items():
        name, read = _READ.get(key, (key, _as_it_is))
        fields[name] = read(item, reader)
    if (senders := node.get("senders")) is not None:
        fields["senders"] = _senders(senders, reader, forms)
    if (credit := node.get("credit")) is not None:
        fields["credit"] = _credit(credit, currency, reader, root_file)
    return fields


def currency_of(node: Node) -> str:
    """The account's currency: as stated, else the only one in which it has credit, else EUR."""
    stated = node.get("currency")
    if stated is not None:
        return str(stated.value)
    credit = node.get("credit")
    return "CZK" if credit is not None and list(credit.entries()) == ["czk"] else "EUR"


def _credit(node: Node, currency: str, reader: Reader, root_file: str) -> int:
    """Millionths. Credit in the other currency has no effect, so a file that gives nothing else is probably wrong."""
    amounts = node.entries()
    own = amounts.get(currency.lower())
    written = {key: amount for key, amount in amounts.items() if amount.source.file == root_file} or amounts
    if currency.lower() not in written:
        credit = {key: amount.value for key, amount in written.items()}
        message = f"{show(credit)} has no credit in {currency}, the currency of the account"
        reader.add_problem(node, "credit", f'{message}; give {currency.lower()}, or give another "currency"')
    return 0 if own is None else reader.money(own)


def _as_it_is(node: Node, _reader: Reader) -> object:
    return node.value


def _callback(node: Node, _reader: Reader) -> object:
    # null, unlike an absent key, switches events off: inside that is "" (A68)
    return "" if node.value is None else node.value


def _numbers(node: Node, reader: Reader) -> frozenset[str]:
    return frozenset(reader.number(item) for item in node.items())


def _senders(node: Node, reader: Reader, forms: Mapping[str, SenderForm]) -> object:
    if not isinstance(node.value, dict):
        return node.value
    return {
        family: frozenset(compile_sender(item, family, forms, reader) for item in senders.items())
        for family, senders in node.value.items()
    }


def _texts(node: Node, _reader: Reader) -> frozenset[str]:
    return frozenset(str(item.value) for item in node.items())


def _stop_words(node: Node, _reader: Reader) -> frozenset[str]:
    # compared with the whole text in capitals (`services/messaging/phones.py`)
    return frozenset(str(item.value).strip().upper() for item in node.items())


def _subkeys(node: Node, reader: Reader) -> tuple[SubKeySpec, ...]:
    """Sub-keys; one of a file that extends another replaces that of the same name."""
    subkeys: dict[str, tuple[Node, SubKeySpec]] = {}
    for item in node.items():
        record = item.entries()
        name = str(record["name"].value)
        earlier = subkeys.get(name)
        if earlier is not None and earlier[0].source is item.source and not record["name"].incomplete:
            message = f"{show(name)} is a sub-key of this account already"
            reader.add_problem(record["name"], "subkey", message)
        shared = record.get("shared")
        if shared is not None and shared.value:
            for only in ("credit", "currency"):
                if only in record:
                    message = f"{show(name)} shares the credit of the account, so it has no {only} of its own"
                    reader.add_problem(record[only], "subkey", message)
        fields: JsonObject = {key: value.value for key, value in record.items() if key not in ("name", "credit")}
        if "credit" in record:
            fields["credit"] = reader.money(record["credit"])
        subkeys.setdefault(name, (item, SubKeySpec(name, **fields)))
    return tuple(subkey for _, subkey in subkeys.values())


def _templates(node: Node, reader: Reader) -> tuple[JsonObject, ...]:
    """Records as in §2.5. One of a file that extends another replaces that of the same name and language."""
    templates: dict[tuple[object, object], Node] = {}
    for item in node.items():
        record = item.entries()
        key = (record["name"].value, record["language"].value)
        first = templates.setdefault(key, item)
        if first is not item:
            if first.source is item.source and not item.incomplete:
                message = f"{show(key[0])} ({key[1]}) is a template of this account already"
                reader.add_problem(record["name"], "template", message)
            continue
        template_makes_sense(item, reader)
    return tuple({"category": "UTILITY", "status": "APPROVED"} | plain(item) for item in templates.values())


_READ: Final[dict[str, tuple[str, Callable[[Node, Reader], object]]]] = {
    "country": ("country", lambda node, reader: reader.country_code(node)),
    "default_callback_url": ("default_callback_url", _callback),
    "verificationSecret": ("verification_secret", _as_it_is),
    "numbers": ("numbers", _numbers),
    "domains": ("domains", _texts),
    "templates": ("templates", _templates),
    "optout": ("optout", _numbers),
    "blacklist": ("blacklist", _numbers),
    "stop_words": ("stop_words", _stop_words),
    "subkeys": ("subkeys", _subkeys),
}


def _patch(node: Node, reader: Reader, current: JsonMapping, forms: Mapping[str, SenderForm]) -> JsonObject:
    """Changes of an account: `current` has its currency."""
    if (country := node.get("country")) is not None:
        reader.country = str(country.value)
    return _changed(node, reader, str(current["currency"]), forms)


def _happening(node: Node, _what: JsonObject, reader: Reader, forms: Mapping[str, SenderForm]) -> JsonObject:
    account = None if reader.root is None else reader.root.get("account")
    return _changed(node, reader, "EUR" if account is None else currency_of(account), forms)


def _changed(node: Node, reader: Reader, currency: str, forms: Mapping[str, SenderForm]) -> JsonObject:
    stated = node.get("currency")
    return changes(node, reader, currency if stated is None else str(stated.value), node.source.file, forms)


def _languages(linter: Linter) -> None:
    """Templates in a language that is written as a word."""
    for _, item in linter.entries("account", "templates"):
        language = item.get("language")
        if language is not None and not _LANGUAGE.fullmatch(str(language.value)):
            message = f"{show(language.value)} is not a language code such as en or pt_BR; it is kept as it is"
            linter.warn(language, "language", message)


def _lint(linter: Linter) -> None:
    """Calls with sub-keys that do not exist."""
    subkeys = [subkey.name for subkey in linter.blueprint.compiled["account"].subkeys]
    if any(entry.operation == "addSubKey" for entry in linter.blueprint.traffic):
        return
    for _, item in linter.entries("traffic"):
        request = item.get("request")
        key = None if request is None else request.get("key")
        if key is not None and parse_reference(key.value) is None and key.value not in (*subkeys, PARENT):
            message = f"{show(key.value)} is not a sub-key of account.subkeys; there are: {listed(subkeys) or 'none'}"
            linter.warn(key, "key-unknown", message, near=nearest(key.value, subkeys))


def account_vocabulary(forms: Mapping[str, SenderForm]) -> Vocabulary:
    """All that the account brings to the language; `forms` says what the senders of each family of channels are."""
    return Vocabulary(
        keys=(Key("account", partial(compile_account, forms=forms), patch=partial(_patch, forms=forms)),),
        happenings=(Happening("account", partial(_happening, forms=forms)),),
        lints=(_lint, _languages),
    )
