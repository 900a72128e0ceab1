"""Faults of deliveries.

`fault` is the form of their row; what carries them out (`injection`) and the rules that choose them know none by name.
"""
