"""Short links: each leads to its target (§2.1, A17)."""

from __future__ import annotations

from string import punctuation
from typing import Final
from urllib.parse import quote

from sendbox.engine.world import World
from sendbox.services.http.exchange import Answer, Link
from sendbox.services.messaging.messaging import Messaging

_TEXT: Final = b"text/plain; charset=utf-8"


def _follow(world: World, code: str, is_click: bool, query: str) -> Answer:
    """302 to the target, with the query that the link was opened with; 410 once it expired (A17).

    `is_click` says that a person opened it: the click is counted, and on record.
    """
    link = Messaging.of(world).open_link(code, count=is_click)
    if link is None:
        return Answer(410, b"this link has expired", _TEXT)
    if is_click:
        world.journal_act("link", {"code": code})
    target = link.target
    if query:
        base, hash_sign, fragment = target.partition("#")
        target = f"{base}{'&' if '?' in base else '?'}{query}{hash_sign}{fragment}"
    return Answer(302, b"", b"", ((b"location", quote(target, safe=punctuation).encode()),))


LINK: Final = Link(
    "/s/{code}",
    lambda world, code: code in Messaging.of(world).links,
    _follow,
    Answer(404, b"there is no such link", _TEXT),
)
