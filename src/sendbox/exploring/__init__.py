"""Exploration: which misfortune that the service allows breaks a client.

A census says what happened in a run without misfortune; the families turn it into spots, places at which something may
go wrong; a plan is a few of them, and a scenario by construction. The search knows neither pytest nor servers: it asks
a function whether a plan breaks the client.
"""
