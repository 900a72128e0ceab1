"""Faults of calls, and the rules that say which call of an interface goes wrong; `table` has all faults, by their word.

`fault` has what faults of deliveries share with them, and what each may answer or do: what carries that out is the
server's, and knows no fault by name.
"""
