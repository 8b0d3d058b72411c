"""Rows to arrays: what counts, in which order, in how many queries."""

import numpy as np
import pytest

from annotate.answers import FieldSpec
from annotate.models import Annotation, Exclusion, Gold, Stage
from evaluation.matrices import Scores, Standing, compare, read_models, read_people, read_units
from evaluation.models import Prediction
from tests.factories import (
    SHORT_ANSWER,
    make_annotation,
    make_annotator,
    make_assignment,
    make_item,
    make_item_set,
    make_member,
    make_prediction,
    make_run,
    make_stage,
    make_stage_item,
)

pytestmark = pytest.mark.django_db


def study(n_items=3, overlap=3, **fields):
    """A stage with items whose gold is yes, and the set of them."""
    stage = make_stage(overlap=overlap, **fields)
    items = [make_item(stage.project, gold={"label": ["yes"]}, external_id=f"q{i}") for i in range(n_items)]
    return stage, items, [make_stage_item(stage, item) for item in items], make_item_set(stage.project, items)


def people_of(stage, item_set, field="label"):
    units = read_units(item_set=item_set, field=field)
    return units, read_people(stage=stage, item_set=item_set, units=units, field=field)


def standings(people):
    return [row.standing for row in people.answers]


def labels_of(stage, item_set):
    units, people = people_of(stage, item_set)
    spec = FieldSpec.from_json(stage.versions.get(is_current=True).fields[0])
    return compare(units=units, people=people, runs=[], scores=Scores(), spec=spec).people.labels


def test_items_stand_in_the_order_of_the_set_and_not_of_the_database():
    stage, items, _, _ = study(3)
    backwards = make_item_set(stage.project, items[::-1])
    assert read_units(item_set=backwards, field="label").external_ids == ["q2", "q1", "q0"]


def test_items_of_one_table_share_a_root_and_an_item_alone_is_its_own():
    stage = make_stage()
    table = make_item(stage.project, external_id="table")
    first, second = (make_item(stage.project, root=table) for _ in range(2))
    alone = make_item(stage.project)
    units = read_units(item_set=make_item_set(stage.project, [first, second, alone]), field="label")
    assert units.roots == [table.pk, table.pk, alone.pk]
    assert units.root_names[:2] == ["table", "table"]


def test_the_current_version_of_the_gold_label_is_used():
    _, items, _, item_set = study(1)
    Gold.objects.filter(item=items[0]).update(is_current=False)
    newer = Gold.objects.create(item=items[0], field="label", version=2, answers=["no"])
    units = read_units(item_set=item_set, field="label")
    assert (units.golds, units.gold_ids, units.gold_versions) == ([("no",)], [newer.pk], [2])


def test_a_label_matrix_has_a_row_an_item_a_column_a_person_and_minus_one_where_nobody_answered():
    stage, _, (first, second), item_set = study(2)
    ann, bob = sorted([make_annotator(), make_annotator()], key=lambda person: person.pseudonym)
    make_annotation(first, ann, {"label": "yes"})
    make_annotation(first, bob, {"label": "no"})
    make_annotation(second, bob, {"label": "not_sure"})
    # Codes follow the declared options: yes 0, no 1, not_sure 2.
    assert labels_of(stage, item_set).tolist() == [[0, 1], [-1, 2]]


def test_only_the_newest_revision_of_an_answer_counts():
    stage, _, (stage_item,), item_set = study(1)
    first = make_annotation(stage_item, make_annotator(), {"label": "yes"})
    Annotation.objects.filter(pk=first.pk).update(is_current=False)
    Annotation.objects.create(
        assignment=first.assignment,
        stage_version=first.stage_version,
        number=2,
        answer={"label": "no"},
        client_key="second",
    )
    assert labels_of(stage, item_set).tolist() == [[1]]


