"""The default scenario in the form in which the package keeps it."""

from __future__ import annotations

from typing import Final

from sendbox import compiled
from sendbox.language import language
from tests.documentation.markdown import ROOT

KEPT: Final = ROOT / "src/sendbox" / f"{compiled.NAME}.json"


def text() -> bytes:
    """What `compiled.default` is to read."""
    return compiled.encode_blueprint(language().load(compiled.NAME))
