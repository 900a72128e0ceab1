"""Proofs that a world is what its commands made of it, and nothing else.

In an ordinary run a part of the random worlds is played; all of them with `SENDBOX_DEEP=1` (`scripts/test deep`).
"""

import os
from typing import Final

#: Whether everything is played.
DEEP: Final = os.environ.get("SENDBOX_DEEP") == "1"
