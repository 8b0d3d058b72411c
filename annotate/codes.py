"""Codes, invitations and API tokens: how they are made, read and stored. Pure; the key comes from outside."""

import hashlib
import hmac
import secrets
import unicodedata

from annotate.normal_form import normal_form

# Crockford's base 32: no I, L, O or U, so that a code survives being read out and copied by hand.
# Source: Douglas Crockford, Base 32, https://www.crockford.com/base32.html.
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
CODE_LENGTH = 12  # 60 random bits: guessing is hopeless even where a right code passes every limit

_LOOK_ALIKES = str.maketrans({"O": "0", "I": "1", "L": "1"})


def new_code() -> str:
    """Twelve random characters in groups of four, as they are shown: "7K3M-9QXT-2HBW"."""
    characters = "".join(secrets.choice(ALPHABET) for _ in range(CODE_LENGTH))
    return "-".join(characters[start : start + 4] for start in range(0, CODE_LENGTH, 4))


def fold_code(text: str) -> str:
    """What was meant by what was typed: width, case, look-alikes, spaces and dashes of any kind folded away."""
    folded = normal_form("NFKC", text).upper().translate(_LOOK_ALIKES)
    return "".join(character for character in folded if unicodedata.category(character) not in _IGNORED)


# Spaces, line ends, dashes, underscores, and the invisible marks that come along with copied text.
_IGNORED = frozenset({"Zs", "Zl", "Zp", "Cc", "Cf", "Pd", "Pc"})


def code_digest(code: str, *, key: str) -> str:
    """What is stored of a code: without the key, a stolen table cannot be searched for codes."""
    return hmac.new(key.encode(), fold_code(code).encode(), hashlib.sha256).hexdigest()


def new_invite_token() -> str:
    """192 random bits for a link."""
    return secrets.token_urlsafe(24)


def invite_digest(token: str) -> str:
    """What is stored of an invitation. Unkeyed: nobody can try 192 bits."""
    return hashlib.sha256(token.encode()).hexdigest()


# Says in logs, commits and secret scanners what it is.
API_TOKEN_PREFIX = "gp_"


def new_api_token() -> str:
    """256 random bits, for a program to keep."""
    return API_TOKEN_PREFIX + secrets.token_urlsafe(32)


def api_token_digest(token: str, *, key: str) -> str:
    """What is stored of an API token; the prefix keeps it apart from the digests of codes under the same key."""
    return hmac.new(key.encode(), b"api-token:" + token.encode(), hashlib.sha256).hexdigest()
