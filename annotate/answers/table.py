"""A table: rows of cells under columns that the item, or the field, names."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from annotate.answers.characters import number_as_text, one_string, storable_string
from annotate.answers.columns import MAX_COLUMNS, repeated_name
from annotate.answers.equivalence import is_blank
from annotate.answers.errors import AnswerInvalid
from annotate.answers.fields import FieldSpec, FieldType, JsonValue, RawData, field_type
from annotate.answers.meaning import member_key
from annotate.answers.table_text import TableTextError, header_key, rows_of_text, text_of_rows
from annotate.wording import _, ngettext

MAX_ROWS = 2_000
MAX_CELLS = 20_000
_MAX_CELL_LENGTH = 2_000
# A longer key is stored as its hash: it stands in every count of votes.
_MAX_KEY_LENGTH = 1_000
_NULLS = frozenset({"", "null", "none", "n/a", "nan"})


class Cells(NamedTuple):
    """A table as values: the names of its columns, and rows of as many texts, None for what is not there."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]

    def to_json(self) -> dict[str, JsonValue]:
        return {"columns": list(self.columns), "rows": [list(row) for row in self.rows]}


@field_type("table")
class Table(FieldType):
    """The value is {"columns": [...], "rows": [[...], ...]}: columns in the declared order, every cell a text or null.

    Numbers from a model's JSON become texts of plain digits, so a scorer cannot tell who wrote a table. Without rows
    it is a valid answer: nothing fits. Its key knows neither the order of columns nor, unless the field is ordered,
    that of rows; a row that occurs twice counts twice.
    """

    settings = frozenset({"columns", "columns_from", "ordered", "min", "max"})

    def read(self, data: RawData, spec: FieldSpec) -> JsonValue:
        raw = data.get(spec.name)
        if isinstance(raw, Mapping) or (isinstance(raw, list | tuple) and any(not isinstance(r, str) for r in raw)):
            return _cells(raw, spec).to_json()
        text = one_string(data, spec)
        if text is None or is_blank(text):
            return None
        text = text.replace("\r\n", "\n")  # a form sends line breaks so, also those inside a cell
        try:
            return _cells(text, spec).to_json()
        except AnswerInvalid:
            return text  # half-typed: a draft keeps it, and `validate` says what is wrong

    def validate(self, value: object, spec: FieldSpec) -> dict[str, JsonValue]:
        if value is None or (isinstance(value, str) and is_blank(value)):
            raise AnswerInvalid(spec.name, _("Write the table. If nothing fits, write the line of column names alone."))
        cells = in_declared_order(_cells(value, spec), spec)
        if spec.minimum is not None and len(cells.rows) < spec.minimum:
            raise AnswerInvalid(
                spec.name,
                _(
                    "Write at least %(minimum)s rows; these are %(n_rows)s.",
                    minimum=spec.minimum,
                    n_rows=len(cells.rows),
                ),
            )
        if spec.maximum is not None and len(cells.rows) > spec.maximum:
            raise AnswerInvalid(
                spec.name,
                _(
                    "Write at most %(maximum)s rows; these are %(n_rows)s.",
                    maximum=spec.maximum,
                    n_rows=len(cells.rows),
                ),
            )
        return cells.to_json()

    def canonical_key(self, value: object, spec: FieldSpec) -> str:
        cells = _cells(value, spec)
        order = sorted(range(len(cells.columns)), key=lambda at: header_key(cells.columns[at]))
        rows = [[_cell_key(row[at]) for at in order] for row in cells.rows]
        if not spec.is_ordered:
            rows.sort()
        key = json.dumps([[header_key(cells.columns[at]) for at in order], rows], ensure_ascii=False)
        return key if len(key) <= _MAX_KEY_LENGTH else f"sha256:{hashlib.sha256(key.encode()).hexdigest()}"

    def json_schema(self, spec: FieldSpec) -> dict[str, JsonValue]:
        cell: JsonValue = {"type": ["string", "null"], "maxLength": _MAX_CELL_LENGTH}
        columns: dict[str, JsonValue] = {"type": "array", "items": {"type": "string"}, "minItems": 1}
        if spec.columns:
            columns = {"const": list(spec.columns)}
        rows: JsonValue = {
            "type": "array",
            "items": {"type": "array", "items": cell},
            "minItems": spec.minimum or 0,
            "maxItems": MAX_ROWS if spec.maximum is None else spec.maximum,
        }
        return {
            "type": "object",
            "properties": {"columns": columns, "rows": rows},
            "required": ["columns", "rows"],
            "additionalProperties": False,
        }

    def to_form(self, value: JsonValue, spec: FieldSpec) -> JsonValue:
        """Lines with tabs between cells. Nothing for a new answer: column names alone would be a table without rows."""
        if not isinstance(value, Mapping):
            return value
        cells = _cells(value, spec)
        return text_of_rows(cells.columns, cells.rows)

    def in_words(self, value: JsonValue, spec: FieldSpec) -> str:
        if not isinstance(value, dict):
            return str(value)
        cells = _cells(value, spec)
        rows = "1 row" if len(cells.rows) == 1 else f"{len(cells.rows):,} rows"
        return f"{rows} of {', '.join(cells.columns)}"


