"""Kinds of journal entries for observers: the form of a row, and the engine's own rows.

What happens knows a kind by its code (`engine/journal.py`) and imports nothing of this.
"""
