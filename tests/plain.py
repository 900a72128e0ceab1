"""`pytest -p tests.plain …`: the tests run as on a machine without uvloop, on asyncio's own event loop.

Programs that the tests start are not affected.
"""

from __future__ import annotations

import sys
from typing import Any, cast

cast(dict[str, Any], sys.modules)["uvloop"] = None  # every import of it raises ImportError
