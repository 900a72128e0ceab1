"""A server of PostgreSQL for tests, which keeps its files for them only, and databases in it."""

from __future__ import annotations

import itertools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest

_COUNT = itertools.count(1)
#: The tables that hold worlds.
_KEPT: Final = ("store", "worlds", "commands")
#: A server that loses nothing by a kill of its processes, and does not wait for a disk.
_SETTINGS: Final = ("fsync=off", "full_page_writes=off", "listen_addresses=", "max_connections=40")


def programs() -> Path:
    """The folder of the newest PostgreSQL. Skips a test where there is none, and fails it where `CI` is set."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: int(folder.parent.name))
    if on_path := shutil.which("postgres"):
        folders.append(Path(on_path).parent)
    if not folders:
        why = "PostgreSQL is not installed: apt install postgresql"
        if os.environ.get("CI"):
            pytest.fail(why)
        pytest.skip(why)
    return folders[-1]


class Database:
    """A server of PostgreSQL. It does not run as root, so root starts it as another user."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="sendbox-"))
        self._user: tuple[str, ...] = ()
        if os.geteuid() == 0:
            user = next(each for each in pwd.getpwall() if each.pw_name in ("postgres", "nobody"))
            os.chown(self.folder, user.pw_uid, user.pw_gid)
            identity = (f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}")
            self._user = ("setpriv", *identity, "--clear-groups")
        arguments = ("-D", str(self._data), "-A", "trust", "-U", "sendbox", "-E", "UTF8", "--no-sync")
        initdb = (*self._user, str(programs() / "initdb"), *arguments)
        subprocess.run(initdb, check=True, capture_output=True, cwd=self.folder)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    def start(self) -> None:
        """Starts it, and waits until it takes connections."""
        settings = [word for setting in _SETTINGS for word in ("-c", setting)]
        command = (*self._user, str(programs() / "postgres"), "-D", str(self._data), "-k", str(self.folder), *settings)
        self._process = subprocess.Popen(command, stderr=subprocess.PIPE, cwd=self.folder)
        assert self._process.stderr is not None
        while b"ready to accept connections" not in (line := self._process.stderr.readline()):
            assert line, "PostgreSQL has ended"

    def stop(self) -> None:
        """Ends it, and all its connections."""
        assert self._process is not None
        self._process.send_signal(signal.SIGINT)
        self._process.communicate()

    def address(self, name: str, user: str = "sendbox") -> str:
        """The address of a database."""
        return f"postgresql://{user}@/{name}?host={self.folder}"

    def connect(self, name: str = "postgres") -> psycopg.Connection[Any]:
        """A connection to a database."""
        return psycopg.connect(self.address(name), autocommit=True)

    def make(self) -> str:
        """The address of a new, empty database."""
        name = f"t{next(_COUNT)}"
        with self.connect() as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE template0")
        return self.address(name)


def copied(address: str, other: str) -> None:
    """Copies the worlds of a database that is in use into another one, as a kill at this instant would leave them."""
    with psycopg.connect(address) as source, psycopg.connect(other) as target:
        for table in _KEPT:
            target.execute(f"DELETE FROM sendbox.{table}".encode())
            with (
                source.cursor().copy(f"COPY sendbox.{table} TO STDOUT".encode()) as rows,
                target.cursor().copy(f"COPY sendbox.{table} FROM STDIN".encode()) as copy,
            ):
                for row in rows:
                    copy.write(row)


def dumped(address: str) -> bytes:
    """The rows of all worlds of a database."""
    with psycopg.connect(address) as connection:
        tables = [connection.execute(f"SELECT * FROM sendbox.{table}".encode()).fetchall() for table in _KEPT]
    return repr(tables).encode()


@contextmanager
def serving_databases() -> Iterator[Database]:
    """A server of PostgreSQL until the context is left."""
    database = Database()
    database.start()
    try:
        yield database
    finally:
        database.stop()
        shutil.rmtree(database.folder)
