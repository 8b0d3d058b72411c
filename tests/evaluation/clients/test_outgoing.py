"""Where requests may go: every form in which a private address can be written."""

import asyncio
import ipaddress

import pytest

from evaluation.clients.outgoing import (
    AddressRefused,
    NameNotResolved,
    PinnedResolver,
    checked_url,
    destination_of,
    is_public,
    system_resolve,
)


def resolving_to(*addresses: str):
    async def resolve(host: str, port: int) -> list[str]:
        return list(addresses)

    return resolve


def destination(url: str, *, resolve=system_resolve, allowed=()):
    return asyncio.run(destination_of(checked_url(url), allowed_private=allowed, resolve=resolve))


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "127.255.255.254",
        "0.0.0.0",
        "10.0.0.1",
        "100.64.0.1",
        "169.254.169.254",
        "168.63.129.16",
        "172.16.0.1",
        "192.0.0.1",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.1.1",
        "198.18.0.1",
        "203.0.113.5",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::7f00:1",  # IPv4-compatible 127.0.0.1
        "::ffff:10.0.0.1",
        "::ffff:127.0.0.1",
        "::ffff:0:10.0.0.1",  # translated
        "64:ff9b::a00:1",  # NAT64 of 10.0.0.1
        "64:ff9b:1::a00:1",
        "2002:a00:1::1",  # 6to4 of 10.0.0.1
        "2002:7f00:1::",
        "2001:0:5ef5:79fb:0:0:f5ff:fffe",  # Teredo
        "2606:4700::5efe:a00:1",  # ISATAP of 10.0.0.1
        "2606:4700::200:5efe:a00:1",
        "fc00::1",
        "fd12:3456::1",
        "fe80::1",
        "fec0::1",
        "ff02::1",
        "100::1",
        "2001:db8::1",
        "3fff::1",
        "5f00::1",
        "4000::1",
    ],
)
def test_is_not_public(address):
    assert not is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "address",
    [
        "8.8.8.8",
        "1.1.1.1",
        "100.128.0.1",
        "172.32.0.1",
        "2606:4700:4700::1111",
        "2a00:1450:4001:80b::200e",
        "::ffff:8.8.8.8",
        "64:ff9b::808:808",  # NAT64 of 8.8.8.8: how a machine without IPv4 reaches it
        "2002:808:808::1",
    ],
)
def test_is_public(address):
    assert is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.org/",
        "file:///etc/passwd",
        "example.org/v1",
        "//example.org/v1",
        "http:///v1",
        "http://:8000/v1",
        "http://user@example.org/",
        "http://user:secret@example.org/",
        "http://example.org/?a=1",
        "http://example.org/#top",
        "http://2130706433/",  # 127.0.0.1 as one number
        "http://127.1/",
        "http://0177.0.0.1/",
        "http://0x7f.0.0.1/",
        "http://0x7f000001/",
        "http://127.0.0.1./",
        "http://8.8.2056/",
        "http://[fe80::1%25eth0]/",
        "http://example.org:0/",
        "http://example.org:99999/",
        "http://[::1/",
        "",
    ],
)
def test_a_url_of_another_form_is_refused(url):
    with pytest.raises(AddressRefused):
        checked_url(url)


def test_a_password_in_a_url_is_not_repeated_in_the_refusal():
    with pytest.raises(AddressRefused) as refusal:
        checked_url("http://user:secret@example.org/")
    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8000/v1", "http://[::1]:8000/v1", "http://[::ffff:a00:1]/v1", "http://１２７.0.0.1/v1"]
)
def test_a_private_address_in_the_url_is_refused(url):
    with pytest.raises(AddressRefused):
        destination(url)


def test_localhost_is_refused():
    with pytest.raises(AddressRefused, match="localhost:8000"):
        destination("http://localhost:8000/v1")


@pytest.mark.parametrize(
    "addresses",
    [
        ["10.0.0.1"],
        ["8.8.8.8", "10.0.0.1"],
        ["2606:4700:4700::1111", "8.8.8.8", "::ffff:169.254.169.254"],
        ["8.8.8.8", "not an address"],
        ["fe80::1%eth0"],
    ],
)
def test_a_name_is_refused_if_a_single_address_is_not_public(addresses):
    with pytest.raises(AddressRefused):
        destination("https://models.test/v1", resolve=resolving_to(*addresses))


def test_a_public_name_leads_to_exactly_what_was_judged():
    found = destination("https://models.test/v1", resolve=resolving_to("8.8.8.8", "2606:4700:4700::1111"))
    assert (found.host, found.port) == ("models.test", 443)
    pinned = asyncio.run(PinnedResolver(found).resolve("models.test", 443))
    assert [each["host"] for each in pinned] == ["8.8.8.8", "2606:4700:4700::1111"]


@pytest.mark.parametrize(("host", "port"), [("other.test", 443), ("models.test", 80)])
def test_the_pinned_resolver_knows_nobody_else(host, port):
    found = destination("https://models.test/v1", resolve=resolving_to("8.8.8.8"))
    with pytest.raises(OSError, match="not the vetted destination"):
        asyncio.run(PinnedResolver(found).resolve(host, port))


def test_a_private_host_is_reached_on_the_listed_port_only():
    allowed = {"127.0.0.1:8000"}
    assert destination("http://127.0.0.1:8000/v1", allowed=allowed).addresses == ("127.0.0.1",)
    with pytest.raises(AddressRefused):
        destination("http://127.0.0.1:8001/v1", allowed=allowed)
    with pytest.raises(AddressRefused):
        destination("http://10.0.0.1:8000/v1", allowed=allowed)


def test_a_listed_ipv6_host_is_written_with_or_without_brackets():
    for entry in ("[::1]:8000", "::1:8000"):
        assert destination("http://[::1]:8000/v1", allowed={entry}).addresses == ("::1",)


def test_a_name_without_any_address_may_heal():
    with pytest.raises(NameNotResolved):
        destination("https://models.test/v1", resolve=resolving_to())
