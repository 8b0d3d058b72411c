"""Links from Prolific, as its documentation describes them: who comes, and whether Prolific says so. No Django here.

A participant's link carries PROLIFIC_PID, STUDY_ID and SESSION_ID. Where it is secured, a JSON Web Token in
`prolific_token` says the same under the claim `prolific`, signed (RS256) with one of the keys that Prolific publishes.
Source: docs.prolific.com, "Retrieve JSON Web Key Set"; signatures by RFC 7515 and RFC 8017, section 8.2.2.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotate.wording import _

PERSON, STUDY, SESSION, TOKEN = "PROLIFIC_PID", "STUDY_ID", "SESSION_ID", "prolific_token"
PARAMETERS = (PERSON, STUDY, SESSION, TOKEN)
PLACEHOLDERS = "&".join(f"{name}={{{{%{name}%}}}}" for name in (PERSON, STUDY, SESSION))
KEYS_ADDRESS = "https://api.prolific.com/.well-known/study/jwks.json"
_COMPLETE = "https://app.prolific.com/submissions/complete?cc="
_ID = re.compile(r"[A-Za-z0-9]{6,64}")
CODE = re.compile(r"[A-Za-z0-9_-]{1,40}")
MAX_TOKEN_CHARACTERS = 8_000
# DigestInfo of SHA-256, before the digest in a signature (RFC 8017, section 9.2).
_DIGEST_INFO = bytes.fromhex("3031300d060960864801650304020105000420")
_SMALLEST_KEY_BITS = 2048


class LinkRefused(ValueError):
    """The link does not say who comes, or not credibly."""


@dataclass(frozen=True)
class Ticket:
    """Who comes, and for which study of Prolific."""

    person: str
    study: str


def completion_address(code: str) -> str:
    """Where a participant goes with a completion code."""
    return f"{_COMPLETE}{code}"


def read_keys(text: str) -> list[dict[str, str]]:
    """The public keys in a JSON Web Key Set. Raises ValueError with what is wrong."""
    if not text.strip():
        return []
    try:
        keys = json.loads(text)["keys"]
        kept = [{name: str(key[name]) for name in ("kid", "n", "e")} for key in keys if key["kty"] == "RSA"]
        sizes = [_number(key["n"]).bit_length() for key in kept if _number(key["e"]) > 1]
    except (ValueError, KeyError, TypeError, RecursionError) as fault:
        raise ValueError(_("This is no set of keys as Prolific publishes it: an object with “keys”.")) from fault
    if not kept or len(sizes) < len(kept) or min(sizes) < _SMALLEST_KEY_BITS:
        raise ValueError(_("There is no RSA key of at least 2,048 bits among them."))
    return kept


def read_link(
    parameters: Mapping[str, str], *, study: str, keys: Sequence[Mapping[str, str]], host: str, now: float
) -> Ticket:
    """Who comes with these parameters of a link. Raises LinkRefused with the reason.

    study: the only one that is open; "": any. keys: with any, the link must be signed by one of them, for this host.
    """
    told = {name: parameters.get(name, "") for name in (PERSON, STUDY, SESSION)}
    if keys:
        signed = _signed_parameters(parameters.get(TOKEN, ""), keys, host, now)
        if any(told[name] and told[name] != signed.get(name) for name in told):
            raise LinkRefused(_("The link says something else than its signature."))
        told = {name: str(signed.get(name, "")) for name in told}
    if not _ID.fullmatch(told[PERSON]):
        raise LinkRefused(_("The link does not say who you are. Open it from Prolific, not from a bookmark."))
    if study and told[STUDY] != study:
        raise LinkRefused(_("This link belongs to another study."))
    return Ticket(told[PERSON], told[STUDY])


def _signed_parameters(token: str, keys: Sequence[Mapping[str, str]], host: str, now: float) -> Mapping[str, Any]:
    try:
        if len(token) > MAX_TOKEN_CHARACTERS:
            raise ValueError("too long")
        head, body, signature = token.split(".")
        header, claims = json.loads(_bytes(head)), json.loads(_bytes(body))
        # Never by the algorithm that the token names: a forger would name one that needs no key.
        key = next(key for key in keys if header["alg"] == "RS256" and key["kid"] == header["kid"])
        is_genuine = _is_signature(_bytes(signature), f"{head}.{body}".encode(), _number(key["n"]), _number(key["e"]))
        audience = claims["aud"] if isinstance(claims["aud"], list) else [claims["aud"]]
        expires, told = float(claims["exp"]), claims["prolific"]
        if not isinstance(told, dict):
            raise TypeError("prolific")
    except (ValueError, KeyError, TypeError, StopIteration, RecursionError, OverflowError) as fault:
        raise LinkRefused(_("The link is not signed as Prolific signs links.")) from fault
    if not is_genuine:
        raise LinkRefused(_("The link is not signed by Prolific."))
    if not expires > now:
        raise LinkRefused(_("The link is too old. Open the study from Prolific once more."))
    if host not in {_host_of(str(one)) for one in audience}:
        raise LinkRefused(_("The link was signed for another site."))
    return told


def _is_signature(signature: bytes, message: bytes, modulus: int, exponent: int) -> bool:
    """RSASSA-PKCS1-v1_5 with SHA-256: the whole padded digest is compared, nothing of it is parsed."""
    size = (modulus.bit_length() + 7) // 8
    number = int.from_bytes(signature, "big")
    if len(signature) != size or number >= modulus:
        return False
    tail = _DIGEST_INFO + hashlib.sha256(message).digest()
    expected = b"\x00\x01" + b"\xff" * (size - len(tail) - 3) + b"\x00" + tail
    return hmac.compare_digest(pow(number, exponent, modulus).to_bytes(size, "big"), expected)


def _host_of(audience: str) -> str:
    """The domain, of a domain or of an address on it."""
    return audience.removeprefix("https://").removeprefix("http://").partition("/")[0].partition(":")[0].lower()


def _bytes(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)


def _number(text: str) -> int:
    return int.from_bytes(_bytes(text), "big")
