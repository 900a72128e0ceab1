"""Exports: a world as a pytest file or as a scenario that does again what was done."""
