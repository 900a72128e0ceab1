"""The registry of assumptions: what the specification leaves open, and what is built there.

Long because it is one table, with a row for each id. A row's default is what happens
unless a scenario says otherwise under `assume:`; the settings are the fields of `services/assume.py`, which must change
together with the rows that name them. A row whose part of the service does not exist yet has `built=False`, and its
settings are refused by name (`scenario/assume.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final

#: What a confidence letter means: where the default comes from.
CONFIDENCE: Final = {
    "F": "observed or documented behaviour of the service",
    "L": "likely, by analogy or convention",
    "O": "ours, without evidence",
}


@dataclass(frozen=True, slots=True)
class Assumption:
    """One decision where the specification is silent.

    `section` is the place that leaves it open, `setting` the names under `assume:` that change it (none: it cannot be
    changed), `confidence` one letter of `CONFIDENCE`, or two with a slash where parts of the row differ.
    """

    id: str
    section: str
    title: str
    default: str
    setting: tuple[str, ...]
    confidence: str
    built: bool = True

    def as_json(self) -> dict[str, object]:
        """The row as control and the command line show it."""
        return {field.name: getattr(self, field.name) for field in fields(self)} | {"setting": list(self.setting)}


def _row(
    number: int, section: str, title: str, default: str, setting: str = "", confidence: str = "F", *, built: bool = True
) -> Assumption:
    return Assumption(f"A{number:02}", section, title, default, tuple(setting.split()), confidence, built)


ASSUMPTIONS: Final[tuple[Assumption, ...]] = (
    _row(
        1,
        "§2.1",
        "fields of a callback given as an object",
        "url (http or https, 8 to 2048 characters) is required; method POST, PUT, PATCH or GET; content_type JSON or "
        "form; at most 20 headers; batch_size 1 to 500; timeout_ms 1000 to 10000. An empty string means no callback. "
        "item and body templates have no effect and give advice",
    ),
    _row(
        2,
        "§2.2",
        "the flow channel rcs",
        "off: a step named rcs is refused. On, it takes body, sender, ttl, ttl_condition, buttons, card, carousel, raw",
        "rcs",
    ),
    _row(3, "§2.2", "ttl_condition of the chatapp steps", "sent, delivered or seen; delivered unless given"),
    _row(
        4,
        "§2.2",
        "a bad end of a step that has a next one",
        "the flow moves on at once, with or without a ttl; with ttl it waits until the ttl is over",
        "fallback_on_failure",
        "L",
    ),
    _row(
        5,
        "§2.2",
        "a receipt that comes after the flow moved on",
        "it is reported under the gateway of its own step and does not stop the flow",
        confidence="L",
    ),
    _row(
        6,
        "§2.2",
        "a flow of template steps without any body",
        "legal, since the template is the content; as soon as another channel is in the flow, a body is needed for it",
        confidence="L",
    ),
    _row(7, "§2.3", "an entry of rejected", "an object with key alone; the array is there even when it is empty"),
    _row(
        8,
        "§2.3",
        "refused in the answer or by webhook",
        "in the answer only template variables that do not fit; all else by webhook. response moves the check of the "
        "number into the answer",
        "invalid_number",
        "F/L",
    ),
    _row(
        9,
        "§2.3",
        "who gets which message id",
        "/message gives an id to each recipient, key is its index. /messages gives a base id to each message object, "
        "key is the object's index, and events use the base id with -<recipient index>; with recipient every recipient "
        "has an entry of its own with the full id",
        "messages_accepted",
    ),
    _row(10, "§4.1", "body of POST /messages", "a JSON array of 1 to 10 message objects, without an envelope"),
    _row(
        11,
        "§4.1",
        "text of Message in a 400",
        "the first finding on one line. A key that is missing or denied gets the words of an explicit deny, which no "
        "other text contains",
        confidence="F/O",
    ),
    _row(
        12,
        "§4.1",
        "parameters and answers of /simple/message",
        "phone_number or number, message or body, sender, gateway, datetime or time, customID (into the payload), "
        "apikey on GET; answers with request_id, message_id and accepted",
        confidence="F/L",
    ),
    _row(
        13,
        "§4.1",
        "legacy /Send and /api-send.php",
        "also by GET; several numbers with semicolons; one line OK|<id> for each, ERROR|<code> when refused; with "
        "plain only the word ERROR",
        "legacy_error",
    ),
    _row(
        14,
        "§2.1",
        "normalization of phone numbers",
        "digits only, leading zeros dropped; nine digits with 6 or 7 in a Czech account, and national numbers of the "
        "account's country, get its calling code; 8 to 15 digits with an assigned calling code are valid, assigned to "
        "somebody or not",
        "country",
    ),
    _row(
        15,
        "§2.1",
        "a delivery window whose start is after its end",
        "it runs over midnight and belongs to the day on which it starts; equal times mean the whole day",
        confidence="L",
    ),
    _row(
        16,
        "§2.1",
        "parts of a delivery window left out, and its edges",
        "every day, from 00:00, until 24:00; the end is outside. A local time that does not exist becomes the first "
        "one that does, one that comes twice is its first",
        confidence="L",
    ),
    _row(
        17,
        "§2.1",
        "short links",
        "/s/<code> redirects with 302; GET counts as a click, HEAD does not; 410 after the expiry. get_enhance appends "
        "the message id, and the redirect hands the query on",
        confidence="F/O",
    ),
    _row(
        18,
        "§1",
        "normal and priority queue",
        "no limit. A limited normal queue never holds the priority queue back; datetime first, then the window, fix "
        "the instant; later steps of a flow do not ask the window again",
        "queue",
        "O",
    ),
    _row(
        19,
        "§5",
        "permissions of a key",
        "a scope: full, rest-api (settings too), api (sending only; settings calls get 403)",
    ),
    _row(
        20,
        "§6",
        "when a webhook is tried again",
        "5 tries, 30, 60, 120 and 240 s after the start of the one before; any 2xx ends it (advice unless 200), a "
        "redirect fails it; 5 s for an answer",
        "webhook_retry webhook_timeout",
    ),
    _row(
        21,
        "§5",
        "how a receiver knows that a webhook is genuine",
        "with a default_callback_secret: X-Request-Signature, hex HMAC-SHA256 of the raw body; without one no "
        "signature. X-Request-Id is the same on every try",
    ),
    _row(
        22,
        "§6",
        "which events travel together",
        "those of one instant for one target, at most 100; a failed bundle is repeated unchanged; later events do not "
        "wait for it. One batch at a time for each target, targets side by side",
        "bundle",
        "L",
    ),
    _row(
        23,
        "§6",
        "texts of result_info",
        "[0] Delivered, [1] Undelivered, [2] Rejected, [3] Failed, [302] bad number, [303] not in the allowed list, "
        "[304] blacklisted or opted out, [306] identical messages, [307] credit; left out rather than empty",
    ),
    _row(
        24,
        "§6",
        "partner onboarding notification",
        "an object with partner_client_id (null without one), status and what is known of chatapp_id and the number; "
        "one POST for each state of the signup, the first one included",
        confidence="O",
    ),
    _row(
        25,
        "§3.1",
        "transitions of an attempt",
        "failed from every state that is no end; sent may come without sending; seen after delivered or sent, not on "
        "sms. Anything else is illegal unless a scenario says illegal: true",
        confidence="L",
    ),
    _row(
        26,
        "§7.2",
        "status codes of REST errors",
        "400 for a field, 401 for the key (400 on the message lists), 403 for scope or owner, 500 inside",
    ),
    _row(
        27,
        "§2.5, §4.4",
        "/blacklist and /optout",
        "subid is optional; invalid lists the lines that are no number; no usable number is a 400",
    ),
    _row(28, "§4.4", "query of GET /messages", "date, subid, tag, phone_number, cursor"),
    _row(
        29,
        "§4.4",
        "GET /message",
        "query id; 200 with message, which is null for an id that is unknown or another's; no id is a 400",
    ),
    _row(
        30,
        "§7.3",
        "status_code and delivery_code",
        "strings or null: 200 sent, 201 delivered, 202 seen, for a refusal the code of its result_info",
        confidence="F/O",
    ),
    _row(
        31,
        "§4.4",
        "POST /credit/order",
        "service_id and period; subject where the service asks for one; dryrun shows the fee: setup plus months",
    ),
    _row(
        32,
        "§4.4",
        "sub-keys",
        "/apikey/add, list, change and me; at most 19 children; only the top key may add or change them; a balance of "
        "its own begins empty",
    ),
    _row(
        33,
        "§4.4",
        "POST /apikey/update",
        "default_callback_url, note, default_callback_secret, default_sender; an empty one clears",
        confidence="F/L",
    ),
    _row(34, "§7.2", "texts of push device errors", "400 for a missing id or token, 403 for another's"),
    _row(
        35,
        "§4.2, §8",
        "size of a bulk file",
        "100,000 lines and 64 MiB unpacked; a used, forged or old address is a 403",
        "bulk",
        "L",
    ),
    _row(36, "§3.3", "states of an order", "new, active, cancelled", confidence="L"),
    _row(
        37,
        "§4.3",
        "failures of partner calls",
        "a missing field is a 400 that names it; failures of business answer 200 with success false",
    ),
    _row(
        38,
        "§4.3",
        "/chatapp/signup",
        "takes the client's name, logo, id, finish address, e-mail, website and country too; gives token, redirect_url",
    ),
    _row(
        39,
        "§4.3",
        "/chatapp/registration",
        "token, waba_id, code, and phone_number_id or country; any waba_id becomes the account's",
        confidence="F/O",
    ),
    _row(40, "§4.3", "/chatapp/accounts/list", "filters client_id and waba_id; no account: success false"),
    _row(
        41,
        "§4.3",
        "verify and check of a phone number",
        "verify sends the code again, a new one unless code is given, and it shows on the phone; check says whether "
        "the number can be used: it is CONNECTED or FLAGGED",
        "verify_code_required",
        "F/L",
    ),
    _row(42, "§4.3", "template calls", "list, library/create, edit, delete and test with their fields"),
    _row(
        43,
        "§2.5",
        "category and status of a template",
        "MARKETING, UTILITY, AUTHENTICATION; PENDING until reviewed after 10 s, then APPROVED, and seven states more; "
        "edited: PENDING again",
        "template_review",
        "F/L",
    ),
    _row(
        44,
        "§2.5",
        "status and quality of a business number",
        "PENDING, CONNECTED, FLAGGED, RESTRICTED, OFFLINE; GREEN, YELLOW, RED, UNKNOWN",
    ),
    _row(45, "§4.3", "analytics", "computed from what the world sent, by the granularity asked", "", "F/L"),
    _row(
        46,
        "§3.3",
        "states of a signup",
        "created, opened, number_verified, completed, failed, expired",
        confidence="O",
    ),
    _row(
        47,
        "§4.5",
        "answer of POST /v1/validations",
        "token of 64 hex digits, status, expiresAt, timestamp, proof; a payload of strings is taken",
    ),
    _row(
        48,
        "§4.5",
        "verify of a session",
        "takes code; gives verified, phoneNumber, token, code, timestamp, verifiedAt, proof",
    ),
    _row(
        49,
        "§7.2",
        "errors of a code",
        "INVALID_CODE and EXPIRED 400, NOT_FOUND 404, TOO_MANY_ATTEMPTS 429; all carry attemptsRemaining",
        confidence="F/O",
    ),
    _row(50, "§4.5", "PATCH of a session", "takes proof; gives valid, phoneNumber, verifiedAt"),
    _row(
        51,
        "§4.5",
        "POST /v1/verify-proof",
        "valid true or false; expired a day after the timestamp; a missing field is a 400",
    ),
    _row(
        52,
        "§5",
        "the HMAC proof",
        "hex HMAC-SHA256 over phoneNumber, token, code, timestamp with colons between",
        "proof",
        "O",
    ),
    _row(
        53,
        "§8",
        "rate limits of Verify",
        "100 sessions a rolling minute for the account, 5 in ten minutes for a number",
        "verify_limits",
        "O",
    ),
    _row(54, "§3.2", "texts of Verify errors", "one fixed sentence for each error code"),
    _row(55, "§2.1, §2.2", "a root body for steps that require one", "serves sms, richmsg and chatapp_text alike"),
    _row(
        56,
        "§2",
        "null for an optional field",
        "a 400 that names the field; with absent it counts as left out",
        "nulls",
        "O",
    ),
    _row(
        57,
        "§2",
        "unknown fields",
        "taken without effect, with advice that names the nearest field; the flow element itself has exactly one "
        "known key",
        confidence="L",
    ),
    _row(
        58,
        "§2.1",
        "forms of datetime",
        "RFC 3339; other offsets are converted, none means UTC with advice; exactly 60,000 ms ahead goes at once",
        confidence="L",
    ),
    _row(
        59,
        "§2.1, §2.2",
        "senders of a wrong form, and unregistered ones",
        "a name over 11 characters and a chatapp sender that is not digits are a 400 (advice with accept). "
        "Unregistered: sms goes with advice (rejected with strict), the other channels reject the step unless senders "
        "are any",
        "sender_form sms_sender",
        "L/O",
    ),
    _row(
        60,
        "§2.1",
        "special and empty tags",
        "priority takes the priority queue; opt-out is asked when promotional is among the tags; no tag left after "
        "cleaning counts as none given",
        confidence="F/L",
    ),
    _row(
        61,
        "§1, §6",
        "price, and when it is charged",
        "by country and channel, times segments; checks and charge come when an attempt is about to be handed over, "
        "also for scheduled messages and further steps; nothing is paid back",
        "prices",
    ),
    _row(
        62,
        "§3.1",
        "what a refusal ends",
        "number, blacklist, opt-out and credit end the message; sender, template, conversation and missing app end the "
        "step, and the flow goes on",
        confidence="F/L",
    ),
    _row(
        63,
        "§3.1",
        "timing without a rule",
        "sending at once, sent after 1 s, delivered 2 s later, seen 5 s later",
        "timing",
        "O",
    ),
    _row(
        64,
        "§2.2",
        "how a ttl counts",
        "from sending; a receipt at that very instant is in time; a later state meets the condition too; no effect on "
        "the last step",
        confidence="L",
    ),
    _row(
        65,
        "§2.4",
        "which attempt a status row shows",
        "the last, or an earlier one that got further; flags and times are those of all attempts",
        confidence="O",
    ),
    _row(66, "§2.2", "how long a conversation is open", "24 h from the recipient's last message", "conversation"),
    _row(
        67,
        "§6",
        "event fields without a value",
        "payload {}, the channel's object always there with zeros; a refused message carries its first step's gateway",
        confidence="O",
    ),
    _row(
        68,
        "§6",
        "where an inbound message goes",
        "a reply when it names a message, or when the phone's newest message of that channel came from the number "
        "written to; else an incomingMessage to the default callback; without a target it is journaled with advice",
        confidence="L",
    ),
    _row(69, "§6", "callbacks by GET and by form", "one field events with the JSON array; GET unsigned", "", "O"),
    _row(70, "§4.4", "subid", "default, or the billing id of a sub-key with its own balance", "", "O"),
    _row(
        71,
        "§4.4",
        "day and pages of message rows",
        "UTC day of hand-over or refusal; 100 rows a page, oldest first",
        confidence="O",
    ),
    _row(
        72,
        "§3.2",
        "details of a Verify session",
        "a code counts from creation; six wrong ones end it for good; it expires at 600 s; sessions are independent",
        confidence="L/O",
    ),
    _row(
        73,
        "§4.5",
        "the Verify SMS",
        "a fixed text from the sender Verify; charged and steerable; no webhook and no row",
        confidence="O",
    ),
    _row(74, "§4.5", "PATCH with a wrong proof", "200 with valid false", confidence="L"),
    _row(
        75,
        "§7",
        "unknown path, wrong method, malformed JSON",
        "404, 405, 400 in the shape of the interface; JSON endpoints do not insist on a content type",
        confidence="O",
    ),
    _row(
        76,
        "§2.2",
        "media of a template header",
        "never fetched; the extension decides the kind; size and codec only where a scenario states them",
        confidence="O",
    ),
    _row(
        77,
        "§2.1",
        "params._url.domain",
        "a domain the account does not have is a 400; one it has shows in the link, which is served by its path",
        confidence="L",
    ),
    _row(
        78,
        "§2.1",
        "length of a short link",
        "24 characters plus the query of get_enhance when segments are counted, whatever its real length",
        confidence="O",
    ),
    _row(
        79,
        "§4.2",
        "bulk processing",
        "each line is a POST /message, in order, at the instant of the upload; a bad line is journaled and skipped",
        confidence="O",
    ),
    _row(
        80,
        "§2.2",
        "gateway of an sms step",
        "no effect on result or price; advice where a number is needed and missing",
        confidence="O",
    ),
    _row(81, "§4.4", "delay of blacklist and opt-out", "in force one second later", "list_delay", "O"),
    _row(
        82,
        "§6",
        "country and operator of an event",
        "MCC by calling code; MNC drawn by number among the country's, 0 where none is known",
        confidence="O",
    ),
    _row(
        83,
        "§7.3",
        "refusals [303] and [306]",
        "never, unless a list of allowed numbers or a limit of identical messages is set",
        "allowed identical",
        "O",
    ),
    _row(
        84,
        "§1",
        "hours for promotional messages",
        "any; with a window, promotional messages wait for it",
        "promotional_window",
    ),
    _row(85, "§9", "end of the deprecated names", "never; they work with advice", confidence="O"),
    _row(86, "§9", "a deprecated name beside its new one", "the new one wins, with advice", confidence="O"),
)

_BY_ID: Final = {row.id: row for row in ASSUMPTIONS}


def by_id(id_: str) -> Assumption:
    """The row of an id such as `A20`. Raises KeyError for an id that is not in the table."""
    return _BY_ID[id_]
