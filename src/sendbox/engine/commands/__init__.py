"""The input of a world: commands, the record of them, and calls as the record and the journal keep them.

No module here knows how a service handles a call or an act.
"""
