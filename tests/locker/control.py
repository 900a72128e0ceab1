"""What a tester does with parcels: looks at them, and takes one out of its locker."""

from __future__ import annotations

from typing import Any

from sendbox.control.operation import Call, ControlError, operation
from tests.locker.parcels import Locker


@operation("GET", "/worlds/{id}/parcels", answers=dict[str, list[dict[str, str]]])
async def parcels(call: Call) -> Any:
    """Every parcel, oldest first."""
    return {"parcels": [parcel.view() for parcel in Locker.of(call.hosted.world).parcels.values()]}


@operation("POST", "/worlds/{id}/parcels/{parcel}/collect", act=True, answers=dict[str, str])
async def collect_parcel(call: Call, parcel: str) -> Any:
    """The recipient takes a parcel out of its locker."""
    locker = Locker.of(call.hosted.world)
    known = locker.parcels.get(parcel)
    if known is None or known.state != "stored":
        raise ControlError(404, "not_stored", f'"{parcel}" is not in a locker; a stored parcel can be collected')
    locker.parcel_due((known, "recipient_collected"))
    return known.view()
