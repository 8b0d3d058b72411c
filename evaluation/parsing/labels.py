"""One of the declared labels, read out of a chatty completion."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from annotate.normal_form import normal_form
from evaluation.parsing.envelope import (
    before_next_question,
    drop_reasoning,
    is_refusal,
    json_or_boxed_answer,
    label_segments,
    own_turn,
    within_reach,
)
from evaluation.parsing.parsed import Parsed, ParseStatus
from evaluation.parsing.synonyms import AT_START_ONLY, IN_LANGUAGE_ONLY, MEANINGS, NEUTRAL

_DECORATION = " \t\r\n*_`#>~\"'“”‘’«»「」『』()[]{}<-–—•:：=.,;!?。，！？、|।"
_TICKED = re.compile(r"^[ \t>*-]{0,12}(?:\[[ \t]?[xX✓✔][ \t]?\]|[☑✅✓✔])[ \t]{0,4}(.{1,300})", re.MULTILINE)
_MAX_TICKED_LINES = 200
_MAX_NEGATIONS = 100  # a label said more often is not looked at each time
# Written without spaces: a word of two characters or more is found inside a sentence.
_SPACELESS = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]{2,}")
_JOINED = re.compile(
    r"\s{0,3}(?:[,;.]\s{1,3})?(?:\b(?:and|or|y|o|u|e|et|ou|und|oder)\b|/|\||&|和|或|与|या|और|أو\b|و(?=[\u0621-\u064a]))[\s,]{0,3}"
)
# After a letter or a number as a label: the end of the text or line, what closes the letter of a list, a reason.
_AFTER_LETTER = (
    r"\s{0,20}\Z|[).:\]}*_\"，。：](?!\d)|'(?!\w)|[ \t]{0,20}\n|,\s"
    r"|\s{1,3}(?:because|since|weil|porque|parce que)\b|因为"
)
_JOINT = r"\s{0,3}(?:,|/|&|and|or|und|oder|et|ou|y|o)\s{0,3}[(\[]?"
_OPTION = re.compile(r"(?:option|choice|选项|選項)\s{0,2}[(\[\"'*]{0,3}")
_NUMBER = re.compile(r"-?\d{1,6}")
# How probable each label is: "Yes: 0.2, No: 0.8".
_SHARE = re.compile(r"[\"'*_`)]{0,3}\s{0,3}[:=(]\s{0,3}(?:[01]?[.,]\d|\d{1,3}(?:[.,]\d{1,6})?\s?%)")
_MAX_LABELS_IN_A_ROW = 50
_MAX_LABEL_REACH = 1_000
_LISTED = re.compile(r"\s{0,3}[,，、]\s{0,3}")
_NEGATION = re.compile(
    r"(?:\bnot|n't|\bnever|\bneither|\bnor|\bcannot be|\bno es|\bn'est pas|\bnicht|\bnão é|\bне|\bليس|\bغير"
    r"|并非|並非|不是|非|不太|不完全|不一定|未必|并不|並不|不能算)"
    r"[\s\"'“”‘’*_:]{0,4}(?:[a-zà-ÿ]{1,12}\s){0,2}[\"'“‘*_]{0,3}$"
    r"|\b(?:partly|partially|half|hardly|barely|scarcely|far from|teilweise|parcialmente|partiellement)"
    r"\s[\"'“‘*_]{0,3}$"
)
# A sentence that denies or leaves open does not say its last word: "no evidence that it is true", "whether it is true".
_IN_SENTENCE = r"[^,.;:!?\n]{0,60}"
_DOUBT = re.compile(
    rf"(?:\b(?:whether|if|unless|ob|falls|si)\s{_IN_SENTENCE}"
    rf"|(?:\b(?:no|not|cannot|never|without|sin|sans|pas)|n't)\b{_IN_SENTENCE}\b(?:that|que|qu)\b{_IN_SENTENCE}"
    rf"|\b(?:keine?|nicht)\b[^.;:!?\n]{{0,60}}\bdas(?:s|ß)\b{_IN_SENTENCE}"
    rf"|(?:\b(?:not|cannot)|n't)\s(?:think|believe|say|confirm|verify|support|show|prove|know|mean|suggest)\b{_IN_SENTENCE}"
    rf"|\b(?:doubt|doubts|doubtful|unlikely|unclear|impossible)\b{_IN_SENTENCE}"
    r"|(?:没有|沒有|无法|無法|不能|难以|難以|尚未|缺乏)[^，。！？,.!?\n]{0,30})$"
)
_DOUBT_REACH = 160


@dataclass(frozen=True)
class _Reader:
    """How to find labels in folded text.

    forms: form -> label value. anywhere: the forms that count inside a sentence, the longest first. at_start, letters:
    patterns of the forms that count at the start; letters are labels of one character and numbers. another_letter:
    what makes it two of them; out_of: the end of the scale, which is no second label.
    """

    forms: dict[str, str]
    anywhere: tuple[str, ...]
    at_start: re.Pattern[str]
    letters: re.Pattern[str] | None
    another_letter: re.Pattern[str] | None
    out_of: re.Pattern[str]


@dataclass(frozen=True)
class _Found:
    value: str
    start: int
    end: int


def parse_label(text: str, labels: Sequence[tuple[str, str]], language: str = "en") -> Parsed:
    """The label that a completion gives, as its value.

    labels: (value, caption) pairs; both are recognised, and for yes, no and not sure enough a closed list of words in
    several languages. language: BCP-47, lets in words that mean something else in other languages.

    In this order: reasoning blocks are dropped; an answer in JSON or a box; what follows the last marker ("Answer:");
    a ticked list; a refusal; a label at the very start, unless joined to another ("yes and no"); the only label in the
    text as a whole word. More than one label, or one that is negated or left open ("whether it is true"), is
    ambiguous. Nothing is guessed beyond that.
    Raises ValueError without labels.
    """
    reader = _reader(tuple(labels), language.split("-")[0].lower())
    visible, cut_off = drop_reasoning(within_reach(_fold(own_turn(within_reach(text)))))
    if not visible.strip():
        return Parsed(None, ParseStatus.NONE, "the reasoning was cut off" if cut_off else "empty")
    parsed = _read_completion(before_next_question(visible), reader)
    return parsed if parsed.status != ParseStatus.NONE else _read_completion(visible, reader)


def _read_completion(text: str, reader: _Reader) -> Parsed:
    boxed = json_or_boxed_answer(text)
    if boxed is not None:
        parsed = _read(boxed, reader, "in JSON or a box")
        if parsed.status != ParseStatus.NONE:
            return parsed
    for segment in label_segments(text):
        parsed = _read(segment, reader, "after an answer marker")
        if parsed.status != ParseStatus.NONE:
            return parsed
    return _read(text, reader, "in the text")


def _read(text: str, reader: _Reader, where: str) -> Parsed:
    lines = islice(_TICKED.finditer(text), _MAX_TICKED_LINES)
    ticked = {found.value for line in lines if (found := _first(line.group(1), reader))}
    if len(ticked) == 1:
        return Parsed(ticked.pop(), ParseStatus.OK, "the ticked label")
    if ticked:
        return Parsed(None, ParseStatus.AMBIGUOUS, "several labels are ticked")
    if is_refusal(text):
        return Parsed(None, ParseStatus.REFUSAL, f"a refusal {where}")
    first = _first(text, reader)
    if first is not None and _is_joined(text, first, reader):
        return Parsed(None, ParseStatus.AMBIGUOUS, f"more than one label {where}")
    if first is not None and not _SHARE.match(text, first.end):
        return Parsed(first.value, ParseStatus.OK, f"{where}, at the start")
    return _only_label(text, reader, where)


def _first(text: str, reader: _Reader) -> _Found | None:
    """The label that the text starts with, decoration aside."""
    start = len(text) - len(text.lstrip(_DECORATION))
    if _NEUTRAL.match(text, start):
        return None
    if match := reader.at_start.match(text, start):
        return _Found(reader.forms[match.group(1)], match.start(1), match.end(1))
    if reader.letters is None:
        return None
    if option := _OPTION.match(text, start):
        start = option.end()
    # The dash before a number is its sign, not decoration.
    if text[start : start + 1].isdigit() and text[start - 1 : start] == "-":
        start -= 1
    match = reader.letters.match(text, start)
    return _Found(reader.forms[match.group(1)], match.start(1), match.end(1)) if match else None


def _is_joined(text: str, first: _Found, reader: _Reader) -> bool:
    """True if another label follows at once: "yes and no", "yes/no", a list that ends or goes on, labels alone."""
    if _only_other_labels_follow(text, first, reader):
        return True
    rest = text[first.end : first.end + 200]
    if reader.out_of.match(rest):
        return False
    if reader.at_start.match(rest) and _NEGATION.search(text[: first.end]):
        return True  # 不是错误的: it is not wrong
    rest = rest.lstrip("\"'*_`”’)]}")
    if joint := _JOINED.match(rest):
        other = _first_or_letter(rest[joint.end() :], reader)
        return other is not None and other.value != first.value
    if joint := _LISTED.match(rest):
        rest = rest[joint.end() :]
        other = _first_or_letter(rest, reader)
        if other is None or other.value == first.value:
            return False
        after = rest[other.end :]
        return not after.strip(_DECORATION) or bool(_JOINED.match(after) or re.match(r"\s*[,，、.。]", after))
    return False


def _first_or_letter(text: str, reader: _Reader) -> _Found | None:
    """As `_first`; a letter also before words: "A and B are wrong"."""
    if found := _first(text, reader):
        return found
    match = reader.another_letter.match(text) if reader.another_letter else None
    return _Found(reader.forms[match.group(1)], match.start(1), match.end(1)) if match else None


def _only_other_labels_follow(text: str, first: _Found, reader: _Reader) -> bool:
    """True if nothing but labels comes after the first, and not all are the same: two lines, "Yes. No."."""
    position, is_other = first.end, False
    for _ in range(_MAX_LABELS_IN_A_ROW):
        found = _first(text[position : position + _MAX_LABEL_REACH], reader)
        if found is None:
            return is_other and not text[position:].strip(_DECORATION)
        is_other = is_other or found.value != first.value
        position += found.end
    return False


def _only_label(text: str, reader: _Reader, where: str) -> Parsed:
    # Most forms are nowhere in the text: looking for each of them first keeps the pattern short.
    present = tuple(form for form in reader.anywhere if form in text)
    if not present:
        return Parsed(None, ParseStatus.NONE, "no label in it")
    value: str | None = None
    starts: list[int] = []
    for match in _inside_sentences(present).finditer(text):
        if match.group(1) is None:  # a neutral phrase
            continue
        if value is not None and reader.forms[match.group(1)] != value:
            return Parsed(None, ParseStatus.AMBIGUOUS, f"more than one label {where}")
        value = reader.forms[match.group(1)]
        starts.append(match.start(1))
    if not starts:
        return Parsed(None, ParseStatus.NONE, "no label in it")
    if any(_is_denied(text[max(0, start - _DOUBT_REACH) : start]) for start in starts[:_MAX_NEGATIONS]):
        return Parsed(None, ParseStatus.AMBIGUOUS, f"a negated or open label {where}")
    return Parsed(value, ParseStatus.OK, f"the only label {where}")


_PLAIN = str.maketrans("’−", "'-")


def _is_denied(before: str) -> bool:
    """What stands before a label negates it or leaves it open."""
    return bool(_NEGATION.search(before) or _DOUBT.search(before))


def _fold(text: str) -> str:
    return normal_form("NFKC", normal_form("NFKC", text).casefold()).translate(_PLAIN)


@lru_cache(maxsize=256)
def _reader(labels: tuple[tuple[str, str], ...], language: str) -> _Reader:
    if not labels:
        raise ValueError("There must be at least one label.")
    own = _own_forms(labels)
    meanings = _meanings(labels)
    anywhere = dict(own)
    at_start = dict(own)
    for meaning, value in meanings.items():
        words = MEANINGS[meaning] + IN_LANGUAGE_ONLY.get(language, {}).get(meaning, ())
        for word in words:
            anywhere.setdefault(_fold(word), value)
        for word in words + AT_START_ONLY.get(meaning, ()):
            at_start.setdefault(_fold(word), value)
    letters = [form for form in own if len(form) == 1 or _NUMBER.fullmatch(form)]
    start_forms = [form for form in at_start if form not in letters]
    shown = "|".join(map(re.escape, letters))
    return _Reader(
        forms=at_start,
        # A single letter or a number as a label is one of a list: inside a sentence "a" is an article, 10 an amount.
        anywhere=tuple(sorted((form for form in anywhere if form not in letters), key=_longest_first)),
        at_start=re.compile(f"({_words(start_forms)})"),
        letters=re.compile(f"({shown})(?={_AFTER_LETTER}|{_out_of(letters)}|{_JOINT}(?:{shown})(?!\\w))")
        if letters
        else None,
        out_of=re.compile(_out_of(letters)),
        another_letter=re.compile(f"[(\\[\"'*]{{0,2}}({shown})(?!\\w)") if letters else None,
    )


def _out_of(labels: Sequence[str]) -> str:
    """4/5, 4 out of 5: a point and the last point of the scale; another end would be another scale."""
    points = [int(label) for label in labels if _NUMBER.fullmatch(label)]
    return rf"\s{{0,2}}(?:/|out of)\s{{0,2}}{max(points)}(?!\w)" if points else "(?!)"


@lru_cache(maxsize=1024)
def _inside_sentences(forms: tuple[str, ...]) -> re.Pattern[str]:
    """Group 1 is one of the forms; a match without it is a neutral phrase that contains one."""
    return re.compile(f"{'|'.join(NEUTRAL)}|({_words(forms)})")


def _own_forms(labels: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Captions and values of the labels; a value that is another label's caption does not count."""
    captions: dict[str, str] = {}
    for value, caption in labels:
        captions.setdefault(_fold(caption).strip(), value)
    forms = dict(captions)
    for value, _ in labels:
        forms.setdefault(_fold(value).strip(), value)
    return {form: value for form, value in forms.items() if form}


