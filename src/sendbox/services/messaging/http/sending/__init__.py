"""The JSON sending interface under /v2, and the simple one (§4.1)."""
