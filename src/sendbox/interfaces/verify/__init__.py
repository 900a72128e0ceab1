"""The Verify interface (§4.5): sessions, codes and proofs; see `routes.py`."""
