"""MessageResponse: ids under their keys, what was rejected beside them (§2.3)."""

from __future__ import annotations

import orjson

from sendbox.services.messaging.http.sending.routes import message_response, messages_response, recipients_response

REQUEST_ID = "11111111-1111-4111-8111-111111111111"


def test_s2_3_message_response_has_an_id_for_each_recipient() -> None:
    """`key` is the recipient's position as a string, and `rejected` is there though empty (§2.3, A07)."""
    assert orjson.loads(message_response(REQUEST_ID, ["a", "b"])) == {
        "request_id": REQUEST_ID,
        "accepted": [{"key": "0", "message_id": "a"}, {"key": "1", "message_id": "b"}],
        "rejected": [],
    }


def test_s2_3_rejected_recipients_keep_their_position() -> None:
    """A recipient not accepted in the call is in `rejected` with its key only (§2.3, A07)."""
    assert orjson.loads(message_response(REQUEST_ID, ["a", None, "c"])) == {
        "request_id": REQUEST_ID,
        "accepted": [{"key": "0", "message_id": "a"}, {"key": "2", "message_id": "c"}],
        "rejected": [{"key": "1"}],
    }


def test_a09_messages_response_is_by_object() -> None:
    """For `/messages` the key is the object's index and the id its base id; one accepted recipient is enough (A09)."""
    answer = messages_response(REQUEST_ID, ["x", "y", "z"], [["x-0"], [None, None], [None, "z-1"]])
    assert orjson.loads(answer) == {
        "request_id": REQUEST_ID,
        "accepted": [{"key": "0", "message_id": "x"}, {"key": "2", "message_id": "z"}],
        "rejected": [{"key": "1"}],
    }


def test_a09_messages_response_by_recipient() -> None:
    """With `messages_accepted: recipient` each recipient has an entry, with its full id (§2.3, A09)."""
    assert orjson.loads(recipients_response(REQUEST_ID, [["x-0", None], ["y-0"]])) == {
        "request_id": REQUEST_ID,
        "accepted": [{"key": "0-0", "message_id": "x-0"}, {"key": "1-0", "message_id": "y-0"}],
        "rejected": [{"key": "0-1"}],
    }
