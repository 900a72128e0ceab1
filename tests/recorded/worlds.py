"""The random worlds: for each number a script, drawn from it and from nothing else, as data that JSON can say."""

from __future__ import annotations

from typing import Any, Final

from tests.recorded import acts, management, messages, partners
from tests.recorded.draw import Draw
from tests.recorded.messages import Step
from tests.recorded.scenarios import generated

COUNT: Final = 300
START: Final = "2026-03-01T09:00:00Z"
STARTS: Final = (START, START, START, "2026-03-02T06:59:30Z", "2026-02-28T23:50:00Z", "2026-03-29T00:30:00Z")
#: Scenarios of the library that worlds begin with. Not clock-modes, which lets the clock run by itself; new ones are
#: left out, or the worlds would be others.
BASES: Final = tuple(
    """
    account-changes batched-webhooks bulk-campaign channel-outage chatty-customers code-rate-limits conversation-window
    credit-order credit-runs-dry default duplicate-storm expired-links flaky-api forged-webhooks late-receipt
    lossy-campaign lost-webhooks midnight-window number-loses-quality onboarding onboarding-stalls operator-outage
    opt-out-by-reply otp-fallback otp-lockout out-of-order-webhooks priority-overtakes rate-limited-api receiver-down
    replies-and-clicks slow-api sub-key-runs-out template-rejected webhook-before-answer
    """.split()
)
#: In these an event overtakes its answer, so nobody may pull deliveries.
OVERTAKING: Final = frozenset({"webhook-before-answer"})
#: What a receiver answers, by turns; words are for no answer.
ANSWERS: Final[tuple[list[int | str], ...]] = (
    [200],
    [200],
    [200, 204, 201],
    [500, 200],
    [200, 503, 302, 200],
    [404],
    [200, 200, 500, "closed"],
    [410, 200, "closed", 429],
)
PULLED: Final[tuple[list[int | str], ...]] = ([200], [200, 500], [200, "timeout", 200, "refused"], ["closed", 200, 302])


def name_of(number: int) -> str:
    """What a world is called."""
    return f"world-{number:03}"


def script(number: int) -> dict[str, Any]:
    """How a world is opened, who receives its webhooks, and all that is done to it."""
    draw = Draw(7_000_000 + number)
    receiver = draw.weighted(((55, "app"), (30, "hook"), (15, "pull")))
    targets = receiver != "hook"
    pull = receiver == "pull"
    base = draw.pick([each for each in BASES if not (pull and each in OVERTAKING)])
    kind = draw.weighted(((30, "library"), (35, "default"), (20, "extended"), (15, "bare")))
    scenario: Any = base
    if kind != "library":
        builds_on = {"default": "default", "extended": base, "bare": None}[kind]
        scenario = generated(draw, builds_on, targets=targets, pull=pull)
    opened: dict[str, Any] = {"scenario": scenario, "clock": {"mode": "manual", "start": draw.pick(STARTS)}}
    opened["seed"] = draw.pick((number, f"seed {number}", 0))
    steps: list[Step] = []
    for _ in range(draw.between(5, 15)):
        steps += _acts(draw, targets=targets, pull=pull)
    steps.append({"advance": draw.pick(({"until": "idle"}, {"by": "2h"}, {"by": "1d"}))})
    return {
        "name": name_of(number),
        "open": opened,
        "receiver": receiver,
        "answers": draw.pick(PULLED if pull else ANSWERS),
        "calls_back": receiver == "app" and draw.chance(12),
        "steps": steps,
    }


def _acts(draw: Draw, *, targets: bool, pull: bool) -> list[Step]:
    """One thing that is done, which may take several steps."""
    key = "~shop" if draw.chance(8) else ""
    what = draw.weighted(
        (
            (24, "send"), (22, "advance"), (4, "bulk"), (4, "lists"), (4, "rows"), (4, "credit"), (2, "device"),
            (4, "keys"), (6, "verify"), (2, "lost"), (5, "signup"), (7, "partner"), (7, "phone"), (3, "inbound"),
            (5, "rule"), (5, "change"), (4, "delivery"), (4, "links"), (4, "look"), (4, "whole"),
            (5, "hand"), (8, "conversation"),
        )
    )  # fmt: skip
    match what:
        case "send":
            sent = [messages.send(draw, key=key, targets=targets)]
            return [*sent, acts.advance(draw)] if draw.chance(45) else sent
        case "advance":
            return [acts.advance(draw)]
        case "bulk":
            return messages.bulk(draw)
        case "lists":
            return [management.lists(draw, key)]
        case "rows":
            return [management.rows(draw, key)]
        case "credit":
            return [management.credit(draw, key)]
        case "device":
            return [management.device(draw, key)]
        case "keys":
            return management.subkey(draw) if draw.chance(30) else [management.keys(draw, key, targets=targets)]
        case "verify":
            return management.verify(draw, key)
        case "lost":
            return [management.lost(draw)]
        case "signup":
            return partners.signup(draw, targets=targets)
        case "partner":
            return [partners.call(draw) for _ in range(draw.between(1, 2))]
        case "phone":
            return [acts.phone(draw)]
        case "inbound":
            return [acts.inbound(draw)]
        case "rule":
            return [acts.rule(draw, pull=pull)]
        case "change":
            return [acts.change(draw, targets=targets)]
        case "delivery":
            return acts.delivery(draw)
        case "links":
            return acts.links(draw)
        case "hand":
            return acts.by_hand(draw)
        case "conversation":
            return acts.conversation(draw)
        case "look":
            return [acts.look(draw)]
        case _:
            return acts.whole(draw)
