"""The closed list of words that mean yes, no or not sure enough.

A label whose caption or value is one of these words is also recognised by all others of its meaning. The list is
closed on purpose: every word added reads more completions, and some of them wrongly.
"""

MEANINGS: dict[str, tuple[str, ...]] = {
    "yes": (
        *("yes", "yep", "yeah", "true"),
        *("是", "是的", "对", "對", "正确", "正確", "属实", "屬實"),
        *("sí", "oui", "vrai", "ja", "sim", "हाँ", "हां", "जी हाँ", "نعم", "да", "はい"),
    ),
    "no": (
        *("no", "nope", "false"),
        *("否", "不", "不是", "不是的", "错误", "錯誤", "不对", "不對", "不正确", "不正確", "不属实", "不屬實"),
        *("non", "faux", "nein", "não", "नहीं", "जी नहीं", "لا", "нет", "いいえ"),
    ),
    "not sure enough": (
        *("not sure enough", "not sure", "unsure", "uncertain", "not certain", "unknown", "undetermined"),
        *("not enough information", "not enough info", "i don't know", "i do not know"),
        *("cannot be determined", "can't be determined", "cannot determine", "can't determine"),
        *(
            "不确定",
            "不確定",
            "无法确定",
            "無法確定",
            "无法判断",
            "無法判斷",
            "不知道",
            "不清楚",
            "不够确定",
            "信息不足",
        ),
        *("no estoy seguro", "no estoy segura", "no lo sé", "no sé", "no hay suficiente información"),
        *("no hay información suficiente", "je ne sais pas", "pas sûr", "pas sûre", "pas assez d'informations"),
        *("nicht sicher", "unsicher", "weiß nicht", "nicht genug informationen"),
        *("não sei", "não tenho certeza", "पता नहीं", "निश्चित नहीं"),
        *("لست متأكدا", "لست متأكدًا", "غير متأكد", "لا أعرف", "لا أدري"),
        *("не уверен", "не уверена", "не знаю", "わかりません", "不明"),
    ),
}

# Words that are answers in one language and something else in another; read only in completions of that language.
IN_LANGUAGE_ONLY: dict[str, dict[str, tuple[str, ...]]] = {
    "es": {"yes": ("si", "verdadero", "cierto"), "no": ("falso",)},
    "it": {"yes": ("si", "sì", "vero"), "no": ("falso",), "not sure enough": ("non lo so",)},
    "pt": {"yes": ("verdadeiro",), "no": ("falso",)},
    "de": {"yes": ("richtig", "wahr"), "no": ("falsch",)},
}

# Read as an answer only where nothing stands before it: "The correct answer is unclear" says neither yes nor no.
AT_START_ONLY: dict[str, tuple[str, ...]] = {
    "yes": ("correct", "right", "that is correct", "this is correct", "that's correct", "that's right"),
    "no": ("incorrect", "wrong", "not true", "not correct", "that is incorrect", "this is incorrect", "that's wrong"),
}

# Phrases that contain such a word and are no answer. "No." before a number is an abbreviation.
NEUTRAL = (
    r"(?<!\w)no\.[ \t]{0,3}\d",
    r"(?<!\w)no (?:evidence|information|proof|data|records?|sources?|indication|mention|reason|doubt|idea|way|need"
    r"|matter|longer|one|such|clear|reliable|credible|definitive|conclusive|specific|direct|known|other|further)(?!\w)",
    r"(?<!\w)(?:yes|true)[ -]?(?:/|or)[ -]?(?:no|false)[ -](?:questions?|answers?)(?!\w)",
    r"(?:是否|是不是|有没有)(?:正确|正確|属实|屬實|真实|对|對)?|对于|對於|不仅|不僅|不同|不过|不過",
    # The word for no that says "not" before another: "non è chiaro", "no hay pruebas", "não há provas", "нет данных".
    r"(?<!\w)non[ -](?!lo so)(?=\w)",
    r"(?<!\w)no (?:hay(?! (?:suficiente )?información)|se puede|se sabe|puedo|podemos|tengo|tenemos|existen?|dispongo"
    r"|está claro|queda claro|es posible)(?!\w)",
    r"(?<!\w)não (?:há|se pode|se sabe|posso|podemos|tenho(?! certeza)|temos|existem?|está claro|é possível)(?!\w)",
    r"(?<!\w)لا\s{1,3}(?!نعم|أعرف|أدري)(?=[\u0621-\u064a])",
    r"(?<!\w)нет (?:данных|информации|доказательств|достаточн\w{0,6}|сведений|оснований)(?!\w)",
)
