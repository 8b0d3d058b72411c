"""Items that somebody found bad, or dropped: out of the queues and every figure, kept, exported, and back again."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from annotate.models import Event, Exclusion, StageItem
from annotate.services import assigning, resolving
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
