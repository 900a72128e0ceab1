"""Deliveries: events in batches on their way to targets, their tries, and the faults of a scenario on that way.

Nothing of HTTP is imported here: how a try ended is handed in from outside.
"""
