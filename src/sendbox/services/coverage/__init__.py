"""What a client's tests can try of the services, and the assumptions that they rest on.

The facts of all services stand here, one table each; how they are counted is the engine's.
"""
