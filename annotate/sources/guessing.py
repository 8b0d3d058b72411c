"""A first proposal for the mapping, from the columns' names and a sample of the records."""

from collections.abc import Sequence
from typing import Any, Protocol

from annotate.languages import is_language_tag
from annotate.sources import answer_columns, blocks
from annotate.sources.guessing_answers import data_columns, guess_answers, item_column
from annotate.sources.json_array import KEY_COLUMN
from annotate.sources.mapping import ContentColumn, GoldColumn, Mapping
from annotate.sources.names import folded
from annotate.sources.records import Record


class LabelOption(Protocol):
    @property
    def value(self) -> str: ...
    @property
    def caption(self) -> str: ...


class LabelField(Protocol):
    """What is asked of an answer field: annotate.answers.FieldSpec gives it."""

    @property
    def name(self) -> str: ...
    @property
    def type(self) -> str: ...
    @property
    def options(self) -> Sequence[Any]: ...


# Names as files have them, compared after `_folded`; the earlier ones win.
_ID_NAMES = (
    "id", "item_id", "external_id", "uid", "uuid", "qid", "q_id", "question_id", "claim_id", "example_id", "idx",
)  # fmt: skip
_SURE_ID_NAMES = ("id", "item_id", "external_id")
_CONTENT_NAMES = (
    "claim", "question", "questions", "statement", "sentence", "sentence1", "sentence2", "premise", "hypothesis",
    "text", "prompt", "instruction", "utterance", "passage", "context", "reference", "code", "table",
)  # fmt: skip
_GOLD_NAMES = (
    "label", "gold", "gold_label", "gold_labels", "gold_answer", "gold_answers", "answer", "answers", "target",
    "target_value", "targetvalue", "expected", "verdict", "class",
)  # fmt: skip
_LANGUAGE_NAMES = ("language", "lang", "locale", "language_code")
_STRATA_NAMES = (
    "domain", "category", "topic", "subject", "operation", "type", "types", "subset", "difficulty", "split",
    "reasoning", "source", "explicitness",
)  # fmt: skip
_GROUP_NAMES = ("table_id", "group", "group_id", "root", "root_id", "parent", "parent_id", "db_id", "document_id")

# Labels of one meaning in well-known sets, folded.
_YES = {"yes", "y", "true", "1", "supports", "supported", "factual", "entailment", "correct", "right"}
_NO = {"no", "n", "false", "0", "refutes", "refuted", "non_factual", "contradiction", "incorrect", "wrong"}
_NOT_SURE = {
    "not_sure", "not_sure_enough", "unsure", "nei", "not_enough_info", "not_enough_information", "neutral", "unknown",
    "unverifiable", "cannot_tell",
}  # fmt: skip
_SYNONYMS = (_YES, _NO, _NOT_SURE)


def guess_mapping(
    columns: Sequence[str],
    sample: Sequence[Record],
    label_fields: Sequence[LabelField],
    *,
    join_column: str | None = None,
    field_names: Sequence[str] = (),
) -> Mapping:
    """A mapping to confirm or change; it never shows people a column that looks like gold.

    columns: in file order. sample: the more the better for labels, some hundred are enough. label_fields: the answer
    fields whose gold is looked for. join_column: the one that named the table joined to each record, which makes the
    groups. field_names: of the fields of the stage that the file is for, if it is for one. Without a column that is
    plainly an id, id_column is None.
    """
    by_name = {folded(column): column for column in reversed(columns)}
    values = _values_by_column(columns, sample)

    def named(names: Sequence[str], fits: Any = None) -> str | None:
        return next((by_name[n] for n in names if n in by_name and (fits is None or fits(values[by_name[n]]))), None)

    answers = guess_answers(columns, values, field_names)
    id_column = KEY_COLUMN if KEY_COLUMN in columns else named(_ID_NAMES, lambda v: _are_ids(v, len(sample)))
    # Repeats in a column called id are mistakes that somebody must hear of, not a reason to do without ids.
    id_column = id_column or named(_SURE_ID_NAMES, lambda v: _are_in_most_records(v, len(sample)))
    if answers is not None or answer_columns.ID in columns:
        # Whoever answers an item repeats its id.
        id_column = item_column(columns)
    language_column = named(_LANGUAGE_NAMES, lambda v: bool(v) and all(is_language_tag(str(tag).strip()) for tag in v))
    used = answers.columns if answers is not None else frozenset()
    free_of_answers = {name: column for name, column in by_name.items() if column not in used}
    gold = _guess_gold(columns, free_of_answers, values, label_fields)
    taken = {id_column, language_column, *(entry.column for entry in gold), *used}
    looks_gold = {column for column in columns if folded(column) in _GOLD_NAMES}
    group_column = join_column or named(_GROUP_NAMES)
    strata = tuple(c for c in columns if folded(c) in _STRATA_NAMES and c not in taken and _are_scalars(values[c]))
    free = [c for c in columns if c not in taken | looks_gold and c not in strata and c != group_column]
    shown = [c for c in free if folded(c) in _CONTENT_NAMES]
    if answers is not None or answer_columns.ID in columns:
        free = [column for column in data_columns(columns) if column in free]
    if told := {name for names in values.get(answer_columns.SHOWN, []) for name in names}:
        shown = [column for column in columns if column in told]
    elif not shown and (answers is None or free):
        texts = [c for c in free if any(isinstance(value, str) for value in values[c])]
        shown = sorted(texts, key=lambda c: _mean_length(values[c]), reverse=True)[:1]
    return Mapping(
        content=tuple(ContentColumn(column, column, _guess_kind(values[column])) for column in shown),
        id_column=id_column,
        language_column=language_column,
        gold=tuple(gold),
        strata=strata,
        group_column=group_column,
        answers=answers,
        # The column by which that set is known; elsewhere a backslash is a backslash until somebody says otherwise.
        escapes="targetValue" in columns,
    )


