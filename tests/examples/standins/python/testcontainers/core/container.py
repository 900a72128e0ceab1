"""A container that is a sandbox of the test."""

from __future__ import annotations

import os
from typing import Any, Self


class DockerContainer:
    """The sandbox that runs already."""

    def __init__(self, image: str) -> None:
        assert image

    def with_exposed_ports(self, *ports: int) -> Self:
        self._ports = ports
        return self

    def waiting_for(self, strategy: Any) -> Self:
        assert (strategy.port, strategy.path) == (self._ports[0], "/_sandbox/health")
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...

    def get_container_host_ip(self) -> str:
        return os.environ["STANDIN_HOST"]

    def get_exposed_port(self, port: int) -> int:
        assert port in self._ports
        return int(os.environ["STANDIN_PORT"])
