"""The partner interface under /v1/chatapp (§4.3)."""
