"""The runtime: worlds on an event loop. It performs what the engine decided and feeds the outcome back.

One thread, the loop's. HTTP servers and control are elsewhere.
"""
