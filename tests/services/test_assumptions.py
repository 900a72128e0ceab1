"""The registry of assumptions: complete, and in step with the settings that change them."""

from __future__ import annotations

from sendbox.services.assumptions import CONFIDENCE, Assumption, registry
from sendbox.services.settings import PROFILES, SETTINGS


def by_id(id_: str) -> Assumption:
    """The row of an id."""
    return next(row for row in registry() if row.id == id_)


def test_every_id_has_a_row() -> None:
    """A01 to A98 each stand once, in order."""
    assert [row.id for row in registry()] == [f"A{number:02}" for number in range(1, 99)]


def test_a_row_says_what_it_is() -> None:
    """Each has a section, a title, a default and a known confidence."""
    assert [row.id for row in registry() if not row.section.startswith("§")] == []
    assert [row.id for row in registry() if not row.title or not row.default] == []
    assert [row.id for row in registry() if not set(row.confidence.split("/")) <= set(CONFIDENCE)] == []


def test_a_setting_changes_an_assumption_that_is_built() -> None:
    """Each setting is one of a built row, or of several."""
    built = {name for row in registry() if row.built for name in row.setting}
    assert sorted(built) == sorted(SETTINGS)


def test_rows_hold_what_the_file_says() -> None:
    """A row holds what the file says of it, and the settings that name it."""
    assert by_id("A20").setting == ("webhook_retry", "webhook_timeout")
    assert by_id("A43").built


def test_a_row_as_json() -> None:
    """Control and the command line show every field; settings are a list."""
    assert by_id("A03").as_json() == {
        "id": "A03",
        "section": "§2.2",
        "title": "ttl_condition of the chatapp steps",
        "default": "sent, delivered or seen; delivered unless given",
        "setting": [],
        "confidence": "F",
        "built": True,
        "profiles": {},
    }


def test_a_row_names_its_profiles() -> None:
    """A row has the settings that a profile gives it, and no others."""
    assert by_id("A59").profiles == {"careful": {"sms_sender": "strict"}, "lenient": {"sender_form": "accept"}}
    assert by_id("A75").as_json()["profiles"] == {"careful": {"content_type": "strict"}}


def test_a_profile_is_made_of_settings_that_are_not_the_default() -> None:
    """Each value of a profile is legal where it stands in a scenario, and changes something."""
    for settings in PROFILES.values():
        for name, value in settings.items():
            assert value in SETTINGS[name].node["enum"]
            assert value != SETTINGS[name].default
