"""Values made from an OpenAPI 3.0 document: what it allows, and what it does not quite."""

from __future__ import annotations

import string
from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

# What has broken such servers: other scripts, other directions, what is almost a number, what walks and what injects.
WORDS = [
    "",
    " ",
    "yes",
    "no",
    "label",
    "0017",
    "-1",
    "1e9",
    "é",
    "שלום",
    "x' OR 1=1 --",
    "../../etc/passwd",
    "\n",
    "null",
]
TEXT = st.sampled_from(WORDS) | st.text(string.printable + "éש中\u2028\U0001f600", max_size=12)
SCALAR = (
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | TEXT
)
ANYTHING = st.recursive(
    SCALAR, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3), max_leaves=6
)


class Values:
    """known: by the name of a field or parameter, values that mean something where the requests are sent."""

    def __init__(self, document: Mapping[str, Any], known: Mapping[str, list[Any]]) -> None:
        self.document, self.known = document, known

    def of(self, schema: Mapping[str, Any], name: str = "") -> st.SearchStrategy[Any]:
        fitting = self._fitting(schema)
        if name in self.known:
            fitting = st.sampled_from(self.known[name]) | fitting
        return fitting | st.none() if schema.get("nullable") else fitting

    def body(self, schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
        """Mostly what the document allows; else with one part of it replaced by anything at all."""
        return self.of(schema).flatmap(lambda body: st.just(body) | st.just(body) | self._spoilt(body))

    def _fitting(self, schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
        if "$ref" in schema:
            return self.of(self.document["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
        if "allOf" in schema:
            return self.of(schema["allOf"][0])
        if "oneOf" in schema:
            return st.one_of([self.of(one) for one in schema["oneOf"]])
        if "enum" in schema:
            return st.sampled_from(schema["enum"])
        kind = schema.get("type")
        if kind == "string":
            if schema.get("pattern", "").endswith("]+$"):
                return st.text(string.ascii_letters + string.digits + "-_", min_size=1, max_size=8)
            return TEXT.map(lambda text: text[: schema.get("maxLength", 100)])
        if kind in ("integer", "number"):
            low, high = schema.get("minimum", -(2**40)), schema.get("maximum", 2**40)
            whole = st.integers(int(low), int(high)) | st.sampled_from([int(low), int(high)])
            return whole if kind == "integer" else whole | st.floats(low, high)
        if kind == "boolean":
            return st.booleans()
        if kind == "array":
            return st.lists(self.of(schema["items"]), min_size=schema.get("minItems", 0), max_size=3)
        if kind == "object" and "properties" in schema:
            required = set(schema.get("required", ()))
            fields = {name: self.of(inner, name) for name, inner in schema["properties"].items()}
            return st.fixed_dictionaries(
                {name: fields[name] for name in fields if name in required},
                optional={name: fields[name] for name in fields if name not in required},
            )
        if kind == "object":
            return st.dictionaries(TEXT, self.of(schema.get("additionalProperties") or {}), max_size=3)
        return ANYTHING

    def _spoilt(self, body: Any) -> st.SearchStrategy[Any]:
        if isinstance(body, dict) and body:
            return st.sampled_from(sorted(body)).flatmap(lambda name: ANYTHING.map(lambda value: body | {name: value}))
        return ANYTHING


def as_json_schema(document: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema of the document that a JSON Schema validator understands: `nullable` is OpenAPI 3.0's own word."""

    def plain(node: Any) -> Any:
        if isinstance(node, list):
            return [plain(inner) for inner in node]
        if not isinstance(node, dict):
            return node
        inner = {name: plain(value) for name, value in node.items() if name != "nullable"}
        return {"anyOf": [inner, {"type": "null"}]} if node.get("nullable") is True else inner

    return plain(schema) | {"components": plain(document["components"])}
