"""How the texts of table answers are folded before they are compared: case, accents and white space do not count."""

import unicodedata

from annotate.normal_form import normal_form


def folded_cell(text: str) -> str:
    """NFKD without combining marks, case folded, white space folded."""
    if text.isascii():
        return " ".join(text.lower().split())
    decomposed = normal_form("NFKD", text)
    bare = "".join(character for character in decomposed if not unicodedata.combining(character))
    return " ".join(bare.casefold().split())


def folded_header(text: str) -> str:
    """A folded cell without blanks, underscores and hyphens: "Birth_Year" and "birth year" are one column."""
    return folded_cell(text).replace(" ", "").replace("_", "").replace("-", "")
