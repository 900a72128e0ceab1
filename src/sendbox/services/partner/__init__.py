"""Partner management: signups, business accounts, their numbers and templates, statistics (§4.3)."""
