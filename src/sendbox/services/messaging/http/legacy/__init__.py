"""The deprecated legacy interface: /Send and /api-send.php (§4.1)."""
