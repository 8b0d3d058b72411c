"""Porter stems of English words, remembered: a study has a few thousand words and a few hundred thousand tokens."""

from functools import cache, lru_cache


@lru_cache(maxsize=100_000)
def porter_stem(word: str) -> str:
    """NLTK's Porter stem of a lower-case word, which is what rouge-score and METEOR use.

    Source: Porter 1980, An algorithm for suffix stripping, Program 14(3), 130-137, with NLTK's extensions.
    """
    return str(_stemmer().stem(word))


@cache
def _stemmer():  # type: ignore[no-untyped-def]
    # NLTK takes seconds to import; only a process that stems pays for it.
    from nltk.stem.porter import PorterStemmer

    return PorterStemmer()
