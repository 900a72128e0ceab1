"""Coverage: what can be tried, what was tried in a world, and which assumptions a client leaned on.

It reads the journal when somebody asks; nothing that happens may import it.
"""
