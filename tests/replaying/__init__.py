"""Proofs that a world is what its commands made of it, and nothing else.

In an ordinary run a part of the random worlds is played; all of them in a deep one (`scripts/test deep`).
"""
