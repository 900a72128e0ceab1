"""A second, naive implementation of what becomes of a message, from the specification and the assumptions alone.

It imports nothing of Sendbox; `comparison.py` plays the same drawn worlds with both and compares what they show.
"""
