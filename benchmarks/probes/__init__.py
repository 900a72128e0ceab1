"""What is measured inside a process that has the sources of a tree: each module prints figures of one round as JSON."""