def test_an_excluded_answer_is_left_out_and_told():
    stage, _, (stage_item,), item_set = study(1)
    annotation = make_annotation(stage_item, make_annotator(), {"label": "yes"})
    admin = make_member(stage.project, "admin")
    Exclusion.objects.create(project=stage.project, annotation=annotation, reason="a slip", decided_by=admin)
    _, people = people_of(stage, item_set)
    assert people.outcomes() == {"excluded": 1}
    assert labels_of(stage, item_set).tolist() == [[-1]]


def test_everything_of_an_excluded_person_is_left_out_skips_too():
    stage, _, (first, second), item_set = study(2)
    person, admin = make_annotator(), make_member(stage.project, "admin")
    make_annotation(first, person, {"label": "yes"})
    make_assignment(second, person, state="skipped", slot=None, skip_reason="cannot_tell")
    Exclusion.objects.create(project=stage.project, person=person, reason="too fast", decided_by=admin)
    _, people = people_of(stage, item_set)
    assert people.outcomes() == {"excluded": 2}


def test_a_lifted_exclusion_leaves_nothing_out():
    stage, _, (stage_item,), item_set = study(1)
    annotation = make_annotation(stage_item, make_annotator(), {"label": "yes"})
    admin = make_member(stage.project, "admin")
    Exclusion.objects.create(
        project=stage.project,
        annotation=annotation,
        reason="a slip",
        decided_by=admin,
        lifted_at=annotation.created_at,
        lifted_by=admin,
    )
    assert standings(people_of(stage, item_set)[1]) == [Standing.COUNTED]


def test_a_surplus_answer_is_left_out_and_told():
    stage, _, (stage_item,), item_set = study(1)
    late = make_annotation(stage_item, make_annotator(), {"label": "yes"})
    type(late.assignment).objects.filter(pk=late.assignment_id).update(slot=None)
    assert standings(people_of(stage, item_set)[1]) == [Standing.SURPLUS]


def test_who_made_or_changed_the_gold_label_is_left_out_on_that_item_only():
    stage, items, (first, second), item_set = study(2)
    maker = make_annotator()
    # An earlier version counts as well: its maker has seen the answer.
    Gold.objects.filter(item=items[0]).update(made_by=maker, is_current=False)
    Gold.objects.create(item=items[0], field="label", version=2, answers=["no"])
    make_annotation(first, maker, {"label": "yes"})
    make_annotation(second, maker, {"label": "yes"})
    assert standings(people_of(stage, item_set)[1]) == [Standing.MADE_GOLD, Standing.COUNTED]


def test_who_wrote_the_item_is_left_out():
    stage, items, (stage_item,), item_set = study(1)
    author = make_annotator()
    type(items[0]).objects.filter(pk=items[0].pk).update(author=author)
    make_annotation(stage_item, author, {"label": "yes"})
    assert standings(people_of(stage, item_set)[1]) == [Standing.WROTE_ITEM]


def test_a_later_round_is_left_out_of_round_one_figures():
    stage, _, (stage_item,), item_set = study(1)
    annotation = make_annotation(stage_item, make_annotator(), {"label": "yes"})
    type(annotation.assignment).objects.filter(pk=annotation.assignment_id).update(round=2)
    assert standings(people_of(stage, item_set)[1]) == [Standing.LATER_ROUND]


def test_i_cannot_tell_is_an_outcome_and_a_broken_item_is_passed_on():
    stage, _, (first, second), item_set = study(2)
    person = make_annotator()
    make_assignment(first, person, state="skipped", slot=None, skip_reason="cannot_tell")
    make_assignment(second, person, state="skipped", slot=None, skip_reason="broken")
    _, people = people_of(stage, item_set)
    assert standings(people) == [Standing.COUNTED, Standing.PASSED_ON]
    assert people.outcomes() == {"skipped": 1, "passed_on": 1}


def test_an_answer_to_an_earlier_wording_is_no_answer_to_this_one():
    stage, items, (stage_item,), _ = study(1)
    make_annotation(stage_item, make_annotator(), {"label": "yes"})
    items[0].revisions.update(is_current=False)
    items[0].revisions.create(number=2, content=[["question", "Now else?"]], content_hash="x" * 64)
    later = make_item_set(stage.project, items)
    assert people_of(stage, later)[1].answers == []


