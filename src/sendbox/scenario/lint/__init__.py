"""Doubts: what a scenario says that can be used, and is probably not meant. They are warnings of `sendbox check`.

A doubt is asked of what is sound only: an entry with a problem of its own has no meaning yet. Rules are compared with
rules of the same file, since putting one's own before those of another scenario is what building on it is for.
"""
