"""JSON as programs send it: limited in size and depth, and without what a database or an export would choke on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, BinaryIO

from django.conf import settings
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser

from annotate.api.errors import TooLarge
from annotate.sources.strict_json import RefusedValue, decode_json

MAX_DEPTH = 64
_SPACE = " \t\r\n"


class StrictJsonParser(BaseParser):
    media_type = "application/json"

    def parse(
        self, stream: BinaryIO, media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        # Read here, not by request.body: the framework's own parser would read whatever size is sent.
        limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        body = stream.read(limit + 1)
        if len(body) > limit:
            raise TooLarge
        try:
            text = body.decode("utf-8-sig").strip(_SPACE)
            value, end = decode_json(text, 0, max_depth=MAX_DEPTH, allow_control_characters=False)
        except UnicodeDecodeError as fault:
            raise ParseError("JSON is UTF-8, and this is not.") from fault
        except json.JSONDecodeError as fault:
            raise ParseError(f"This is no JSON: {fault.msg} at character {fault.pos + 1:,}.") from fault
        except RefusedValue as fault:
            place = f"{fault.field}: " if fault.field else ""
            raise ParseError(f"{place}{fault.problem}") from fault
        if end != len(text):
            raise ParseError(f"There is more after the end of the JSON, at character {end + 1:,}.")
        return value
