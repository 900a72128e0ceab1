"""The services for scenarios: the keys of the language, and what a scenario may expect.

The rest is in `app.py`: checking a scenario must not load a world or a server.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from sendbox import compiled
from sendbox.engine.blueprint import Blueprint
from sendbox.engine.expect import engine_subjects
from sendbox.engine.expect.subjects import Subject
from sendbox.scenario.language import CLOCK, Language
from sendbox.scenario.vocabulary import Vocabulary
from sendbox.services.account import subjects as account
from sendbox.services.account.language import account_vocabulary
from sendbox.services.advice import OF_CALLS
from sendbox.services.http.numbers import phones_of
from sendbox.services.language import SHARED, compile_assume, country_of
from sendbox.services.messaging import subjects as messaging
from sendbox.services.messaging.channels import CHANNEL_WORDS, ROWS, SENDERS, STATES, USUAL
from sendbox.services.messaging.language.vocabulary import MESSAGING
from sendbox.services.operations import CALLS, EMULATED
from sendbox.services.partner import subjects as partner
from sendbox.services.partner.language import PARTNER
from sendbox.services.verify import subjects as verify
from sendbox.services.verify.language import VERIFY

if TYPE_CHECKING:
    from sendbox.engine.commands.record import RequestRecord
    from sendbox.engine.world import World


def _phones(world: World, record: RequestRecord) -> tuple[str, ...]:
    """The phones that a call is about: those that it names, and that of the session in its path."""
    return tuple(dict.fromkeys((*phones_of(world, record), *verify.phones_of(world, record))))


_VOCABULARIES: Final = (account_vocabulary(SENDERS), MESSAGING, PARTNER, VERIFY, SHARED)
_HAPPENINGS: Final = (*(happening.kind for row in _VOCABULARIES for happening in row.happenings), CLOCK.kind)
#: What a scenario may expect. The language's schema and the documentation are held to this table by tests.
SUBJECTS: Final[dict[str, Subject]] = {
    **messaging.SUBJECTS,
    **verify.subjects(ROWS[USUAL].results),
    **partner.SUBJECTS,
    **account.SUBJECTS,
    "happenings": messaging.happenings(_HAPPENINGS),
    **engine_subjects.subjects(
        operations=EMULATED,
        events=(*messaging.EVENTS, *partner.EVENTS),
        results=STATES[1:],
        gateways=CHANNEL_WORDS,
        advice=OF_CALLS,
        phones=_phones,
        keys=messaging.keys_of,
        request=messaging.request_of,
        named={
            "message": messaging.named_messages,
            "session": verify.named_session,
            "template": partner.named_template,
            "signup": partner.named_signups,
        },
        message=messaging.message_of,
    ),
}

_NONE: Final[Mapping[str, Callable[[], Blueprint]]] = MappingProxyType({})


def language(*more: Vocabulary, ready: Mapping[str, Callable[[], Blueprint]] = _NONE) -> Language:
    """The language with the keys of the services and of further vocabularies; `ready` are scenarios compiled before."""
    return Language(
        (*_VOCABULARIES, *more),
        assume=compile_assume,
        country=country_of,
        subjects=SUBJECTS,
        calls=CALLS,
        emulated=EMULATED,
        compiled=ready,
    )


LANGUAGE: Final = language(ready={compiled.NAME: compiled.default})
