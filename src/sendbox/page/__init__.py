"""The web page: a plain, read-only look at worlds, rendered on the server. It reads through control only."""
