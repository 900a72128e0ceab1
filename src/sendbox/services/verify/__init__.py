"""Verification: sessions, their codes and limits, and proofs (§4.5).

It sends the code as a message, and does not know how.
"""
