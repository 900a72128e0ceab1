"""`sendbox explain`: one message, or one validation, in a world of its own that runs until nothing is due any more.

It is a real world: everything happens as in a server, rule by rule and draw by draw. Only the webhooks stay inside, and
are answered with 200.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

import click
import httpx
import orjson

from sendbox.app import SERVED
from sendbox.assembly import make_app
from sendbox.cli.files import load
from sendbox.cli.options import TEXT, converter, format_option
from sendbox.cli.outcome import NO, USAGE, Failure, format_json, json_of
from sendbox.contract.validators import contract_of
from sendbox.engine.answer import JsonMapping, JsonObject
from sendbox.engine.blueprint import Blueprint
from sendbox.engine.durations import Moment, instant, iso, moment, show
from sendbox.engine.journal import CODE
from sendbox.engine.kinds.narration import Names, Narrator
from sendbox.engine.kinds.rows import Observer
from sendbox.engine.timeline import Goal
from sendbox.engine.world import World
from sendbox.runtime.policy import Outcome
from sendbox.runtime.slot import Conflict, HostedWorld
from sendbox.runtime.worlds import Runtime
from sendbox.server.application import Application
from sendbox.server.loop import new_loop
from sendbox.server.wire import AsgiCall
from sendbox.services.account.account import Account
from sendbox.services.messaging.channels import CHANNELS, ROWS, TEMPLATED
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.messaging.records import Message
from sendbox.services.messaging.rules.explain import checks, explain
from sendbox.services.messaging.rules.explained import dry_run
from sendbox.services.numbers import notation
from sendbox.services.operations import CALLS
from sendbox.services.verify.verify import Verify
from sendbox.settings import Settings

#: The recipient of a message from options that name none.
USUAL_PHONE: Final = "420777000100"
WORLD: Final = "test-explain"


@click.command()
@click.argument("scenario")
@click.argument("file", required=False, type=click.Path(path_type=Path, dir_okay=False))
@click.option("--to", type=TEXT, help="The recipient.  [default: 420777000100]")
@click.option("--body", type=TEXT, help="The text.  [default: Hello]")
@click.option(
    "--channel",
    type=click.Choice(CHANNELS),
    help="The channel of its one flow step.  [default: a message without a flow]",
)
@click.option("--sender", type=TEXT, help="The sender.  [default: where a channel needs one, the first of the account]")
@click.option("--tag", type=TEXT, help="Its tags, with commas between.")
@click.option(
    "--template", type=TEXT, metavar="NAME[:LANGUAGE]", help="A template instead of a text; language en unless given."
)
@click.option(
    "--operation",
    type=click.Choice(["sendMessage", "sendPriorityMessage", "sendMessages"]),
    help="The operation that sends it.  [default: sendMessage, for a list sendMessages]",
)
@click.option("--verify", type=TEXT, metavar="NUMBER", help="Explain a validation of this number instead of a message.")
@click.option(
    "--at",
    metavar="MOMENT",
    callback=converter(moment),
    help="When it is sent: so long after the start of the world, or at an instant.  [default: at the start]",
)
@format_option("text", "json")
def explain_command(
    scenario: str,
    file: Path | None,
    operation: str | None,
    verify: str | None,
    at: Moment | None,
    format: str,
    **message: str | None,
) -> int:
    """SCENARIO is a path, or a name of the library; FILE holds the request as JSON, or flags make one. It says
    which rules are tried and why they do not match, which checks refuse, and what happens at which time, in a real
    world that runs until nothing is due any more. With --at the timeline has happened up to then. Exit code 1 when the
    request is refused.

    \b
    Example:
      sendbox explain otp-fallback --to 420777000102 --body "Your code is 1234" --channel richmsg
    """
    blueprint = load(scenario)
    senders = blueprint.compiled["account"].senders
    request = None if verify is not None else body_of(file, **message, senders=senders)
    explained = run(blueprint, request, operation, verify, at)
    click.echo(format_json(explained) if format == "json" else "\n".join(dry_run(explained)))
    return exit_code(explained)


def body_of(
    file: Path | None,
    *,
    to: str | None = None,
    body: str | None = None,
    channel: str | None = None,
    sender: str | None = None,
    tag: str | None = None,
    template: str | None = None,
    senders: Mapping[str, Collection[str]] | str = "any",
) -> object:
    """The request: the content of a file, or a message made of options. Raises `Failure`.

    `senders` are those of the account: a step that needs a sender (§2.2) and has none gets the first of them.
    """
    flags = (to, body, channel, sender, tag, template)
    if file is not None:
        if any(flag is not None for flag in flags):
            raise Failure(USAGE, f"{file} is the whole message: give it, or flags")
        return json_of(file, "a message in JSON")
    message: JsonObject = {"to": [{"phone_number": to or USUAL_PHONE}]}
    if tag is not None:
        message["tag"] = tag
    if channel is None and template is None:
        message["body"] = body or "Hello"
        return message if sender is None else {**message, "sender": sender}
    step: JsonObject = {}
    if template is not None:
        name, _, language = template.partition(":")
        channel = channel or TEMPLATED
        step |= {"template_name": name, "language": language or "en"}
    else:
        step["body"] = body or "Hello"
    row = ROWS[str(channel)]
    if sender is None and row.needs_sender:
        senders_of = {} if isinstance(senders, str) else senders
        sender = min(senders_of.get(row.family, ()), default=row.least["sender"])
    if sender is not None:
        step["sender"] = sender
    return {**message, "flow": [{row.name: step}]}


def run(
    blueprint: Blueprint,
    request: object,
    operation: str | None = None,
    verify: str | None = None,
    at: Moment | None = None,
) -> JsonObject:
    """The course of a request, or of a validation of the number `verify`, made at a moment; None = at the start.

    `{scenario, start, request, sessions, messages, stopped}`; `faults` of the request are lines; a message is as
    `services/messaging/rules/explain.explain` has it, with `checks` of each step as they stood before, and `happens`.
    """
    with asyncio.Runner(loop_factory=new_loop) as runner:
        return runner.run(_run(blueprint, request, operation, verify, at))


async def _run(
    blueprint: Blueprint, request: object, operation: str | None, verify: str | None, at: Moment | None
) -> JsonObject:
    async def content(_call: object) -> Outcome:
        return Outcome(200, None)

    app = make_app(Settings(public_url="http://sandbox"), blueprint, contract_of(), SERVED)
    runtime = app.runtime
    try:
        hosted = runtime.open(WORLD, mode="manual")
        runtime.deliver_to(hosted, content)
        if at is not None:
            await _move(runtime, hosted, at)
        if verify is not None:
            record = None
            _validate(hosted, verify)
        else:
            named = operation or ("sendMessages" if isinstance(request, list) else "sendMessage")
            await _post(app, CALLS[named].path, orjson.dumps(request))
            record = _record(hosted)
        world = hosted.world
        before = [
            [
                {"step": number + 1, "channel": step.channel, "checks": checks(world, message, number)}
                for number, step in enumerate(message.submission.send.steps)
            ]
            for message in Messaging.of(world).messages
        ]
        messages = Messaging.of(world).messages[:]
        stopped = None
        try:
            await runtime.advance(hosted, Goal("idle"))
        except Conflict as conflict:
            stopped = conflict.message
        return {
            "scenario": blueprint.name,
            "start": iso(world.start),
            "request": record,
            "sessions": [Verify.of(world).explain(session) for session in Verify.of(world).sessions.values()],
            "messages": [
                {**explain(world, message), "checks": checked, "happens": _happened(world, message)}
                for message, checked in zip(messages, before, strict=True)
            ],
            "stopped": stopped,
        }
    finally:
        await runtime.aclose()


async def _move(runtime: Runtime, hosted: HostedWorld, at: Moment) -> None:
    """Moves the clock. Raises `Failure` for an instant before the start."""
    start = hosted.world.start
    if at.instant(start) < start:
        raise Failure(USAGE, f"--at {iso(at.at)} is before the start of the world, {iso(start)}")
    await runtime.advance(hosted, Goal("to", at.instant(start)))


def _happened(world: World, message: Message) -> list[JsonObject]:
    """The events of a message in the journal, in order: `{at, after, what}`, with `after` since it was accepted."""
    observer = Observer(world, SERVED.kinds)
    journal = world.journal
    entries = [observer.entry(number) for number in range(journal.first, len(journal))]
    names = Names()
    for sent in Messaging.of(world).messages:
        names.of(sent.id)
    narrator = Narrator(SERVED.kinds.narrators, names, entries, places=True)
    carried = {entry["delivery"]: entry["events"] for entry in entries if entry["kind"] == "delivery"}
    lines = []
    for entry in entries:
        narration = narrator.narrate(entry) if _about(entry, message, carried) else None
        if narration is not None:
            after = show(instant(entry["at"]) - message.accepted_at)
            lines.append({"at": entry["at"], "after": after, "what": narration.text})
    return lines


def _about(entry: JsonMapping, message: Message, carried: JsonMapping) -> bool:
    """True if an entry is about a message, its phone, a webhook with one of its events, or an outage."""
    about = entry.get("message_id")
    if about is not None or "phone" in entry:
        return about == message.id or (about is None and entry["phone"] == message.phone)
    events = entry.get("events") or carried.get(entry.get("delivery", ""), ())
    return entry["kind"] == "outage" or any(
        event.get("message_id") == message.id or event.get("from") == message.phone for event in events
    )


def _validate(hosted: HostedWorld, number: str) -> None:
    world = hosted.world
    try:
        phone = notation.number(number, Account.of(world).country)
    except ValueError as error:
        raise Failure(USAGE, f"{number} {error}") from None
    Verify.of(world).create(
        phone, {}, Account.of(world).keys[world.id], orjson.dumps({"phoneNumber": phone}), "http://sandbox"
    )


def _record(hosted: HostedWorld) -> JsonObject:
    journal = hosted.world.journal
    view = Observer(hosted.world, SERVED.kinds).entry(next(journal.find(CODE["request"], 0)))
    faults = [journal.entry(number)[2].line for number in journal.find(CODE["fault"], 0)]
    return {**{name: view[name] for name in ("operation", "status", "findings", "advice", "answer")}, "faults": faults}


async def _post(app: Application, path: str, body: bytes) -> None:
    """One request of the client, without a socket; its answer is read from the journal."""
    headers = {b"host": b"sandbox", b"x-api-key": WORLD.encode(), b"content-type": b"application/json"}
    headers[b"content-length"] = b"%d" % len(body)
    call = AsgiCall("POST", "http", ("sandbox", 80), path, "", headers.items(), body)
    # a fault of the scenario raises the error that a client would see; the journal has it too
    with contextlib.suppress(httpx.TransportError):
        await call.run(app)


def exit_code(view: JsonObject) -> int:
    """The exit code: 1 where the request was refused, or got no answer."""
    request = view["request"]
    return NO if request is not None and (request["status"] >= 400 or not request["status"]) else 0
