"""Scores: one path for everybody, written once."""

from dataclasses import replace

import pytest

from annotate.models import Gold
from evaluation.matrices import read_models, read_people, read_units
from evaluation.models import Score
from evaluation.scorers import SCORERS, get_scorer
from evaluation.scorers import Score as Scored
from evaluation.services.scoring import score_answers, score_of
from tests.factories import (
    SHORT_ANSWER,
    make_annotation,
    make_annotator,
    make_assignment,
    make_item,
    make_item_set,
    make_prediction,
    make_run,
    make_stage,
    make_stage_item,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    """Two short-answer items; a person and a model give the same answer to the first."""
    stage = make_stage(form=SHORT_ANSWER, overlap=2)
    items = [make_item(stage.project, gold={"answer": ["two medals"]}) for _ in range(2)]
    stage_items = [make_stage_item(stage, item) for item in items]
    run = make_run(stage, make_item_set(stage.project, items))
    return stage, items, stage_items, run


def score(stage, run, scorers=("exact_match", "token_f1")):
    units = read_units(item_set=run.item_set, field="answer")
    people = read_people(stage=stage, item_set=run.item_set, units=units, field="answer")
    models = read_models(runs=[run], item_set=run.item_set, units=units, field="answer")
    return score_answers(field="answer", scorers=scorers, units=units, people=people, runs=models)


def test_the_same_words_score_the_same_whoever_wrote_them(study):
    stage, items, stage_items, run = study
    annotation = make_annotation(stage_items[0], make_annotator(), {"answer": "Two"})
    prediction = make_prediction(run, items[0], {"answer": "Two"})
    scores = score(stage, run)
    # "two" against "two medals": one shared word, precision 1, recall 1/2, F1 2/3.
    assert scores.annotations["token_f1"] == {annotation.pk: pytest.approx(2 / 3)}
    assert scores.predictions["token_f1"] == {prediction.pk: pytest.approx(2 / 3)}
    assert scores.annotations["exact_match"] == {annotation.pk: 0.0}


def test_a_scorer_is_given_the_answer_and_the_gold_label_and_nothing_else():
    assert score_of(scorer="label_accuracy", value="yes", gold=frozenset({"yes"})).value == 1.0


def test_scoring_twice_writes_once(study):
    stage, items, stage_items, run = study
    make_annotation(stage_items[0], make_annotator(), {"answer": "two medals"})
    make_prediction(run, items[0], {"answer": "three"})
    first = score(stage, run)
    assert Score.objects.count() == 4  # two answers, two scorers
    assert score(stage, run) == first
    assert Score.objects.count() == 4


def test_what_is_no_answer_has_no_score(study):
    stage, items, stage_items, run = study
    make_assignment(stage_items[0], make_annotator(), state="skipped", slot=None, skip_reason="cannot_tell")
    make_prediction(run, items[0], None, state="unparsed")
    make_prediction(run, items[1], None, state="error", position=1)
    scores = score(stage, run)
    assert Score.objects.count() == 0
    assert scores.predictions == {"exact_match": {}, "token_f1": {}}


def test_an_answer_to_an_item_without_gold_has_no_score(study):
    stage, _, stage_items, run = study
    Gold.objects.all().delete()
    make_annotation(stage_items[0], make_annotator(), {"answer": "two medals"})
    assert score(stage, run).annotations["exact_match"] == {}
    assert Score.objects.count() == 0


def test_a_newer_gold_label_adds_scores_and_changes_none(study):
    stage, items, stage_items, run = study
    annotation = make_annotation(stage_items[0], make_annotator(), {"answer": "three"})
    score(stage, run)
    Gold.objects.filter(item=items[0]).update(is_current=False)
    newer = Gold.objects.create(item=items[0], field="answer", version=2, answers=["three"])
    assert score(stage, run).annotations["exact_match"] == {annotation.pk: 1.0}
    stored = Score.objects.filter(scorer="exact_match").order_by("gold__version").values_list("gold__version", "value")
    assert list(stored) == [(1, 0.0), (2, 1.0)]
    assert Score.objects.filter(gold=newer).count() == 2


def test_the_best_of_several_gold_labels_counts(study):
    stage, items, stage_items, run = study
    Gold.objects.filter(item=items[0]).update(answers=["two medals", "2"])
    annotation = make_annotation(stage_items[0], make_annotator(), {"answer": "2"})
    assert score(stage, run).annotations["exact_match"] == {annotation.pk: 1.0}


@pytest.mark.parametrize("n_people", [1, 6])
def test_scoring_takes_the_same_number_of_queries_for_any_number_of_answers(n_people, django_assert_num_queries):
    stage = make_stage(form=SHORT_ANSWER, overlap=6)
    item = make_item(stage.project, gold={"answer": ["two"]})
    stage_item, run = make_stage_item(stage, item), make_run(stage, make_item_set(stage.project, [item]))
    for _ in range(n_people):
        make_annotation(stage_item, make_annotator(), {"answer": "two"})
    make_prediction(run, item, {"answer": "two"})
    units = read_units(item_set=run.item_set, field="answer")
    people = read_people(stage=stage, item_set=run.item_set, units=units, field="answer")
    models = read_models(runs=[run], item_set=run.item_set, units=units, field="answer")
    with django_assert_num_queries(4):  # for people and for models: what is stored, and what is missing
        score_answers(field="answer", scorers=["exact_match"], units=units, people=people, runs=models)


def test_equal_answers_to_equal_gold_are_scored_once_whoever_gave_them(study, monkeypatch):
    stage, items, stage_items, run = study
    asked = []
    counted = replace(get_scorer("token_f1"), function=lambda answer, gold: asked.append(answer) or Scored(0.5, "seen"))
    monkeypatch.setitem(SCORERS, "token_f1", counted)
    for stage_item, item in zip(stage_items, items, strict=True):
        make_annotation(stage_item, make_annotator(), {"answer": "two"})
        make_prediction(run, item, {"answer": "two"}, position=items.index(item))
    score(stage, run, ["token_f1"])
    # Two people and two predictions, one answer, one gold label.
    assert asked == ["two"]
    assert set(Score.objects.values_list("value", "note")) == {(0.5, "seen")}
    assert Score.objects.count() == 4
    # A later person's equal answer takes what is stored, with its note.
    make_annotation(stage_items[0], make_annotator(), {"answer": "two"})
    score(stage, run, ["token_f1"])
    assert asked == ["two"]
    assert Score.objects.filter(note="seen").count() == 5


def test_the_progress_counts_pairs_over_all_scorers(study):
    stage, items, stage_items, run = study
    make_annotation(stage_items[0], make_annotator(), {"answer": "two"})
    make_prediction(run, items[0], {"answer": "three"})
    told = []
    units = read_units(item_set=run.item_set, field="answer")
    people = read_people(stage=stage, item_set=run.item_set, units=units, field="answer")
    models = read_models(runs=[run], item_set=run.item_set, units=units, field="answer")
    score_answers(
        field="answer",
        scorers=["exact_match", "token_f1"],
        units=units,
        people=people,
        runs=models,
        progress=lambda n, of: told.append((n, of)),
    )
    assert told == [(0, 2), (2, 4), (4, 4)]
