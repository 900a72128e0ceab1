"""Expectations: what a scenario says a good client must have done, and the verdict.

It reads a world on request; nothing that happens may import it.
"""
