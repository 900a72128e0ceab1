"""Deliveries: events in batches on their way to targets, their tries, and the faults of a scenario on that way.

Nothing of HTTP may come in here: how a try ended is handed in from outside.
"""
