"""Which column means what, and a record read with it: external id, content, gold, strata, the rest."""

import dataclasses
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Mapping as Dictionary
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from annotate.languages import is_language_tag
from annotate.sources import answer_columns, blocks
from annotate.sources.answered import NEW_TYPES, AnswerDraft, Answers, read_answer
from annotate.sources.errors import MappingError, SourceError, shortened
from annotate.sources.records import Record
from annotate.sources.strict_json import FloatLiteral, RefusedValue, decode_json, in_words
from annotate.wording import _

MAX_ID_CHARS = 200
MAX_NESTED_DEPTH = 64
KINDS = {
    "plain": _("as it is"),
    "table": _("information table (headings with keys and values)"),
    "grid": _("table with columns"),
    "mono": _("monospaced text (code, trees, layout)"),
}

_ESCAPES = {r"\n": "\n", r"\p": "|", r"\\": "\\"}
_ESCAPED = re.compile(r"\\[np\\]")
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class ContentColumn:
    """A column that people and models are shown, under `key`; kind is a key of KINDS."""

    column: str
    key: str
    kind: str = "plain"


@dataclass(frozen=True, slots=True)
class GoldColumn:
    """The gold label of an answer field.

    values maps what the file says to the field's value (SUPPORTS -> yes); if there are any, a text without one is
    refused, since a gold label nobody mapped would count every answer as wrong. separator splits one cell into several
    acceptable answers; a JSON list is several in any case.
    """

    field: str
    column: str
    values: Dictionary[str, str] = dataclasses.field(default_factory=dict)
    separator: str = ""


