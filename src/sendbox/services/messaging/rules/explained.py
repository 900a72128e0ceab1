"""Explanations as text that a person reads: what `sendbox explain` prints, and what the fixture shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sendbox.engine.answer import JsonObject

#: What stands before a rule, by its outcome.
_MARKS: Final = {"decided": "+", "differs": "-", "not its turn": "-"}


def explanation_lines(view: JsonObject) -> list[str]:
    """A message that was sent (`explain.explain`): each attempt, the rules tried for it, what it came to."""
    head = f"message to {view['phone']} by {view['operation']}, {' then '.join(view['steps'])}: {view['result']}"
    text = [head]
    for attempt in view["attempts"]:
        text += [f"  {line}" for line in _attempt(attempt)]
    if not view["attempts"]:
        text.append("  not handed over yet; move the clock")
    elif view["not_tried"]:
        text.append(f"  not tried: {', '.join(view['not_tried'])}")
    return text


def dry_run(view: JsonObject) -> list[str]:
    """The output of `sendbox explain` in lines: the request, and for each message its checks, rules and timeline."""
    request = view["request"]
    text = [f"scenario {view['scenario']}, world begins at {view['start']}"]
    if request is not None:
        answered = f"is answered with {request['status']}" if request["status"] else "gets no answer"
        text.append(f"{request['operation']} {answered}")
        text += [f"  {fault}" for fault in request["faults"]]
        text += [f"  finding: {finding['message']} at {finding['path']}" for finding in request["findings"]]
        text += [f"  advice {remark['code']}: {remark['message']} at {remark['path']}" for remark in request["advice"]]
    for session in view["sessions"]:
        text += ["", f"validation of {session['phone']}: code {session['code']}", *_indented(_rules(session["rules"]))]
        if not session["decided_by"]:
            text.append("    no rule decided: the code is drawn from the seed")
    for message in view["messages"]:
        text.append("")
        text += explanation_lines(message)
        text += ["  checks, when it is accepted", *(f"    {line}" for line in _checks(message["checks"]))]
        text.append("  what happens")
        happens = message["happens"]
        width = max((len(event["after"]) for event in happens), default=0)
        text += [f"    +{event['after']:<{width}}  {event['what']}" for event in happens]
    if view["stopped"]:
        text += ["", f"stopped: {view['stopped']}"]
    return text


def _attempt(attempt: JsonObject) -> list[str]:
    text = [f"attempt {attempt['number']} by {attempt['channel']}: {attempt['result']}"]
    if attempt["why"]:
        text.append(f"  refused: {attempt['why']}")
    if checks := attempt.get("checks"):
        refused, passed = _split(checks)
        text += [*(f"  check refused, {line}" for line in refused), f"  check passed: {passed}"]
    if attempt["rules"]:
        text += _indented(_rules(attempt["rules"]))
    if attempt["undecided"]:
        text.append(f"  {attempt['undecided']}")
    if attempt["outage"]:
        text.append(f"  {attempt['outage']}")
    if attempt["order_sensitive"]:
        text.append("  this depended on the order of arrival")
    if attempt["planned"]:
        text.append(f"  still to come: {', '.join(attempt['planned'])}")
    return text


def _split(checks: Sequence[JsonObject]) -> tuple[list[str], str]:
    """The checks that refused, each with its reason, and the words of those that passed."""
    refused = [f"{check['check']}: {check['why']}" for check in checks if not check["passed"]]
    return refused, ", ".join(check["check"] for check in checks if check["passed"])


def _indented(lines: list[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def _rules(rules: list[JsonObject]) -> list[str]:
    text: list[str] = []
    late: list[str] = []
    for rule in rules:
        if rule["outcome"] == "too late":
            late.append(rule["rule"])
            continue
        place = f" ({rule['place'].rpartition('/')[2]})" if rule["place"] else ""
        decides = f": decides {', '.join(rule['decides'])}" if rule["decides"] else ""
        text.append(f"{_MARKS[rule['outcome']]} {rule['rule']}{place}{decides}")
        text += [f"    {why}" for why in rule["why_not"]]
    if late:
        text.append(f". not asked, as all that they decide was decided before: {', '.join(late)}")
    if any(rule["seen"] == "today" for rule in rules):
        recorded = any(rule["seen"] == "then" for rule in rules)
        text.append(f"{'why the others did not decide is' if recorded else 'this is'} seen from today")
    return text


def _checks(steps: list[JsonObject]) -> list[str]:
    text = []
    for step in steps:
        refusing, passed = _split(step["checks"])
        text.append(f"step {step['step']} by {step['channel']}: {'refused' if refusing else 'nothing refuses it'}")
        text += [f"  - {line}" for line in refusing]
        text.append(f"  + {passed}")
    return text