def in_declared_order(cells: Cells, spec: FieldSpec) -> Cells:
    """The cells under the declared columns, found by name and never by position; one that is missing has null cells.

    As they are, where no columns are declared. Raises AnswerInvalid for a column that is not declared.
    """
    if not spec.columns:
        return cells
    at = {header_key(column): index for index, column in enumerate(cells.columns)}
    known = {header_key(column) for column in spec.columns}
    if unknown := [column for column in cells.columns if header_key(column) not in known]:
        raise AnswerInvalid(
            spec.name,
            _(
                "There is no column “%(unknown)s” here; the columns are %(columns)s.",
                unknown=unknown[0][:60],
                columns=", ".join(spec.columns),
            ),
        )
    places = [at.get(header_key(column)) for column in spec.columns]
    rows = tuple(tuple(None if place is None else row[place] for place in places) for row in cells.rows)
    return Cells(spec.columns, rows)


def _cells(value: object, spec: FieldSpec) -> Cells:
    """Columns and rows of whatever form: our own, a list of objects, a text."""
    if isinstance(value, str):
        return _from_text(storable_string(value, spec), spec)
    if isinstance(value, Mapping):
        if set(value) != {"columns", "rows"}:
            raise AnswerInvalid(spec.name, _("A table must have columns and rows, and nothing else."))
        columns, rows = value["columns"], value["rows"]
    elif isinstance(value, list | tuple):
        columns, rows = _from_objects(value, spec)
    else:
        raise AnswerInvalid(spec.name, _("This answer must be a table."))
    if not isinstance(columns, list | tuple) or not isinstance(rows, list | tuple):
        raise AnswerInvalid(spec.name, _("The columns and the rows of a table must be lists."))
    return _checked(columns, rows, spec)


def _checked(columns: Sequence[object], rows: Sequence[object], spec: FieldSpec) -> Cells:
    names = tuple(storable_string(name, spec).strip() for name in columns)
    if not names or len(names) > MAX_COLUMNS:
        raise AnswerInvalid(
            spec.name,
            _(
                "A table has 1 to %(max_columns)s columns; this one has %(n_names)s.",
                max_columns=MAX_COLUMNS,
                n_names=len(names),
            ),
        )
    if not all(header_key(name) for name in names):
        raise AnswerInvalid(spec.name, _("A column has no name. Name it in the first line."))
    if repeated := repeated_name(names):
        raise AnswerInvalid(spec.name, _("Two columns are called %(repeated)s.", repeated=repeated))
    if len(rows) > MAX_ROWS or len(rows) * len(names) > MAX_CELLS:
        most = min(MAX_ROWS, MAX_CELLS // len(names))
        raise AnswerInvalid(
            spec.name,
            _(
                "This table has %(n_rows)s rows; with %(n_names)s columns %(most)s are kept.",
                n_rows=f"{len(rows):,}",
                n_names=len(names),
                most=f"{most:,}",
            ),
        )
    kept = []
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, list | tuple):
            raise AnswerInvalid(spec.name, _("Row %(number)s is no list of cells.", number=number))
        if len(row) != len(names):
            raise AnswerInvalid(
                spec.name,
                _(
                    "Row %(number)s has %(cells_in_words)s, and there are %(n_names)s columns.",
                    number=number,
                    cells_in_words=_cells_in_words(len(row)),
                    n_names=len(names),
                ),
            )
        kept.append(tuple(_cell(cell, number, name, spec) for cell, name in zip(row, names, strict=True)))
    return Cells(names, tuple(kept))


