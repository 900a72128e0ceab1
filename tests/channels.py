"""The channels of the product, as tests name them: they read the rows, so that another channel is in them by itself."""

from __future__ import annotations

from typing import Final

from sendbox.services.messaging.channels import CHANNELS, FAMILY, ROWS

#: The channels that are there unless a setting switches them off, and all of them, as messages list them.
USUAL: Final = tuple(name for name in CHANNELS if not ROWS[name].setting)
USUAL_FAMILIES: Final = frozenset(FAMILY[name] for name in USUAL)
USUAL_TEXT: Final = ", ".join(USUAL)
ALL_TEXT: Final = ", ".join(CHANNELS)
