"""Real sets of items and answers, imported whole: the figures of their publications come out of what was stored."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from annotate.exceptions import ImportRefused
from annotate.models import Gold, Item, ItemKey, ItemRevision, Resolution, StageItem
from annotate.services import importing
from annotate.sources.answered import AnswerColumn, Answers
from annotate.sources.blocks import plain_text
from annotate.sources.detect import Detected
from annotate.sources.mapping import ContentColumn, GoldColumn, Mapping
from tests.annotate.sources.workbooks import zipped
from tests.factories import SHORT_ANSWER, make_project, make_stage

pytestmark = [pytest.mark.django_db, pytest.mark.shared_data]

# What the files of get-another-label are: tabs, and no names of columns.
TABS = Detected("tsv", "utf-8", delimiter="\t", has_header=False, quoting=False)
CROWD = Mapping(
    (ContentColumn("column_2", "page"),),
    id_column="column_2",
    answers=Answers((AnswerColumn("label", "column_3"),), annotator_column="column_1"),
)


def run(data: bytes | Path, name: str = "", project: Any = None, **asked: Any) -> Any:
    file = data if isinstance(data, Path) else io.BytesIO(data)
    return importing.import_file(project=project or make_project(), by=None, file=file, name=name, **asked)


def right(stage: Any, gold: dict[str, str]) -> tuple[int, int]:
    """(items whose most frequent label is gold, items that have gold); a tie is not right."""
    rows = Resolution.objects.filter(stage_item__stage=stage).values_list(
        "stage_item__revision__item__external_id", "answer"
    )
    known = [(gold[name], answer) for name, answer in rows if name in gold]
    return sum(label == answer for label, answer in known), len(known)


def pairs(path: Path) -> dict[str, str]:
    return dict(line.split("\t") for line in path.read_text().splitlines() if line)


def test_five_labels_an_item_of_eighty_three_workers(shared_path):
    folder = shared_path("data/crowd-get-another-label/BarzanMozafari")
    job = run(folder / "labels.txt", source=TABS, mapping=CROWD)
    counts = job.report["answers"]
    assert (counts["answers"], counts["people"], job.report["imported"]) == (5_000, 83, 1_000)
    assert set(StageItem.objects.filter(stage=job.stage).values_list("wanted", "done")) == {(5, 5)}
    assert job.stage.overlap == 5
    assert right(job.stage, pairs(folder / "evaluation.txt")) == (696, 1_000)


def test_workers_who_answer_twice_are_told_until_somebody_says_what_that_means(shared_path):
    path = shared_path("data/crowd-get-another-label/HITspam-UsingCrowdflower/labels.txt")
    with pytest.raises(ImportRefused, match=r"problems\. The first 100 are listed") as refused:
        run(path, source=TABS, mapping=CROWD)
    assert "no times say which answer is the newer one" in refused.value.problems[0]["message"]
    project = make_project()
    job = run(path, project=project, source=TABS, mapping=CROWD, repeats="separate")
    assert (job.report["answers"]["answers"], job.report["imported"]) == (5_331, 287)
    wanted = Counter(StageItem.objects.filter(stage=job.stage).values_list("wanted", flat=True))
    assert (min(wanted), max(wanted)) == (7, 66)
    assert right(job.stage, pairs(path.with_name("gold.txt")))[0] in range(64, 69)
    newest = run(path, project=make_project(), source=TABS, mapping=CROWD, repeats="order")
    counts = newest.report["answers"]
    assert (counts["answers"] + counts["revised"], counts["people"]) == (5_331, 152)


def test_every_annotator_labels_every_bird(shared_path):
    # The set is YAML, a mapping of mappings that no spreadsheet writes; it is one line of Python away from a CSV.
    folder = shared_path("data/crowd-bluebirds/bluebirds")
    labels = yaml.safe_load((folder / "labels.yaml").read_text())
    gold = {str(bird): str(label).lower() for bird, label in yaml.safe_load((folder / "gt.yaml").read_text()).items()}
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["item_id", "question", "annotator", "label", "gold_label"])
    for annotator, given in labels.items():
        for bird, label in given.items():
            writer.writerow(
                [bird, f"Is there a bluebird in image {bird}?", annotator, str(label).lower(), gold[str(bird)]]
            )
    job = run(text.getvalue().encode(), "bluebirds.csv")
    assert (job.report["answers"]["answers"], job.report["answers"]["people"]) == (108 * 39, 39)
    assert right(job.stage, gold) == (82, 108)


def test_one_rater_who_rates_everything_three_times(shared_path):
    path = shared_path("data/crowd-anesthesia/anesthesia.csv")
    shown = Mapping(
        (ContentColumn("item", "case"),),
        id_column="item",
        answers=Answers((AnswerColumn("rating", "rating"),), annotator_column="rater"),
    )
    with pytest.raises(ImportRefused):
        run(path, mapping=shown)
    job = run(path, mapping=shown, repeats="separate")
    # Seven ratings of five raters: the first one's three are those of 1, 1 (2) and 1 (3).
    assert (job.report["answers"]["answers"], job.report["answers"]["people"]) == (315, 7)
    assert [option["value"] for option in job.stage.versions.get().fields[0]["options"]] == ["1", "2", "3", "4"]


def test_claims_in_pairs_with_their_evidence_kept_aside(shared_path):
    path = shared_path("data/fever-symmetric/symmetric_v0.1/fever_symmetric_generated.jsonl")
    stage = make_stage(shown_keys=["claim"])
    job = run(path, project=stage.project, stage=stage)
    written = [json.loads(line) for line in path.read_text().splitlines()]
    assert job.report["imported"] == len({row["id"] for row in written})
    labels = Counter(Gold.objects.filter(item__project=stage.project).values_list("answers__0", flat=True))
    assert labels == {
        "yes": sum(r["label"] == "SUPPORTS" for r in written),
        "no": sum(r["label"] == "REFUTES" for r in written),
    }


def test_a_folder_of_json_files_with_strata_from_nested_fields(shared_path):
    folder = shared_path("data/structext-eval")
    paths = sorted(path for name in ("Benchmark", "New_Benchmark") for path in folder.glob(f"{name}/**/*.json"))
    data = zipped({str(path.relative_to(folder)): path.read_bytes() for path in paths})
    mapping = Mapping(
        (ContentColumn("Question", "question"), ContentColumn("Reference", "reference", "mono")),
        id_column="(file)",
        gold=(GoldColumn("answer", "Answer"),),
        strata=("Label.typename", "(folder 4)", "Label.node_number"),
    )
    project = make_project()
    job = run(data, "structext.zip", project=project, mapping=mapping)
    assert job.report["imported"] == len(paths) == 348
    strata = [
        dict(map(tuple, row)) for row in ItemKey.objects.filter(item__project=project).values_list("strata", flat=True)
    ]
    assert {row["Label.typename"] for row in strata} <= {
        "csv",
        "json",
        "xml",
        "tree",
        "yaml",
        "markdown",
        "latex",
        "org",
    }
    # A task is its language with the number at the end of the file's name.
    names = Item.objects.filter(project=project).values_list("external_id", flat=True)
    tasks = {(name.split("/")[2], Path(name).stem.rpartition("_")[2]) for name in names}
    assert len(tasks) == 29
    revision = ItemRevision.objects.get(item__external_id__contains="26.816269_4", item__project=project)
    assert len(dict(map(tuple, revision.content))["reference"]["text"]) == 80_641


def test_questions_to_tables_with_the_escapes_of_their_set(shared_path):
    root = shared_path("data/wikitablequestions")
    tables = zipped({str(p.relative_to(root)): p.read_bytes() for p in sorted(root.glob("csv/*/*.csv"))})
    lines = (root / "data/pristine-unseen-tables.tsv").read_text()
    lines += "nu-x\twhich\\nline?\tcsv/204-csv/797.csv\ta\\pb|c\\\\d\n"
    stage = make_stage(form=SHORT_ANSWER, shown_keys=["utterance", "table"], kind="answer")
    job = run(
        lines.encode(),
        "questions.tsv",
        project=stage.project,
        stage=stage,
        tables=io.BytesIO(tables),
        tables_name="tables.zip",
        join_column="context",
    )
    assert (job.report["imported"], job.report["without_gold"]) == (261, 0)
    item = Item.objects.get(project=stage.project, external_id="nu-x")
    assert item.golds.get().answers == ["a|b", "c\\d"]
    content = dict(map(tuple, item.revisions.get().content))
    assert content["utterance"] == "which\nline?"
    assert content["table"]["type"] == "grid"
    assert item.root.external_id == "context=csv/204-csv/797.csv"


def test_contexts_of_many_lines(shared_path):
    path = shared_path("data/temptabqa-c/Dev_set/dev_set.tsv")
    stage = make_stage(form=SHORT_ANSWER, shown_keys=["Questions"], kind="answer")
    job = run(path, project=stage.project, stage=stage)
    assert job.report["imported"] + job.report["left_out"] == 282
    contents = ItemRevision.objects.filter(item__project=stage.project).values_list("content", flat=True)
    contexts = [plain_text(dict(map(tuple, content))["Context"]) for content in contents]
    assert sum("\\n" in context or "\n" in context for context in contexts) == len(contexts)
