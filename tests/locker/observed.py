"""How parcels are observed: by views, digest, coverage and words for people, and by what a scenario expects."""

from __future__ import annotations

from typing import Final

from sendbox.engine.expect.subjects import Field, Subject
from sendbox.engine.kinds.narration import Narration
from sendbox.engine.kinds.rows import Event, Kind, ObservationRows, View
from tests.locker.parcels import PARCEL, Notice


def notice_view(notice: Notice) -> View:
    """An event in short; no name that the world gave out is in it, so that the digest may have it too."""
    return {"event": notice.type, "phone": notice.parcel.phone, "locker": notice.parcel.locker}


#: What an entry is about is a pair: the parcel, and the state to which it came.
ENTRY: Final = Kind(
    "parcel",
    view=lambda _on, what: {**what[0].view(), "state": what[1], "rule": what[0].rule},
    canonical_lines=lambda _canon, what: ({"phone": what[0].phone, "locker": what[0].locker, "state": what[1]},),
    count=lambda collector, what: collector.count("parcels", what[1]),
    narrate=lambda _narrator, entry: Narration(entry["phone"], f"parcel at {entry['locker']}: {entry['state']}"),
)
NOTICE: Final = Event(
    view=notice_view, line=lambda _canon, notice: notice_view(notice), item=lambda notice: notice.type
)
OBSERVED: Final = ObservationRows(kinds=(ENTRY,), events={Notice: NOTICE})
SUBJECT: Final = Subject(
    "a state that a parcel came to",
    {
        "phone": Field("phone", "the recipient", lambda _world, what: what[0].phone),
        "state": Field("word", "the state", lambda _world, what: what[1], tuple(PARCEL)),
        "rule": Field("text", "the rule that decided about it", lambda _world, what: what[0].rule),
    },
    lambda _world, what: f"parcel of {what[0].phone}: {what[1]}",
    kinds=("parcel",),
)
