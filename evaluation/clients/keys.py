"""Which API key may go where.

Endpoints store the NAME of an environment variable, never a key. The name must begin with GOLDPANEL_KEY_, so that an
endpoint cannot be pointed at DATABASE_URL or SECRET_KEY, and `<name>_HOSTS` says where the key may be sent, so that
whoever may edit endpoints cannot have a key delivered to a server of their own.
"""

import re
from collections.abc import Mapping

from yarl import URL

from annotate.wording import _

_NAME = re.compile(r"GOLDPANEL_KEY_[A-Z0-9_]{1,100}")
_HOSTS = "_HOSTS"


class KeyRefused(ValueError):
    """The key is not there, or may not go to this host. The message names variables and hosts, never a value."""


def authority(url: URL) -> str:
    """How `_HOSTS` names the server of a URL: the host alone for https on port 443, else `host:port`.

    Plain http therefore always shows its port, and a key listed for `api.example.org` is never sent in the clear.
    """
    host = (url.raw_host or "").lower().rstrip(".")
    if ":" in host:
        host = f"[{host}]"
    if url.scheme == "https" and url.port == 443:
        return host
    return f"{host}:{url.port}"


def key_for(name: str, host: str, environ: Mapping[str, str]) -> str:
    """The value of the key variable `name` for the server `host` (see `authority`); "" if the endpoint names none.

    Raises KeyRefused if the name is not of the allowed form, the variable is missing or empty, or `<name>_HOSTS`
    does not list the host.
    """
    if not name:
        return ""
    if not _NAME.fullmatch(name) or name.endswith(_HOSTS):
        raise KeyRefused(
            _("Key variables are named GOLDPANEL_KEY_..., in capitals; %(name)s is not.", name=repr(name[:120]))
        )
    value = environ.get(name, "").strip()
    if not value:
        raise KeyRefused(_("The environment variable %(name)s is not set.", name=name))
    if not value.isascii() or not value.isprintable():
        # It would fail in the HTTP header, and the library's error message would quote it.
        raise KeyRefused(
            _("The environment variable %(name)s holds characters that no HTTP header can carry.", name=name)
        )
    listed = environ.get(name + _HOSTS, "").replace(",", " ").split()
    if host.lower() not in {_without_default_port(entry) for entry in listed}:
        raise KeyRefused(
            _(
                "%(name)s%(hosts)s does not list %(host)s: the key may not be sent there.",
                name=name,
                hosts=_HOSTS,
                host=host,
            )
        )
    return value


def _without_default_port(entry: str) -> str:
    return entry.lower().removesuffix(":443")
