"""For each sentence that was drawn, a switch that turns what it says off, and the exchange that must fail then.

Long because it is one table, with a function for each sentence. A switch changes product code through a
`MonkeyPatch`, before the sandbox of the exchange is made.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from copy import copy, deepcopy
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Final

import pytest
from msgspec.structs import replace

from sendbox import app
from sendbox.contract.schemas import Node
from sendbox.services.account import http as account_http
from sendbox.services.account import orders
from sendbox.services.account.account import Account
from sendbox.services.account.keys import Billing
from sendbox.services.http.exchange import Answer, Exchange, Route
from sendbox.services.messaging import channels, events, messaging
from sendbox.services.messaging.content import tags
from sendbox.services.messaging.content import text as content
from sendbox.services.messaging.http import legacy
from sendbox.services.messaging.http.rest import listing
from sendbox.services.messaging.http.sending import decode, routes, steps
from sendbox.services.partner.http.tokens import TOKENS
from sendbox.services.templates import templates
from sendbox.services.verify import http as verify_http
from sendbox.services.verify.session import Session
from tests.box import CONTRACT
from tests.conformance import exchanges

Switch = Callable[[pytest.MonkeyPatch], None]


@dataclass(frozen=True, slots=True)
class Proof:
    """The case that shows what a sentence says, and the switch with which it fails."""

    case: exchanges.Case
    off: Switch


#: By the id of the sentence.
PROOFS: Final[dict[str, Proof]] = {}
_CASES: Final = {case.name: case for case in exchanges.load()}


def _proof(id_: str, case: str | exchanges.Case) -> Callable[[Switch], Switch]:
    """Makes the function the switch of a sentence, proved by an exchange by its name, or by one of its own."""

    def enter(off: Switch) -> Switch:
        assert id_ not in PROOFS, id_
        PROOFS[id_] = Proof(_CASES[case] if isinstance(case, str) else case, off)
        return off

    return enter


# --- what several switches do


def _schemas(patch: pytest.MonkeyPatch, edit: Callable[[dict[str, Node]], object]) -> None:
    """The contract with other schemas."""
    definitions = deepcopy(CONTRACT.definitions)
    edit(definitions)
    patch.setattr(CONTRACT._files, "definitions", definitions)
    patch.setattr(CONTRACT, "_checkers", {})


def _routes(patch: pytest.MonkeyPatch, change: Callable[[Route], Route | None]) -> None:
    """The application with other rows; None leaves one out."""
    rows = [row for row in map(change, app.SERVED.routes) if row is not None]
    patch.setattr(app, "SERVED", dataclasses.replace(app.SERVED, routes=rows))


def _around(patch: pytest.MonkeyPatch, owner: Any, name: str, wrap: Callable[..., Any]) -> None:
    """Puts `wrap` around a function: it gets the function, then the arguments."""
    old = getattr(owner, name)
    patch.setattr(owner, name, lambda *given, **named: wrap(old, *given, **named))


# --- messages


@_proof("s2_1-03", "body-of-a-step-wins-over-the-root")
def root_body_wins(patch: pytest.MonkeyPatch) -> None:
    """The root's body goes before the step's."""

    def read(old: Any, rules: Any, fields: dict[str, Any], index: int, last: bool, root: steps.Root) -> Any:
        own = {name: value for name, value in fields.items() if name != "body" or not root.body}
        return old(rules, own, index, last, root)

    _around(patch, steps, "_read_step", read)


@_proof("s2_1-11", "sender-is-a-virtual-number-without-plus")
def no_number_as_sender(patch: pytest.MonkeyPatch) -> None:
    """A number is held to the length of a name."""
    patch.setattr(steps, "_SENDER", re.compile(r"[^+\x00-\x1f][^\x00-\x1f]{0,10}"))


@_proof("s2_1-14", "tag-is-normalized")
def tags_keep_everything(patch: pytest.MonkeyPatch) -> None:
    """Nothing is dropped from a tag."""
    patch.setattr(tags, "_DROPPED", re.compile(r"(?!)"))


@_proof("s2_1-15", "tag-is-normalized")
def commas_part_nothing(patch: pytest.MonkeyPatch) -> None:
    """A comma is a character like any other."""
    _around(patch, tags, "normalize", lambda old, text: old(text.replace(",", "")))


@_proof("s2_2-01", "step-with-two-channels")
def steps_of_many_keys(patch: pytest.MonkeyPatch) -> None:
    """The first key of a step counts, whatever else is there."""

    def read(old: Any, flow: list[dict[str, Any]], root: steps.Root) -> Any:
        return old([dict([next(iter(step.items()))]) for step in flow], root)

    _schemas(patch, lambda definitions: definitions["FlowStep"].pop("maxProperties"))
    _around(patch, decode, "read_flow", read)


@_proof("s2_2-12", "sms-type-utf-keeps-unicode-characters")
def every_sms_is_converted(patch: pytest.MonkeyPatch) -> None:
    """Steps of type `utf` are treated like those of type `sms`."""

    def prepare(old: Any, submission: Any, step: Any, account: Any) -> Any:
        converted = copy(step)
        converted.type = "sms"
        return old(submission, converted, account)

    _around(patch, content, "_prepare", prepare)


@_proof("s2_2-15", "richmsg-needs-a-sender")
def richmsg_without_sender(patch: pytest.MonkeyPatch) -> None:
    """A rich message is taken without a sender."""
    patch.setitem(channels.ROWS, "richmsg", replace(channels.ROWS["richmsg"], needs_sender=False))


#: A message without its flow.
_MESSAGE: Final = {"body": "Hi", "to": [{"phone_number": "420777000101"}]}


@_proof(
    "s2_2-16",
    exchanges.Case(
        name="a-button-without-an-address",
        section="§2.2",
        steps=[
            {
                "request": {
                    "method": "POST",
                    "path": "/v2/message",
                    "json": {**_MESSAGE, "flow": [{"richmsg": {"sender": "Acme", "buttons": [{"title": "A"}]}}]},
                },
                "expect": {"status": 400},
            }
        ],
    ),
)
def buttons_without_address(patch: pytest.MonkeyPatch) -> None:
    """A button needs neither title nor address."""
    _schemas(patch, lambda definitions: definitions["RichmsgButton"].pop("required"))


@_proof("s2_2-32", "header-image-and-video-by-link")
def no_media_by_link(patch: pytest.MonkeyPatch) -> None:
    """An object with a link is read as some text."""

    def check(old: Any, template: Any, given: list[Any]) -> Any:
        linked = [isinstance(each, dict) and not {"image", "video"}.isdisjoint(each) for each in given]
        return old(template, ["text" if is_linked else each for is_linked, each in zip(linked, given, strict=True)])

    _around(patch, templates, "_check_header", check)


@_proof("s2_2-50", "template-needs-no-body")
def templates_with_a_body(patch: pytest.MonkeyPatch) -> None:
    """A template step wants a body like any other."""
    row = channels.ROWS["chatapp_template"]
    patch.setitem(channels.ROWS, "chatapp_template", replace(row, fields=row.fields | {"body"}))


@_proof("s2_3-03", "response-has-three-fields-and-nothing-else")
def keys_from_ten(patch: pytest.MonkeyPatch) -> None:
    """Keys are not the positions."""
    _around(patch, routes, "accepted_response", lambda old, *given: old(*given).replace(b'"key":"', b'"key":"1'))


# --- lists, catalog, listing, keys, devices


@_proof("s2_5-04", "blacklist-counts-and-normalizes")
def listed_as_written(patch: pytest.MonkeyPatch) -> None:
    """Of a line of a list the digits are kept, without a calling code."""
    patch.setattr(account_http, "notation", SimpleNamespace(normalize=lambda line, _: re.sub(r"\D", "", line) or None))


@_proof("s2_5-10", "services-are-a-tree")
def flat_catalog(patch: pytest.MonkeyPatch) -> None:
    """The catalog is a list by flat id."""
    patch.setattr(orders, "tree", lambda: {id_: service.as_json() for id_, service in orders.services().items()})


@_proof("s2_5-12", "order-pays-the-interval-of-the-service")
def no_least_term(patch: pytest.MonkeyPatch) -> None:
    """No price asks for a least term."""
    for id_, service in orders.services().items():
        prices = {currency: replace(price, min_interval=None) for currency, price in service.prices.items()}
        patch.setitem(orders.services(), id_, replace(service, prices=prices))


@_proof("s3_2-03", "a-code-is-sent-read-and-verified")
def never_verified(patch: pytest.MonkeyPatch) -> None:
    """The right code moves nothing, so that the session expires."""
    _around(patch, Session, "follow", lambda old, session, event: event != "code_confirmed" and old(session, event))


@_proof("s4_1-02", "post-priority-has-the-same-request-and-response")
def another_priority_answer(patch: pytest.MonkeyPatch) -> None:
    """The priority call has an answer of its own."""

    def change(row: Route) -> Route:
        if row.operation != "sendPriorityMessage":
            return row
        return replace(row, handler=lambda exchange: _without_ids(row.handler(exchange)))

    _routes(patch, change)


def _without_ids(answer: Answer) -> Answer:
    return Answer(answer.status, b'{"accepted":true}')


@_proof("s4_1-04", "get-simple-with-the-key-as-a-query-parameter")
def no_key_in_the_query(patch: pytest.MonkeyPatch) -> None:
    """The query may hold a key, but nobody looks at it."""
    _routes(patch, lambda row: replace(row, auth="header") if row.auth == "header-or-query" else row)


@_proof("s4_1-08", "legacy-errors-are-the-status-text-only")
def talkative_legacy_errors(patch: pytest.MonkeyPatch) -> None:
    """An error of the old interface says more than its status."""
    _around(patch, legacy, "line", lambda old, *given: old(*given) + "|an id")


@_proof("s4_4-02", "blacklist-is-in-force-after-a-second")
def listed_at_once(patch: pytest.MonkeyPatch) -> None:
    """Entries are in force as soon as they are there."""
    patch.setattr(Billing, "blacklisted", lambda self, number, _now: number in self.blacklist)


@_proof("s4_4-03", "optout-holds-promotional-messages-only")
def one_list_for_both(patch: pytest.MonkeyPatch) -> None:
    """What is opted out is blacklisted."""
    _around(patch, account_http, "enter_numbers", lambda old, world, _name, *rest: old(world, "blacklist", *rest))


@_proof("s4_4-05", "rows-101-are-two-pages")
def endless_pages(patch: pytest.MonkeyPatch) -> None:
    """All rows are one page."""
    patch.setattr(listing, "PAGE", 1_000_000)


@_proof("s4_4-11", "device-is-registered-and-updated")
def devices_for_good(patch: pytest.MonkeyPatch) -> None:
    """A device that is registered cannot be updated."""

    def register(old: Any, account: Account, key: str, device: str, token: str) -> Any:
        return device not in account.devices and old(account, key, device, token)

    _around(patch, Account, "register_device", register)


@_proof("s4_4-12", "key-settings-are-shown-by-me")
def callback_is_not_kept(patch: pytest.MonkeyPatch) -> None:
    """The call succeeds, and the callback stays what it was."""

    def read(old: Any, exchange: Exchange, *more: str) -> Any:
        return {name: value for name, value in old(exchange, *more).items() if name != "default_callback_url"}

    _around(patch, account_http, "read_body", read)


# --- Verify, keys, events, partner


@_proof("s4_5-04", "a-code-is-sent-read-and-verified")
def number_is_not_told(patch: pytest.MonkeyPatch) -> None:
    """The answer to the right code does not hold the number."""

    def proved(old: Any, verify: Any, session: Any, body: dict[str, Any]) -> Any:
        return old(verify, session, {name: value for name, value in body.items() if name != "phoneNumber"})

    _around(patch, verify_http, "_with_proof", proved)


@_proof("s5_3-02", "partner-no-token-for-signup")
def a_token_opens_everything(patch: pytest.MonkeyPatch) -> None:
    """A token stands for the key in each partner call."""

    def opened(row: Route) -> Route:
        return replace(row, auth="header-or-token", tokens=TOKENS) if row.interface == "partner" else row

    _routes(patch, opened)


@_proof("s5_6-01", "key-that-is-malformed-or-unknown-is-denied-with-400")
def denied_with_401(patch: pytest.MonkeyPatch) -> None:
    """A denied key gets the status that is usual elsewhere."""

    def change(row: Route) -> Route:
        return replace(row, deny=lambda _: row.error(401, "Unauthorized")) if row.interface == "sending" else row

    _routes(patch, change)


@_proof("s6-17", "reply-on-the-messaging-app-has-the-gateway-chatapp")
def replies_by_step(patch: pytest.MonkeyPatch) -> None:
    """A reply bears the name of the step instead of that of the app."""

    def incoming(old: Any, inbound: Any) -> Any:
        event = old(inbound)
        return event | {"gateway": "chatapp_template" if event["gateway"] == "chatapp" else event["gateway"]}

    _around(patch, events, "incoming", incoming)


@_proof("s7_3-05", "rejected-holds-keys-only")
def nobody_is_rejected(patch: pytest.MonkeyPatch) -> None:
    """Variables that do not fit are taken, and nobody is told."""
    patch.setattr(messaging, "_check_templates", lambda _world, _send: [])


@_proof("s8-06", "limit-rich-message-buttons")
def many_buttons(patch: pytest.MonkeyPatch) -> None:
    """A rich message may have as many buttons as it likes."""
    _schemas(patch, lambda definitions: definitions["RichmsgStep"]["properties"]["buttons"].pop("maxItems"))


@_proof("s9-01", "version-2-stands-in-the-path")
def versions_do_not_count(patch: pytest.MonkeyPatch) -> None:
    """Sending is also served under a version that does not exist."""
    again = [
        replace(row, path=row.path.replace("/v2", "/v3")) for row in app.SERVED.routes if row.path.startswith("/v2")
    ]
    patch.setattr(app, "SERVED", dataclasses.replace(app.SERVED, routes=[*app.SERVED.routes, *again]))
