"""The REST management interface, version 1 (§4.2, §4.4): routes, decode, encode, errors."""
