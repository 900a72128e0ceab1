"""The items that coverage counts besides operations and their fields: one for each fact of the specification.

Long because it is one table. Each item has the place in the specification that it comes from, the assumption where the
specification is silent, and a snippet that would try it: the YAML of a scenario, a request (method, path, body), or a
line of a test in which `sendbox` is the fixture and `client` is the test's client of the service. A word in
capitals stands for a name that the world gives out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

from sendbox.engine.answer import JsonObject
from sendbox.engine.coverage import Form, Item
from sendbox.engine.faults.table import CALLS, DELIVERIES
from sendbox.engine.lifecycle import Table
from sendbox.services.account.orders import ORDER
from sendbox.services.coverage import limits
from sendbox.services.messaging.channels import ATTEMPT, CHANNELS, FAMILY, ROWS, STATES, TEMPLATED, USUAL, WAYS
from sendbox.services.messaging.checks import CREDIT
from sendbox.services.messaging.outages import IN_FLIGHT, NEW
from sendbox.services.partner.records import NUMBER, SIGNUP, TEMPLATE
from sendbox.services.verify.session import VALIDATION

#: Interfaces and operations by which messages are sent; a code of Verify is a message of the service.
_MESSAGES: Final = "sending legacy uploadBulk"
#: Dimension, how the name begins, and names of operations and interfaces; the first row that fits counts. An item
#: without a row is about every operation.
_SCOPES: Final = (
    ("results|transitions|flows|refusals|infos|outages|phones", "", _MESSAGES),
    ("errors", "simple ", "sendSimpleMessage sendSimpleMessageByQuery"),
    ("errors", "(sending|legacy|rest|partner|verify) ", r"\1"),
    ("events", "partnerOnboarding", "partnerSignup"),
    ("events", "", _MESSAGES),
    ("webhooks|webhook faults", "", f"{_MESSAGES} partnerSignup"),
    ("states", "validation", "verify"),
    ("states", "signup", "partnerSignup partnerRegistration"),
    ("states", "template|number", "partner"),
    ("states", "order", "orderService"),
    ("states", "bulk", "requestUpload uploadBulk"),
    ("states", "key added", "addSubKey"),
    ("states", "key changed", "changeSubKey"),
    ("states", "key updated", "updateKey"),
    ("limits", ".*Verify", "verify"),
    ("limits", "upload", "requestUpload uploadBulk"),
    ("limits", "signup", "partnerSignup"),
    ("limits", "media", "createTemplate editTemplate"),
    ("limits", ".* a call", "sendMessages"),
    ("limits", "", _MESSAGES),
)


def about(item: Item) -> Item:
    """The item with the operations that it is about."""
    for dimension, name, words in _SCOPES:
        if re.fullmatch(dimension, item.dimension) and (match := re.match(name, item.name)):
            return item._replace(of=tuple(match.expand(words).split()))
    return item


#: Every dimension in the order of a report, with its heading.
DIMENSIONS: Final[dict[str, str]] = {
    "operations": "Operations",
    "results": "Results of each channel",
    "transitions": "Transitions of each channel",
    "flows": "Ways from one flow step to the next",
    "refusals": "Reasons why a hand-over is refused",
    "infos": "Texts of result_info",
    "errors": "Error answers",
    "events": "Events received",
    "webhooks": "Problems of webhooks",
    "webhook faults": "Faults of webhooks from a scenario",
    "api faults": "Faults of the interfaces from a scenario",
    "outages": "Outages from a scenario",
    "phones": "What recipients do",
    "states": "States of sessions, templates, signups and orders",
    "limits": "Limits reached or exceeded",
    "fields": "Fields of requests",
}


_MESSAGE: Final = 'POST /v2/message {"body": "Hello", "to": [{"phone_number": "420777000101"}]'
_SESSION: Final = 'POST /v1/validations {"phoneNumber": "420777000101"}'
_CLAIM: Final = (
    'POST /v1/verify-proof {"phoneNumber": "420777000101", "token": "TOKEN", "code": "123456", '
    '"timestamp": "2026-03-01T09:00:00.000Z", "proof": "00"}'
)
_SIGNUP: Final = (
    'POST /v1/chatapp/signup {"partner_callback_url": "https://client.example/onboarding", "phone_number": "manual"}'
)
_REPLAY: Final = 'f"{sendbox.origin}/_sandbox/worlds/{sendbox.api_key}/deliveries/{sendbox.deliveries[0].id}/replay"'
_APART: Final = "sendbox.deliver_to({})"


def _rule(channel: str, then: str) -> str:
    return f"attempts: [{{when: {{channel: {channel}}}, then: {then}}}]"


def _reached(table: Table) -> set[str]:
    return {after for row in table.values() for after in row.values()}


def _results() -> Iterator[Item]:
    for channel, table in ATTEMPT.items():
        for result in STATES[1:]:
            if result in _reached(table):
                owed = ROWS[channel].owed_to
                yield Item("results", f"{channel} {result}", "§3.1", "scenario", _rule(channel, result), owed)


def _transitions() -> Iterator[Item]:
    for channel, table in ATTEMPT.items():
        for state, row in table.items():
            for after in row.values():
                path = ", ".join((*WAYS.get(state, ()), after))
                yield Item(
                    "transitions", f"{channel} {state} -> {after}", "§3.1", "scenario", _rule(channel, f"[{path}]"),
                    ROWS[channel].owed_to if (state, after) in _SHOWN else "A25",
                )  # fmt: skip


#: The transitions that the specification's own table has (§3.1).
_SHOWN: Final = frozenset({
    ("accepted", "sending"), ("sending", "sent"), ("sent", "delivered"), ("sent", "undelivered"),
    ("accepted", "rejected"), ("sending", "failed"), ("sent", "failed"), ("accepted", "failed"),
})  # fmt: skip


def _scenarios(dimension: str, *rows: tuple[str, str, str, str | None]) -> Iterator[Item]:
    """Rows of (name, section, snippet, assumption)."""
    for name, section, snippet, assumed in rows:
        yield Item(dimension, name, section, "scenario", snippet, assumed)


def _flows() -> Iterator[Item]:
    first = next(name for name in CHANNELS if name != USUAL)
    flow = f'{_MESSAGE}, "flow": {json.dumps([{first: {**ROWS[first].least, "ttl": 1}}, {USUAL: {}}])}}}'
    yield Item("flows", "fallback ttl", "§2.2", "scenario", _rule(first, "sent"), "A64")
    for word in ("undelivered", "failed", "rejected"):
        yield Item("flows", f"fallback {word}", "§2.2", "scenario", _rule(first, word), "A04")
    yield Item("flows", "fallback refused", "§2.2", "scenario", 'phones: [{number: "*", channels: [sms]}]', "A62")
    yield Item("flows", "condition met", "§2.2", "request", flow, "A64")
    late = _rule(first, "[sending, sent, {delivered: {after: 10m}}]")
    yield Item("flows", "receipt after the flow moved on", "§2.2", "scenario", late, "A05")


def _step(channel: str, step: JsonObject) -> str:
    return f"POST /v2/message {json.dumps({'to': [{'phone_number': '420777000101'}], 'flow': [{channel: step}]})}"


def _refusals() -> Iterator[Item]:
    number = 'POST /v2/message {"body": "Hello", "to": [{"phone_number": "12"}]}'
    talks = next(channel for channel in ROWS.values() if channel.conversation)
    free = _step(talks.name, {"body": "Hello", **talks.least})
    unknown = _step(TEMPLATED, {**ROWS[TEMPLATED].least, "template_name": "unknown"})
    pending = (
        "account: {templates: [{name: otp, language: en, category: AUTHENTICATION, status: PENDING, "
        'components: [{type: BODY, text: "Code {{1}}"}]}]}'
    )
    yield Item("refusals", "number", "§7.3", "request", number)
    yield from _scenarios(
        "refusals",
        ("allowed", "§7.3", 'assume: {allowed: ["420900*"]}', "A83"),
        ("blacklist", "§1", 'account: {blacklist: ["420777000101"]}', None),
        ("optout", "§2.1", 'account: {optout: ["420777000101"]}', None),
        ("identical", "§7.3", "assume: {identical: {max: 1, within: 1h}}", "A83"),
        ("credit", "§3.1", "account: {credit: {eur: 0}}", None),
        ("sender", "§2.2", "account: {senders: {richmsg: [Acme], chatapp: []}}", "A59"),
        ("channel", "§2.2", 'phones: [{number: "*", channels: [sms]}]', "A62"),
    )
    yield Item("refusals", "conversation", "§2.2", "request", free, "A66")
    yield Item("refusals", "template-unknown", "§2.2", "request", unknown)
    yield Item("refusals", "template-not-approved", "§2.2", "scenario", pending)


def _infos() -> Iterator[Item]:
    def ends(text: str) -> str:
        return f'attempts: [{{then: [sending, sent, {{undelivered: {{info: "{text}"}}}}]}}]'

    yield from _scenarios(
        "infos",
        ("Sent", "§6", "attempts: [{then: sent}]", "A23"),
        ("[0]", "§7.3", "attempts: [{then: delivered}]", None),
        ("[1]", "§7.3", "attempts: [{then: undelivered}]", "A23"),
        ("[2]", "§7.3", "attempts: [{then: rejected}]", "A23"),
        ("[3]", "§7.3", "attempts: [{then: failed}]", "A23"),
        ("[303]", "§7.3", 'assume: {allowed: ["420900*"]}', "A83"),
        ("[304]", "§7.3", 'account: {optout: ["420777000101"]}', "A23"),
        ("[306]", "§7.3", "assume: {identical: {max: 1, within: 1h}}", "A83"),
        (str(CREDIT.info).partition(" ")[0], "§7.3", "account: {credit: {eur: 0}}", None),
        ("[131042]", "§7.3", ends("[131042] Payment method"), None),
        ("code only", "§7.3", ends("[368]"), None),
        ("text only", "§7.3", ends("Unauthorized error"), None),
    )
    number = 'POST /v2/message {"body": "Hello", "to": [{"phone_number": "12"}]}'
    yield Item("infos", "[302]", "§7.3", "request", number, "A23")


def _errors() -> Iterator[Item]:
    # Long, as it is a list: an item for each way in which a call is refused or fails.
    denied = 'httpx.{}(f"{{sendbox.origin}}{}", headers={{"x-api-key": "denied"}}{})'

    strict = "assume: {content_type: strict}"

    def fault(operation: str) -> str:
        return f"api: [{{when: {{operation: {operation}}}, fault: {{status: 500}}}}]"

    rows: tuple[tuple[str, str, Form, str, str | None], ...] = (
        ("sending 400", "§7.1", "request", 'POST /v2/message {"to": []}', None),
        ("sending denied key", "§5", "python", denied.format("post", "/v2/message", ", json={}"), None),
        ("sending 415", "§7.1", "python",
         'client.post("/v2/simple/message", content="message=Hello", headers={"content-type": "text/plain"})', None),
        ("simple accepted false", "§4.1", "request", "GET /v2/simple/message?phone_number=12&message=Hello", "A12"),
        ("sending 500", "§7.1", "scenario", fault("sendMessage"), None),
        ("legacy 101", "§4.1", "python", 'client.put("/Send")', "A13"),
        ("legacy 102", "§4.1", "request",
         "POST /Send apikey=test-demo&number=420777000101&message=Hello&time=tomorrow", "A13"),
        ("legacy denied key", "§5", "request", "POST /Send apikey=denied&number=420777000101&message=Hello", "A13"),
        ("legacy 104", "§4.1", "request",
         "POST /Send apikey=test-demo&number=420777000101&message=Hello&gateway=fast", "A13"),
        ("legacy 105", "§4.1", "scenario", "account: {credit: {eur: 0}}", "A13"),
        ("legacy 109", "§4.1", "python", 'client.send_legacy(number=";".join(["420777000101"] * 101))', "A13"),
        ("legacy 201", "§4.1", "request", "POST /Send apikey=test-demo&number=&message=Hello", "A13"),
        ("legacy 202", "§4.1", "request", "POST /Send apikey=test-demo&number=420777000101", "A13"),
        ("legacy 203", "§4.1", "request",
         "POST /Send apikey=test-demo&number=420777000101&message=Hello&sender=TwelveChars1", "A13"),
        ("rest 400", "§7.2", "request", "POST /v1/push/device {}", "A26"),
        ("rest denied key", "§5", "python", denied.format("get", "/v1/credit/services", ""), "A26"),
        ("rest 403", "§7.2", "scenario", "account: {subkeys: [{name: sender, scope: api}]}", "A26"),
        ("rest 415", "§7", "scenario", strict, "A75"),
        ("rest 500", "§7.1", "scenario", fault("listMessages"), "A26"),
        ("partner denied key", "§5", "python", denied.format("post", "/v1/chatapp/accounts/list", ", json={}"), "A37"),
        ("partner 400", "§7.1", "request", "POST /v1/chatapp/templates/list {}", "A37"),
        ("partner 401", "§5", "request", "POST /v1/chatapp/registration {}", "A39"),
        ("partner 415", "§7", "scenario", strict, "A75"),
        ("partner success false", "§4.3", "request", 'POST /v1/chatapp/templates/list {"waba_id": "0"}', "A37"),
        ("verify UNSUPPORTED_MEDIA_TYPE", "§7", "scenario", strict, "A75"),
        ("verify INVALID_PHONE", "§7.2", "request", 'POST /v1/validations {"phoneNumber": "+420"}', None),
        ("verify MISSING_FIELD", "§7.2", "request", "POST /v1/validations {}", None),
        ("verify MISSING_API_KEY", "§7.2", "python",
         'httpx.post(f"{sendbox.verify_url}/v1/validations", json={"phoneNumber": "420777000101"})', None),
        ("verify INVALID_API_KEY", "§7.2", "python", denied.format("post", "/v1/validations", ", json={}"), None),
        ("verify TENANT_RATE_LIMIT", "§7.2", "scenario", "verify: {limits: {account: 1/1m}}", None),
        ("verify PHONE_RATE_LIMIT", "§7.2", "scenario", "verify: {limits: {number: 1/10m}}", None),
        ("verify TOO_MANY_ATTEMPTS", "§7.2", "python", 'for _ in range(7): client.verify(token, "000000")', None),
        ("verify INVALID_CODE", "§7.2", "request", 'POST /v1/validations/TOKEN/verify {"code": "000000"}', "A49"),
        ("verify VERIFICATION_DISABLED", "§7.2", "request",
         _CLAIM, "A51"),
        ("verify EXPIRED", "§7.2", "python", 'sendbox.advance("10m"); client.verify(token, code)', "A49"),
        ("verify NOT_FOUND", "§7.1", "request", 'POST /v1/validations/unknown/verify {"code": "123456"}', "A49"),
        ("verify INTERNAL_ERROR", "§7.2", "scenario", fault("createValidation"), None),
        ("unknown path", "§7", "request", "GET /v2/unknown", "A97"),
        ("wrong method", "§7", "request", "GET /v2/message", "A75"),
    )  # fmt: skip
    for name, section, form, snippet, assumed in rows:
        yield Item("errors", name, section, form, snippet, assumed)


def _events() -> Iterator[Item]:
    for result in STATES[1:]:
        channel = next(name for name, table in ATTEMPT.items() if result in _reached(table))
        yield Item("events", f"sentMessage {result}", "§6", "scenario", _rule(channel, result))
    for family in dict.fromkeys(FAMILY.values()):
        channel = next(name for name in reversed(FAMILY) if FAMILY[name] == family)
        reply = f'attempts: [{{when: {{channel: {channel}}}, then: delivered, replies: [{{after: 5s, body: "YES"}}]}}]'
        owed = ROWS[channel].owed_to
        yield Item("events", f"incomingReplyMessage {family}", "§6", "scenario", reply, owed)
    for family in dict.fromkeys(FAMILY.values()):
        writes = (
            f'timeline: [{{at: 5m, inbound: {{channel: {family}, from: "420777000002", to: "420900000001", '
            f'body: "Hello"}}}}]'
        )
        owed = next(row.owed_to for row in ROWS.values() if row.family == family)
        yield Item("events", f"incomingMessage {family}", "§6", "scenario", writes, owed)
    for state in SIGNUP:
        form, snippet = _SIGNUPS[state]
        yield Item("events", f"partnerOnboarding {state}", "§6", form, snippet, "A24")


_SIGNUPS: Final[dict[str, tuple[Form, str]]] = {
    "created": ("request", _SIGNUP),
    "opened": ("python", 'client.get(signup["redirect_url"])'),
    "number_verified": ("python", 'sendbox.complete_signup(signup["redirect_url"])'),
    "completed": ("python", 'sendbox.complete_signup(signup["redirect_url"]); sendbox.advance("1m")'),
    "failed": ("scenario", "partner: {signup: [{result: failed, reason: refused}]}"),
    "expired": ("python", 'sendbox.advance("1h")'),
}


def _webhooks() -> Iterator[Item]:
    rows: tuple[tuple[str, str, str | None], ...] = (
        ("answered 4xx", _APART.format("app_that_answers_404"), None),
        ("answered 5xx", _APART.format("app_that_answers_500"), None),
        ("answered another 2xx", _APART.format("app_that_answers_204"), "A20"),
        ("redirect", _APART.format("app_that_redirects"), "A20"),
        ("timeout", _APART.format("app_that_never_answers"), "A20"),
        ("no connection", 'client.send(callback="http://127.0.0.1:1/")', None),
        ("retry", f'{_APART.format("app_that_answers_500_once")}; sendbox.advance("30s")', "A20"),
        ("late", f'{_APART.format("app_that_answers_500_once")}; sendbox.advance("1m")', "A20"),
        ("given up", f'{_APART.format("app_that_answers_500")}; sendbox.advance("10m")', "A20"),
        ("duplicate", f"httpx.post({_REPLAY})", None),
        ("out of order", f'{_APART.format("app_that_answers_500_once")}; sendbox.advance("1m")', None),
    )
    for name, snippet, assumed in rows:
        yield Item("webhooks", name, "§6", "python", snippet, assumed)
    yield from _scenarios(
        "webhooks",
        ("several events in one", "§6", "clock: {mode: manual}", "A22"),
        ("signed", "§5", "account: {default_callback_secret: s3cret}", "A21"),
        ("no target", "§6", "account: {default_callback_url: null}", "A68"),
    )


#: Faults of deliveries that show what the service may do as well: repeat, reorder, delay.
_MAY: Final = {"duplicate": "A91", "reorder": "A92", "split": "A92", "bundle": "A92", "delay": "A93"}


def _faults() -> Iterator[Item]:
    for dimension, section, rules, faults, may in (
        ("webhook faults", "§6", "webhooks", DELIVERIES.items(), _MAY),
        ("api faults", "§7.1", "api", CALLS.items(), {}),
    ):
        for word, fault in faults:
            snippet = f"{rules}: [{{fault: {next(iter(fault.examples))}}}]"
            yield Item(dimension, word, section, "scenario", snippet, may.get(word))


def _outages() -> Iterator[Item]:
    rows = {
        "of a channel": "channel: richmsg",
        "of a country": "country: CZ",
        "of an operator": "country: CZ, operator: 2",
        "of phones": 'phone: "420777*"',
        "of a share": "share: 10%",
        **{f"in_flight {word}": f"channel: sms, in_flight: {word}" for word in IN_FLIGHT},
        **{f"new {word}": f"channel: sms, new: {word}" for word in NEW},
    }
    for name, fields in rows.items():
        yield Item("outages", name, "§3.1", "scenario", f"timeline: [{{at: 1m, outage: {{{fields}, for: 10m}}}}]")


def _phones() -> Iterator[Item]:
    yield from _scenarios(
        "phones",
        ("replies", "§6", 'attempts: [{then: delivered, replies: [{after: 5s, body: "YES"}]}]', None),
        ("follows a short link", "§2.1", "attempts: [{then: delivered, click: {after: 1m}}]", "A17"),
        ("opts out", "§1", 'attempts: [{then: delivered, replies: [{after: 5s, body: "STOP"}]}]', None),
    )
    writes = f'write("Hello", channel="{USUAL}", to="420900000001")'
    for act, method in (("writes", writes), ("is offline", "offline()")):
        yield Item("phones", act, "§6", "python", f'sendbox.phone("420777000101").{method}')


def _states() -> Iterator[Item]:
    sessions: dict[str, tuple[Form, str]] = {
        "pending": ("request", _SESSION),
        "code_sent": ("python", 'client.validate("420777000101"); sendbox.advance("10s")'),
        "verified": ("python", 'client.verify(token, sendbox.codes(phone="420777000101")[0].code)'),
        "failed": ("python", 'for _ in range(6): client.verify(token, "000000")'),
        "expired": ("python", 'sendbox.advance("10m")'),
    }
    for state in VALIDATION:
        yield Item("states", f"validation {state}", "§3.2", *sessions[state])
    for status in TEMPLATE:
        moved = f"timeline: [{{at: 1m, template: {{name: otp, status: {status}}}}}]"
        yield Item("states", f"template {status}", "§3.3", "scenario", moved, "A43")
    for status in NUMBER:
        moved = f'timeline: [{{at: 1m, number: {{phone_number: "*", status: {status}}}}}]'
        yield Item("states", f"number {status}", "§2.5", "scenario", moved, "A44")
    for state in SIGNUP:
        yield Item("states", f"signup {state}", "§3.3", *_SIGNUPS[state], "A46")
    orders = {
        "new": 'POST /v1/credit/order {"service_id": "sender_richmsg_420_text", "period": "month", "subject": "Acme"}',
        "active": 'POST /v1/credit/order {"service_id": "sender_sms_420_number", "period": "month"}',
    }
    for state in ORDER:
        if state in orders:  # nothing that a client can call cancels an order
            yield Item("states", f"order {state}", "§3.3", "request", orders[state], "A36")
    for state in ("stored", "done", "line skipped"):
        lines = '["no message"]' if state == "line skipped" else "[message] * 3"
        yield Item("states", f"bulk {state}", "§4.2", "python", f"client.upload(url, {lines})", "A79")
    for word, snippet in (
        ("added", 'POST /v1/apikey/add {"shared": true}'),
        ("changed", 'POST /v1/apikey/change {"apikey": "SUBKEY", "disable": 1}'),
        ("updated", 'POST /v1/apikey/update {"note": "ours"}'),
    ):
        yield Item("states", f"key {word}", "§2.5", "request", snippet, "A32")


FACTS: Final[tuple[Item, ...]] = tuple(map(about, (
    *_results(), *_transitions(), *_flows(), *_refusals(), *_infos(), *_errors(), *_events(), *_webhooks(), *_faults(),
    *_outages(), *_phones(), *_states(), *limits.ITEMS,
)))  # fmt: skip
