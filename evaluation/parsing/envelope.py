"""What completions wrap an answer in: reasoning, JSON, boxes, markers such as "Answer:", and refusals.

Every pattern here is linear: a repetition is bounded or is followed by what it cannot itself match. Endless completions
exist, and one of them must not hold up a worker.
"""

import json
import re
from collections.abc import Iterator

_REASONING_TAGS = ("think", "thinking", "thought", "reasoning", "reflection", "scratchpad")
_REASONING_TAG = re.compile(rf"<(/?)(?:{'|'.join(_REASONING_TAGS)})>", re.IGNORECASE)

# What ends a model's turn, where a server hands it on, or begins the next one.
_TURN = re.compile(
    r"<\|(?:im_end|eot_id|eom_id|endoftext|end_of_text|end)\|>|<end_of_turn>|<eos>|<｜end▁of▁sentence｜>|</s>\s{0,20}\Z"
    r"|<\|im_start\|>(?:assistant\b)?|<start_of_turn>(?:model\b)?|<\|start_header_id\|>\w{0,20}<\|end_header_id\|>"
)

_ANSWER_KEYS = "answer|final_answer|final answer|label|verdict|prediction|response|result|respuesta|答案"
# The opening quote and the backslash are taken apart so that no character can be matched in two ways.
_JSON_ANSWER = re.compile(
    rf"[\"'](?:{_ANSWER_KEYS})[\"']\s{{0,200}}:\s{{0,200}}"
    r"""(?:"((?:[^"\\]|\\.){0,2000})"|'([^'\\]{0,2000})'|([\w.+-]{1,60}))""",
    re.IGNORECASE | re.DOTALL,
)
# The same with a list or an object, which short_answers.py reads as JSON.
JSON_STRUCTURE = re.compile(rf"[\"'](?:{_ANSWER_KEYS})[\"']\s{{0,200}}:\s{{0,200}}[\[{{]", re.IGNORECASE)
_TAGGED = re.compile(
    r"<(answer|final[_-]answer|output|result)>((?:[^<]|<(?!/?\1>)){0,2000}+)(?:</\1>|\Z)", re.IGNORECASE
)
_BOXED = re.compile(
    r"\\boxed\s{0,20}\{(?:\\(?:text|mathrm|textbf|mathbf)\s{0,20}\{([^{}]{0,2000})\}|([^{}]{0,2000}))\}"
)

_ANSWER_WORDS = (
    "answer|respuesta|resposta|réponse|antwort|risposta|ответ|उत्तर|الإجابة|الجواب|答案|回答|答え"  # in a short answer
)
# A label may follow these, too; "Label: Columbia" is content.
_VERDICT_WORDS = "label|verdict|conclusion|rating|score|option|choice|bewertung|結論|结论|评分|評分"


