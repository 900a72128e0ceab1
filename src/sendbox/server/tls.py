"""A certificate for this machine, and the authority that signed it, made when the server starts (`--tls self`).

Valid from 2000 to 3000, so that a frozen clock does not matter. Keys are the one thing here that is really random.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import tempfile
import weakref
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final

#: Names a client on this machine calls it by; the machine's own name is added.
LOCAL: Final = ("localhost", "127.0.0.1", "::1")


class NoTls(Exception):
    """A certificate cannot be made; the message says why and what to do."""


@dataclass(eq=False)
class Tls:
    """Files for the server, the authority for its clients, and the names both hold for.

    The files lie in a folder that only this user can read; `close`, leaving the context or the end of the process
    removes it.
    """

    certfile: str
    keyfile: str
    ca_pem: bytes
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        self._finalizer = weakref.finalize(self, _remove, Path(self.certfile).parent, os.getpid())

    def close(self) -> None:
        """Removes the files."""
        self._finalizer()

    def __enter__(self) -> Tls:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def self_signed(hostnames: Iterable[str] = ()) -> Tls:
    """An authority of its own and a certificate for this machine, and for `hostnames` (names or addresses) besides.

    NoTls where a name cannot be in a certificate, trustme is not installed, or there is no folder for the files.
    """
    try:
        import trustme
    except ImportError as error:
        raise NoTls("trustme is not installed, and makes the certificate: pip install 'sendbox[tls]'") from error
    authority = trustme.CA(organization_name="Sendbox")
    names = tuple(dict.fromkeys([*LOCAL, *hostnames]))
    with contextlib.suppress(UnicodeError, ValueError):  # the machine's name may be none that a certificate can hold
        host_name = socket.gethostname().lower()
        authority.issue_cert(host_name)
        names = tuple(dict.fromkeys([*names, host_name]))
    try:
        leaf = authority.issue_cert(*names, organization_name="Sendbox")
    except (UnicodeError, ValueError) as error:
        refused = ", ".join(name for name in names if name not in LOCAL)
        raise NoTls(f"{refused} cannot be in a certificate ({error}): give host names and IP addresses") from error
    try:
        folder = Path(tempfile.mkdtemp(prefix="sendbox-tls-"))  # for its owner only (0700)
        certfile, keyfile = folder / "certificate.pem", folder / "key.pem"
        certfile.write_bytes(b"".join(pem.bytes() for pem in leaf.cert_chain_pems))
        keyfile.touch(mode=0o600)
        keyfile.write_bytes(leaf.private_key_pem.bytes())
    except OSError as error:
        why = error.strerror or str(error)
        raise NoTls(
            f"the certificate cannot be written ({why}): name a folder that can be written to in TMPDIR, or give a "
            "certificate of your own"
        ) from error
    return Tls(str(certfile), str(keyfile), authority.cert_pem.bytes(), names)


def _remove(folder: Path, owner: int) -> None:
    if os.getpid() == owner:  # a forked child that ends must not take its parent's files along
        shutil.rmtree(folder, ignore_errors=True)
