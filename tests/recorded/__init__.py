"""What later changes must not change: recorded worlds, played scenarios and texts, and the comparison with them.

Everything here sees Sendbox from outside only, so that its modules may move. `python -m tests.recorded` writes the
record anew.
"""