@dataclass(frozen=True)
class Mapping:
    """What each column means. A column may have several meanings; those with none go to ItemDraft.extra.

    id_column None: the content's hash becomes the id. group_column: items with the same value there belong together
    (questions about one table) and are resampled together. language is that of items whose language column is empty.
    answers: records are answers of people too, several to an item; then content may be empty, and the items are those
    that the project has under these ids. escapes: in cells \\n is a line end, \\p a vertical bar and \\\\ a backslash
    (WikiTableQuestions writes them so); several gold labels are told apart before.
    """

    content: tuple[ContentColumn, ...]
    id_column: str | None = None
    language_column: str | None = None
    language: str = ""
    gold: tuple[GoldColumn, ...] = ()
    strata: tuple[str, ...] = ()
    group_column: str | None = None
    answers: Answers | None = None
    escapes: bool = False

    def to_json(self) -> dict[str, Any]:
        return {
            "id_column": self.id_column,
            "content": [{"column": c.column, "key": c.key, "kind": c.kind} for c in self.content],
            "language_column": self.language_column,
            "language": self.language,
            "gold": [
                {"field": g.field, "column": g.column, "values": dict(g.values), "separator": g.separator}
                for g in self.gold
            ],
            "strata": list(self.strata),
            "group_column": self.group_column,
            "answers": self.answers.to_json() if self.answers else None,
            "escapes": self.escapes,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Mapping":
        return cls(
            content=tuple(ContentColumn(**entry) for entry in data["content"]),
            id_column=data.get("id_column"),
            language_column=data.get("language_column"),
            language=data.get("language", ""),
            gold=tuple(GoldColumn(**entry) for entry in data.get("gold", [])),
            strata=tuple(data.get("strata", [])),
            group_column=data.get("group_column"),
            answers=Answers.from_json(data["answers"]) if data.get("answers") else None,
            escapes=bool(data.get("escapes")),
        )

    def check(self, columns: Iterable[str]) -> None:
        """Raise MappingError if the mapping cannot be used with records of these columns."""
        known = set(columns)
        for column in self.used_columns:
            if column not in known:
                raise MappingError(_("there is no such column in the file; choose another one."), field=column)
        if self.answers is not None:
            self._check_answers(self.answers)
        elif not self.content:
            raise MappingError(_("No column is shown to people; choose at least one for the content."))
        _refuse_repeated([entry.key for entry in self.content], "two columns are shown under the same name")
        _refuse_repeated([entry.field for entry in self.gold], "two columns give the gold of the same field")
        for entry in self.content:
            if not entry.key:
                raise MappingError(_("give the column the name it is shown under."), field=entry.column)
            if entry.kind not in KINDS:
                raise MappingError(
                    _("“%(shortened)s” is no way to show a column.", shortened=shortened(entry.kind)),
                    field=entry.column,
                )
        if self.language and not is_language_tag(self.language):
            raise MappingError(
                _("“%(shortened)s” is not a language tag such as en or zh-Hant.", shortened=shortened(self.language))
            )

    def _check_answers(self, answers: Answers) -> None:
        if not answers.fields:
            raise MappingError(_("People are named, and no column holds what they answered; choose one."))
        if answers.annotator_column is None and not answers.annotator:
            raise MappingError(
                _("Answers need somebody who gave them: choose the column that names people, or a name.")
            )
        if not self.content and self.id_column is None:
            raise MappingError(_("Answers need their items: choose the column of ids, or one that is shown to people."))
        _refuse_repeated([entry.field for entry in answers.fields], "two columns hold the answers to the same field")
        for entry in answers.fields:
            if entry.type not in NEW_TYPES:
                raise MappingError(
                    _("“%(shortened)s” is no type of a field.", shortened=shortened(entry.type)), field=entry.column
                )

    @cached_property
    def used_columns(self) -> frozenset[str]:
        """Columns with a meaning; a column that only joins a table is one of them by being the group."""
        columns = {entry.column for entry in self.content} | {entry.column for entry in self.gold} | set(self.strata)
        columns |= {self.id_column or "", self.language_column or "", self.group_column or ""}
        if self.answers is not None:
            columns |= self.answers.columns
        return frozenset(columns - {""})


@dataclass(frozen=True, slots=True)
class ItemDraft:
    """An item as it would be stored.

    content, strata and extra are [key, value] pairs: their order survives jsonb, and a column called id or label is a
    pair like any other and overwrites nothing. gold: field -> acceptable answers. group: what it is resampled with.
    answer: what somebody answered. Without content the item is one that the project has.
    """

    external_id: str
    content: list[list[Any]]
    language: str
    gold: dict[str, list[str]]
    strata: list[list[str]]
    extra: list[list[Any]]
    group: str | None
    content_hash: str
    number: int
    line: int
    answer: AnswerDraft | None = None


def apply(mapping: Mapping, record: Record) -> ItemDraft:
    """Read one record. Raises SourceError with line, row and field for a value that cannot mean what the mapping says.

    A JSON record may lack a column: then it has no such content, stratum or gold. Id and some content it must have.
    """
    values = dict(record.values)
    for column, problem in record.faults.items():
        if column in mapping.used_columns:
            raise _refused(record, column, problem)
    content: list[list[Any]] = []
    for entry in mapping.content:
        if entry.column in values:
            value = values[entry.column]
            # Most content is text, and 200,000 items are read: the plain case skips the calls.
            if mapping.escapes and isinstance(value, str):
                value = _unescaped(value)
            if entry.kind != "plain" or not isinstance(value, str):
                value = _content_value(value, entry, record)
            content.append([entry.key, value])
    if mapping.content and not any(value not in ("", None) for _, value in content):
        raise _refused(
            record, mapping.content[0].column, _("there is nothing to show; fill it in or remove the record.")
        )
    content_hash = hash_content(content)
    if mapping.id_column is None:
        external_id = content_hash
    else:
        external_id = _external_id(values.get(mapping.id_column), mapping.id_column, record)
    group = None
    if mapping.group_column is not None:
        group = _scalar_text(values.get(mapping.group_column), mapping.group_column, record) or None
    used = mapping.used_columns
    return ItemDraft(
        external_id=external_id,
        content=content,
        language=_language(mapping, values, record) if mapping.language_column is not None else mapping.language,
        gold={
            entry.field: answers
            for entry in mapping.gold
            if (answers := _gold(values.get(entry.column), entry, record, escapes=mapping.escapes))
        },
        strata=[
            [column, text]
            for column in mapping.strata
            for value in _listed(values.get(column))
            if (text := _scalar_text(value, column, record))
        ],
        extra=[
            [column, stored_value(value)]
            for column, value in record.values
            if column not in used and column not in answer_columns.COUNTED
        ]
        if mapping.answers is None
        else _beside_answers(record, used),
        group=group,
        content_hash=content_hash,
        number=record.number,
        line=record.line,
        answer=read_answer(mapping.answers, values, record) if mapping.answers is not None else None,
    )


def _beside_answers(record: Record, used: frozenset[str]) -> list[list[Any]]:
    """What is kept aside of an item that people answered: the data of its task, and nothing that belongs to an answer.

    Only exports of some tools tell the two apart.
    """
    if all(column != answer_columns.ID for column, _ in record.values):
        return []
    return [
        [column, stored_value(value)]
        for column, value in record.values
        if column not in used and answer_columns.is_of_item(column)
    ]


def canonical_json(value: Any) -> str:
    """One text for one value: the order of pairs counts, that of an object's keys does not.

    Whole floats are written as integers: jsonb returns 1e16 as one, and the hash must not depend on the database.
    """
    return _ENCODER.encode(_without_whole_floats(value))


def hash_content(content: Sequence[Sequence[Any]]) -> str:
    """SHA-256 (hex) of the content alone: not of its language, id, gold or strata."""
    return hashlib.sha256(canonical_json(content).encode()).hexdigest()


def stored_value(value: Any) -> Any:
    """A value of a record as JSON: a fraction that a float cannot hold exactly becomes the text that was written."""
    if isinstance(value, FloatLiteral):
        return float(value) if value.is_exact() else value.literal
    if isinstance(value, list):
        return [stored_value(element) for element in value]
    if isinstance(value, dict):
        return {key: stored_value(element) for key, element in value.items()}
    return value


def _without_whole_floats(value: Any) -> Any:
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list | tuple):
        return [_without_whole_floats(element) for element in value]
    if isinstance(value, dict):
        return {key: _without_whole_floats(element) for key, element in value.items()}
    return value


