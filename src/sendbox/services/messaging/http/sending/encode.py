"""MessageResponse (§2.3) as bytes: which ids the client gets back, and under which keys (A07, A09).

Ids are made by the core of hexadecimal digits and hyphens, so nothing in them needs escaping.
"""

from __future__ import annotations

from collections.abc import Sequence


def message_response(request_id: str, messages: Sequence[str | None]) -> bytes:
    """The answer to one Message: `key` is the index of the recipient; None is a rejected one (§2.3, A07, A09)."""
    return _response(request_id, list(enumerate(messages)))


def messages_response(request_id: str, base_ids: Sequence[str], messages: Sequence[Sequence[str | None]]) -> bytes:
    """The answer to `/messages`: `key` is the index of the object, `message_id` its base id (A09).

    An object none of whose recipients is accepted is in `rejected`.
    """
    return _response(request_id, [(key, base_ids[key] if any(ids) else None) for key, ids in enumerate(messages)])


def recipients_response(request_id: str, messages: Sequence[Sequence[str | None]]) -> bytes:
    """The answer to `/messages` by recipient: `key` is `<object>-<recipient>`, ids in full (A09, `recipient`).

    A refused object without recipients is rejected under its own index (A88).
    """
    every: list[tuple[str, str | None]] = []
    for index, ids in enumerate(messages):
        every += [(f"{index}-{place}", id) for place, id in enumerate(ids)] if ids else [(str(index), None)]
    return _response(request_id, every)


def _response(request_id: str, rows: Sequence[tuple[object, str | None]]) -> bytes:
    accepted = ",".join([f'{{"key":"{key}","message_id":"{id}"}}' for key, id in rows if id is not None])
    rejected = ",".join([f'{{"key":"{key}"}}' for key, id in rows if id is None])
    return f'{{"request_id":"{request_id}","accepted":[{accepted}],"rejected":[{rejected}]}}'.encode()
