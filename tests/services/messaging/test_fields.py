"""The rows of a message's fields."""

from __future__ import annotations

from sendbox.services.messaging.model import ASKED, LABELS, label
from tests.core.worlds import make_world, send_one


def test_a_label_is_read_of_its_message() -> None:
    """Rules and expectations see the text that the client gave; none where it gave none."""
    campaign = label("campaign", "the client's campaign", longest=20)
    world = make_world()
    named, other = send_one(world, labels={"campaign": "spring"}), send_one(world)
    assert (campaign.of(named), campaign.of(other)) == ("spring", None)
    assert campaign.posted


def test_a_label_without_a_meaning_is_no_condition() -> None:
    """It only comes back in events and rows."""
    assert [row.name for row in LABELS if not row.says] == ["reference"]
    assert "reference" not in ASKED
