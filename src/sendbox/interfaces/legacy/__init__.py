"""The deprecated legacy HTTP interface (§4.1, A13): routes, decode, encode, errors."""
