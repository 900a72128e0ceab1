"""What is looked at beside a world: its past, and another world."""
