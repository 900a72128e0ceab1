"""The JSON sending interface, version 2 (§4.1): routes, decode, encode, errors."""