def _content_value(value: Any, entry: ContentColumn, record: Record) -> Any:
    if entry.kind == "plain" or value is None or value == "" or blocks.block_type(value) is not None:
        return stored_value(value)
    if entry.kind == "mono":
        return blocks.mono(blocks.plain_text(value))
    if isinstance(value, str):
        value = _json_in_cell(value, entry, record)
    make: Callable[[Any], blocks.Block] = blocks.infobox if entry.kind == "table" else blocks.grid
    try:
        return make(value)
    except ValueError as fault:
        problem = _("%(fault)s; correct the value, or show the column in another way.", fault=str(fault))
        raise _refused(record, entry.column, problem) from fault


def _json_in_cell(text: str, entry: ContentColumn, record: Record) -> Any:
    """The nested value that a CSV cell holds as JSON."""
    text = text.strip()
    try:
        value, end = decode_json(text, 0, max_depth=MAX_NESTED_DEPTH, allow_control_characters=True)
    except json.JSONDecodeError as fault:
        problem = _(
            "a table in a cell must be JSON, and this is not (%(msg)s at its character %(pos)s).",
            msg=in_words(fault.msg),
            pos=f"{fault.pos + 1:,}",
        )
        raise _refused(record, entry.column, problem) from fault
    except RefusedValue as fault:
        raise _refused(record, entry.column, fault.problem) from fault
    if end != len(text):
        raise _refused(
            record,
            entry.column,
            _("something follows the JSON value at character %(end)s of the cell.", end=f"{end + 1:,}"),
        )
    return value


def _external_id(value: Any, column: str, record: Record) -> str:
    text = value if isinstance(value, str) else _scalar_text(value, column, record)
    if not text or text.isspace():
        raise _refused(record, column, _("the id is empty; give every record one, or choose no id column."))
    if len(text) > MAX_ID_CHARS:
        raise _refused(
            record,
            column,
            _("the id has more than %(max_id_chars)s characters; choose another id column.", max_id_chars=MAX_ID_CHARS),
        )
    if not text.isprintable():
        raise _refused(record, column, _("the id has a line break or an invisible character; remove it."))
    return text


def _scalar_text(value: Any, column: str, record: Record) -> str:
    """A value used as a name: text as it is, a number as it was written, null as nothing."""
    if isinstance(value, str):
        return value
    if isinstance(value, list | dict):
        raise _refused(record, column, _("a list or an object stands where one text or number is needed."))
    return blocks.plain_text(value)


def _listed(value: Any) -> list[Any]:
    """An item of several strata of one name, such as its operations, has them in a list."""
    return value if isinstance(value, list) else [value]


def _language(mapping: Mapping, values: dict[str, Any], record: Record) -> str:
    column = mapping.language_column or ""
    tag = _scalar_text(values.get(column), column, record).strip()
    if tag and not is_language_tag(tag):
        problem = _("“%(tag)s” is not a language tag such as en or zh-Hant.", tag=shortened(tag))
        raise _refused(record, column, problem)
    return tag or mapping.language


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda match: _ESCAPES[match[0]], text) if "\\" in text else text


def _gold(value: Any, entry: GoldColumn, record: Record, *, escapes: bool) -> list[str]:
    """The acceptable answers in file order without repeats; empty if the record has no gold."""
    texts = [_scalar_text(v, entry.column, record) for v in (value if isinstance(value, list) else [value])]
    if entry.separator:
        texts = [part for text in texts for part in text.split(entry.separator)]
    if escapes:
        texts = [_unescaped(text) for text in texts]
    texts = [text.strip() for text in texts]
    answers = [_mapped(text, entry, record) for text in texts if text]
    return list(dict.fromkeys(answers))


def _mapped(text: str, entry: GoldColumn, record: Record) -> str:
    if not entry.values:
        return text
    answer = entry.values.get(text)
    if not answer:
        problem = _(
            "no value of the field “%(field)s” was chosen for the gold label “%(text)s”; choose one in the mapping.",
            field=shortened(entry.field),
            text=shortened(text),
        )
        raise _refused(record, entry.column, problem)
    return answer


def _refused(record: Record, column: str, problem: str) -> SourceError:
    return SourceError(problem, line=record.line, row=record.number, field=column)


def _refuse_repeated(names: Sequence[str], problem: str) -> None:
    for name in names:
        if names.count(name) > 1:
            raise MappingError(_("%(problem)s; change one of them.", problem=problem), field=name)
