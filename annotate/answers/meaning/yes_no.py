"""Yes, no and not sure as answers to a question that asks for words."""

from annotate.answers.meaning.spelling import spelled

# Closed lists. Words that are something else in another language ("si", "sim") are in none; parsing of completions,
# where the labels and the language are known, reads more (evaluation/parsing/synonyms.py).
_WORDS = {
    "yes": ("yes", "yep", "yeah", "true", "sí", "oui", "是", "是的", "हाँ", "हां", "نعم", "да", "はい"),
    "no": ("no", "nope", "false", "nein", "não", "否", "不是", "नहीं", "لا", "нет", "いいえ"),
    "not sure": (
        *("not sure", "not sure enough", "i am not sure", "i'm not sure", "unsure"),
        *("i don't know", "i do not know", "don't know", "不确定", "不知道", "पता नहीं", "не знаю", "わかりません"),
    ),
}


_MEANINGS = {spelled(word): f"truth:{meaning}" for meaning, words in _WORDS.items() for word in words}


def read_yes_no(text: str) -> str | None:
    return _MEANINGS.get(text)
