"""Forgetting messages that have ended, with what hangs on them (`engine/keeping/forgetting.py`).

With a message go its row, its links, what its phone wrote before the next one was accepted, and its name; of the name
eight bytes stay, so that it can be said that it was forgotten. What counts equal texts or the cases of a rule stays.
"""
