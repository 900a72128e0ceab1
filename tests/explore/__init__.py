"""Exploration: census, families, search, and the zoo of clients with planted bugs."""
