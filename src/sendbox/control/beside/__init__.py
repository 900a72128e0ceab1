"""Views of a world next to the world itself: its past, and a comparison with another world."""
