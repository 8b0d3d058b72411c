"""The rule for outgoing requests: only to public addresses, or to a private `host:port` that the settings list.

A name is resolved once, every address it has is judged, and the connection goes to those very addresses: a name that
answers differently the second time (DNS rebinding) changes nothing. Redirects, proxies of the environment and user
info in URLs are refused elsewhere in this package.
"""

import asyncio
import ipaddress
import re
import socket
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass

from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from annotate.wording import _

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolve = Callable[[str, int], Awaitable[list[str]]]

RESOLVE_SECONDS = 15.0


class AddressRefused(ValueError):
    """The URL or one of its addresses is outside the rule. The message may be shown to the person who set it up."""


class NameNotResolved(OSError):
    """The name has no address at the moment; this may heal."""


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a URL really leads: the name for TLS and the Host header, and the vetted addresses to connect to."""

    host: str
    port: int
    addresses: tuple[str, ...]


# The last part of a host decides whether browsers and resolvers read it as a number: 2130706433, 127.1, 0x7f.0.0.1.
_ENDS_IN_NUMBER = re.compile(r"(?:^|\.)(?:[0-9]+|0[xX][0-9a-fA-F]*)$")
_ALLOWED_SCHEMES = {"http", "https"}

# IPv6 forms that carry an IPv4 address in their last 32 bits.
_LAST_32_BITS = (
    ipaddress.IPv6Network("::/96"),  # IPv4-compatible (deprecated, but still routed by some stacks)
    ipaddress.IPv6Network("::ffff:0:0/96"),  # IPv4-mapped
    ipaddress.IPv6Network("::ffff:0:0:0/96"),  # IPv4-translated (SIIT)
    ipaddress.IPv6Network("64:ff9b::/96"),  # NAT64
)
_6TO4 = ipaddress.IPv6Network("2002::/16")
_GLOBAL_UNICAST_6 = ipaddress.IPv6Network("2000::/3")
_NOT_PUBLIC = (
    ipaddress.ip_network("192.88.99.0/24"),  # 6to4 relay anycast, deprecated
    ipaddress.ip_network("168.63.129.16/32"),  # a cloud's own control address, public in form only
    ipaddress.ip_network("2001::/23"),  # Teredo, ORCHID, benchmarking: protocol assignments
    ipaddress.ip_network("2001:db8::/32"),  # documentation
    ipaddress.ip_network("3fff::/20"),  # documentation; older Python versions call it global
)


def checked_url(text: str) -> URL:
    """The URL of an endpoint if its form is allowed.

    Raises AddressRefused unless it is http or https, with a host, without user info, query or fragment, and with
    numeric hosts written in full (four decimal numbers, or IPv6 without a zone).
    """
    try:
        url = URL(text.strip())
        port = url.port
    except (ValueError, TypeError) as error:
        raise AddressRefused(_("Not a URL: %(text)s.", text=repr(text[:100]))) from error
    if url.scheme not in _ALLOWED_SCHEMES:
        raise AddressRefused(_("The address must begin with http:// or https://."))
    if url.user is not None or url.password is not None:
        raise AddressRefused(_("The address must not carry a user name or password; keys come from the environment."))
    if url.query_string or url.fragment:
        raise AddressRefused(_("The address must not carry a query or a fragment."))
    host = url.raw_host  # after IDNA: full-width digits and dots have become plain ones
    if not host or not port:
        raise AddressRefused(_("The address names no host."))
    if "%" in host:
        raise AddressRefused(_("The address must not name a network interface."))
    if _literal_address(host) is None and _ENDS_IN_NUMBER.search(host.rstrip(".")):
        raise AddressRefused(_("Write a numeric address in full, as four decimal numbers."))
    return url


def is_public(address: IPAddress) -> bool:
    """True for global unicast; mapped, compatible, translated and 6to4 forms are judged by the address they carry."""
    if isinstance(address, ipaddress.IPv6Address):
        carried = _carried_ipv4(address)
        if carried is not None:
            return is_public(carried)
        if address not in _GLOBAL_UNICAST_6:
            return False
    if any(address.version == network.version and address in network for network in _NOT_PUBLIC):
        return False
    return address.is_global and not (address.is_multicast or address.is_reserved or address.is_unspecified)


def _carried_ipv4(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    if any(address in network for network in _LAST_32_BITS) or (int(address) >> 32) & 0xFDFF_FFFF == 0x5EFE:
        # The second form is ISATAP: interface identifier 0000:5efe or 0200:5efe, then the IPv4 address.
        return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    if address in _6TO4:
        return ipaddress.IPv4Address((int(address) >> 80) & 0xFFFF_FFFF)
    return None


async def system_resolve(host: str, port: int) -> list[str]:
    """Every address of the name, in the system's order of preference. Raises OSError if it has none."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))


async def destination_of(url: URL, *, allowed_private: Collection[str], resolve: Resolve) -> Destination:
    """Resolve the host of a checked URL once and judge every address.

    allowed_private: `host:port` as written in settings; for these the address may be anything.
    Raises AddressRefused if any address is not public, NameNotResolved if there is none.
    """
    host, port = url.raw_host, url.port
    if not host or not port:
        raise AddressRefused(_("The address names no host."))
    literal = _literal_address(host)
    if literal is not None:
        addresses = [str(literal)]
    else:
        try:
            async with asyncio.timeout(RESOLVE_SECONDS):
                addresses = await resolve(host, port)
        except (OSError, UnicodeError) as error:  # UnicodeError: a label above 63 characters; OSError: timeouts too
            raise NameNotResolved(_("The name %(host)s could not be resolved.", host=host[:200])) from error
        if not addresses:
            raise NameNotResolved(_("The name %(host)s has no address.", host=host[:200]))
    if f"{host.lower()}:{port}" not in {entry.lower().replace("[", "").replace("]", "") for entry in allowed_private}:
        for address in addresses:
            if not is_public(_parsed(address)):
                raise AddressRefused(
                    _(
                        "%(host)s leads to %(address)s, which is not a public address. If this is meant, list "
                        "%(host)s:%(port)s in the settings as an allowed private host.",
                        host=host[:200],
                        address=address,
                        port=port,
                    )
                )
    return Destination(host=host, port=port, addresses=tuple(addresses))


def _literal_address(host: str) -> IPAddress | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _parsed(address: str) -> IPAddress:
    try:
        return ipaddress.ip_address(address)
    except ValueError as error:
        raise AddressRefused(
            _("The resolver gave %(address)s, which is no address.", address=repr(address[:60]))
        ) from error


class PinnedResolver(AbstractResolver):
    """Knows one destination and asks nobody: aiohttp cannot be led elsewhere by a second look-up."""

    def __init__(self, destination: Destination) -> None:
        self._destination = destination

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        if (host.lower(), port) != (self._destination.host.lower(), self._destination.port):
            raise OSError(f"{host}:{port} is not the vetted destination")
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=socket.IPPROTO_TCP,
                flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
            )
            for address in self._destination.addresses
        ]

    async def close(self) -> None:
        return None
