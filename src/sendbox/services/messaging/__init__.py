"""Messaging: from an accepted message to its results, replies and rows.

Channels, flow, checks, phones, prices, outages and bulk files live here; the wire of it is `http`.
"""
