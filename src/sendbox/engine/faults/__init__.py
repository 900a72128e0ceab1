"""Faults of calls: which call of an interface goes wrong, by which rule, and how.

What a fault looks like on the wire is the server's.
"""
