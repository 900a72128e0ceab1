"""`sendbox explore`: which misfortune breaks a client that a command tests, in any language.

Its processes, what a report of theirs says, one run of the command, and the command of Sendbox itself.
"""
