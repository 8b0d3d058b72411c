"""The demo's records are right: balanced labels, every table answer computed again from its table, and importable."""

import csv
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable
from datetime import date, datetime
from itertools import pairwise
from pathlib import Path

import pytest

import annotate.demo
from annotate.sources.blocks import block_type
from annotate.sources.detect import detect
from annotate.sources.guessing import guess_mapping
from annotate.sources.joined import join_tables, read_tables
from annotate.sources.mapping import ItemDraft, apply
from annotate.sources.reading import read_records
from annotate.sources.records import Record, columns_of
from tests.annotate.sources.test_guessing import ANSWER, LABEL

DEMO = Path(annotate.demo.__file__).parent
TABLES = json.loads((DEMO / "tables.json").read_text(encoding="utf-8"))
QUESTIONS = list(csv.DictReader((DEMO / "table_questions.csv").open(encoding="utf-8", newline="")))


def day(text: str) -> date:
    """14 March 1931, Skarvoy -> that day."""
    return datetime.strptime(text.split(",")[0], "%d %B %Y").date()


def whole_years(first: str, last: str) -> int:
    a, b = day(first), day(last)
    return b.year - a.year - ((b.month, b.day) < (a.month, a.day))


def number(text: str) -> float:
    """14,500 people, 21.7 km -> 14500, 21.7."""
    return float(re.match(r"[\d,.]+", text)[0].replace(",", ""))


def year(text: str) -> int:
    """The only year in a text."""
    (found,) = re.findall(r"\b\d{4}\b", text)
    return int(found)


def span(text: str) -> tuple[int, int]:
    first, last = re.findall(r"\d{4}", text)
    return int(first), int(last)


def length(text: str) -> int:
    first, last = span(text)
    return last - first


def holder(spans: dict[str, str], when: int) -> str:
    """Whose span has the year inside it."""
    (found,) = [name for name, text in spans.items() if span(text)[0] < when < span(text)[1]]
    return found


def longest(spans: dict[str, str]) -> str:
    lengths = {name: length(text) for name, text in spans.items()}
    assert list(lengths.values()).count(max(lengths.values())) == 1
    return max(lengths, key=lengths.get)


def largest(cells: dict[str, str]) -> str:
    return max((key for key in cells if cells[key][0].isdigit()), key=lambda key: number(cells[key]))


def finals(t: dict) -> list[tuple[int, str, str]]:
    """(year, tournament, Won or Lost), earliest first."""
    return sorted((year(f), name, f.split()[0]) for name, fs in t["Finals"].items() for f in fs)


def farthest_neighbours(stations: dict[str, str]) -> str:
    names = list(stations)
    gaps = {(a, b): number(stations[b]) - number(stations[a]) for a, b in pairwise(names)}
    return " and ".join(max(gaps, key=gaps.get))


ANSWERS: dict[str, Callable[[dict], object]] = {
    "T01-1": lambda t: whole_years(t["Life"]["Born"], t["Life"]["Died"]),
    "T01-2": lambda t: t["First ascents"]["Pico Lareo"],
    "T01-3": lambda t: sum(int(when) < 1965 for when in t["First ascents"].values()),
    "T01-4": lambda t: span(t["Life"]["Spouses"][1])[0] - span(t["Life"]["Spouses"][0])[1],
    "T02-1": lambda t: length(t["Owners"]["Tagus Fruit Company"]),
    "T02-2": lambda t: holder(t["Owners"], 1943),
    "T02-3": lambda t: longest(t["Owners"]),
    "T02-4": lambda t: int(t["Characteristics"]["Crew"]) + int(t["Characteristics"]["Passengers"]),
    "T03-1": lambda t: "".join(set(t["Honours"]["League champions"]) & set(t["Honours"]["Cup winners"])),
    "T03-2": lambda t: sum(1923 < int(won) < 1998 for won in t["Honours"]["League champions"]),
    "T03-3": lambda t: longest(t["Managers"]),
    "T03-4": lambda t: year(t["Grounds"]["Lindmere Arena"]) - int(t["Founded"]),
    "T04-1": lambda t: largest(t["Population"]),
    "T04-2": lambda t: f"{number(t['Population']['2000']) - number(t['Population']['2020']):,.0f}",
    "T04-3": lambda t: sum(year(town) < 2000 for town in t["Twin towns"]["Twin towns"]),
    "T05-1": lambda t: holder(t["Positions"], year(t["Operas (first performed)"]["Winter Court"])),
    "T05-2": lambda t: whole_years(t["Life"]["Born"], t["Operas (first performed)"]["The Glass Orchard"]),
    "T05-3": lambda t: sum(
        holder(t["Positions"], year(opera)) == "Court composer of Tessaly"
        for opera in t["Operas (first performed)"].values()
    ),
    "T05-4": lambda t: {when: name for name, when in t["Operas (first performed)"].items()}["3 October 1846"],
    "T06-1": lambda t: f"{sum(map(number, t['Spans'].values())):.0f} m",
    "T06-2": lambda t: largest(t["Spans"]),
    "T06-3": lambda t: whole_years(t["History"]["Opened"], t["History"]["Collapsed"]),
    "T06-4": lambda t: int(t["History"]["Toll abolished"]) - year(t["History"]["Opened again"]),
    "T07-1": lambda t: f"{number(t['Properties']['Launch mass']) - number(t['Properties']['Dry mass']):.0f} kg",
    "T07-2": lambda t: sum(
        day(text[text.index("(") + 1 : -1]) < day(t["Mission"]["Arrival at Ceres"]) for text in t["Mission"]["Fly-bys"]
    ),
    "T07-3": lambda t: Counter(text.split()[0] for text in t["Mission"]["Fly-bys"]).most_common(1)[0][0],
    "T07-4": lambda t: whole_years(t["Mission"]["Launch"], t["Mission"]["End of mission"]),
    "T08-1": lambda t: sum(outcome == "Won" for _, _, outcome in finals(t)),
    "T08-2": lambda t: Counter(when for when, _, _ in finals(t)).most_common(1)[0][0],
    "T08-3": lambda t: int(t["Career"]["Retired"]) - int(t["Career"]["Turned professional"]),
    "T08-4": lambda t: next(name for _, name, outcome in finals(t) if outcome == "Won"),
    "T09-1": lambda t: number(t["Versions"]["Director's cut"]) - number(t["Versions"]["Cinema"]),
    "T09-2": lambda t: min(t["Release"], key=lambda country: day(t["Release"][country])),
    "T09-3": lambda t: f"{number(t['Money']['Box office']) - number(t['Money']['Budget']):g} million crowns",
    "T09-4": lambda t: sum(year(when) == 1984 for when in t["Release"].values()),
    "T10-1": lambda t: longest(t["Offices"]),
    "T10-2": lambda t: holder(t["Offices"], year(t["Party"]["Party"][0])),
    "T10-3": lambda t: whole_years(t["Life"]["Born"], t["Life"]["Died"]),
    "T11-1": lambda t: "{:.1f} km".format(
        number(t["Stations (distance from Port Sevran)"]["Calder"])
        - number(t["Stations (distance from Port Sevran)"]["Holm"])
    ),
    "T11-2": lambda t: int(t["History"]["Opened again"]) - int(t["History"]["Closed to passengers"]),
    "T11-3": lambda t: len(t["Stations (distance from Port Sevran)"]) - 2,
    "T11-4": lambda t: farthest_neighbours(t["Stations (distance from Port Sevran)"]),
    "T12-1": lambda t: largest(t["Visitors"]),
    "T12-2": lambda t: sum(cell[0].isdigit() and number(cell) > 35_000 for cell in t["Visitors"].values()),
    "T12-3": lambda t: {cell: key for key, cell in t["Visitors"].items()}["cancelled"],
    "T12-4": lambda t: f"{number(t['Visitors']['2022']) - number(t['Visitors']['2021']):,.0f}",
}


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question["id"])
def test_the_gold_answer_follows_from_the_table(question):
    computed = ANSWERS[question["id"]](TABLES[question["table_id"]])
    computed = f"{computed:g}" if isinstance(computed, float) else str(computed)
    assert question["answer"].split("|")[0] == computed


