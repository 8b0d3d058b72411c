"""Where a request comes from, for counting failed sign-ins. Pure."""

import ipaddress
from collections.abc import Sequence


def client_address(remote: str, forwarded_for: str, trusted_proxies: Sequence[str]) -> str:
    """The nearest address that is no trusted proxy.

    remote: the peer of the connection. forwarded_for: the X-Forwarded-For header, "" if there is none; believed
    only where it was written by a trusted proxy, so it is read from the right. trusted_proxies: networks.
    An IPv6 address becomes its /64, which is what one household or machine has to itself.
    """
    networks = [ipaddress.ip_network(network) for network in trusted_proxies]
    nearest = _parse(remote)
    if nearest is None:
        # A server on a Unix socket tells no peer: all such requests are one place.
        return "unknown"
    for hop in reversed([hop.strip() for hop in forwarded_for.split(",") if hop.strip()]):
        if not any(nearest in network for network in networks):
            break
        before = _parse(hop)
        if before is None:
            break
        nearest = before
    if isinstance(nearest, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((nearest, 64), strict=False))
    return str(nearest)


def _parse(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(text.strip("[]"))
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
        return address.ipv4_mapped
    return address