def test_each_outcome_of_a_model_is_kept_and_only_an_answer_has_a_label():
    stage, items, _, item_set = study(3)
    run = make_run(stage, item_set)
    make_prediction(run, items[0], {"label": "no"})
    make_prediction(run, items[1], None, state="refused")
    make_prediction(run, items[2], None, state="pending")
    units = read_units(item_set=item_set, field="label")
    (model,) = read_models(runs=[run], item_set=item_set, units=units, field="label")
    assert model.outcomes() == {"answered": 1, "refused": 1, "pending": 1}
    spec = FieldSpec.from_json(stage.versions.get(is_current=True).fields[0])
    _, people = people_of(stage, item_set)
    (side,) = compare(units=units, people=people, runs=[model], scores=Scores(), spec=spec).runs
    assert side.labels.tolist() == [[1], [-1], [-1]]
    # A refusal was asked and has no answer; what is pending was not asked.
    assert side.offered.tolist() == [[True], [True], [False]]


def test_texts_that_differ_in_case_and_space_alone_share_a_label():
    stage = make_stage(form=SHORT_ANSWER, overlap=2)
    item = make_item(stage.project, gold={"answer": ["Lake Como"]})
    stage_item = make_stage_item(stage, item)
    for text in ("Lake  Como", "lake como"):
        make_annotation(stage_item, make_annotator(), {"answer": text, "why": "It says so."})
    item_set = make_item_set(stage.project, [item])
    units, people = people_of(stage, item_set, "answer")
    spec = FieldSpec.from_json(SHORT_ANSWER[0])
    labels = compare(units=units, people=people, runs=[], scores=Scores(), spec=spec).people.labels
    assert labels.tolist() == [[0, 0]]
    assert [row.other_fields for row in people.answers] == [{"why": "It says so."}] * 2


@pytest.mark.parametrize("n_items", [2, 12])
def test_reading_takes_the_same_number_of_queries_for_any_number_of_items(n_items, django_assert_num_queries):
    stage, items, stage_items, item_set = study(n_items)
    run, person = make_run(stage, item_set), make_annotator()
    for item, stage_item in zip(items, stage_items, strict=True):
        make_annotation(stage_item, person, {"label": "yes"})
        make_prediction(run, item, {"label": "no"})
    stage = Stage.objects.select_related("project").get(pk=stage.pk)
    with django_assert_num_queries(2):  # items, gold labels
        units = read_units(item_set=item_set, field="label")
    with django_assert_num_queries(4):  # versions of the form, answers, people and answers excluded
        people = read_people(stage=stage, item_set=item_set, units=units, field="label")
    with django_assert_num_queries(2):  # forms, predictions
        models = read_models(runs=[run], item_set=item_set, units=units, field="label")
    assert (len(units), len(people.answers), len(models[0].answers)) == (n_items,) * 3


def test_the_two_sides_come_out_as_arrays_of_equal_shape():
    stage, items, stage_items, item_set = study(2)
    run = make_run(stage, item_set, repeats=2)
    make_annotation(stage_items[0], make_annotator(), {"label": "yes"})
    for repeat in range(2):
        Prediction.objects.create(
            run=run,
            revision=items[1].revisions.get(),
            position=1,
            repeat=repeat,
            state="answered",
            answer={"label": "no"},
        )
    units, people = people_of(stage, item_set)
    models = read_models(runs=[run], item_set=item_set, units=units, field="label")
    spec = FieldSpec.from_json(stage.versions.get(is_current=True).fields[0])
    comparison = compare(units=units, people=people, runs=models, scores=Scores(), spec=spec)
    assert comparison.people.labels.shape == (2, 1)
    assert comparison.runs[0].labels.tolist() == [[-1, -1], [1, 1]]
    assert comparison.gold_classes is not None
    assert np.array_equal(comparison.gold_classes, [0, 0])
