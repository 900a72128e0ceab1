"""What comes into a world: commands, the record of them, and calls as record and journal keep them.

Nothing here knows what a service makes of a call or an act.
"""
