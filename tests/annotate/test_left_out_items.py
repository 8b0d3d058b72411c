"""Items that somebody found bad, or dropped: out of the queues and every figure, kept, exported, and back again."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from annotate.models import Event, Exclusion, StageItem
from annotate.services import assigning, checks, feeds, projects, resolving, reviewing
from annotate.services.assigning import Left
from annotate.services.counting import stage_counts
from annotate.services.excluding import exclude_item, lift_exclusion
from annotate.services.exporting.answers import answer_rows
from annotate.services.exporting.rows import exclusion_rows
from evaluation.matrices import read_people, read_units
from tests.factories import (
    make_annotation,
    make_item,
    make_item_set,
    make_member,
    make_project,
    make_stage,
    make_stage_item,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> SimpleNamespace:
    project = make_project()
    stage = make_stage(project, overlap=2)
    items = [make_item(project, gold={"label": ["yes"]}) for _ in range(2)]
    places = [make_stage_item(stage, item) for item in items]
    for place in places:
        make_annotation(place, make_member(project), {"label": "yes"})
    resolving.resolve_due()
    return SimpleNamespace(
        project=project,
        stage=stage,
        items=items,
        places=places,
        expert=make_member(project, "admin"),
        item_set=make_item_set(project, items),
    )


def leave_out(study, **fields) -> Exclusion:
    settings = {"by": study.expert, "reason": "Two readings.", "rule": "dropped: ambiguous"} | fields
    return exclude_item(item=study.items[0], **settings)


def test_it_is_handed_out_no_more_and_counts_in_no_progress(study):
    leave_out(study)
    assert [place.state for place in StageItem.objects.order_by("rank")] == ["left_out", "open"]
    counts = stage_counts([study.stage])[study.stage.pk]
    assert (counts.n_items, counts.n_withdrawn, counts.wanted, counts.done) == (1, 1, 2, 1)
    person = make_member(study.project)
    assert assigning.claim_next(stage=study.stage, person=person).stage_item == study.places[1]


def test_no_figure_counts_it_and_the_reader_is_told(study):
    leave_out(study)
    units = read_units(item_set=study.item_set, field="label")
    assert units.external_ids == [study.items[1].external_id]
    assert units.left_out == [(study.items[0].external_id, "dropped: ambiguous")]
    people = read_people(stage=study.stage, units=units, field="label", item_set=study.item_set)
    assert len(people.answers) == 1


def test_its_answers_are_kept_and_exported_with_the_reason(study):
    leave_out(study)
    head, *rows = answer_rows(project=study.project)
    told = [(row[head.index("status")], row[head.index("exclusion_reason")]) for row in rows]
    assert told == [("excluded", "Two readings."), ("counted", "")]
    head, row = exclusion_rows(project=study.project)
    told = dict(zip(head, row, strict=True))
    assert (told["scope"], told["item"], told["rule"]) == ("item", study.items[0].external_id, "dropped: ambiguous")


def test_it_comes_back_when_nobody_leaves_it_out_any_more(study):
    mine = leave_out(study)
    others = leave_out(study, by=make_member(study.project, "admin"), rule="bad item")
    assert leave_out(study) == mine
    lift_exclusion(exclusion=mine, by=study.expert)
    assert StageItem.objects.get(pk=study.places[0].pk).state == "left_out"
    lift_exclusion(exclusion=others, by=study.expert)
    assert StageItem.objects.get(pk=study.places[0].pk).state == "open"
    assert len(read_units(item_set=study.item_set, field="label")) == 2
    assert Event.objects.filter(verb="item.excluded").count() == 2


def test_what_an_admin_withdrew_stays_withdrawn(study):
    StageItem.objects.filter(pk=study.places[0].pk).update(state="withdrawn")
    lift_exclusion(exclusion=leave_out(study), by=study.expert)
    assert StageItem.objects.get(pk=study.places[0].pk).state == "withdrawn"


def test_when_everything_is_left_out_the_stage_is_done(study):
    for item in study.items:
        exclude_item(item=item, by=study.expert, reason="No answer can be right.", rule="bad item")
    assert assigning.claim_next(stage=study.stage, person=make_member(study.project)).kind == Left.DONE


def in_a_set(study) -> StageItem:
    stage = make_stage(study.project)
    projects.add_items_to_stage(stage=stage, item_set=study.item_set)
    return stage.stage_items.get(revision__item=study.items[0])


def in_batches(study) -> StageItem:
    stage = make_stage(study.project, kind="author", options={"domain": "topic", "n_domains": 1, "per_domain": 2})
    projects.add_items_to_stage(stage=stage, item_set=study.item_set)
    return stage.stage_items.get(revision__item=study.items[0])


def as_a_check(study) -> StageItem:
    stage = make_stage(study.project, check_every=2)
    checks.set_apart(stage=stage, item_set=study.item_set, purpose="check", by=study.expert)
    return stage.stage_items.get(revision__item=study.items[0])


def by_a_feed(study) -> StageItem:
    # The place in which it was dropped stays what it is, and its stage leads on.
    reviewing, last = make_stage(study.project), make_stage(study.project)
    feeds.set_feed(source=reviewing, target=last, rule="every", recipe={}, by=study.expert)
    make_annotation(make_stage_item(reviewing, study.items[0]), make_member(study.project), {"label": "yes"})
    resolving.resolve_due()
    return last.stage_items.get(revision__item=study.items[0])


def after_a_review(study) -> StageItem:
    skipped = study.places[0]
    StageItem.objects.filter(pk=skipped.pk).update(state="review")
    exclude_item(item=study.items[0], by=study.expert, reason="Again.", rule="bad item")
    return reviewing.return_to_queue(stage_item=skipped, by=study.expert)


@pytest.mark.parametrize("comes", [in_a_set, in_batches, as_a_check, by_a_feed, after_a_review])
def test_whatever_way_it_comes_into_a_queue_it_is_not_handed_out_while_it_is_left_out(study, comes):
    if comes is not after_a_review:
        leave_out(study)
    place = comes(study)
    assert place.state == "left_out"
    for exclusion in Exclusion.objects.standing():
        lift_exclusion(exclusion=exclusion, by=study.expert)
    assert StageItem.objects.get(pk=place.pk).state == "open"
