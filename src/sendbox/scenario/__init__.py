"""Scenarios: from YAML with its places to a blueprint; every problem with file, line and column."""
