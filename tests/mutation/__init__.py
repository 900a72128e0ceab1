"""The mutation run: small faults put into the code, one at a time, and whether a test sees each of them.

`python -m tests.mutation` draws a sample of mutants of the engine and of messaging. It is the last part of a deep run.
"""
