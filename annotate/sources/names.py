"""Names of columns as they are compared: `Gold label`, `gold-label` and `GOLD_LABEL` are one name."""

import unicodedata


def folded(name: str) -> str:
    text = unicodedata.normalize("NFKC", name).casefold()
    return "_".join("".join(c if c.isalnum() else " " for c in text).split())
