"""Which key may go where."""

import pytest
from yarl import URL

from evaluation.clients.keys import KeyRefused, authority, key_for

ENVIRON = {
    "GOLDPANEL_KEY_LAB": "canary-secret",
    "GOLDPANEL_KEY_LAB_HOSTS": "api.example.org, Models.Example.org:443 127.0.0.1:8080",
    "GOLDPANEL_KEY_NOWHERE": "canary-secret",
    "GOLDPANEL_KEY_EMPTY": " ",
    "GOLDPANEL_KEY_EMPTY_HOSTS": "api.example.org",
    "GOLDPANEL_KEY_BROKEN": "canary\nsecret",
    "GOLDPANEL_KEY_BROKEN_HOSTS": "api.example.org",
    "SECRET_KEY": "canary-secret",
    "SECRET_KEY_HOSTS": "api.example.org",
}


@pytest.mark.parametrize("host", ["api.example.org", "API.example.org", "models.example.org", "127.0.0.1:8080"])
def test_a_key_goes_to_the_hosts_listed_for_it(host):
    assert key_for("GOLDPANEL_KEY_LAB", host, ENVIRON) == "canary-secret"


def test_an_endpoint_without_key_name_has_no_key():
    assert key_for("", "anywhere.example.org", ENVIRON) == ""


@pytest.mark.parametrize(
    ("name", "host"),
    [
        ("GOLDPANEL_KEY_LAB", "evil.example.org"),
        ("GOLDPANEL_KEY_LAB", "api.example.org.evil.test"),
        ("GOLDPANEL_KEY_LAB", "example.org"),
        ("GOLDPANEL_KEY_LAB", "api.example.org:80"),
        ("GOLDPANEL_KEY_LAB", "127.0.0.1:8081"),
        ("GOLDPANEL_KEY_LAB", ""),
        ("GOLDPANEL_KEY_NOWHERE", "api.example.org"),
        ("GOLDPANEL_KEY_MISSING", "api.example.org"),
        ("GOLDPANEL_KEY_EMPTY", "api.example.org"),
        ("GOLDPANEL_KEY_BROKEN", "api.example.org"),
        ("GOLDPANEL_KEY_LAB_HOSTS", "api.example.org"),
        ("GOLDPANEL_KEY_", "api.example.org"),
        ("GOLDPANEL_KEY_lab", "api.example.org"),
        ("GOLDPANEL_KEY_LAB\n", "api.example.org"),
        ("SECRET_KEY", "api.example.org"),
        ("PATH", "api.example.org"),
    ],
)
def test_any_other_key_or_host_is_refused_without_telling_the_key(name, host):
    with pytest.raises(KeyRefused) as refusal:
        key_for(name, host, ENVIRON)
    assert "canary" not in str(refusal.value)


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://API.example.org/v1", "api.example.org"),
        ("https://api.example.org:443/v1", "api.example.org"),
        ("https://api.example.org:8443/v1", "api.example.org:8443"),
        ("http://api.example.org/v1", "api.example.org:80"),
        ("http://api.example.org:443/v1", "api.example.org:443"),
        ("http://[::1]:8080/v1", "[::1]:8080"),
    ],
)
def test_only_https_on_its_own_port_goes_by_the_host_alone(url, name):
    assert authority(URL(url)) == name


def test_a_key_listed_for_https_is_not_sent_in_the_clear():
    for url in ("http://models.example.org/", "http://models.example.org:443/"):
        with pytest.raises(KeyRefused):
            key_for("GOLDPANEL_KEY_LAB", authority(URL(url)), ENVIRON)
