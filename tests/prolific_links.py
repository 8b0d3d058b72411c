"""Links as Prolific signs them, with a key of the tests' own."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from dataclasses import dataclass
from functools import cache
from typing import Any

_DIGEST_INFO = bytes.fromhex("3031300d060960864801650304020105000420")
_SMALL_PRIMES = [n for n in range(3, 2000, 2) if all(n % p for p in range(3, int(n**0.5) + 1, 2))]


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def encoded_number(number: int) -> str:
    return encoded(number.to_bytes((number.bit_length() + 7) // 8, "big"))


@dataclass(frozen=True)
class SigningKey:
    modulus: int
    exponent: int
    secret: int
    name: str = "k1"

    def public(self) -> dict[str, str]:
        return {"kid": self.name, "n": encoded_number(self.modulus), "e": encoded_number(self.exponent)}

    def published(self) -> str:
        return json.dumps({"keys": [{"kty": "RSA", "alg": "RS256", "use": "sig", **self.public()}]})

    def token(self, told: Any, *, host: Any, expires: float, header: dict[str, Any] | None = None) -> str:
        head = {"alg": "RS256", "typ": "JWT", "kid": self.name} | (header or {})
        claims = {"aud": host, "exp": expires, "prolific": told}
        message = ".".join(encoded(json.dumps(part).encode()) for part in (head, claims))
        size = (self.modulus.bit_length() + 7) // 8
        tail = _DIGEST_INFO + hashlib.sha256(message.encode()).digest()
        padded = b"\x00\x01" + b"\xff" * (size - len(tail) - 3) + b"\x00" + tail
        signature = pow(int.from_bytes(padded, "big"), self.secret, self.modulus)
        return f"{message}.{encoded(signature.to_bytes(size, 'big'))}"


@cache
def signing_key(name: str = "k1", bits: int = 2048) -> SigningKey:
    exponent = 65_537
    first, second = _prime(bits // 2), _prime(bits // 2)
    return SigningKey(first * second, exponent, pow(exponent, -1, (first - 1) * (second - 1)), name)


def _prime(bits: int) -> int:
    while True:
        # The two highest bits are set, so that the product of two has all its bits.
        candidate = secrets.randbits(bits) | (3 << (bits - 2)) | 1
        if all(candidate % prime for prime in _SMALL_PRIMES) and all(
            pow(base, candidate - 1, candidate) == 1 for base in (2, 3, 5, 7)
        ):
            return candidate
