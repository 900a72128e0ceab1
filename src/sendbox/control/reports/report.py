"""The operation that tells all there is to know about a world in one document, to be read afterwards."""

from __future__ import annotations

import asyncio
from collections import Counter
from functools import partial
from typing import Annotated, Final, NamedTuple
from urllib.parse import quote

from msgspec import Meta
from msgspec.structs import asdict

from sendbox import __version__
from sendbox.control.answers import Proof
from sendbox.control.arguments import described
from sendbox.control.coverage import Assumptions, Covered, DimensionShare, Settings, Share, assumptions, coverage
from sendbox.control.operation import Call, ControlError, Text, one_of, operation
from sendbox.control.pending import OPEN_STATES, pending
from sendbox.control.reading import map_in_slices, newest, select
from sendbox.control.records import Journal, Remark, Verdict, advice, digest, journal, verdict
from sendbox.control.scenarios import ScenarioShown, scenario
from sendbox.control.time import unfetched
from sendbox.control.worlds import WholeWorld, world
from sendbox.engine.answer import Answer, Instant, JsonMapping, builtins, enum, read
from sendbox.engine.delivery.batches import Delivery, succeeded
from sendbox.engine.delivery.targets import NOT_ALLOWED, NOT_FETCHED
from sendbox.engine.durations import iso
from sendbox.engine.expect.verdict import lines as verdict_lines
from sendbox.engine.journal import CODE
from sendbox.engine.kinds.engine_kinds import delivery_view
from sendbox.engine.kinds.happened import LOOKED_AT, Line, collapsed, counted, describe, headed, narrator_of, to_come
from sendbox.engine.kinds.rows import Observer
from sendbox.runtime.slot import Slice

#: How many lines of what happened there are unless `lines` says otherwise, and how many at most.
LINES: Final = 500
MOST_LINES: Final = 5_000
#: How many steps and webhooks to come are shown.
COMING: Final = 20


Lines = Annotated[int, Meta(ge=1, le=MOST_LINES, description="so many of the newest lines of what happened")]
FORMATS: Final = enum(("json", "html", "text"))
PARTS: Final = enum(("remarks", "story"))
_TEXT: Final = Annotated[Text, "text/html", "text/plain"]


class ReportedVerdict(Verdict):
    """The verdict, and its lines as `sendbox verdict` prints them."""

    lines: list[str]


class ReportedLine(Answer):
    """A line of what happened."""

    at: Instant
    text: str
    tone: str


class ReportedStory(Answer):
    """The newest lines of what happened, and how much they tell."""

    lines: list[ReportedLine]
    told: int
    entries: int
    left_out: int


class ReportedCoverage(Answer):
    """The totals of coverage."""

    scope: list[str] | None
    total: Share
    dimensions: list[DimensionShare]


class ReportedAdvice(Remark):
    """The first remark of a code, as a line too, and how many there are of it."""

    line: str
    count: int


class ReportedAssumption(Answer):
    """An assumption that the client relied on, and how many entries of the journal did."""

    id: str
    title: str
    section: str
    default: str
    count: int


class Report(Answer):
    """All about a world."""

    sendbox: str
    world: WholeWorld
    scenario: ScenarioShown
    settings: Settings
    findings: list[str]
    advice: list[ReportedAdvice]
    verdict: ReportedVerdict
    story: ReportedStory
    pending: list[str]
    coverage: ReportedCoverage
    assumptions: list[ReportedAssumption]
    digest: Proof
    record: str


