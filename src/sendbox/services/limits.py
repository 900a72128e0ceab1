"""Limits (§8): each figure once, for the code that checks requests and times, and for the code that describes it.

Instants and durations in milliseconds unless a name says otherwise.
"""

from __future__ import annotations

from typing import Final

#: Recipients of a message, messages of a call, and recipients of a call in all.
RECIPIENTS: Final = 10
MESSAGES: Final = 10
IN_ALL: Final = 100
#: Characters of a body that are sent (§2.1).
BODY: Final = 1000
#: Characters of a reference (A57).
REFERENCE: Final = 64
#: Characters of an alphanumeric sender.
SENDER: Final = 11
#: Minutes that a ttl has at least (§2.2).
TTL: Final = 0.5
#: Buttons of a rich message.
BUTTONS: Final = 1
#: Characters of a template's name.
TEMPLATE_NAME: Final = 100
#: The number to which, with a setting, nothing is handed over (A89).
TEST_NUMBER: Final = "420777777777"
#: A `datetime` at most this far ahead is sent at once (§2.1, A58).
SOON: Final = 60_000
#: How long a short link works unless the request says (§2.1).
LINK: Final = 7 * 86_400_000
#: How long an upload address works (§4.2).
UPLOAD: Final = 60_000
#: How long the token of a signup is valid.
TOKEN: Final = 3_600_000
#: Attempts that a validation session has, and how long it is valid: from this instant on it is expired (A72).
ATTEMPTS: Final = 6
SESSION: Final = 600_000
