"""The emulated services, a package each, and what they share.

A service is messaging, verification, partner management or the account. Services reach each other through ports given
to them; nothing of the runtime, the server or control may come in here.
"""
