"""The words of an answer: two readings, each used by exact match and by token F1."""

import re
import string
import unicodedata

from annotate.answers.equivalence import INVISIBLE
from annotate.normal_form import normal_form

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_SQUAD_PUNCTUATION = str.maketrans("", "", string.punctuation)

# Written without spaces between words, so that each character is a word: Han, Hiragana, Katakana. Compatibility
# ideographs and half-width Katakana have become these by NFKC.
_CHARACTER_WORDS = re.compile(
    "([\u3005-\u3007\u3041-\u3096\u3099-\u309f\u30a1-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])"
)
# Written without spaces, too, with signs above and below their letters: a letter with its signs is a word. Thai, Lao,
# Burmese and Khmer; in the last two a sign puts the next letter below this one.
_LETTERS = (
    "\u0e01-\u0e30\u0e32\u0e33\u0e40-\u0e46\u0e81-\u0eb0\u0eb2\u0eb3\u0ebd-\u0ec6\u0edc-\u0edf"
    "\u1000-\u102a\u103f\u1050-\u1055\u1780-\u17b3\u17d7\u17dc"
)
_SIGNS = "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u1056-\u1059\u17b6-\u17d3\u17dd"
_LETTERS_WITH_SIGNS = re.compile(f"([{_LETTERS}](?:[\u1039\u17d2][{_LETTERS}]|[{_SIGNS}])*+)")


class _Plain(dict[int, str]):
    """A table for str.translate, filled as characters are met: decimal digits to ASCII, punctuation to nothing."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        digit = unicodedata.decimal(character, None)
        if digit is not None:
            plain = str(digit)
        elif unicodedata.category(character).startswith("P") or character in string.punctuation or code in INVISIBLE:
            plain = ""
        else:
            plain = character
        self[code] = plain
        return plain


_PLAIN = _Plain()


def unicode_tokens(text: str) -> list[str]:
    """The words of a text in any script.

    NFKC and case folding; every decimal digit as ASCII; punctuation (Unicode category P and ASCII's) and invisible
    marks deleted without a space; English articles dropped; split at white space, and around each Han or Kana
    character and each Thai, Lao, Khmer or Burmese letter with its signs. Accents are kept.
    """
    folded = normal_form("NFKC", normal_form("NFKC", text).casefold())
    without_articles = _ARTICLES.sub(" ", folded.translate(_PLAIN))
    return _LETTERS_WITH_SIGNS.sub(r" \1 ", _CHARACTER_WORDS.sub(r" \1 ", without_articles)).split()


def squad_tokens(text: str) -> list[str]:
    """The words of a text by the rules of SQuAD's evaluation script.

    Lower case; ASCII punctuation deleted without a space ("1.5" becomes "15"); English articles dropped; white space
    folded. Source: Rajpurkar et al. 2016, SQuAD: 100,000+ Questions for Machine Comprehension of Text, section 6.
    """
    return _ARTICLES.sub(" ", text.lower().translate(_SQUAD_PUNCTUATION)).split()
