"""Exploration: what it finds, how it makes it small, and what it says."""
