"""What a server counts of itself: calls, tries of webhooks, messages, and how long its event loop was held."""
