"""Which requests are served at all: HTTP's own rule about `Host`, and who may use control and the pages in a browser.

A page of a foreign site can make a browser send requests to this machine, and by a name of its own that resolves to
this machine (DNS rebinding) it can read the answers too. So everything but the emulated services takes only hosts that
a foreign site cannot have, and only origins of its own; a browser that sends no origin says which site asks, in
`Sec-Fetch-Site`. A page that a link of another site leads to is shown. `docs/security.md` says from whom this protects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from sendbox.runtime.callbacks import authority, literal, origin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.types import Scope

    from sendbox.settings import Settings

#: Names under these are of one machine or one network: no site of the internet has one (RFC 6761, RFC 6762).
LOCAL: Final = (".localhost", ".internal", ".local", ".test", ".svc", ".cluster.local")


#: What browsers call the site that asks, where it is not this one (Fetch Metadata Request Headers).
FOREIGN_SITES: Final = ("cross-site", "same-site")


class Refusal(NamedTuple):
    """Why a request is not served, as an error of control."""

    status: int
    error: str
    message: str


def misaddressed(scope: Scope) -> Refusal | None:
    """A request that HTTP/1.1 does not allow: none or several `Host` (RFC 9112 3.2)."""
    count = 0
    for name, _ in scope["headers"]:  # on the way of every call
        if name == b"host":
            count += 1
    if count == 1 or (not count and scope["http_version"] == "1.0"):
        return None
    return Refusal(400, "bad_host", f"{count} Host headers came; HTTP/1.1 requires exactly one")


def foreign(scope: Scope, settings: Settings) -> Refusal | None:
    """A request to control or a page under a foreign host (421), or from a page of a foreign origin or site (403)."""
    public = origin(settings.public_url or "")
    host = (_values(scope, b"host") or [""])[0]
    name, port = authority(host, scope["scheme"]) or ("", 0)
    named = _is_local(name) or name in settings.hosts or (public is not None and name == public.host)
    if not named and (host or scope["http_version"] != "1.0"):  # HTTP/1.0 without Host comes from no browser
        return Refusal(
            421,
            "foreign_host",
            f"{host!r} is not a host of this sandbox; legal are IP addresses, names without a dot, names under "
            f"{', '.join(LOCAL)}, the host of --public-url, and those that --hosts (SENDBOX_HOSTS) lists",
        )
    for text in _values(scope, b"origin"):
        asking = origin(text)
        if asking is None or (asking != public and asking[1:] != (name, port)):
            return Refusal(
                403,
                "foreign_origin",
                f"{text!r} is not the origin of this sandbox; legal are {scope['scheme']}://{host}, the origin of "
                "--public-url, and requests without Origin, which come from no foreign page",
            )
    for site in _values(scope, b"sec-fetch-site"):
        if site.strip().lower() in FOREIGN_SITES and not _follows_link(scope):
            return Refusal(
                403,
                "foreign_origin",
                f"{site!r} in Sec-Fetch-Site is not legal: a page of another origin asks; legal are same-origin, none, "
                "requests without that header, and a link that is followed",
            )
    return None


def _follows_link(scope: Scope) -> bool:
    """True if a browser shows the answer as a page of its own: a link does that, and nothing that a site embeds."""
    mode, shown_as = (_values(scope, name) for name in (b"sec-fetch-mode", b"sec-fetch-dest"))
    return scope["method"] == "GET" and mode == ["navigate"] and shown_as == ["document"]


def _values(scope: Scope, name: bytes) -> Sequence[str]:
    """All values of a header; bytes that are not UTF-8 are escaped."""
    return [value.decode("utf-8", "backslashreplace") for key, value in scope["headers"] if key == name]


def _is_local(name: str) -> bool:
    """True if no foreign site can have such a host."""
    return bool(name) and ("." not in name or name.endswith(LOCAL) or literal(name) is not None)
