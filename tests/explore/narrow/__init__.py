"""A second correct client, and the narrow tests that people write: they count, and they look after a minute."""
