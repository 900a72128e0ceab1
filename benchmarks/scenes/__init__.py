"""Scenes: each measures one row of the table or several, in rounds that take the trees in turn."""
