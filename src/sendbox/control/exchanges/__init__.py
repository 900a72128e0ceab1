"""Operations on exchanges of HTTP: the calls of the client, and the webhooks that are sent to it."""
