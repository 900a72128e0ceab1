"""The management interface under /v1: keys, credit, lists, devices (§4.4)."""
