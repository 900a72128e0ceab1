"""The senders of one server: one for each setting `callbacks` of its worlds."""

from __future__ import annotations

from urllib.parse import urlsplit

from sendbox.runtime.callbacks import Callbacks, port_of
from sendbox.runtime.sender import Sender


class Senders:
    """The senders of a server. `callbacks` is the setting of worlds without their own; the rest is as for `Sender`."""

    def __init__(
        self, callbacks: Callbacks, *, public_url: str | None = None, ca: str | None = None, insecure: bool = False
    ) -> None:
        self._callbacks = callbacks
        self._public = urlsplit(public_url or "")
        self._ca = ca
        self._insecure = insecure
        #: where this server itself is called: (host, port), the host "" for any of this machine's
        self._own: set[tuple[str, int]] = set()
        self._senders: dict[Callbacks, Sender] = {}
        self._usual = self.of(callbacks)  # what is wrong in the settings is said at the start

    def serves_at(self, port: int) -> None:
        """The server listens here: only an item with a port lets webhooks go here, or to its public address."""
        self._own.add(("", port))
        public = self._public
        if public.hostname:
            self._own.add((public.hostname, port_of(public)))

    def of(self, callbacks: Callbacks | None) -> Sender:
        """The sender for a setting, None = that of the server."""
        if callbacks is None:
            return self._usual
        sender = self._senders.get(callbacks)
        if sender is None:
            sender = Sender(callbacks, own=self._own, ca=self._ca, insecure=self._insecure)
            self._senders[callbacks] = sender
        return sender

    async def close(self) -> None:
        """Closes every connection."""
        for sender in self._senders.values():
            await sender.close()
