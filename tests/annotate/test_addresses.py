"""Failures are counted where they come from, and nobody chooses that place by a header."""

from __future__ import annotations

import pytest

from annotate.addresses import client_address

PROXIES = ["10.0.0.0/8", "::1/128"]


@pytest.mark.parametrize(
    ("remote", "forwarded", "trusted", "expected"),
    [
        # Nobody is trusted: the header is somebody's claim.
        ("192.0.2.7", "203.0.113.9", [], "192.0.2.7"),
        ("192.0.2.7", "203.0.113.9", PROXIES, "192.0.2.7"),
        # One trusted proxy, and a chain of two.
        ("10.0.0.1", "203.0.113.9", PROXIES, "203.0.113.9"),
        ("10.0.0.1", "203.0.113.9, 10.0.0.2", PROXIES, "203.0.113.9"),
        # What stands before the first untrusted hop was written by that hop.
        ("10.0.0.1", "198.51.100.1, 203.0.113.9", PROXIES, "203.0.113.9"),
        # A proxy that tells nothing, or nonsense.
        ("10.0.0.1", "", PROXIES, "10.0.0.1"),
        ("10.0.0.1", "unknown", PROXIES, "10.0.0.1"),
        # A mapped address is the same machine.
        ("::ffff:192.0.2.7", "", [], "192.0.2.7"),
        # One machine has a whole /64.
        ("2001:db8:1:2:3:4:5:6", "", [], "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::1", "", [], "2001:db8:1:2::/64"),
        ("::1", "2001:db8::5", PROXIES, "2001:db8::/64"),
        ("", "203.0.113.9", PROXIES, "unknown"),
    ],
)
def test_the_nearest_address_that_is_no_trusted_proxy(remote, forwarded, trusted, expected):
    assert client_address(remote, forwarded, trusted) == expected


def test_every_address_fits_its_column():
    assert len(client_address("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "", [])) <= 45
