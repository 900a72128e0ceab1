"""Verification: sessions, their codes and limits, and proofs (§4.5).

It sends the code as a message, through a port.
"""
