"""A project with a row of everything in it, awkward ones included, for the tests of exports and archives."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from annotate import events
from annotate.models import (
    Assignment,
    Candidate,
    Decision,
    Gold,
    GoldRefusal,
    GuidelineVersion,
    ItemRevision,
    Project,
    Stage,
    StageVersion,
)
from annotate.services import auditing, checks, qualifying, repairing, resolving, sampling
from annotate.services.auditing import Labels
from annotate.services.excluding import exclude_annotation, exclude_person, lift_exclusion
from annotate.services.flags import reopen_flag, settle_flags
from annotate.services.gold_labels import note_hands
from annotate.services.questions import answer_question, ask_question
from annotate.stage_kinds import KINDS, first_fields
from evaluation.services import judging
from tests.evaluation.studies import Study, make_study
from tests.factories import (
    SHORT_ANSWER,
    YES_NO,
    content_hash,
    make_annotation,
    make_assignment,
    make_item,
    make_item_set,
    make_member,
    make_prediction,
    make_run,
    make_stage,
    make_stage_item,
)

ODD = '=1+1 \u2028 line\u2029 end\x85 "quoted", טקסט, 中文, 👩🏽‍🔬 \\N \\ tab\t'


def make_whole_project() -> Study:
    """Two stages, versions of forms, guidelines, items and gold, skips, drafts, surplus, exclusions, runs, reports."""
    study = make_study(n_items=8, n_people=3)
    project, stage, admin = study.project, study.stage, study.admin
    Project.objects.filter(pk=project.pk).update(description=ODD, languages=["en", "zh-Hans"], current_date="1 May")
    project.refresh_from_db()
    first, second, third = study.people
    _second_stage(project, study)
    _decided(project, study)
    # Versions of what was written before.
    item = study.items[0]
    item.revisions.update(is_current=False)
    content = [["question", ODD], ["note", {"type": "grid", "rows": [["a", "b"]]}], ["question", "twice"]]
    ItemRevision.objects.create(item=item, number=2, content=content, content_hash=content_hash(content), language="zh")
    Gold.objects.filter(item=item).update(is_current=False)
    Gold.objects.create(item=item, field="label", version=2, answers=["no", "yes"], origin="expert", made_by=admin)
    Gold.objects.create(item=item, field="label", label_set="coarse", answers=["no"], made_by=first)
    StageVersion.objects.filter(stage=stage).update(is_current=False)
    old = StageVersion.objects.get(stage=stage)
    StageVersion.objects.create(
        stage=stage, number=2, fields=old.fields, shown_keys=["question", "note"], instruction=ODD
    )
    GuidelineVersion.objects.create(project=project, number=1, markdown=f"# Whole\n\n{ODD}")
    # What people did beside answering.
    late = make_annotation(make_stage_item(stage, make_item(project, external_id="00017")), first, {"label": "yes"})
    Assignment.objects.filter(pk=late.assignment_id).update(slot=None)
    late.is_current = False
    late.save()
    late.assignment.annotations.create(
        stage_version=old, number=2, answer={"label": "no"}, client_key="k", is_flagged=True, flag_note=ODD
    )
    open_item = make_stage_item(stage, make_item(project))
    make_assignment(open_item, second, draft={"label": "yes"}, draft_version=3)
    gone = make_stage_item(stage, make_item(project))
    make_assignment(gone, third, state="expired", slot=None)
    gone.active = 0
    gone.save()
    lifted = exclude_person(project=project, person=second, by=admin, reason="Too fast?", rule="speed")
    lift_exclusion(exclusion=lifted, by=admin)
    exclude_annotation(annotation=late.assignment.annotations.get(number=1), by=admin, reason=ODD)
    sampling.draw_item_set(population=study.item_set, by=admin, name="Half of them", n=4, seed=11)
    resolving.resolve_due()
    Candidate.objects.create(
        project=project, revision=item.revisions.get(number=2), content=[["answer", "2"]], content_hash="0" * 64
    )
    _audit(project, study)
    _runs(study)
    _judges(study)
    _quality(study)
    with transaction.atomic():
        events.record(verb="test.happened", subject=project, project_id=project.pk, text=ODD, number=1.5, none=None)
    # It scores all answers.
    study.made_report()
    asked = ask_question(
        project=project, person=first, text="Does zero count?", client_key="asked", about=late.assignment
    )
    answer_question(question=asked, by=admin, answer="It does.", is_pinned=True)
    flag = late.assignment.annotations.get(is_current=True)
    type(flag).objects.filter(pk=flag.pk).update(is_flagged=True, flag_note=ODD)
    assert settle_flags(project=project, flags=[flag.pk], by=admin, note=ODD) == 1
    reopen_flag(project=project, flag=flag, by=admin)
    return study


def _second_stage(project: Project, study: Study) -> None:
    stage = make_stage(project, form=SHORT_ANSWER, position=1, kind="answer", title="Short")
    item = make_stage_item(stage, study.items[1])
    make_annotation(item, study.people[0], {"answer": ODD, "why": None})
    make_annotation(
        make_stage_item(stage, study.items[2]), make_member(project), {"answer": "two", "why": "x" * 40_000}
    )


def _decided(project: Project, study: Study) -> None:
    """A dispute and its decision, an accepted label and a refused one."""
    judges = make_stage(project, kind="adjudicate", position=2, form=YES_NO, title="Judge", roles=["annotator"])
    stage = make_stage(project, position=3, title="Disputed", overlap=2, adjudicated_in=judges)
    place = make_stage_item(stage, study.items[3])
    votes = [
        make_annotation(place, person, {"label": label})
        for person, label in zip(study.people[:2], ("yes", "no"), strict=True)
    ]
    judged = make_stage_item(judges, study.items[3], source=place)
    annotation = make_annotation(judged, study.people[2], {"label": "no"})
    Decision.objects.create(
        annotation=annotation, kind="taken", taken_from=votes[1], reason=ODD, votes_hash="0" * 32, n_votes=2, n_alike=1
    )
    Gold.objects.create(
        item=study.items[3], field="label", version=2, answers=["no"], origin="adjudicator", is_current=False,
        made_by=study.people[2], accepted_by=study.admin, votes_of=stage,
    )  # fmt: skip
    note_hands(study.items[3], study.people[2], study.admin)
    GoldRefusal.objects.create(
        item=study.items[3], field="label", answer="no", answer_hash="0" * 64, reason=ODD, refused_by=study.admin
    )


def _quality(study: Study) -> None:
    """A check that somebody missed, attempts of each outcome, and places that an exclusion freed."""
    project, (first, second, third) = study.project, study.people
    stage = make_stage(
        project, position=6, title="Checked", overlap=1, check_every=5, tells_checks=True, qualification_size=1,
        qualification_mark=1,
    )  # fmt: skip
    gold = [make_item(project, gold={"label": ["yes"]}) for _ in range(4)]
    for purpose, items in (("check", gold[:1]), ("qualification", gold[1:])):
        item_set = make_item_set(project, items, name=f"known: {purpose}")
        checks.set_apart(stage=stage, item_set=item_set, purpose=purpose, by=study.admin)
    check = stage.stage_items.get(purpose="check")
    missed = make_annotation(check, first, {"label": "no"}, n_pastes=2, pasted_characters=70, n_away=1, away_seconds=9)
    Assignment.objects.filter(pk=missed.assignment_id).update(purpose="check")
    for person in (first, second):
        attempt = qualifying.begin(stage=stage, person=person, languages=[])
        place = attempt.places.get().stage_item
        tried = make_annotation(place, person, {"label": "yes" if person is first else "no"})
        Assignment.objects.filter(pk=tried.assignment_id).update(purpose="qualification")
        resolving.resolve_due()
    qualifying.set_aside(stage=stage, person=second, by=study.admin, reason=ODD)
    qualifying.let_pass(stage=stage, person=third, by=study.admin, reason=ODD)
    careless = make_annotation(make_stage_item(stage, make_item(project)), first, {"label": "no"})
    exclude_annotation(annotation=careless, by=study.admin, reason=ODD, rule="speed", collects_again=True)
    resolving.resolve_due()


def _judges(study: Study) -> None:
    """A draw of answers that people judge, equal ones and unreadable ones among them, and one judgement."""
    stage = make_stage(study.project, kind="judge", position=2, form=first_fields("judge", "verdict"), title="Judges")
    draw = judging.Draw(runs=tuple(study.runs), n=6, seed=3)
    judging.draw_judge_sample(stage=stage, by=study.admin, draw=draw)
    make_annotation(stage.stage_items.order_by("rank")[0], study.people[1], {"judgement": "right", "why": ODD})


def _audit(project: Project, study: Study) -> None:
    """Labels that were drawn, audited, and found wrong: one waits for an adjudicator."""
    form = [dict(field) for field in KINDS["audit"].fields]
    audit = make_stage(project, kind="audit", form=form, overlap=1, position=2, roles=["meta_reviewer"])
    auditing.draw_audit(stage=audit, by=study.admin, labels=Labels("label"), k=2, keys=["domain"], seed=7)
    reviewer = make_member(project, "meta_reviewer")
    for place in audit.stage_items.order_by("rank"):
        answer = (
            {"verdict": {"verdict": "wrong"}, "note": ODD} if place.rank == 0 else {"verdict": {"verdict": "right"}}
        )
        make_annotation(place, reviewer, answer)
    Stage.objects.filter(pk=audit.pk).update(state="closed")
    judges = make_stage(project, kind="adjudicate", position=3, roles=["adjudicator"])
    repairing.send_errors(stage=audit, target=judges, by=study.admin, found_by="any")


def _runs(study: Study) -> None:
    """One that was under way, one that never began."""
    run = make_run(study.stage, study.item_set, name="Under way", exemplar_set=study.item_set)
    type(run).objects.filter(pk=run.pk).update(state="cancelled", frozen_at=timezone.now())
    run.refresh_from_db()
    told = make_prediction(run, study.items[1], {"label": "yes"}, position=0)
    told.calls.update(logprobs=[[" yes", -0.25, [[ODD, -1.5]]]])
    make_prediction(run, study.items[2], None, position=1, state="cancelled", note=ODD)
    make_run(study.stage, study.item_set, name="A draft")
