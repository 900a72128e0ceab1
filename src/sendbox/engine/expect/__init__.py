"""Expectations: what a scenario says a good client must have done, and the verdict.

It reads a world when somebody asks; nothing that happens may import it.
"""
