"""Why a file cannot be imported: said once, with the place, in words for the person who has the file."""

from annotate.wording import _, placed


class SourceError(Exception):
    """One sentence that says where the fault is, what it is and what to do about it.

    line and column count from 1 in the decoded text (a line ends at LF); row counts records from 1, without header
    and blank lines; field is a column's name or a path such as `evidence[2].text`. What does not apply is None.
    """

    http_status = 422

    def __init__(
        self,
        problem: str,
        *,
        line: int | None = None,
        column: int | None = None,
        row: int | None = None,
        field: str | None = None,
    ) -> None:
        self.problem, self.line, self.column, self.row, self.field = problem, line, column, row, field
        super().__init__(self.message)

    @property
    def message(self) -> str:
        places = []
        if self.line is not None:
            places.append(_("line %(line)s", line=f"{self.line:,}"))
        if self.column is not None:
            places.append(_("column %(column)s", column=f"{self.column:,}"))
        if self.row is not None:
            places.append(_("row %(row)s", row=f"{self.row:,}"))
        if self.field is not None:
            places.append(_("field “%(field)s”", field=shortened(self.field)))
        return placed(places, self.problem)

    def as_problem(self) -> dict[str, object]:
        """As JSON, for a job's report and for the page that lists problems by place; message has the place in it."""
        return {
            "message": self.message,
            "problem": self.problem,
            "line": self.line,
            "column": self.column,
            "row": self.row,
            "field": self.field,
        }


class MappingError(SourceError):
    """The mapping itself is wrong, whatever the records hold: an unknown column, a key used twice."""


def shortened(text: str, limit: int = 60) -> str:
    """Text for a message: control characters made visible, the end cut, so that no file can flood a page or a log."""
    visible = "".join(character if character.isprintable() else "�" for character in text[: limit + 1])
    return visible if len(text) <= limit else visible[:limit] + "…"
