"""The facts of the services that a client's tests can try, and the assumptions that those tests rest on.

The facts of all services stand here, one table each; how they are counted is the engine's.
"""
