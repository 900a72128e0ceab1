"""The store of worlds: the record of each world, outside the process, so that a later process can continue it.

`store.py` says what a store is, `sqlite.py` is one, and `persistence.py` brings the worlds of a runtime into it.
"""
