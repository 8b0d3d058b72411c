"""People in two tables, separated by a blank line, which share their first column."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from annotate.sources.structext.chance import Chance
from annotate.sources.structext.names import names
from annotate.sources.structext.problem import Problem, Size, Task
from annotate.sources.structext.trees import n_nodes

KEY = "primeKey"
ABOUT_PEOPLE = ("gender", "age", "name", "height", "weight", "color")
ABOUT_WORK = ("status", "salary", "company", "location")
GENDERS = ("male", "female")
COLORS = ("red", "green", "blue", "yellow", "black", "white")
STATUSES = ("employed", "unemployed", "retired")
COMPANIES = ("Acme", "Borealis", "Cobalt", "Delta", "Ember", "Fjord", "Granite")
LOCATIONS = ("CA", "WA", "TX", "NY", "GA", "HI", "IL")

Row = dict[str, str]


@dataclass(frozen=True, slots=True)
class People:
    """Rows by column, in the order of both tables."""

    rows: list[Row]


def make_people(size: Size, chance: Chance) -> People:
    """As many people as the other languages have nodes; as published, as many as the tree is deep."""
    n = size.depth if size.is_published else n_nodes(size.depth, size.width)
    called = names(chance.below(26))
    return People([_person(key, next(called), chance) for key in islice(names(), n)])


def _person(key: str, name: str, chance: Chance) -> Row:
    return {
        KEY: key,
        "gender": chance.pick(GENDERS),
        "age": str(chance.between(10, 70)),
        "name": name,
        "height": str(chance.between(120, 220)),
        "weight": str(chance.between(70, 180)),
        "color": chance.pick(COLORS),
        "status": chance.pick(STATUSES),
        "salary": str(chance.between(1_000, 1_000_000)),
        "company": chance.pick(COMPANIES),
        "location": chance.pick(LOCATIONS),
    }


def written(people: People) -> str:
    tables = ((KEY, *ABOUT_PEOPLE), (KEY, *ABOUT_WORK))
    return "\n\n".join(_table(people, columns) for columns in tables)


def _table(people: People, columns: tuple[str, ...]) -> str:
    return "\n".join([",".join(columns), *(",".join(row[column] for column in columns) for row in people.rows)])


def cell_of(people: People, key: str, column: str) -> str:
    return next(row[column] for row in people.rows if row[KEY] == key)


def n_earning_more(people: People, threshold: int) -> int:
    return sum(int(row["salary"]) > threshold for row in people.rows)


def n_of_gender(people: People, gender: str) -> int:
    return sum(row["gender"] == gender for row in people.rows)


def n_taller_at(people: People, location: str, height: int) -> int:
    return sum(row["location"] == location and int(row["height"]) > height for row in people.rows)


def _cell(size: Size, chance: Chance) -> Problem:
    people = make_people(size, chance)
    row, column = chance.pick(people.rows), chance.pick((*ABOUT_PEOPLE, *ABOUT_WORK))
    question = f"What is the {column} of the record whose {KEY} is {row[KEY]}?"
    return Problem(question, written(people), (cell_of(people, row[KEY], column),))


def _salary(size: Size, chance: Chance) -> Problem:
    people = make_people(size, chance)
    threshold = chance.between(1_000, 999_999)
    question = f"How many people have a salary of more than {threshold}?"
    return Problem(question, written(people), (str(n_earning_more(people, threshold)),))


def _gender(size: Size, chance: Chance) -> Problem:
    people = make_people(size, chance)
    gender = chance.pick(GENDERS)
    return Problem(f"How many people are {gender}?", written(people), (str(n_of_gender(people, gender)),))


def _join(size: Size, chance: Chance) -> Problem:
    people = make_people(size, chance)
    # Asked about any place, most answers are 0.
    met = sorted({row["location"] for row in people.rows})
    location = chance.pick(LOCATIONS if size.is_published else met)
    height = chance.between(150, 180)
    question = f"How many of the people whose location is {location} have a height of more than {height}?"
    return Problem(question, written(people), (str(n_taller_at(people, location, height)),))


TASKS = (
    Task(
        "csv-cell",
        "csv",
        "TextRetrieval",
        "Find the table whose first line names the column. In it, find the line that begins with the given primeKey; "
        "the answer stands in that line at the place that the column has in the first line.",
        _cell,
    ),
    Task(
        "csv-salary",
        "csv",
        "Statistics",
        "Find the table that has the column salary. Go through its lines and count those whose salary is strictly "
        "larger than the number in the question.",
        _salary,
    ),
    Task(
        "csv-gender",
        "csv",
        "Statistics",
        "Find the table that has the column gender. Go through its lines and count those with the gender in the "
        "question.",
        _gender,
    ),
    Task(
        "csv-join",
        "csv",
        "Join",
        "The height stands in the first table and the location in the second: lines with the same primeKey are about "
        "one person. Count the people who have the location in the question and a height strictly larger than the "
        "number in it.",
        _join,
    ),
)
