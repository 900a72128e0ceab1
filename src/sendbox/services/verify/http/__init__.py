"""The Verify interface under /v1 (§4.5)."""
