"""Import a file of items or answers from the command line: the same service as the page, the same report."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotate.exceptions import ImportRefused
from annotate.models import Person, Project, Stage
from annotate.services import importing
from annotate.sources.answered import AnswerColumn, Answers
from annotate.sources.decoding import ENCODINGS
from annotate.sources.delimited import DELIMITERS
from annotate.sources.detect import FORMATS, Detected, detect, detect_sheet
from annotate.sources.errors import SourceError
from annotate.sources.mapping import KINDS, ContentColumn, GoldColumn, Mapping
from annotate.sources.sql_tables import Query

MAP_HELP = """What a column means; repeat it. id=COLUMN, language=COLUMN, group=COLUMN, stratum=COLUMN, show=COLUMN or
show:NAME=COLUMN (shown to people, under the name), table:NAME=COLUMN, grid:NAME=COLUMN, mono:NAME=COLUMN (shown as
such), gold:FIELD=COLUMN, value:FIELD:LABEL=VALUE (what a label of the file stands for). Of answers: answer:FIELD=COLUMN
(answer:FIELD:text=COLUMN or long_text for free answers), annotator=COLUMN, time=COLUMN, seconds=COLUMN, skip=COLUMN,
ground_truth=COLUMN. The rest is guessed."""
DELIMITER_NAMES: dict[str, str] = {name: character for character, name in DELIMITERS.items()}

# Of answers: which columns say who, when, how long and whether, as --map names them.
ABOUT = ("annotator", "time", "seconds", "skip", "ground_truth")


class Command(BaseCommand):
    help = "Import items, or people's answers, from a file: all of it or nothing. Exit code 1 with the problems."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="the project's short address")
        parser.add_argument("file", type=Path)
        parser.add_argument("--stage", help="put the items into this stage (its short address)")
        parser.add_argument("--tables", type=Path, help="a second file, or a ZIP, with the tables of the records")
        parser.add_argument("--join", metavar="COLUMN", help="the column that names each record's table")
        parser.add_argument(
            "--sql", metavar="COLUMN", help="the tables are a database, and queries stand in this column"
        )
        parser.add_argument("--database", metavar="COLUMN", help="the column that names each query's database")
        parser.add_argument("--years", action="store_true", help="dates in what a query gives become years")
        meaning = parser.add_mutually_exclusive_group()
        meaning.add_argument("--map", action="append", default=[], metavar="MEANING=COLUMN", help=MAP_HELP)
        meaning.add_argument("--mapping", type=Path, help="a JSON file with the whole mapping, as --dry-run prints it")
        parser.add_argument("--format", choices=FORMATS, help="instead of the one detected")
        parser.add_argument("--encoding", choices=ENCODINGS, help="instead of the one detected")
        parser.add_argument("--delimiter", choices=DELIMITER_NAMES, help="instead of the one detected")
        parser.add_argument("--no-header", action="store_true", help="the first row is data, not names of columns")
        parser.add_argument("--sheet", help="of a workbook; without it the first that is shown")
        parser.add_argument("--unfold", action="store_true", help="nested fields become columns of their own")
        parser.add_argument(
            "--escapes", action="store_true", help=r"in cells \n is a line end, \p a vertical bar and \\ a backslash"
        )
        parser.add_argument("--annotator", metavar="NAME", help="who gave all answers, where no column says so")
        parser.add_argument("--repeats", choices=importing.REPEATS, default="times", help=_repeats_help())
        parser.add_argument(
            "--ground-truth-as-gold", action="store_true", help="answers that are marked as right become gold labels"
        )
        parser.add_argument("--new-stage", metavar="TITLE", default="", help="of the stage made for answers")
        parser.add_argument("--new-revisions", action="store_true", help="known items become what the file says now")
        parser.add_argument("--dry-run", action="store_true", help="check and report everything, keep nothing")
        parser.add_argument("--by", metavar="NAME", help="the admin in whose name this is done")

    def handle(self, **asked: Any) -> None:
        project = _found(Project.objects.filter(slug=asked["project"]), f"project {asked['project']}")
        stage = None
        if asked["stage"]:
            stage = _found(Stage.objects.filter(project=project, slug=asked["stage"]), f"stage {asked['stage']}")
        by = _found(Person.objects.filter(username=asked["by"]), f"person {asked['by']}") if asked["by"] else None
        for path in filter(None, (asked["file"], asked["tables"], asked["mapping"])):
            if not path.is_file():
                raise CommandError(f"There is no file {path}.")
        if asked["join"] and not asked["tables"]:
            raise CommandError("--join needs --tables.")
        if (asked["sql"] or asked["database"] or asked["years"]) and not (asked["tables"] and asked["sql"]):
            raise CommandError("--database and --years need --sql, and --sql needs --tables.")
        query = Query(asked["sql"], asked["database"] or "", asked["years"]) if asked["sql"] else None
        used: list[Mapping] = []

        def meant(guess: Mapping) -> Mapping:
            said = _read_mapping(asked["mapping"]) if asked["mapping"] else changed(guess, asked["map"])
            said = replace(said, escapes=said.escapes or asked["escapes"])
            used.append(_answered_by(said, asked["annotator"]))
            return used[0]

        try:
            job = importing.import_file(
                project=project,
                by=by,
                file=asked["file"],
                stage=stage,
                tables=asked["tables"],
                join_column=asked["join"],
                source=_source(asked),
                query=query,
                mapping=meant,
                new_revisions=asked["new_revisions"],
                repeats=asked["repeats"],
                ground_truth_as_gold=asked["ground_truth_as_gold"],
                stage_title=asked["new_stage"],
                dry_run=asked["dry_run"],
            )
        except ImportRefused as refused:
            for problem in refused.problems:
                self.stderr.write(str(problem["message"]))
            raise CommandError(str(refused)) from refused
        if asked["dry_run"]:
            self.stdout.write(f"{json.dumps(used[0].to_json(), ensure_ascii=False, indent=2)}\nNothing was kept.")
        for line in report_lines(job.report):
            self.stdout.write(line)


def changed(guess: Mapping, arguments: Sequence[str]) -> Mapping:
    """The guess with what was said by --map instead; raises CommandError for what cannot be understood."""
    content: list[ContentColumn] = []
    strata: list[str] = []
    gold = {entry.field: entry for entry in guess.gold}
    answered = {entry.field: entry for entry in guess.answers.fields} if guess.answers else {}
    about: dict[str, str] = {}
    values: list[tuple[str, str, str]] = []
    for argument in arguments:
        meaning, equals, column = argument.partition("=")
        what, _, name = meaning.partition(":")
        if not equals or not column:
            raise CommandError(f"--map {argument}: write it as MEANING=COLUMN.")
        if what in ("id", "language", "group") and not name:
            guess = Mapping.from_json(guess.to_json() | {f"{what}_column": column})
        elif what == "stratum" and not name:
            strata.append(column)
        elif what == "show" or (what in KINDS and what != "plain"):
            content.append(ContentColumn(column, name or column, "plain" if what == "show" else what))
        elif what == "gold" and name:
            guessed = gold.get(name)
            gold[name] = guessed if guessed and guessed.column == column else GoldColumn(name, column)
        elif what == "answer" and name:
            field, _, kind = name.partition(":")
            known = answered.get(field)
            values_of = known.values if known and known.column == column else {}
            answered[field] = AnswerColumn(field, column, kind or (known.type if known else "choice"), values_of)
        elif what in ABOUT and not name:
            about[f"{what}_column"] = column
        elif what == "value" and ":" in name:
            field, _, label = name.partition(":")
            values.append((field, label, column))
        else:
            raise CommandError(f"--map {argument}: “{meaning}” is no meaning of a column.")
    for field, label, value in values:
        entries: Any = gold if field in gold else answered
        if field not in entries:
            raise CommandError(
                f"--map value:{field}:{label}: say with gold:{field}=COLUMN, or answer:{field}=COLUMN, where its "
                "labels stand."
            )
        entries[field] = replace(entries[field], values={**entries[field].values, label: value})
    answers = guess.answers
    if about or any(argument.startswith("answer:") for argument in arguments):
        # Gold that was only guessed is no gold where the column holds what people answered.
        columns = {entry.column for entry in answered.values()}
        gold = {field: entry for field, entry in gold.items() if entry.column not in columns}
        answers = replace(answers or Answers(()), fields=tuple(answered.values()), **about)
    elif answers is not None:
        answers = replace(answers, fields=tuple(answered.values()))
    return replace(
        guess,
        answers=answers,
        # Who says that these are answers says also what is shown: a guess took the records for items.
        content=tuple(content) or (guess.content if answers is None or guess.answers else ()),
        strata=tuple(strata) or guess.strata,
        gold=tuple(gold.values()),
    )


def _answered_by(mapping: Mapping, annotator: str | None) -> Mapping:
    if annotator is None:
        return mapping
    if mapping.answers is None:
        raise CommandError("--annotator needs answers: say with --map answer:FIELD=COLUMN where they stand.")
    return replace(mapping, answers=replace(mapping.answers, annotator=annotator))


def _repeats_help() -> str:
    listed = "; ".join(f"{name}: {words}" for name, words in importing.REPEATS.items())
    return f"several answers of one person to one item: {listed}"


def report_lines(report: dict[str, Any]) -> list[str]:
    """An import's report in words, one fact a line."""
    lines = [
        f"{report['file']}: read as {report['encoding']} ({report['encoding_note'] or 'as you said'})",
        f"{report['imported']:,} items imported, {report['unchanged']:,} unchanged, "
        f"{report['new_revisions']:,} new revisions, {report['left_out']:,} repeated rows left out",
    ]
    if answers := report.get("answers"):
        lines.append(
            f"{answers['answers']:,} answers of {answers['people']:,} people in the stage {answers['stage']}, "
            f"{answers['known']:,} known already, {answers['revised']:,} earlier versions, {answers['skips']:,} skips"
        )
    if report["groups"]:
        lines.append(f"{report['groups']:,} groups of items that are resampled together")
    if report["gold"]:
        lines.append(f"{report['gold']:,} gold labels stored")
    if report["stage_items"]:
        lines.append(f"{report['stage_items']:,} items added to the stage")
    for name, words in (
        ("content_duplicates", "rows with the content of an earlier row"),
        ("content_known", "new items whose content the project has under another id"),
        ("conflicting_gold", "conflicts of gold: same content, another label"),
    ):
        found = report[name]
        if found["n"]:
            lines.append(f"{found['n']:,} {words}:")
            lines += [f"  {place_of(row)}" for row in found["first"]]
    return lines + [f"Note: {warning}" for warning in report["warnings"]]


