"""The report of a world as one page, which needs no further file: its style stands in it, and it has no scripts."""

from __future__ import annotations

import base64
import functools
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from sendbox.page.assets import assets
from sendbox.page.rendering import html

#: What the page has beside the look of every page.
STYLE: Final = Path(__file__).parent / "templates" / "report.css"


@functools.cache
def style() -> tuple[str, str]:
    """The style, and the policy of a page that has it: this style, and nothing else."""
    content = assets().files["css/look.css"][0].decode() + STYLE.read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
    return content, f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'"


def document(report: Mapping[str, Any]) -> str:
    """A report as a page. The first one takes longer than anything may hold the event loop."""
    content, policy = style()
    return html("report.html", {"report": report, "style": content, "policy": policy})
