"""Compiles scenarios into blueprints, and single rules and changes of an account for control."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from sendbox.engine.delivery.rules import WebhookRule
from sendbox.engine.faults.calls import ApiRule
from sendbox.engine.rules.book import R
from sendbox.scenario import library, shape
from sendbox.scenario import validate as lint
from sendbox.scenario.keys.api import compile_api_rule as _api_rule
from sendbox.scenario.keys.api import compile_api_rules
from sendbox.scenario.keys.assume import compile_assume
from sendbox.scenario.keys.expect import compile_expectations
from sendbox.scenario.keys.texts import LOCALE
from sendbox.scenario.keys.timeline import compile_timeline
from sendbox.scenario.keys.traffic import compile_traffic
from sendbox.scenario.keys.webhooks import compile_webhook_rule as _webhook_rule
from sendbox.scenario.keys.webhooks import compile_webhooks
from sendbox.scenario.model import Node, Problem, ScenarioError, Source, errors, in_order
from sendbox.scenario.read import Given, read
from sendbox.scenario.values import Reader, items
from sendbox.scenario.write import standalone
from sendbox.services.account.language import changes, compile_account
from sendbox.services.assume import Timing
from sendbox.services.blueprint import Blueprint, PhoneSpec
from sendbox.services.messaging.language import compile_rule as _rule
from sendbox.services.messaging.language import compile_rules
from sendbox.services.messaging.rules.rules import Rule
from sendbox.services.partner.language import compile_partner
from sendbox.services.verify.language import compile_limits, compile_verify_rules
from sendbox.services.verify.language import compile_verify_rule as _verify_rule
from sendbox.services.verify.rules import VerifyRule


def load(
    source: Given, *, name: str | None = None, paths: bool = True, env: Mapping[str, str] | None = None
) -> Blueprint:
    """The blueprint of a scenario: a name of the library, a path, YAML text, or an object as JSON gives it.

    Or of a list of them, the later over the earlier. `name` is what messages call a text or object, `env` what
    `${NAME}` asks. With `paths` False no file but the library's is read, and no environment, as for a
    scenario that comes over the network. Raises `ScenarioError` with every problem. A scenario of the library is
    compiled once in a process.
    """
    if isinstance(source, str) and source in library.names():
        return _library(source)
    return _load(source, name, paths=paths, env=env)


def check(
    source: Given, *, name: str | None = None, paths: bool = True, env: Mapping[str, str] | None = None
) -> list[Problem]:
    """Every problem of a scenario, those of shape and those of meaning, by file and place; empty when it is fine.

    Among them are the warnings, for which `load` does not refuse it.
    """
    return _compile(source, name, paths=paths, env=env, doubts=True)[1]


def compile_rule(rule: Mapping[str, Any], *, country: str = "420", timing: Timing | None = None) -> Rule:
    """One rule of `attempts` as control takes it. Raises `ScenarioError`; places are paths.

    `country` and `timing` are the world's: the prefix of national numbers, and the times a path leaves out.
    """
    return _alone(rule, "rule", country, lambda node, reader: _rule(node, reader, timing or Timing()))


def compile_verify_rule(rule: Mapping[str, Any], *, country: str = "420") -> VerifyRule:
    """One rule of `verify: rules` as control takes it. Raises `ScenarioError`; places are paths."""
    return _alone(rule, "verifyRule", country, _verify_rule)


def compile_api_rule(rule: Mapping[str, Any], *, country: str = "420") -> ApiRule:
    """One rule of `api` as control takes it. Raises `ScenarioError`; places are paths."""
    return _alone(rule, "apiRule", country, _api_rule)


def compile_webhook_rule(rule: Mapping[str, Any], *, country: str = "420") -> WebhookRule:
    """One rule of `webhooks` as control takes it. Raises `ScenarioError`; places are paths."""
    return _alone(rule, "webhookRule", country, _webhook_rule)


def _alone(rule: Mapping[str, Any], definition: str, country: str, compiling: Callable[[Node, Reader], R]) -> R:
    """A rule of no file: held to its definition in the schema, then compiled."""
    node, problems = _from_object(rule)
    problems += shape.check(node, definition)
    reader = Reader(country)
    compiled = compiling(node, reader)
    _raise_any(problems + reader.problems)
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
    _raise_any([*problems, *reader.problems])
    return found


def _raise_any(problems: list[Problem]) -> None:
    if problems:
        raise ScenarioError(in_order(problems))


@functools.cache
def _library(name: str) -> Blueprint:
    return _load(name, None, paths=True, env=None)


def _load(source: Given, name: str | None, *, paths: bool, env: Mapping[str, str] | None) -> Blueprint:
    blueprint, problems = _compile(source, name, paths=paths, env=env)
    if (found := errors(problems)) or blueprint is None:
        raise ScenarioError(found)
    return blueprint


def _compile(
    source: Given, name: str | None, *, paths: bool, env: Mapping[str, str] | None, doubts: bool = False
) -> tuple[Blueprint | None, list[Problem]]:
    node, problems, origin = read(source, name=name, paths=paths, env=env)
    if node is None:
        return None, in_order(problems)
    country = (node.get("assume") or node).get("country") or (node.get("account") or node).get("country")
    locale = node.get("locale")
    reader = Reader("420" if country is None else str(country.value), LOCALE if locale is None else str(locale.value))
    blueprint = _blueprint(node, reader, name, origin)
    if doubts:
        from sendbox.scenario.lint.lint import doubts_of

        problems += doubts_of(node, blueprint, [*problems, *reader.problems])
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
    reader.start = None if start is None or start.value is None else reader.instant(start)
    return Blueprint(
        name=str(title.value) if title is not None else name or Path(origin.file).stem,
        seed=0 if seed is None else seed.value,  # type: ignore[arg-type] # an integer or text, by its shape
        mode=None if mode is None else mode.value,  # type: ignore[arg-type] # one of the three, by its shape
        start=reader.start,
        rate=1.0 if rate is None else float(rate.value),  # type: ignore[arg-type] # a number, by its shape
        account=compile_account(account, reader, origin.file),
        phones=_phones(node.get("phones"), reader),
        attempts=compile_rules(items(node.get("attempts")), reader, assume.timing),
        timeline=compile_timeline(items(node.get("timeline")), reader, account),
        assume=assume,
        partner=compile_partner(node.get("partner"), reader),
        digest_ignore=() if ignored is None else tuple(dict.fromkeys(str(item.value) for item in ignored.items())),
        verify=compile_verify_rules(items(verify.get("rules")), reader),
        expect=compile_expectations(items(node.get("expect")), reader),
        traffic=compile_traffic(items(node.get("traffic")), reader, reader.start),
        api=compile_api_rules(items(node.get("api")), reader),
        webhooks=compile_webhooks(items(node.get("webhooks")), reader),
        source=standalone(node),
    )


def _phones(node: Node | None, reader: Reader) -> tuple[PhoneSpec, ...]:
    nodes = items(node)
    lint.names_differ(nodes, reader)
    return tuple(_phone(each, reader) for each in nodes)


def _phone(node: Node, reader: Reader) -> PhoneSpec:
    channels, conversation, offline = node.get("channels"), node.get("conversation"), node.get("offline")
    return PhoneSpec(
        number=reader.phones(node.entries()["number"]),
        channels=None if channels is None else frozenset(str(item.value) for item in channels.items()),
        conversation=conversation is not None and conversation.value == "open",
        offline=offline is not None and offline.value is True,
    )


def _from_object(value: Mapping[str, Any]) -> tuple[Node, list[Problem]]:
    from sendbox.scenario import parse

    return parse.from_object(value, Source("rule"))
