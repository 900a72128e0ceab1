"""The partner management interface (§4.3): signups, accounts, numbers, templates, statistics."""
