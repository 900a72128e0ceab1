"""What a tester did, as entries of a scenario's `timeline`, and the reasons where there is none that does the same.

A phone of a timeline acts on the newest message with which it can; a tester may have named another one. So what an act
was about is looked up in the journal, and held against what the timeline would find.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sendbox.engine.journal import CODE, KINDS
from sendbox.services.account.account import Account
from sendbox.services.messaging.channels import FAMILY, LEGAL
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.records import Attempt
from sendbox.services.messaging.results import SEEN, STATES
from sendbox.services.partner.partner import Partner

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sendbox.control.export.script import Act
    from sendbox.engine.world import World
    from sendbox.services.messaging.records import Inbound, Link, Message

#: Acts by which a phone writes.
WRITTEN: Final = frozenset({"inbound", "phone_reply", "phone_write", "phone_press"})
_REPLIES: Final = frozenset({"phone_reply", "phone_press"})
_ALONE: Final = {"phone_offline": "offline", "phone_online": "online", "phone_opt_out": "opt_out"}
#: States in which a phone cannot have a message.
_LOST: Final = frozenset({"undelivered", "rejected", "failed"})
#: An act comes before all that is due at its instant; where one of these came first, that is not what happened.
_SOONER: Final[dict[str, frozenset[str]]] = {
    "phone_offline": frozenset({"delivered", "seen"}),
    "phone_seen": frozenset({"sent", "delivered"}),
    "phone_click": frozenset({"sending"}),
    "link": frozenset({"sending"}),
    **dict.fromkeys(WRITTEN, frozenset({"sending"})),
    **dict.fromkeys(("account", "move_template", "move_number"), frozenset({"sending", "rejected"})),
}
_NEWEST: Final = "it was not about the newest message of that kind, and a timeline cannot name one"


class NoEntry(Exception):
    """No entry of a timeline does what was done; the text says why."""


def entry_of(world: World, step: Act) -> dict[str, Any]:
    """The entry of a timeline that does what was done, without its instant. Raises `NoEntry`."""
    detail = step.detail
    if step.what in _ALONE:
        entry: dict[str, Any] = {"phone": {"number": _number(world, step), "act": _ALONE[step.what]}}
    elif step.what in WRITTEN:
        entry = _written(world, step)
    elif step.what == "phone_seen":
        entry = _seen(world, step)
    elif step.what in ("phone_click", "link"):
        entry = _click(world, step)
    elif step.what == "account":
        entry = {"account": detail["changes"]}
    elif step.what == "move_template":
        entry = {"template": _template(world, detail)}
    elif step.what == "move_number":
        number = Partner.of(world).numbers.get(detail["number"]) or Partner.of(world).number_of(detail["number"])
        if number is None:
            raise NoEntry("the number is gone")
        entry = {"number": {"phone_number": number.phone_number, **_some(detail, "status", "quality")}}
    else:
        raise NoEntry("no entry of a timeline does that")
    _in_time(world, step)
    return entry


def _some(detail: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: detail[name] for name in names if name in detail}


def _template(world: World, detail: dict[str, Any]) -> dict[str, Any]:
    """A change of the one template of that id or name."""
    record = Partner.of(world).templates.by_id(detail["template"])
    named = [each for each in Account.of(world).templates if each["name"] == detail["template"]]
    if record is None and len(named) == 1:
        record = named[0]
    if record is None:
        raise NoEntry("the template is gone")
    return {"name": record["name"], "language": record["language"], **_some(detail, "status", "reason")}


def _in_time(world: World, step: Act) -> None:
    """Raises `NoEntry` where something came first that a timeline lets come later."""
    sooner = _SOONER.get(step.what, frozenset())
    phone = _number(world, step) if "number" in step.detail and step.what != "move_number" else None
    for at, code, what in before(world, step):
        if at < step.at:
            return
        if KINDS[code] in sooner and isinstance(what, Attempt) and phone in (None, what.message.phone):
            text = f"what was due at that instant came first ({what.message.phone} {KINDS[code]})"
            raise NoEntry(f"{text}, and an entry of a timeline comes before that")


def before(world: World, step: Act) -> Iterator[tuple[int, int, Any]]:
    """The entries before an act, newest first, as far as they are kept."""
    for earlier in range(step.number - 1, world.journal.first - 1, -1):
        yield world.journal.entry(earlier)


def _done(world: World, step: Act, kind: str) -> Any:
    """The entry of a kind that an act made: the newest before its own. Raises `NoEntry` when it is forgotten."""
    for _, code, what in before(world, step):
        if code == CODE[kind]:
            return what
    raise NoEntry("the journal forgot what it did (--max-journal)")


def _number(world: World, step: Act) -> str:
    from sendbox.services.numbers.normal import normalize

    text = str(step.detail["number"])
    return normalize(text, Account.of(world).country) or text


def _held(world: World, number: str, step: Act) -> Iterator[tuple[Attempt, int]]:
    """The attempts that a phone had before this act as far as anybody knew, newest first, with their states."""
    now: set[tuple[int, int]] = set()  # what had been reached at this very instant
    for at, code, what in before(world, step):
        if at < step.at:
            break
        if isinstance(what, Attempt):
            now.add((id(what), code))
    if step.what == "phone_seen":
        now.discard((id(_opened(world, step)), SEEN))
    found = []
    for message in Messaging.of(world).phones.messages_of(number):
        if message.submission.carrier is not None:
            continue
        for attempt in message.attempts:
            every = attempt.transitions()
            states = [
                (code, at) for code, at in every if at < step.at or (at == step.at and (id(attempt), code) in now)
            ]
            if states and STATES[states[-1][0]] not in _LOST:
                found.append((states[0][1], message.ordinal, attempt.number, attempt, states[-1][0]))
    for _, _, _, attempt, state in sorted(found, key=lambda each: each[:3], reverse=True):
        yield attempt, state


def _opened(world: World, step: Act) -> Attempt:
    """The attempt that a phone opened by an act, which stands behind it."""
    opened: Attempt = _done(world, step, STATES[SEEN])
    return opened


def _written(world: World, step: Act) -> dict[str, Any]:
    """What a phone wrote by an act, which stands behind it."""
    inbound: Inbound = _done(world, step, "inbound")
    if "{{" in inbound.body:
        raise NoEntry("its text has {{, which is a gap in a scenario")
    family, phone, said = inbound.channel, inbound.sender, {"body": inbound.body}
    had = [attempt for attempt, _ in _held(world, phone, step) if FAMILY[attempt.step.channel] == family]
    if step.what in _REPLIES and had and had[0].message is inbound.message:
        return {"reply": {"phone": phone, "channel": family, **said}}
    to = step.detail.get("to")
    found: Message | None = None
    if had and to in (None, had[0].shown_sender):
        found = had[0].message
    if found is not inbound.message:
        raise NoEntry(_NEWEST)
    return {"inbound": {"channel": family, "from": phone, **said} | ({} if to is None else {"to": to})}


def _seen(world: World, step: Act) -> dict[str, Any]:
    """A phone opened a message."""
    phone = _number(world, step)
    seen = _opened(world, step)
    able = (each for each, state in _held(world, phone, step) if LEGAL[each.step.channel][state][SEEN])
    if next(able, None) is not seen:
        raise NoEntry(_NEWEST)
    return {"phone": {"number": phone, "act": "seen"}}


def _click(world: World, step: Act) -> dict[str, Any]:
    """A link was followed, by a phone or by whoever has its address."""
    link: Link = _done(world, step, "click")
    message = link.message
    newest = next((each for each, _ in _held(world, message.phone, step) if each.message.links), None)
    if newest is None or newest.message is not message:
        raise NoEntry(_NEWEST)
    act: dict[str, Any] = {"number": message.phone, "act": "click"}
    every = [each for links in (message.links or {}).values() for each in links]
    if next(each for each in every if step.at < each.expires_at) is link:
        return {"phone": act}
    mine = (message.links or {}).get(newest.number, [])
    if link not in mine:
        raise NoEntry(_NEWEST)
    return {"phone": act | {"link": mine.index(link) + 1}}
