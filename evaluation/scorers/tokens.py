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
    character. Accents are kept. Thai, Lao, Khmer and Burmese, written without spaces too, are not split.
    """
    folded = normal_form("NFKC", normal_form("NFKC", text).casefold())
    without_articles = _ARTICLES.sub(" ", folded.translate(_PLAIN))
    return _CHARACTER_WORDS.sub(r" \1 ", without_articles).split()


def squad_tokens(text: str) -> list[str]:
    """The words of a text by the rules of SQuAD's evaluation script.

    Lower case; ASCII punctuation deleted without a space ("1.5" becomes "15"); English articles dropped; white space
    folded. Source: Rajpurkar et al. 2016, SQuAD: 100,000+ Questions for Machine Comprehension of Text, section 6.
    """
    return _ARTICLES.sub(" ", text.lower().translate(_SQUAD_PUNCTUATION)).split()
