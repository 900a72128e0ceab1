"""The services, as far as worlds and scenarios go: the parts of a world, and the keys of the language.

What they serve stands in `app.py`, apart, since who only checks a scenario need not load a server.
"""

from __future__ import annotations

from typing import Final

from sendbox.engine.part import Part
from sendbox.scenario.language import Language
from sendbox.scenario.vocabulary import Vocabulary
from sendbox.services.account.account import Account
from sendbox.services.account.language import ACCOUNT
from sendbox.services.language import SHARED, compile_assume, country_of
from sendbox.services.messaging.language.vocabulary import MESSAGING
from sendbox.services.messaging.messaging import Messaging
from sendbox.services.operations import CALLS, EMULATED
from sendbox.services.partner.language import PARTNER
from sendbox.services.partner.partner import Partner
from sendbox.services.subjects import THINGS
from sendbox.services.verify.language import VERIFY
from sendbox.services.verify.verify import Verify

#: The parts of all services, in the order in which a world opens them.
PARTS: Final[tuple[type[Part], ...]] = (Account, Messaging, Verify, Partner)


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
