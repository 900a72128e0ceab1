"""The interfaces that send and that list what was sent (§4.1, §4.2, §4.4)."""
