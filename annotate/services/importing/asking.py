"""Questions whose second file is a database: which column holds their queries, and what the others mean."""

from __future__ import annotations

from collections.abc import Sequence

from annotate.models import ImportJob
from annotate.services.importing.options import ImportOptions
from annotate.services.importing.problems import refusal
from annotate.services.importing.reading import fit_to_stage, holds_sqlite, label_fields
from annotate.sources.errors import MappingError
from annotate.sources.guessing import guess_mapping
from annotate.sources.mapping import Mapping
from annotate.sources.records import Record
from annotate.sources.sql_tables import Query, asked_mapping, proposed_query
from annotate.wording import _


def query_for(job: ImportJob, options: ImportOptions, columns: Sequence[str], sample: Sequence[Record]) -> Query | None:
    """The query that was asked for, or seen in the file; None if the second file is tables to show, or there is none.

    Raises ImportRefused for a column that is not there, and for an SQLite database that nothing is asked of.
    """
    if job.joined is None or not columns:
        return None
    query = options.query or proposed_query(columns, sample)
    if query is not None and query.column:
        for column in filter(None, (query.column, query.database_column)):
            if column not in columns:
                raise refusal(MappingError(_("there is no such column in the file; choose another one."), field=column))
        return query
    if holds_sqlite(job):
        raise refusal(
            MappingError(_("Nothing is asked of the database: no column holds queries. Name the one that does, sql."))
        )
    return None


def mapping_of_queries(job: ImportJob, query: Query, columns: Sequence[str], sample: Sequence[Record]) -> Mapping:
    specs = label_fields(job.project, job.stage)
    field = next((spec.name for spec in specs if spec.type == "table"), "" if job.stage else "answer")
    guess = guess_mapping(columns, sample, [])
    languages = job.project.languages
    mapping = asked_mapping(guess, query, columns, field)
    if len(languages) == 1:
        mapping = Mapping.from_json(mapping.to_json() | {"language": languages[0]})
    return fit_to_stage(mapping, job.stage)
