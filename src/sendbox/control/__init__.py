"""Control: one table of operations under three carriers: in process, over HTTP, and as a client."""
