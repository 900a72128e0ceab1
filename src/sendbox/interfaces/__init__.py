"""The emulated interfaces, one package each; every package has the same few files: routes, decode, encode, errors."""
