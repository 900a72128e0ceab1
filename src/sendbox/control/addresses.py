"""The addresses of the interfaces, as they are shown to people and given to clients."""

from __future__ import annotations


def addresses(origin: str) -> dict[str, str]:
    """The four base addresses of the interfaces."""
    return {"base_url": f"{origin}/v2", "rest_url": f"{origin}/v1", "verify_url": origin, "http_api_url": origin}
