"""Message rows and bulk uploads under /v1 (§4.2, §4.4)."""
