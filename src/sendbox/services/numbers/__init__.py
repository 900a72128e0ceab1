"""Phone numbers: the numbering plan of the world, countries and operators, and how a number is normalized (A14)."""
