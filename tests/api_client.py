"""A program with a token, as tests send its requests."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.http.response import HttpResponseBase
from django.test import Client
from django.utils import timezone

from annotate.codes import api_token_digest, new_api_token
from annotate.models import ApiToken, Person

EVERY_SCOPE = tuple(ApiToken.Scope.values)


def make_api_token(person: Person, scopes: tuple[str, ...] = EVERY_SCOPE) -> str:
    """The text of a token with these scopes, offered to the person or not: doors must hold by themselves."""
    text = new_api_token()
    ApiToken.objects.create(
        person=person,
        name="a test",
        digest=api_token_digest(text, key=settings.CODE_KEY),
        scopes=list(scopes),
        expires_at=timezone.now() + timedelta(days=1),
        last_used_at=timezone.now(),
    )
    return text


class ApiClient:
    """Sends and reads JSON: `api.post("projects/x/stages/", title="...")`; addresses stand below /api/v1/."""

    def __init__(self, person: Person | None, *scopes: str) -> None:
        headers = {"Authorization": f"Bearer {make_api_token(person, scopes or EVERY_SCOPE)}"} if person else {}
        self.client = Client(headers=headers)

    def get(self, address: str, **asked: Any) -> Any:
        return self.client.get(_full(address), asked)

    def post(self, address: str, **sent: Any) -> Any:
        return self.send("post", address, sent)

    def patch(self, address: str, **sent: Any) -> Any:
        return self.send("patch", address, sent)

    def delete(self, address: str) -> Any:
        return self.client.delete(_full(address))

    def upload(self, address: str, **sent: Any) -> Any:
        return self.client.post(_full(address), sent)

    def send(self, method: str, address: str, sent: Any) -> Any:
        body = sent if isinstance(sent, bytes | str) else json.dumps(sent)
        return getattr(self.client, method)(_full(address), body, content_type="application/json")

    def rows(self, address: str, **asked: Any) -> list[dict[str, Any]]:
        """All rows of a list, page by page."""
        found, following = [], address
        while following:
            page = self.get(following, **asked).json()
            found += page["results"]
            following, asked = page["next"], {}
        return found


def _full(address: str) -> str:
    return address if address.startswith(("/", "http")) else f"/api/v1/{address}"


def body_of(response: HttpResponseBase) -> bytes:
    return b"".join(response.streaming_content) if response.streaming else response.content  # type: ignore[attr-defined]