@operation("GET", "/worlds/{id}/report", answers=Report | _TEXT)
async def report(
    call: Call,
    format: Annotated[str, FORMATS] = "json",
    ended: Annotated[bool, described("the verdict is that at the end of the world")] = False,
    lines: Lines = LINES,
    only: Annotated[str | None, PARTS, described("all that `format=text` is to have")] = None,
) -> Report | Text:
    """All about a world in one document, to be kept after a failure: as JSON, with `format=html` as one page
    without scripts or further files, or with `format=text` in short, as a failed test prints it; then `only` leaves
    out all but the `remarks` or the `story`.

    `{sendbox, world, scenario, settings, findings, advice, verdict, story, pending, coverage, assumptions, digest,
    record}`. `world`, `scenario` and `digest` are the answers of these operations, `verdict` too, with its `lines`
    (`ended` as there); `settings` are those of the assumptions. `findings` are lines about what was refused, rejected
    or failed: calls, webhooks whose last try failed, messages that did not arrive, and warnings. `advice` has the first
    of each code with how often it was given (`count`). `story` is `{lines, told, entries, left_out}`: the newest
    `lines` of what happened, `{at, text, tone}` of each, how many of the `entries` of the journal they tell, and how
    many older lines are left out. `pending` has lines about what is still to come, `coverage` the totals, `assumptions`
    those that the client relied on, `record` the address of the record.
    """
    if call.served.document is None:
        one_of(format, "format", ("json", "text"))
    if format == "text":
        return Text("".join(f"{line}\n" for line in await _text_lines(call, lines, only, ended=ended)), "text/plain")
    if only is not None:
        raise ControlError(400, "bad_argument", f"only: {only} is not legal here; legal: with format=text")
    document = await _document(call, lines, ended=ended)
    if format == "json":
        return document
    masked = call.runtime.mask(call.hosted.world.id).view

    def page() -> str:
        assert call.served.document is not None
        return call.served.document(masked(builtins(document)))

    return Text(await asyncio.get_running_loop().run_in_executor(None, page), "text/html")


async def _document(call: Call, lines: int, *, ended: bool) -> Report:
    """The report as JSON, with at most so many lines of the story."""
    judged: Verdict = await verdict(call, ended=ended)
    everything: Assumptions = await assumptions(call)
    covered: Covered = await coverage(call)
    world_view = await world(call)
    story = await _story(call)
    return Report(
        sendbox=__version__,
        world=world_view,
        scenario=await scenario(call),
        settings=everything.settings,
        findings=await _findings(call),
        advice=await _advice(call),
        verdict=ReportedVerdict(**asdict(judged), lines=verdict_lines(judged)),
        story=ReportedStory(
            lines=[read(line._asdict(), ReportedLine) for line in story.lines[-lines:]],
            told=story.narrated,
            entries=story.entries,
            left_out=max(len(story.lines) - lines, 0),
        ),
        pending=story.coming,
        coverage=ReportedCoverage(scope=covered.scope, total=covered.total, dimensions=covered.dimensions),
        assumptions=_assumptions_in_short(everything),
        digest=await digest(call),
        record=f"{call.origin}/_sandbox/worlds/{quote(world_view['id'], safe='')}/record",
    )


async def _text_lines(call: Call, most: int, only: str | None, *, ended: bool) -> list[str]:
    """The report in lines: findings, advice, the verdict, the story, what is still to come."""
    lines: list[str] = []
    if only != "story":
        lines += [*await _findings(call), *counted(map(of_advice, (await advice(call)).advice))]
    if only is None and (judged := await verdict(call, ended=ended)).expectations:
        lines += verdict_lines(judged)
    if only != "remarks":
        story = await _story(call)
        world = call.hosted.world
        lines.append(f"world {world.id}, now {iso(world.now)}")
        lines += [*headed(story.lines, most, story.narrated, story.entries), *story.coming]
    return lines


async def _findings(call: Call) -> list[str]:
    """Lines about refusals, rejections and failures; equal lines appear once."""
    world, kinds = call.hosted.world, call.served.kinds
    journal = world.journal
    requests = CODE["request"]
    others = frozenset(CODE[code] for kind in ("refusal", "fault") for code in kinds.by_view_name.get(kind, (kind,)))

    def fits(number: int) -> bool:
        _, code, about = journal.entry(number)
        return code in others or bool(code == requests and about.findings)

    numbers = await select(range(journal.first, len(journal)), fits)
    remarks: dict[bool, list[str]] = {True: [], False: []}
    for entry in await map_in_slices(numbers[-LOOKED_AT:], Observer(world, kinds).entry):
        called = entry["kind"] == "request"
        remarks[called] += of_request(entry) if called else [entry["message"]]
    newest = await _newest_messages(call)
    lost = [of_lost(message) for message in newest if message["result"] in LOST and not message["unsettled"]]
    return counted(remarks[True], remarks[False], await _failed_webhooks(call), lost)


