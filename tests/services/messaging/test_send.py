"""A Message object as messaging keeps it."""

from __future__ import annotations

import pytest

from sendbox.services.messaging.model import Send

LONG = b'{"a":"%b"}' % (b"a" * 200)


@pytest.mark.parametrize(
    ("payload", "text", "body"),
    [
        (b'{"order":5}', "Hello", b'{"body":"Hello","payload":{"order":5}}'),
        (b"{}", None, b'{"payload":{}}'),
        (LONG, "ř" * 200, b'{"body":"%b","payload":%b}' % ("ř".encode() * 200, LONG)),
        (b'{"order":5}', "Hello" * 7, b'{"body":"%b","payload":{"order":5}}' % (b"Hello" * 7)),
        (LONG, "Hello" * 7, b'["%b","%b",%b]' % (LONG * 400, b"Hello" * 7, LONG)),
        (LONG, '"' * 200, b'{"body":"%b","payload":%b}' % (b'\\"' * 200, LONG.replace(b":", b": "))),
    ],
    ids=["short", "none", "long", "long text", "small", "written in another way"],
)
def test_payload_and_text_stay_the_same_when_their_places_are_kept(
    payload: bytes, text: str | None, body: bytes
) -> None:
    """Long ones are read from the body of the call, if they stand there as they are."""
    send = Send((), (), kept_payload=payload, kept_body=text)
    send.share(body)
    assert (send.payload, send.body) == (payload, text)
