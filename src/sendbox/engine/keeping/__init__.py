"""The past of a world: the lists that keep it, and the removal of the oldest items."""
