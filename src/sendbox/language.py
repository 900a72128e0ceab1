"""The language of scenarios as this sandbox speaks it: with the keys of its services."""

from __future__ import annotations

from typing import Final

from sendbox.scenario.language import Language
from sendbox.scenario.vocabulary import Vocabulary
from sendbox.services.account.language import ACCOUNT
from sendbox.services.language import SHARED, compile_assume, country_of
from sendbox.services.messaging.language.vocabulary import MESSAGING
from sendbox.services.operations import CALLS, EMULATED
from sendbox.services.partner.language import PARTNER
from sendbox.services.subjects import THINGS
from sendbox.services.verify.language import VERIFY


def language(*more: Vocabulary) -> Language:
    """The language with the keys of the services, and with those of more."""
    return Language(
        (ACCOUNT, MESSAGING, PARTNER, VERIFY, SHARED, *more),
        assume=compile_assume,
        country=country_of,
        subjects=THINGS,
        calls=CALLS,
        emulated=EMULATED,
    )


LANGUAGE: Final = language()
