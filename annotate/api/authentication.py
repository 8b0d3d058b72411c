"""Tokens alone: a session would let any page that somebody visits act in their name."""

from __future__ import annotations

from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from annotate.models import ApiToken, Person
from annotate.services.tokens import find_token


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer gp_...`; the request then has its person as `user` and the token as `auth`."""

    def authenticate(self, request: Request) -> tuple[Person, ApiToken] | None:
        scheme, _, text = get_authorization_header(request).decode("latin-1").partition(" ")
        if scheme.lower() != "bearer":
            return None
        token = find_token(text=text.strip())
        if token is None:
            raise AuthenticationFailed("This token is not known, was revoked, or is past its time.")
        return token.person, token

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="goldpanel"'
