"""Processes that are measured: their start, their processor time, their memory, their end."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from benchmarks.load import Load, Result

#: Seconds that one answer of control may take.
PATIENCE: Final = 600
_ADDRESS: Final = re.compile(r"https?://(?:127\.0\.0\.1|localhost|0\.0\.0\.0|\[::\]):(\d+)")


class Broken(Exception):
    """Something that was to be measured did not run; the message says why."""


class Process:
    """A server in a process. Its port is in the first address of loopback that it prints, unless `port` is given."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: Path | None = None,
        port: int | None = None,
    ) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 -- until `stop`
        self.began = time.perf_counter()
        self._process = subprocess.Popen(
            command,
            env=dict(env),
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if port is None else self._errors,
            stderr=self._errors,
        )
        self.pid = self._process.pid
        # Linux has a clock of each process: the time of all its threads, in nanoseconds.
        self._clock = (~self.pid << 3) | 2
        self.port = self._printed() if port is None else port

    def _printed(self) -> int:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            found = _ADDRESS.search(line.decode(errors="replace"))
            if found is not None:
                return int(found[1])
        self._process.wait()
        raise Broken(f"{self._process.args!r} ended with {self._process.returncode}: {self.errors()}")

    def listen(self, seconds: float) -> None:
        """Waits until its port takes connections. Raises `Broken` when it ends before, or does not in that time."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(0.1)
                    break
        raise Broken(f"{self._process.args!r} does not listen: {self.errors()}")

    def errors(self) -> str:
        """The end of what it wrote."""
        self._errors.seek(0)
        return self._errors.read().decode(errors="replace")[-2000:]

    @property
    def cpu(self) -> float:
        """Seconds of processor time so far, of all threads."""
        return time.clock_gettime(self._clock)

    @property
    def rss(self) -> int:
        """Bytes of resident memory."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        found = re.search(r"^VmRSS:\s+(\d+) kB", status, re.MULTILINE)
        assert found is not None
        return int(found[1]) * 1024

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    def ask(
        self, method: str, path: str, value: Any = None, key: str | None = None, kind: str = "application/json"
    ) -> Any:
        """One request and its JSON; `kind` is the type of a body. Raises `Broken` for a status that is not good."""
        text = self.read(method, path, value, key, kind)
        return json.loads(text) if text else None

    def read(
        self, method: str, path: str, value: Any = None, key: str | None = None, kind: str = "application/json"
    ) -> bytes:
        """One request and its answer as it is; the rest as for `ask`."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        body = value if isinstance(value, bytes | None) else json.dumps(value).encode()
        headers = {"content-type": kind, **({"x-api-key": key} if key else {})}
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        if answer.status >= 300:
            raise Broken(f"{method} {path}: {answer.status} {text[:500]!r}")
        return text

    def load(self, load: Load) -> Result:
        """Runs a load from a process of its own."""
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.load"],
            input=json.dumps({"port": self.port, "load": asdict(load)}),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise Broken(f"the load of {load.path} broke: {done.stderr[-2000:]}")
        return Result(**json.loads(done.stdout))

    def cost(self, load: Load) -> tuple[float, Result]:
        """Seconds of processor time a request, and the result."""
        before = self.cpu
        result = self.load(load)
        return (self.cpu - before) / load.requests, result

    def stop(self) -> None:
        """Ends it."""
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._errors.close()

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def output_of(command: Sequence[str], *, env: Mapping[str, str], cwd: Path | None = None, given: str = "") -> str:
    """What a command prints. Raises `Broken` when it fails."""
    done = subprocess.run(command, env=dict(env), cwd=cwd, input=given, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr or done.stdout).strip().splitlines()
        raise Broken(f"{' '.join(command[:4])} ended with {done.returncode}: {last[-1] if last else 'it said nothing'}")
    return done.stdout
