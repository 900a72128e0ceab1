"""Control: what a tester does to a sandbox. One set of operations, three carriers (in process, HTTP, HTTP client)."""