def test_there_are_twelve_tables_with_three_or_more_questions_each():
    per_table = Counter(question["table_id"] for question in QUESTIONS)
    assert per_table.keys() == TABLES.keys()
    assert (len(TABLES), len(QUESTIONS) >= 40, min(per_table.values())) == (12, True, 3)
    assert {question["explicitness"] for question in QUESTIONS} == {"explicit", "implicit"}


def records_of(name: str) -> list[Record]:
    with (DEMO / name).open("rb") as file:
        return list(read_records(file, detect(file, name)))


def claims() -> list[ItemDraft]:
    records = records_of("claims.jsonl")
    mapping = guess_mapping(columns_of(records), records, [LABEL])
    return [apply(mapping, record) for record in records]


def test_claims_are_balanced_over_labels_and_domains():
    items = claims()
    assert Counter(item.gold["label"][0] for item in items) == {"yes": 24, "no": 24, "not_sure": 24}
    labels = defaultdict(set)
    for item in items:
        labels[dict(map(tuple, item.strata))["domain"]].add(item.gold["label"][0])
    assert len(labels) == 7
    assert all(found == {"yes", "no", "not_sure"} for found in labels.values())
    assert {item.language for item in items} == {"en", "zh", "ar", "es", "ta"}


def test_claims_are_imported_as_proposed_with_code_and_grids_in_their_layout():
    items = claims()
    kinds = Counter(key if key == "question" else block_type(value) for item in items for key, value in item.content)
    assert kinds == {"question": 72, "mono": 6, "grid": 4}
    assert len({item.external_id for item in items}) == len({item.content_hash for item in items}) == 72
    assert all(not item.extra for item in items)


def test_table_questions_are_imported_as_proposed():
    with (DEMO / "tables.json").open("rb") as file:
        tables = read_tables(file, "tables.json")
    records = list(join_tables(records_of("table_questions.csv"), tables, column="table_id"))
    mapping = guess_mapping(columns_of(records), records, [ANSWER], join_column="table_id")
    items = [apply(mapping, record) for record in records]
    assert len(items) == len(QUESTIONS)
    for item, question in zip(items, QUESTIONS, strict=True):
        assert item.content[0] == ["question", question["question"]]
        assert block_type(item.content[1][1]) == "table"
        assert item.content[1][1]["title"] == TABLES[item.group]["caption"]
        assert item.gold == {"answer": question["answer"].split("|")}
        assert [name for name, _ in item.strata] == ["operation", "explicitness"]


@pytest.mark.parametrize("name", ["guidelines_claims.md", "guidelines_tables.md"])
def test_guidelines_are_short_and_give_no_demo_item_away(name):
    text = (DEMO / name).read_text(encoding="utf-8")
    assert 100 < len(text.split()) < 300
    asked = [dict(map(tuple, item.content))["question"] for item in claims()] + [q["question"] for q in QUESTIONS]
    assert not [question for question in asked if question in text]