def _marker(words: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?:(?:final|correct|最终|最後の)\s?)?(?:{words})[\s*_`\"'”）)]{{0,6}}(?:to (?:the|this|your) question\s?)?"
        r"(?::|：|=|->|→|\b(?:is|would be|should be|es|est|ist|lautet|é)\b:?|(?:هو|هي)\b:?|是|为|為|は)"
        rf"|(?m:^[ \t#*_]{{0,8}}(?:{words})[ \t*_]{{0,6}}$)"  # a heading
        rf"|\bfinal\s(?:{words})\b|最终答案|最終答案",
        re.IGNORECASE,
    )


_LINE_MARKER = re.compile(
    rf"^[ \t#*_>]{{0,8}}(?:(?:final|correct|最终)\s?)?(?:{_ANSWER_WORDS})[ \t*_]{{0,6}}(?:[:：][ \t*_]{{0,6}}|$)",
    re.IGNORECASE | re.MULTILINE,
)
_ANSWER_MARKER = _marker(_ANSWER_WORDS)
_LABEL_MARKER = _marker(f"{_ANSWER_WORDS}|{_VERDICT_WORDS}")
# A refusal comes first; deep inside a long completion the same words are about something else.
_REFUSAL_REACH = 1_000
# A longer completion is read by its first and its last half of this: it may never end.
MAX_CHARACTERS = 50_000
# A completion that repeats "Answer:" without end is not worth more than its last few attempts.
_MAX_MARKERS = 20

_NEXT_QUESTION = re.compile(r"^[ \t*#]{0,6}(?:question|q|claim|item|问题|问)[ \t]?\d{0,4}[ \t*]{0,3}[:：]", re.I | re.M)

_CANNOT = r"(?:cannot|can't|can not|could not|couldn't|won't|will not|am not able to|am unable to|do not|don't)"
_UNABLE = r"(?:unable|not able|not going|not allowed|not permitted)\sto"
_HELP = (
    r"(?:help|assist|comply|engage|respond|fulfil|fulfill|discuss|provide an answer|provide that"
    r"|answer(?:\s(?:that|this|the|your|such|it|any)\b|[.,!]|$))"
)
_REFUSAL = re.compile(
    rf"\b(?:i|we)\s(?:\w{{1,12}}\s){{0,2}}{_CANNOT}\s(?:\w{{1,12}}\s)?{_HELP}"
    rf"|\b(?:i'm|i am|we're|we are)\s(?:\w{{1,12}},?\s){{0,3}}{_UNABLE}\s{_HELP}"
    rf"|\bsorry,?\s(?:but\s)?{_CANNOT}\s{_HELP}"
    r"|\bi\s(?:must|have to|need to)?\s?(?:respectfully |politely )?decline\b"
    r"|\bi (?:won't|will not) be able to (?:answer|help|assist|provide|comply)"
    r"|\bi(?:'m| am) not comfortable|\bi (?:do not|don't) feel comfortable"
    r"|\bagainst my (?:guidelines|polic|programming)"
    r"|\bas an ai(?: language model| model| assistant)?,? i (?:can't|cannot|can not|am unable|am not able|do not have)"
    r"|[无無]法(?:回答|协助|協助|提供|帮助|幫助|满足|滿足)|不能(?:回答|协助|協助|提供帮助)|拒绝回答|拒絕回答"
    r"|\bno (?:puedo|me es posible) (?:ayudar|responder|contestar|asistir)"
    r"|\bje ne (?:peux pas|suis pas en mesure de) (?:vous aider|répondre|aider)"
    r"|\bich kann (?:\w{1,15} ){0,4}nicht (?:helfen|beantworten|antworten)|\bnão posso (?:ajudar|responder)"
    r"|لا (?:أستطيع|يمكنني) (?:\w{1,12} ){0,2}(?:المساعدة|مساعدت\w{1,3}|الإجابة|الرد)"
    r"|не могу (?:помочь|ответить)|मदद नहीं कर सकत|उत्तर नहीं दे सकत|お答えできません|回答できません",
    re.IGNORECASE,
)


def within_reach(text: str) -> str:
    """The part of a completion that is read: all of it, unless it is endless."""
    half = MAX_CHARACTERS // 2
    return text if len(text) <= MAX_CHARACTERS else f"{text[:half]}\n{text[-half:]}"


def own_turn(text: str) -> str:
    """What the model said in its turn, without the marks that end it and without what it says for others after it."""
    return next((turn for turn in _TURN.split(text) if turn.strip()), "")


def drop_reasoning(text: str) -> tuple[str, bool]:
    """The text without reasoning blocks, and whether one was cut off before its end.

    A closing tag without an opening one ends reasoning that the prompt had opened; what stands before it goes, too.
    """
    kept: list[str] = []
    depth = 0
    position = 0
    for tag in _REASONING_TAG.finditer(text):
        if tag.group(1):
            if depth == 0:
                kept.clear()
            depth = max(0, depth - 1)
        else:
            if depth == 0:
                kept.append(text[position : tag.start()])
            depth += 1
        position = tag.end()
    if depth == 0:
        kept.append(text[position:])
    return "".join(kept), depth > 0


def reasoning_in(text: str) -> str:
    """What stands in reasoning blocks of a completion, or before a closing tag whose block the prompt had opened."""
    blocks: list[str] = []
    depth = 0
    start = 0
    for tag in _REASONING_TAG.finditer(text):
        if tag.group(1):
            if depth == 1 or (depth == 0 and not blocks):
                blocks.append(text[start : tag.start()])
            depth = max(0, depth - 1)
        else:
            if depth == 0:
                start = tag.end()
            depth += 1
    if depth:
        blocks.append(text[start:])
    return "\n\n".join(stripped for block in blocks if (stripped := block.strip()))


def json_or_boxed_answer(text: str) -> str | None:
    r"""The last answer given as JSON ({"answer": ...}), as \boxed{...} or as <answer>...</answer>; None without one."""
    last: tuple[int, str] | None = None
    for match in _JSON_ANSWER.finditer(text):
        double, single, bare = match.groups()
        if double is not None:
            last = match.start(), _unescape(double)
        else:
            last = match.start(), single if single is not None else bare
    for match in _BOXED.finditer(text):
        if last is None or match.start() > last[0]:
            last = match.start(), next(group for group in match.groups() if group is not None)
    for match in _TAGGED.finditer(text):
        if last is None or match.start() > last[0]:
            last = match.start(), match.group(2)
    return None if last is None else last[1]


def answer_below(text: str) -> str | None:
    """What follows the last line that begins with a marker ("Answer:"), for answers of many lines; None without one."""
    lines = list(_LINE_MARKER.finditer(text))
    return text[lines[-1].end() :] if lines else None


def label_segments(text: str) -> Iterator[str]:
    """What follows each marker of a label ("Answer:", "the verdict is"), up to the next; the last one first."""
    return _segments(text, _LABEL_MARKER)


def answer_segments(text: str) -> Iterator[str]:
    """What follows each marker of an answer ("Answer:", "the final answer is"), up to the next; the last one first."""
    return _segments(text, _ANSWER_MARKER)


def before_next_question(text: str) -> str:
    """The text up to a line that begins a further question: models go on to ask and answer questions of their own.

    A question that the text begins with is the one asked, repeated, and does not end it.
    """
    for match in _NEXT_QUESTION.finditer(text):
        if text[: match.start()].strip():
            return text[: match.start()]
    return text


def is_refusal(text: str) -> bool:
    """True if the text begins by saying that the model will not, or as a model cannot, answer."""
    return _REFUSAL.search(text.lstrip()[:_REFUSAL_REACH].replace("’", "'")) is not None


def _segments(text: str, marker: re.Pattern[str]) -> Iterator[str]:
    end = len(text)
    for match in reversed(list(marker.finditer(text))[-_MAX_MARKERS:]):
        yield text[match.end() : end]
        end = match.start()


def _unescape(text: str) -> str:
    try:
        return str(json.loads(f'"{text}"', strict=False))
    except ValueError:  # a stray backslash: the text as it stands is the best reading
        return text
