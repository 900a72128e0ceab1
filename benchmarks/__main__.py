"""`python -m benchmarks`."""

from __future__ import annotations

import signal
import sys

from benchmarks.command import main

signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what it started ends too
sys.exit(main())
