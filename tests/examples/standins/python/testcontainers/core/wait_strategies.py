"""How to wait for a container."""

from __future__ import annotations


class HttpWaitStrategy:
    """Until a path answers."""

    def __init__(self, port: int, path: str) -> None:
        self.port, self.path = port, path
