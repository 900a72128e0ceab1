"""Compiles scenarios into blueprints, and single rules and changes of an account for control."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from sendbox.core.assume import Timing
from sendbox.core.blueprint import Blueprint, PhoneSpec, TimelineEntry
from sendbox.core.codes import VerifyRule
from sendbox.core.rules import Rule
from sendbox.scenario import library, lint, shape
from sendbox.scenario.account import changes, compile_account
from sendbox.scenario.assume import compile_assume
from sendbox.scenario.attempts import compile_rule as _rule
from sendbox.scenario.attempts import compile_rules
from sendbox.scenario.model import Node, Problem, ScenarioError, Source, in_order, plain, problem, show
from sendbox.scenario.partner import compile_partner
from sendbox.scenario.read import Given, read
from sendbox.scenario.values import Reader
from sendbox.scenario.verify import compile_limits, compile_verify_rules
from sendbox.scenario.verify import compile_verify_rule as _verify_rule


def load(source: Given, *, name: str | None = None, paths: bool = True) -> Blueprint:
    """The blueprint of a scenario: a name of the library, a path, YAML text, or an object as JSON gives it.

    `name` is what messages call a text or object. With `paths` False no file but the library's is read, as for a
    scenario that comes over the network. Raises `ScenarioError` with every problem. A scenario of the library is
    compiled once in a process.
    """
    if isinstance(source, str) and source in library.names():
        return _library(source)
    return _load(source, name, paths=paths)


def check(source: Given, *, name: str | None = None, paths: bool = True) -> list[Problem]:
    """Every problem of a scenario, those of shape and those of meaning, by file and place; empty when it is fine."""
    return _compile(source, name, paths=paths)[1]


def compile_rule(rule: Mapping[str, Any], *, country: str = "420", timing: Timing | None = None) -> Rule:
    """One rule of `attempts` as control takes it (`in` may say so). Raises `ScenarioError`; places are paths.

    `country` and `timing` are the world's: the prefix of national numbers, and the times a path leaves out.
    """
    node, problems = _from_object(rule)
    into = node.entries().pop("in", None)
    if into is not None and into.value != "attempts":
        problems.append(_not_a_list(into))
    problems += shape.check(node, "rule")
    reader = Reader(country)
    compiled = _rule(node, reader, timing or Timing())
    problems += reader.problems
    if problems:
        raise ScenarioError(in_order(problems))
    return replace(compiled, place=None)


def compile_verify_rule(rule: Mapping[str, Any], *, country: str = "420") -> VerifyRule:
    """One rule of `verify: rules` as control takes it. Raises `ScenarioError`; places are paths."""
    node, problems = _from_object(rule)
    problems += shape.check(node, "verifyRule")
    reader = Reader(country)
    compiled = _verify_rule(node, reader)
    problems += reader.problems
    if problems:
        raise ScenarioError(in_order(problems))
    return replace(compiled, place=None)


def compile_account_patch(patch: Mapping[str, Any], *, currency: str = "EUR", country: str = "420") -> dict[str, Any]:
    """The changes of an account, by the names of `AccountSpec`: credit in millionths, lists normalized.

    Only what the patch names is there. Raises `ScenarioError`; places are paths.
    """
    node, problems = _from_object(patch)
    problems += shape.check(node, "account")
    stated = node.get("country")
    reader = Reader(country if stated is None else str(stated.value))
    given = node.get("currency")
    found = changes(node, reader, currency if given is None else str(given.value), node.source.file)
    problems += reader.problems
    if problems:
        raise ScenarioError(in_order(problems))
    return found


@functools.cache
def _library(name: str) -> Blueprint:
    return _load(name, None, paths=True)


def _load(source: Given, name: str | None, *, paths: bool) -> Blueprint:
    blueprint, problems = _compile(source, name, paths=paths)
    if problems or blueprint is None:
        raise ScenarioError(problems)
    return blueprint


def _compile(source: Given, name: str | None, *, paths: bool) -> tuple[Blueprint | None, list[Problem]]:
    node, problems, origin = read(source, name=name, paths=paths)
    if node is None:
        return None, in_order(problems)
    country = (node.get("assume") or node).get("country") or (node.get("account") or node).get("country")
    reader = Reader("420" if country is None else str(country.value))
    blueprint = _blueprint(node, reader, name, origin)
    return blueprint, in_order([*problems, *reader.problems], origin.file)


def _blueprint(node: Node, reader: Reader, name: str | None, origin: Source) -> Blueprint:
    assume = compile_assume(node.get("assume"), reader)
    clock = (node.get("clock") or Node({}, origin, "$")).entries()
    start, rate, mode = clock.get("start"), clock.get("rate"), clock.get("mode")
    account = node.get("account")
    title, seed, digest = node.get("name"), node.get("seed"), node.get("digest")
    ignored = None if digest is None else digest.get("ignore")
    verify = node.get("verify") or Node({}, origin, "$")
    limits = verify.get("limits")
    if limits is not None:
        assume = replace(assume, verify_limits=compile_limits(limits, reader, assume.verify_limits))
    return Blueprint(
        name=str(title.value) if title is not None else name or Path(origin.file).stem,
        seed=0 if seed is None else seed.value,  # type: ignore[arg-type] # an integer or text, by its shape
        mode=None if mode is None else mode.value,  # type: ignore[arg-type] # one of the three, by its shape
        start=None if start is None or start.value is None else reader.instant(start),
        rate=1.0 if rate is None else float(rate.value),  # type: ignore[arg-type] # a number, by its shape
        account=compile_account(account, reader, origin.file),
        phones=_phones(node.get("phones"), reader),
        attempts=compile_rules(_items(node.get("attempts")), reader, assume.timing),
        timeline=tuple(_happening(item, reader) for item in _items(node.get("timeline"))),
        assume=assume,
        partner=compile_partner(node.get("partner"), reader),
        digest_ignore=() if ignored is None else tuple(dict.fromkeys(str(item.value) for item in ignored.items())),
        verify=compile_verify_rules(_items(verify.get("rules")), reader),
        source={key: plain(value) for key, value in node.entries().items() if key != "extends"},
    )


def _items(node: Node | None) -> list[Node]:
    return [] if node is None else node.items()


def _phones(node: Node | None, reader: Reader) -> tuple[PhoneSpec, ...]:
    items = _items(node)
    lint.names_differ(items, reader)
    return tuple(_phone(item, reader) for item in items)


def _phone(node: Node, reader: Reader) -> PhoneSpec:
    channels, conversation, offline = node.get("channels"), node.get("conversation"), node.get("offline")
    return PhoneSpec(
        number=reader.phones(node.entries()["number"]),
        channels=None if channels is None else frozenset(str(item.value) for item in channels.items()),
        conversation=conversation is not None and conversation.value == "open",
        offline=offline is not None and offline.value is True,
    )


def _happening(node: Node, reader: Reader) -> TimelineEntry:
    parts = node.entries()
    at, relative = reader.moment(parts["at"])
    kind = next(kind for kind in ("inbound", "template", "number") if kind in parts)
    others = [key for key in parts if key not in ("at", kind)]
    if others:
        message = f"{show(others[0])} stands beside {show(kind)}; one thing happens in an entry"
        reader.complain(node, "happening", message, key=others[0])
    inbound = parts[kind].entries()
    what: dict[str, Any] = {key: item.value for key, item in inbound.items()}
    if kind == "number":
        what["phone_number"] = reader.phones(inbound["phone_number"]).text
        if what.keys() == {"phone_number"} and not parts[kind].cut:
            reader.complain(parts[kind], "number", f"{show(what)} changes nothing; give it a status or a quality")
    if kind != "inbound":
        return TimelineEntry(at, relative, kind, what, node.place)
    what["from"] = reader.number(inbound["from"])
    if "to" in inbound:
        what["to"] = reader.sender(inbound["to"], str(what["channel"]))
    return TimelineEntry(at, relative, "inbound", what, node.place)


def _from_object(value: Mapping[str, Any]) -> tuple[Node, list[Problem]]:
    from sendbox.scenario import parse

    return parse.from_object(value, Source("rule"))


def _not_a_list(node: Node) -> Problem:
    if node.value in ("api", "webhooks"):
        message = f"{show(node.value)} belongs to the scenario language but is not built yet in this version"
        return problem(node, "not-built", message)
    return problem(node, "in", f"{show(plain(node))} is not a list of rules; legal: attempts")
