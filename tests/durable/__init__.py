"""Worlds that outlast the server."""
