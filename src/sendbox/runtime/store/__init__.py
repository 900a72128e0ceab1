"""The store of worlds: the record of each world, outside the process, so that a later process can continue it.

`store.py` says what a store is, `sqlite.py` and `postgresql.py` are such stores, with what they share in `tables.py`.
`persistence.py` brings the worlds of a runtime into a store, and `sharing.py` knows which of them are of this process.
"""

from __future__ import annotations

from typing import Final

from sendbox.runtime.store.store import Store

#: How the address of a database begins.
SCHEMES: Final = ("postgresql://", "postgres://")


def open_store(place: str, *, flush: bool = True) -> Store:
    """The store at a place: in a database, or in a file. Raises `StoreError`.

    With `flush` a commit also outlasts the machine.
    """
    if not place.startswith(SCHEMES):
        from sendbox.runtime.store.sqlite import SqliteStore

        return SqliteStore(place, flush=flush)
    try:
        from sendbox.runtime.store.postgresql import PostgresStore
    except ImportError:
        from sendbox.runtime.store.store import StoreError

        raise StoreError("a database needs a package: pip install 'sendbox[postgresql]'") from None
    return PostgresStore(place, flush=flush)
