"""Coverage: what can be tried, what was tried in a world, and which assumptions a client relied on.

It reads the journal when it is asked; nothing that happens may import it.
"""