def place_of(row: dict[str, Any]) -> str:
    text = f"line {row['line']:,}, {row['external_id']}: "
    text += f"line {row['other_line']:,}, {row['other_id']}" if row.get("other_line") else f"item {row['other_id']}"
    if "answers" in row:
        text += f" ({row['field']}: {' or '.join(row['answers'])}, there {' or '.join(row['other_answers'])})"
    return text


def _source(asked: dict[str, Any]) -> Detected | None:
    """How to read the file where somebody says so; the rest as detected."""
    said = {
        "format": asked["format"],
        "encoding": asked["encoding"],
        "delimiter": DELIMITER_NAMES.get(asked["delimiter"] or ""),
        "has_header": False if asked["no_header"] else None,
    }
    said = {name: value for name, value in said.items() if value is not None}
    if asked["unfold"]:
        said["unfold"] = True
    if not said and not asked["sheet"]:
        return None
    with asked["file"].open("rb") as file:
        try:
            detected = detect_sheet(file, asked["sheet"]) if asked["sheet"] else detect(file, asked["file"].name)
        except SourceError as fault:
            raise CommandError(fault.message) from fault
    if "encoding" in said and said["encoding"] != detected.encoding:
        said["encoding_note"] = ""
    return replace(detected, **said)


def _read_mapping(path: Path) -> Mapping:
    try:
        return Mapping.from_json(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, KeyError, TypeError, AttributeError) as fault:
        raise CommandError(f"{path} is no mapping as --dry-run prints it: {fault}") from fault


def _found(rows: Any, called: str) -> Any:
    row = rows.first()
    if row is None:
        raise CommandError(f"There is no {called}.")
    return row
