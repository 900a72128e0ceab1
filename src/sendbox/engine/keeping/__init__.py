"""What a world keeps of the past, and how it lets the oldest go."""
