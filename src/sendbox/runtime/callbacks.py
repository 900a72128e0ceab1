"""The addresses to which webhooks may be sent: the setting `callbacks`. Pure: the sender resolves, and asks here.

Origins are here too: scheme, host and port of an address, as they are compared.

A setting is a list of words and places, with commas between, and allows what any of them names:

| item                        | allows                                                                              |
|-----------------------------|-------------------------------------------------------------------------------------|
| `loopback`                  | loopback addresses, `localhost`, names under `.localhost`; no other name is resolved |
| `private`                   | `loopback`, RFC 1918, 100.64/10, fc00::/7, and names all of whose addresses are such |
| `any`                       | every address, but for link-local ones and those of metadata services                |
| `hooks.example`             | this host, whatever its addresses are                                                |
| `*.example`                 | every host under it                                                                  |
| `203.0.113.5`, `10.0.0.0/8` | addresses; a name, where all of its addresses are allowed                            |
| `localhost:7357`            | this host (or address) at this port only, the sandbox's own port included            |

Link-local addresses, those of metadata services and the sandbox's own port are allowed by an item that names them, and
never by a word.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final, Literal, NamedTuple
from urllib.parse import SplitResult, urlsplit

import msgspec

from sendbox.engine.texts import regex

#: The port of an address that names none, by its scheme.
PORTS: Final = {"http": 80, "https": 443}

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
Word = Literal["loopback", "private", "any"]

#: The words, each with what it allows beside the one before it.
WORDS: Final[dict[Word, tuple[Network, ...]]] = {
    "loopback": (ip_network("127.0.0.0/8"), ip_network("::1/128")),
    "private": tuple(map(ip_network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7"))),
    "any": (ip_network("0.0.0.0/0"), ip_network("::/0")),
}
_ORDER: Final = list(WORDS)
#: What no word allows: link-local addresses, and those at which clouds serve the secrets of a machine.
GUARDED: Final = tuple(
    map(
        ip_network,
        (
            "169.254.0.0/16",  # link-local; 169.254.169.254 is the metadata service of most clouds
            "fe80::/10",  # link-local
            "fd00:ec2::254/128",  # metadata of Amazon
            "100.100.100.200/32",  # metadata of Alibaba
            "168.63.129.16/32",  # platform services of Azure
            "192.0.0.192/32",  # metadata of Oracle
        ),
    )
)
#: IPv6 addresses that carry an IPv4 address in their last 32 bits.
_TRANSLATED: Final = ip_network("64:ff9b::/96")
_HOST: Final = regex(r"(?:\*\.)?[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*")
_PORT: Final = regex(r"(.+):([0-9]{1,5})")
#: Of a name, in characters (RFC 1035).
LONGEST_NAME: Final = 254
_LEGAL: Final = "legal: loopback, private, any, a host, an address, a network, each with :PORT or without"


class NotAllowed(Exception):
    """A webhook would go where `callbacks` does not let it. The message says where to, and how to allow it."""


class Callbacks(msgspec.Struct, frozen=True):
    """One setting. `text` is it as given. ValueError where `parse` cannot read an item."""

    text: str
    #: the networks of its words, without what is guarded, and those that items name
    wide: tuple[Network, ...]
    networks: frozenset[Network]
    hosts: frozenset[str]
    #: (host or address, port), of items that name a port
    ports: frozenset[tuple[str, int]]

    @classmethod
    def parse(cls, setting: str | Iterable[str]) -> Callbacks:
        """The setting that a text with commas, or a list of items, says."""
        text = setting if isinstance(setting, str) else ",".join(map(str, setting))
        items = [item.strip() for item in text.split(",") if item.strip()]
        if not items:
            raise ValueError(f"{setting!r} does not name a place that webhooks may be sent to; {_LEGAL}")
        widest = -1
        networks: set[Network] = set()
        hosts: set[str] = set()
        ports: set[tuple[str, int]] = set()
        for item in items:
            if item in _ORDER:
                widest = max(widest, _ORDER.index(item))
            elif (network := _network(item)) is not None:
                networks.add(network)
            elif (with_port := _PORT.fullmatch(item)) is not None and (place := _place(with_port[1])) is not None:
                ports.add((place, int(with_port[2])))
            elif (host := host_name(item)) is not None:
                hosts.add(host)
            else:
                raise ValueError(f"{item!r} is not a place that webhooks may be sent to; {_LEGAL}")
        wide = tuple(network for word in _ORDER[: widest + 1] for network in WORDS[word])
        return cls(",".join(items), wide, frozenset(networks), frozenset(hosts), frozenset(ports))

    def __str__(self) -> str:
        """As given."""
        return self.text

    def resolves(self, host: str, port: int) -> None:
        """Check that a name is worth a DNS look-up. Raises `NotAllowed` if no address of it would be allowed.

        So no outside name is looked up if only loopback addresses are allowed.
        """
        beyond = len(self.wide) > len(WORDS["loopback"])
        if not (is_local(host) or beyond or self.networks or self._names(host, port)):
            raise self._refusal(host, port, f"{host} is not localhost")

    def check(self, host: str, port: int, addresses: Iterable[str], *, own: bool = False) -> None:
        """Check that connections to a host with these addresses are allowed. Raises `NotAllowed` if they are not.

        For a name that is not listed, all addresses must be allowed. `own`: it is the port of the sandbox.
        """
        if self._names(host, port, exactly=own):
            return
        parsed = [plain(address) for address in addresses]
        if own and not all((str(address), port) in self.ports for address in parsed):
            raise self._refusal(host, port, "it is the port of the sandbox itself", f"{_bracketed(host)}:{port}")
        for address in parsed:
            if not self._takes(address, port):
                at = "" if str(address) == host else f"its address is {address}"
                raise self._refusal(host, port, at)

    def _names(self, host: str, port: int, *, exactly: bool = False) -> bool:
        """True if an item of the setting names this host; with `exactly`, it must name the port as well."""
        host = host.lower().rstrip(".")
        _, *above = host.split(".")
        wild = [f"*.{'.'.join(above[first:])}" for first in range(len(above))]
        return any((name, port) in self.ports or (not exactly and name in self.hosts) for name in (host, *wild))

    def _takes(self, address: Address, port: int) -> bool:
        if (str(address), port) in self.ports or any(address in network for network in self.networks):
            return True
        return any(address in network for network in self.wide) and not any(address in network for network in GUARDED)

    def _refusal(self, host: str, port: int, why: str, item: str | None = None) -> NotAllowed:
        reason = f" ({why})" if why else ""
        wider = f"{self.text},{item or _bracketed(host if literal(host) is None else str(plain(host)))}"
        return NotAllowed(
            f"callbacks={self.text} does not allow {_bracketed(host)}:{port}{reason}; callbacks={wider} would"
        )


def plain(address: str) -> Address:
    """An address without its other notations: a zone, an IPv4 address inside an IPv6 one, "this machine" (0.0.0.0)."""
    parsed = ip_address(address.partition("%")[0])
    if isinstance(parsed, IPv6Address):
        if parsed in _TRANSLATED:
            parsed = IPv4Address(int(parsed) & 0xFFFF_FFFF)
        else:
            parsed = parsed.ipv4_mapped or parsed.sixtofour or parsed
    if parsed.is_unspecified:  # a connection to it is one to this machine
        return ip_address("127.0.0.1" if parsed.version == 4 else "::1")
    return parsed


@lru_cache(maxsize=1024)
def port_of(address: SplitResult) -> int:
    """The port of an address over http or https, also where it names none."""
    return address.port or PORTS.get(address.scheme, 80)


def literal(host: str) -> str | None:
    """The address that a host is written as; None for a name."""
    try:
        return str(ip_address(host.partition("%")[0])) if ":" in host or host[-1:].isdigit() else None
    except ValueError:
        return None


def is_local(host: str) -> bool:
    """True if a name means the local machine on every machine (RFC 6761)."""
    host = host.lower().rstrip(".")
    return host == "localhost" or host.endswith(".localhost")


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _network(item: str) -> Network | None:
    text = item.removeprefix("[").removesuffix("]")
    try:
        return ip_network(text, strict=False) if "/" in text else ip_network(plain(text))
    except ValueError:
        return None


def _place(item: str) -> str | None:
    """A host or an address as the sender will name it."""
    network = _network(item) if "/" not in item else None
    return str(network.network_address) if network is not None else host_name(item)


def host_name(item: str) -> str | None:
    """A name as it is compared: lower case, ASCII (`xn--…`), without a dot at its end; None if it is not one."""
    if len(item) > LONGEST_NAME:
        return None
    try:
        name = item.encode("idna").decode() if not item.isascii() else item
    except UnicodeError:
        return None
    name = name.lower().rstrip(".")
    # a name whose last part is a number is an address that is written wrongly
    return name if _HOST.fullmatch(name) and not name.rpartition(".")[2].isdigit() else None


class Origin(NamedTuple):
    """An origin over http or https. Its text has the usual form, without the port that is usual for the scheme."""

    scheme: str
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}" + ("" if self.port == PORTS[self.scheme] else f":{self.port}")


@lru_cache(maxsize=1024)
def origin(text: str) -> Origin | None:
    """The origin that a text is; None for one with a path, a query or a user, and for anything else."""
    scheme, separator, rest = text.partition("://")
    scheme = scheme.lower()
    place = authority(rest.removesuffix("/"), scheme) if separator and scheme in PORTS else None
    return None if place is None else Origin(scheme, *place)


@lru_cache(maxsize=1024)
def authority(text: str, scheme: str) -> tuple[str, int] | None:
    """The host as it is compared, and the port; None if it is not `host` or `host:port`."""
    try:
        parts = urlsplit(f"//{text}")
        host, port = (parts.hostname or "").removesuffix("."), parts.port
    except ValueError:
        return None
    if "@" in text or parts.netloc != text or port == 0:
        return None
    name = literal(host) or host_name(host)
    return None if name is None else (name, PORTS.get(scheme, PORTS["http"]) if port is None else port)