def _meanings(labels: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Which label means yes, which no, which not sure enough. Two labels with one meaning: neither has synonyms."""
    found: dict[str, set[str]] = {}
    for value, caption in labels:
        for meaning, words in MEANINGS.items():
            if {_fold(caption).strip(), _fold(value).strip()} & {_fold(word) for word in words}:
                found.setdefault(meaning, set()).add(value)
    return {meaning: values.pop() for meaning, values in found.items() if len(values) == 1}


def _longest_first(form: str) -> tuple[int, str]:
    return -len(form), form


def _words(forms: Iterable[str]) -> str:
    """Alternatives, the longest first, so that "not sure enough" is never read as "not sure" or "no"."""
    ordered = sorted(forms, key=_longest_first)
    spaceless = [re.escape(form) for form in ordered if _SPACELESS.fullmatch(form)]
    spaced = [re.escape(form) for form in ordered if not _SPACELESS.fullmatch(form)]
    inside_word = f"[{_word_characters()}]"
    whole_words = [f"(?<!{inside_word})(?:{'|'.join(spaced)})(?!{inside_word})"] if spaced else []
    return "|".join(spaceless + whole_words) or "(?!)"


@lru_cache(maxsize=1)
def _word_characters() -> str:
    r"""The inside of a character class: \w and all combining marks, which \w leaves out and Hindi words end in."""
    marks = [code for code in range(0x300, 0x10000) if unicodedata.category(chr(code)).startswith("M")]
    ranges: list[list[int]] = []
    for code in marks:
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return r"\w" + "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


_NEUTRAL = re.compile("|".join(NEUTRAL))
