"""Names of columns as they are compared: `Gold label`, `gold-label` and `GOLD_LABEL` are one name."""

from annotate.normal_form import normal_form


def folded(name: str) -> str:
    text = normal_form("NFKC", name).casefold()
    return "_".join("".join(c if c.isalnum() else " " for c in text).split())
