"""The address of a client behind proxies (spec/11-gateway.md#trusted-proxies)."""

import ipaddress
from collections.abc import Iterable

from interlingua.canonical.errors import InvalidRequest


class Proxies:
    """The proxies that are trusted to name the client that called them, as addresses or networks (`10.0.0.0/8`).

    Raises `InvalidRequest` for a text that is neither.
    """

    def __init__(self, networks: Iterable[str] = ()) -> None:
        self._networks = [_network(text) for text in networks]

    def client(self, peer: str, forwarded: Iterable[str]) -> str:
        """Return the address of the client: that of the peer or, if the peer is a trusted proxy, the last address of
        its `X-Forwarded-For` headers that is not one. What stands before it may be made up by the client."""
        if not self._networks:
            return peer
        hops = [hop.strip() for line in forwarded for hop in line.split(",")]
        while hops and self._has(peer):
            hop = _without_port(hops.pop())
            if _address(hop) is None:
                break
            peer = hop
        return peer

    def _has(self, peer: str) -> bool:
        address = _address(peer)
        return address is not None and any(address in network for network in self._networks)


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    try:
        return ipaddress.ip_network(text)
    except ValueError:
        raise InvalidRequest(f"a trusted proxy is an address or a network, such as 10.0.0.0/8; not {text!r}") from None


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def _without_port(hop: str) -> str:
    """An address as some proxies write it: `192.0.2.1:443`, `[2001:db8::1]:443`."""
    if hop.startswith("["):
        return hop[1:].partition("]")[0]
    return hop.partition(":")[0] if hop.count(":") == 1 else hop
