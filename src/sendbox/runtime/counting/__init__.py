"""The counts of a server: calls, tries of webhooks, messages, and the times for which its event loop was held."""