def _cell(value: object, number: int, column: str, spec: FieldSpec) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    value = number_as_text(value)
    if isinstance(value, list | dict):
        raise AnswerInvalid(
            spec.name,
            _(
                "Row %(number)s, %(column)s: this is a list or an object; a cell is a text or a number.",
                number=number,
                column=column,
            ),
        )
    try:
        text = storable_string(value, spec).strip()
    except AnswerInvalid as unstorable:
        raise AnswerInvalid(
            spec.name,
            _("Row %(number)s, %(column)s: %(message)s", number=number, column=column, message=unstorable.message),
        ) from None
    if len(text) > _MAX_CELL_LENGTH:
        raise AnswerInvalid(
            spec.name,
            _(
                "Row %(number)s, %(column)s: this cell has %(n_text)s characters; %(max_cell_length)s are kept.",
                number=number,
                column=column,
                n_text=f"{len(text):,}",
                max_cell_length=f"{_MAX_CELL_LENGTH:,}",
            ),
        )
    return None if is_blank(text) else text


def _from_text(text: str, spec: FieldSpec) -> Cells:
    """Lines of cells. The first line names the columns; where they are declared it may be left out."""
    if text.lstrip()[:1] in ("{", "["):
        try:
            return _cells(json.loads(text), spec)
        except (ValueError, RecursionError):
            pass  # a cell may begin with a bracket
    try:
        rows = rows_of_text(text, len(spec.columns) or None)
    except TableTextError as error:
        raise AnswerInvalid(spec.name, str(error)) from error
    if not rows:
        raise AnswerInvalid(spec.name, _("Write the table. If nothing fits, write the line of column names alone."))
    declared = {header_key(column) for column in spec.columns}
    if spec.columns and not {header_key(cell) for cell in rows[0]} <= declared:
        columns, body = list(spec.columns), rows
    else:
        columns, body = rows[0], rows[1:]
    # A spreadsheet leaves out the empty cells at the end of a row.
    padded = [row + [""] * (len(columns) - len(row)) for row in body]
    return _checked(columns, padded, spec)


def _from_objects(entries: Sequence[object], spec: FieldSpec) -> tuple[list[str], list[list[object]]]:
    """[{column: cell}, ...]: the columns in the order in which they come."""
    columns: dict[str, str] = {}
    for number, entry in enumerate(entries, start=1):
        if not isinstance(entry, Mapping):
            raise AnswerInvalid(spec.name, _("Row %(number)s is no object with a cell for each column.", number=number))
        for name in entry:
            columns.setdefault(header_key(str(name)), str(name))
    if not columns:
        columns = {header_key(column): column for column in spec.columns}
    rows = []
    for entry in entries:
        assert isinstance(entry, Mapping)
        found = {header_key(str(name)): cell for name, cell in entry.items()}
        rows.append([found.get(key) for key in columns])
    return list(columns.values()), rows


def _cell_key(cell: str | None) -> str:
    """A cell without a value and one that says so are the same cell."""
    if cell is None or cell.strip().casefold() in _NULLS:
        return ""
    return member_key(cell)


def _cells_in_words(n: int) -> str:
    return ngettext("%(n)s cell", "%(n)s cells", n, n=n)
