"""The first proposal for a mapping."""

from dataclasses import dataclass

from annotate.sources.guessing import guess_mapping, guess_values
from annotate.sources.mapping import ContentColumn, GoldColumn, Mapping
from annotate.sources.records import Record, columns_of

from .files import read


@dataclass(frozen=True)
class Option:
    value: str
    caption: str


@dataclass(frozen=True)
class Field:
    name: str
    type: str
    options: tuple[Option, ...] = ()


OPTIONS = (Option("yes", "Yes"), Option("no", "No"), Option("not_sure", "Not sure enough"))
LABEL = Field("label", "choice", OPTIONS)
ANSWER = Field("answer", "text")


def guessed(text: str, name: str, *fields: Field, join_column: str | None = None) -> Mapping:
    records = read(text.encode(), name)
    mapping = guess_mapping(columns_of(records), records, fields, join_column=join_column)
    mapping.check(columns_of(records))
    return mapping


def test_claims_with_labels_of_a_well_known_set():
    text = (
        "uid,claim,verdict,category,evidence_text,lang\n"
        "a,The sky is green.,REFUTES,Nature,The sky is blue.,en\n"
        "b,Water is wet.,SUPPORTS,Nature,Water wets.,en\n"
        "c,Somebody laughed.,NOT ENOUGH INFO,People,,en\n"
    )
    assert guessed(text, "x.csv", LABEL) == Mapping(
        content=(ContentColumn("claim", "claim"),),
        id_column="uid",
        language_column="lang",
        gold=(GoldColumn("label", "verdict", {"REFUTES": "no", "SUPPORTS": "yes", "NOT ENOUGH INFO": "not_sure"}),),
        strata=("category",),
    )


def test_questions_about_tables():
    text = "id\ttable_id\tquestion\tanswer\n1\t7\tHow many?\t5|five\n2\t7\tWho?\tHolm\n"
    assert guessed(text, "x.tsv", ANSWER, join_column="table_id") == Mapping(
        content=(ContentColumn("question", "question"),),
        id_column="id",
        gold=(GoldColumn("answer", "answer", {}, "|"),),
        group_column="table_id",
    )


def test_nested_and_indented_content_gets_its_layout():
    text = '{"q": "a", "table": {"x": {"y": "z"}}, "context": "{\\n  1\\n}", "passage": [["a"], ["1"]]}\n'
    kinds = {entry.column: entry.kind for entry in guessed(text, "x.jsonl").content}
    assert kinds == {"table": "table", "context": "mono", "passage": "grid"}


def test_gold_is_never_proposed_as_content_even_without_a_field_for_it():
    mapping = guessed("words,answer\nshort,a very long answer that looks like the main text of the item\n", "x.csv")
    assert [entry.column for entry in mapping.content] == ["words"]


def test_an_id_column_must_be_full_and_unique():
    assert guessed("uid,q\n1,a\n1,b\n", "x.csv").id_column is None
    assert guessed("id,q\n1,a\n,b\n", "x.csv").id_column is None
    assert guessed('{"id": [1], "text": "a"}\n', "x.jsonl").id_column is None
    assert guessed('{"7": {"text": "a"}, "8": {"text": "b"}}', "x.json").id_column == "(key)"


def test_repeats_in_a_column_called_id_do_not_hide_it_however_many():
    # The import then refuses them by line; without an id column nobody would hear of them.
    assert guessed("id,q\n1,a\n2,b\n1,c\n", "x.csv").id_column == "id"
    assert guessed("id,q\n1,a\n1,b\n", "x.csv").id_column == "id"
    assert guessed("uid,q\n1,a\n2,b\n1,c\n", "x.csv").id_column is None


def test_labels_are_matched_by_value_caption_and_meaning():
    assert guess_values(["Yes", "FALSE", "nei", "Not sure enough", "maybe"], OPTIONS) == {
        "Yes": "yes",
        "FALSE": "no",
        "nei": "not_sure",
        "Not sure enough": "not_sure",
    }


def test_a_label_without_a_counterpart_is_kept_open_for_the_person():
    (gold,) = guessed("claim,label\na,yes\nb,half true\n", "x.csv", LABEL).gold
    assert gold.values == {"yes": "yes", "half true": ""}


class Walked(list):
    """The values of a record, which count how often somebody goes through them."""

    n_walks = 0

    def __iter__(self):
        self.n_walks += 1
        return super().__iter__()


def test_a_record_is_walked_as_often_with_many_columns_as_with_few():
    walks = []
    for n_columns in (10, 5_000):
        record = Record(1, 1, Walked((f"column {n}", "text") for n in range(n_columns)))
        guess_mapping([f"column {n}" for n in range(n_columns)], [record], [LABEL])
        walks.append(record.values.n_walks)
    assert walks[0] == walks[1]
