"""Lints: they warn about parts of a scenario that can be used, but are probably not intended (`sendbox check`).

Only parts without problems are checked: an entry with a problem has no meaning yet. Rules are compared with rules of
the same file, because a scenario builds on another one in order to put its own rules before those of the other.
"""
