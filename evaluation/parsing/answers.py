"""From a completion to the value of a field, whatever its type."""

from dataclasses import replace

from annotate.answers import FieldSpec, JsonValue
from annotate.answers.meaning.lists import split_typed
from annotate.answers.scale import points_of
from annotate.answers.verdict import VERDICTS
from evaluation.parsing.envelope import answer_below, drop_reasoning, is_refusal, own_turn, within_reach
from evaluation.parsing.labels import parse_label
from evaluation.parsing.loose_json import readings
from evaluation.parsing.parsed import Parsed, ParseStatus
from evaluation.parsing.short_answers import parse_short_answer
from evaluation.parsing.tables import parse_table

_PAIR = ("question", "answer")


def parse_answer(field: FieldSpec, text: str, language: str = "en") -> Parsed:
    """The value that a completion gives for a field, in the form in which a person's comes.

    The form's own rules (limits, options) are applied afterwards, by the field's type, to people's values and these.
    """
    match field.type:
        case "choice":
            return parse_label(text, [(option.value, option.caption) for option in field.options], language)
        case "choices":
            return _several_labels(field, text, language)
        case "scale":
            captions = {option.value: option.caption for option in field.options}
            points = [(str(point), captions.get(str(point), str(point))) for point in points_of(field)]
            return parse_label(text, points, language)
        case "verdict":
            return parse_label(text, [(verdict, verdict) for verdict in VERDICTS], language)
        case "table":
            return parse_table(text, field.columns)
        case "qa_pairs":
            return _pairs(text)
        case "list":
            return parse_list(text)
        case "long_text" | "question":
            return parse_long_text(text)
    return parse_short_answer(text)


def parse_long_text(text: str) -> Parsed:
    """All of the answer: what stands between tags (<answer>), what follows the last line that begins with a marker, the
    only fenced block, or all but the reasoning."""
    visible, cut_off = drop_reasoning(own_turn(text))
    visible = visible.strip()
    if not visible:
        return Parsed(None, ParseStatus.NONE, "the reasoning was cut off" if cut_off else "empty")
    if is_refusal(visible):
        return Parsed(None, ParseStatus.REFUSAL, "a refusal in the text")
    _, opening, tagged = visible.rpartition("<answer>")
    tagged = tagged.partition("</answer>")[0].strip()
    if opening and tagged:
        return Parsed(tagged, ParseStatus.OK, "between tags")
    segment = (answer_below(visible) or "").strip()
    if segment:
        return Parsed(segment, ParseStatus.OK, "after an answer marker")
    if visible.startswith("```") and visible.endswith("```") and visible.count("```") == 2:
        inside = visible.partition("\n")[2].removesuffix("```").strip("\n")
        if inside.strip():
            return Parsed(inside, ParseStatus.OK, "the fenced block")
    return Parsed(visible, ParseStatus.OK, "the whole text")


def parse_list(text: str) -> Parsed:
    """Several short answers: a JSON array of texts and numbers, else the lines of a list, else a short answer."""
    visible, _ = drop_reasoning(own_turn(within_reach(text)))
    found: Parsed | None = None
    for _, reading in readings(visible):
        value = reading.value
        if isinstance(value, dict):
            lists = [entry for entry in value.values() if isinstance(entry, list)]
            value = lists[0] if len(lists) == 1 else None
        if isinstance(value, list) and not any(isinstance(member, dict | list) for member in value):
            members: list[JsonValue] = [str(member) for member in value if member is not None]
            repairs = tuple(sorted(reading.flags))
            if members:
                found = Parsed(members, ParseStatus.OK, "a JSON array", repairs)
            elif found is None:
                found = Parsed(None, ParseStatus.NONE, "an empty JSON array")
    if found is not None:
        return found
    parsed = parse_short_answer(text)
    if parsed.status != ParseStatus.OK:
        return parsed
    return replace(parsed, value=list(split_typed(str(parsed.value))))


def _several_labels(field: FieldSpec, text: str, language: str) -> Parsed:
    """Each member of a list is a label; one that is none makes the answer unread."""
    parsed = parse_list(text)
    if parsed.status != ParseStatus.OK or not isinstance(parsed.value, list):
        return parsed
    labels = [(option.value, option.caption) for option in field.options]
    values: list[JsonValue] = []
    for member in parsed.value:
        label = parse_label(str(member), labels, language)
        if label.status != ParseStatus.OK:
            return replace(label, note=f"“{str(member)[:60]}” is no label: {label.note}")
        values.append(label.value)
    return replace(parsed, value=values)


def _pairs(text: str) -> Parsed:
    parsed = parse_table(text, _PAIR)
    if parsed.status == ParseStatus.OK and isinstance(parsed.value, dict):
        rows = parsed.value["rows"]
        assert isinstance(rows, list)
        texts = [[None if cell is None else str(cell) for cell in row] for row in rows if isinstance(row, list)]
        pairs: list[JsonValue] = [dict(zip(_PAIR, row, strict=True)) for row in texts]
        return replace(parsed, value=pairs, note="pairs" + parsed.note.removeprefix("a table"))
    return parsed
