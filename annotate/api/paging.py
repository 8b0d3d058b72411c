"""Lists by key: page 4,000 costs what page 1 does, and nothing is counted."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.utils.urls import replace_query_param

from annotate.api.inputs import MAX_ID, Input

PAGE, MAX_PAGE = 50, 200


class PageQuery(Input):
    cursor = serializers.CharField(
        required=False, max_length=100, help_text="Where to go on: `next` of the page before has it."
    )
    limit = serializers.IntegerField(default=PAGE, min_value=1, max_value=MAX_PAGE)


def page_of(row: type[serializers.Serializer]) -> Any:
    """The serializer of a page of such rows: {next, results}."""
    following = serializers.CharField(allow_null=True, help_text="The address of the next page; null on the last one.")
    fields = {"next": following, "results": row(many=True), "__doc__": None, "__module__": __name__}
    return type(f"{row.__name__}Page", (serializers.Serializer,), fields)()


def take_page(
    request: Request, rows: QuerySet[Any], asked: Mapping[str, Any], *, newest_first: bool = False
) -> tuple[list[Any], str | None]:
    """The rows of the page that was asked for, and the address of the next one."""
    if "cursor" in asked:
        pk = _read_cursor(asked["cursor"])
        rows = rows.filter(pk__lt=pk) if newest_first else rows.filter(pk__gt=pk)
    limit = asked["limit"]
    found = list(rows.order_by("-pk" if newest_first else "pk")[: limit + 1])
    if len(found) <= limit:
        return found, None
    cursor = base64.urlsafe_b64encode(f"after:{found[limit - 1].pk}".encode()).decode().rstrip("=")
    return found[:limit], replace_query_param(request.build_absolute_uri(), "cursor", cursor)


def _read_cursor(cursor: str) -> int:
    try:
        word, _, pk = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode("ascii").partition(":")
    except (binascii.Error, ValueError):
        word, pk = "", ""
    if word != "after" or not pk.isdecimal() or len(pk) > 19 or int(pk) > MAX_ID:
        raise serializers.ValidationError({"cursor": "This is no cursor of ours: take it from `next`, as it is."})
    return int(pk)
