"""Replicas of a world, in its past or with other assumptions, and comparisons of two worlds."""