def guess_values(labels: Sequence[str], options: Sequence[LabelOption]) -> dict[str, str]:
    """Which option each label of the file means; labels without a plain counterpart are left out."""
    found: dict[str, str] = {}
    for label in labels:
        name = folded(label)
        group = next((group for group in _SYNONYMS if name in group), {name})
        for names in ({name}, group):
            matches = [o.value for o in options if {folded(o.value), folded(o.caption)} & names]
            if len(matches) == 1:
                found[label] = matches[0]
                break
    return found


def _guess_gold(
    columns: Sequence[str],
    by_name: dict[str, str],
    values: dict[str, list[Any]],
    label_fields: Sequence[LabelField],
) -> list[GoldColumn]:
    gold: list[GoldColumn] = []
    taken: set[str] = set()
    for field in label_fields:
        names = [n for n in (folded(field.name), f"gold_{folded(field.name)}", *_GOLD_NAMES) if n in by_name]
        for column in dict.fromkeys(by_name[name] for name in names):
            if column in taken:
                continue
            texts = _gold_texts(values[column])
            mapped = guess_values(texts, field.options) if field.type == "choice" else {}
            if field.type == "choice" and not mapped:
                continue
            # The labels that were not recognised are kept with no value, so that the page asks for one.
            full = {text: mapped.get(text, "") for text in texts} if mapped else {}
            separator = "" if field.type == "choice" or not _are_lists_in_text(values[column]) else "|"
            gold.append(GoldColumn(field.name, column, full, separator))
            taken.add(column)
            break
    return gold


def _values_by_column(columns: Sequence[str], sample: Sequence[Record]) -> dict[str, list[Any]]:
    """What the records hold in each column, without nothing. One walk: a file may have as many columns as it likes."""
    values: dict[str, list[Any]] = {column: [] for column in columns}
    for record in sample:
        for name, value in record.values:
            if name in values and value not in (None, ""):
                values[name].append(value)
    return values


def _gold_texts(values: Sequence[Any]) -> list[str]:
    flat = (element for value in values for element in (value if isinstance(value, list) else [value]))
    return list(dict.fromkeys(blocks.plain_text(value).strip() for value in flat))


def _are_scalars(values: Sequence[Any]) -> bool:
    return bool(values) and not any(isinstance(value, list | dict) for value in values)


def _are_ids(values: Sequence[Any], n_records: int) -> bool:
    return _are_scalars(values) and len({blocks.plain_text(value) for value in values}) == n_records


def _are_in_most_records(values: Sequence[Any], n_records: int) -> bool:
    return _are_scalars(values) and 2 * len(values) > n_records


def _are_lists_in_text(values: Sequence[Any]) -> bool:
    """Whether some cells hold several answers in the way `a|b` (and not ` a | b `, which prose and tables have)."""
    texts = [value for value in values if isinstance(value, str)]
    return any("|" in text for text in texts) and not any(" | " in text for text in texts)


def _mean_length(values: Sequence[Any]) -> float:
    return sum(len(value) for value in values if isinstance(value, str)) / max(1, len(values))


def _guess_kind(values: Sequence[Any]) -> str:
    if any(blocks.block_type(value) is not None for value in values):
        return "plain"
    if values and all(isinstance(value, dict) for value in values):
        return "table"
    if values and all(isinstance(value, list) and value for value in values):
        inner = [element for value in values for element in value]
        if all(isinstance(element, dict) for element in inner) or all(isinstance(element, list) for element in inner):
            return "grid"
    # Lines that begin with white space: an indent, which flowing text would fold away.
    if any(isinstance(value, str) and ("\n  " in value or "\n\t" in value or "\n }" in value) for value in values):
        return "mono"
    return "plain"