async def _failed_webhooks(call: Call) -> list[str]:
    """The webhooks whose last try failed, in lines; before them the warning about those that no client fetched.

    Those that the setting `callbacks` does not allow are one line for each target.
    """
    world = call.hosted.world

    def fits(delivery: Delivery) -> bool:
        if not delivery.tries:
            return False
        status, error = delivery.tries[-1].status, delivery.tries[-1].error
        return (status, error) != (None, None) and not succeeded(status, error)

    on = Observer(world, call.served.kinds)
    deliveries = await newest(world.outlets.deliveries, fits, LOOKED_AT)
    failed = await map_in_slices(deliveries, lambda delivery: delivery_view(on, delivery))
    tries = sum(this_try.error == NOT_FETCHED for delivery in failed for this_try in delivery.tries)
    forbidden = dict.fromkeys(delivery.target for delivery in failed if delivery.tries[-1].error == NOT_ALLOWED)
    return [
        *([of_warning(unfetched(world.id, tries))] if tries else []),
        *(of_failed(delivery) for delivery in failed if delivery.tries[-1].error != NOT_ALLOWED),
        *(f"webhooks to {target} are not sent: {FORBIDDEN}" for target in forbidden),
    ]


async def _advice(call: Call) -> list[ReportedAdvice]:
    """The first item of each code of advice, with how many there are of it."""
    first: dict[str, Remark] = {}
    counts: Counter[str] = Counter()
    work = Slice()
    for item in (await advice(call)).advice:
        first.setdefault(item.code, item)
        counts[item.code] += 1
        await work.pause()
    return [ReportedAdvice(**asdict(item), line=of_advice(item), count=counts[code]) for code, item in first.items()]


async def _newest_messages(call: Call) -> list[JsonMapping]:
    """The newest messages, as a list shows them."""
    messages = call.served.by_name.get("messages")
    return [] if messages is None else (await messages(call, last=LOOKED_AT, form="short")).messages


class _Story(NamedTuple):
    """Lines of what happened, how many of how many `entries` they narrate, and lines about what is still to come."""

    lines: list[Line]
    narrated: int
    entries: int
    coming: list[str]


async def _story(call: Call) -> _Story:
    """The story of the newest entries."""
    kinds = call.served.kinds
    recent: Journal = await journal(call, last=LOOKED_AT)
    phone_of = await Slice().through(call.served.phones_by_id(call.hosted.world))
    narrator = narrator_of(kinds, recent.entries, phone_of)
    narrated = [line for line in await map_in_slices(recent.entries, partial(describe, narrator)) if line is not None]
    coming = to_come(narrator, await pending(call, limit=COMING))
    return _Story(collapsed(narrated), len(narrated), recent.length, coming)


def _assumptions_in_short(everything: Assumptions) -> list[ReportedAssumption]:
    """The assumptions that a client relied on, in short, each with how many entries did."""
    rows = {row.id: row for row in everything.assumptions}
    return [
        ReportedAssumption(
            id=use.id,
            title=rows[use.id].title,
            section=rows[use.id].section,
            default=rows[use.id].default,
            count=use.count,
        )
        for use in everything.leaned
    ]


# --- remarks, in lines: refusals, rejections, advice, webhooks and messages that failed

#: The reason why webhooks are not sent to a target.
FORBIDDEN: Final = "the setting callbacks does not allow it"
#: The results of messages that did not arrive.
LOST: Final = frozenset(("undelivered", "rejected", "failed"))
#: So much of a value that its message contains is not said again.
_SAID: Final = 10

Item = JsonMapping


def of_request(entry: Item) -> list[str]:
    """A line for each finding of a call."""
    word = "refused" if entry["status"] >= 400 else "rejected"
    return [f"{word} {entry['operation']}: {_finding(finding)}" for finding in entry["findings"]]


def of_advice(item: Item) -> str:
    """An item of advice."""
    return f"advice {item['code']}: {item['message']} at {item['path']}"


def of_failed(delivery: Item) -> str:
    """A webhook that failed, or that is to be tried again, with the error of its last try."""
    last = delivery["tries"][-1]
    rule = f', by the rule "{last["rule"]}" of webhooks' if "rule" in last else ""
    failed = "failed so far" if delivery["state"] in OPEN_STATES else "failed"
    return f"webhook to {delivery['target']} {failed}: {last['error'] or last['status']}{rule}"


def of_lost(message: Item) -> str:
    """A message that did not arrive."""
    return f"message to {message['phone']} ended {message['result']}, by {message['channel']}"


def of_warning(warning: Item) -> str:
    """A warning of an advance."""
    return f"warning {warning['code']}: {warning['message']}"


def _finding(finding: Item) -> str:
    """A finding in one line, with its value where the message does not contain it."""
    value = finding["value"]
    suffix = "" if value is None or value[:_SAID] in finding["message"] else f" (there is {value})"
    return f"{finding['message']} at {finding['path']}{suffix}"
