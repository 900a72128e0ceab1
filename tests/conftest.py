"""What every test shares: how hypothesis draws."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# No deadline: how long an example takes says something about the machine, not about the code.
settings.register_profile("here", deadline=None)
# The same examples on every run, so that a red build is about its change.
settings.register_profile(
    "ci", deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("ci" if os.environ.get("CI") else "here")
