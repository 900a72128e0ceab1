"""Reports: what a client's tests tried, as text, JSON and HTML; and one document about a world."""
