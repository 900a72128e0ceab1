"""MessageResponse (§2.3) as bytes: which ids the client gets back, and under which keys (A07, A09).

Ids are made by the core of hexadecimal digits and hyphens, so nothing in them needs escaping.
"""

from __future__ import annotations

from collections.abc import Sequence


def message_response(request_id: str, messages: Sequence[str | None]) -> bytes:
    """The answer to one Message: `key` is the index of the recipient; None is a rejected one (§2.3, A07, A09)."""
    if None in messages:
        accepted = [f'{{"key":"{key}","message_id":"{id}"}}' for key, id in enumerate(messages) if id is not None]
        rejected = [f'{{"key":"{key}"}}' for key, id in enumerate(messages) if id is None]
        return _response(request_id, accepted, rejected)
    return _response(request_id, [f'{{"key":"{key}","message_id":"{id}"}}' for key, id in enumerate(messages)], ())


def messages_response(request_id: str, base_ids: Sequence[str], messages: Sequence[Sequence[str | None]]) -> bytes:
    """The answer to `/messages`: `key` is the index of the object, `message_id` its base id (A09).

    An object none of whose recipients is accepted is in `rejected`.
    """
    accepted = []
    rejected = []
    for key, ids in enumerate(messages):
        if any(ids):
            accepted.append(f'{{"key":"{key}","message_id":"{base_ids[key]}"}}')
        else:
            rejected.append(f'{{"key":"{key}"}}')
    return _response(request_id, accepted, rejected)


def recipients_response(request_id: str, messages: Sequence[Sequence[str | None]]) -> bytes:
    """The answer to `/messages` by recipient: `key` is `<object>-<recipient>`, ids in full (A09, `recipient`)."""
    accepted = []
    rejected = []
    for index, ids in enumerate(messages):
        for recipient, id in enumerate(ids):
            if id is None:
                rejected.append(f'{{"key":"{index}-{recipient}"}}')
            else:
                accepted.append(f'{{"key":"{index}-{recipient}","message_id":"{id}"}}')
    return _response(request_id, accepted, rejected)


def _response(request_id: str, accepted: Sequence[str], rejected: Sequence[str]) -> bytes:
    return (
        f'{{"request_id":"{request_id}","accepted":[{",".join(accepted)}],"rejected":[{",".join(rejected)}]}}'
    ).encode()
