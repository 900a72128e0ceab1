"""The observation of partner management's journal entries: signups, templates, numbers, and codes on phones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sendbox.engine.answer import JsonObject
from sendbox.engine.coverage import Collector
from sendbox.engine.digest import Canon
from sendbox.engine.kinds.narration import WORLD, Entry, Narration, Narrator, fields_of, flat, short_line
from sendbox.engine.kinds.rows import Event, Kind, Lapse, Line, ObservationRows, Observer, View
from sendbox.services.partner.records import Onboarding


def _signup(_on: Observer, onboarding: Onboarding) -> View:
    signup = onboarding.signup
    return {"signup": signup.id, "mode": signup.mode, **onboarding.fields, "reason": onboarding.reason}


def _onboarding_line(canon: Canon, onboarding: Onboarding) -> Line:
    fields = {name: canon.plain(value) if value else value for name, value in onboarding.fields.items()}
    return {"signup": onboarding.signup.name, "mode": onboarding.signup.mode, **fields}


def _signup_lines(canon: Canon, onboarding: Onboarding) -> Iterator[Line]:
    yield {**_onboarding_line(canon, onboarding), "reason": onboarding.reason}


def _count_signup(collector: Collector, onboarding: Onboarding) -> None:
    collector.count("states", f"signup {onboarding.fields['status']}")


def _narrate_signup(_narrator: Narrator, entry: Entry) -> Narration:
    reason = f": {entry['reason']}" if entry.get("reason") else ""
    return Narration(
        WORLD, f"signup of {entry.get('partner_client_id') or entry['mode']} {entry.get('status')}{reason}"
    )


def _plain(_on: Observer, state: View) -> View:
    return {name: value for name, value in state.items() if name != "components"}  # the digest's


def _changed_lines(_canon: Canon, state: View) -> Iterator[Line]:
    yield {name: value for name, value in state.items() if name not in ("template_id", "phone_number_id")}


def _changed(word: str) -> Kind:
    """A template or a number that changed, or was not allowed to."""

    def count(collector: Collector, state: JsonObject) -> None:
        if "status" in state:
            collector.count("states", f"{word} {state['status']}")

    def narrate(_narrator: Narrator, entry: Entry) -> Narration:
        return Narration(WORLD, f"{word} {flat(fields_of(entry))}")

    return Kind(word, _plain, _changed_lines, count, narrate)


OBSERVED: Final = ObservationRows(
    kinds=(
        Kind("signup", _signup, _signup_lines, _count_signup, _narrate_signup),
        _changed("template"),
        _changed("number"),
        Kind(
            "notice",
            lambda _on, notice: {"phone": notice.phone, "from": notice.sender, "body": notice.body},
            lambda _canon, notice: ({"phone": notice.phone, "body": notice.body},),
            narrate=lambda _narrator, entry: Narration(
                entry["phone"], f'gets "{short_line(entry["body"])}"', to=entry["phone"]
            ),
        ),
    ),
    events={
        Onboarding: Event(
            lambda event: {"event": "partnerOnboarding", "signup": event.signup.id, **event.fields},
            _onboarding_line,
            lambda event: f"partnerOnboarding {event.fields['status']}",
        )
    },
    lapses={
        "token": Lapse(
            lambda signup: {"signup": signup.id},
            lambda _canon, signup: {"signup": signup.name},
            lambda collector, _signup: collector.count("limits", "signup token expired after 1 hour"),
        )
    },
    steps={
        "finish_due": lambda arguments: {"what": f"the signup {arguments[0].id} ends"},
        "code_due": lambda arguments: {"what": "a code comes to the phone", "phone": arguments[0]},
        "review_due": lambda arguments: {"what": f"review of the template {arguments[0]}"},
    },
)
