"""A study whose report has every section: exclusions, an audit with repaired errors, both kinds of judging, a grid."""

from __future__ import annotations

from dataclasses import dataclass

from annotate.models import Annotation, Gold, ItemSetEntry, Person, Stage
from annotate.services import auditing
from annotate.services.auditing import Labels
from annotate.services.excluding import exclude_annotation, exclude_item, exclude_person
from annotate.stage_kinds import KINDS, first_fields
from evaluation.models import CandidateOrigin
from evaluation.services.judging import Draw, draw_judge_sample
from tests.evaluation.studies import Study, make_study
from tests.factories import make_annotation, make_member, make_stage

SPEED, BAD_ITEM = "median under 2 s", "bad item"


@dataclass
class WholeStudy:
    study: Study
    audit: Stage
    reviewers: list[Person]
    judges: Stage
    better: Stage


def make_whole_study(n_items: int = 36, **fields: object) -> WholeStudy:
    study = make_study(n_items, n_people=4, n_of_table=0, **fields)  # type: ignore[arg-type]
    leave_out(study)
    audit, reviewers = audited(study)
    return WholeStudy(study, audit, reviewers, judged(study, "verdict"), judged(study, "better"))


def leave_out(study: Study) -> None:
    """The first person, one answer of the second person, and the last two items."""
    exclude_person(project=study.project, person=study.people[0], by=study.admin, reason="much too fast", rule=SPEED)
    answers = Annotation.objects.filter(assignment__person=study.people[1], assignment__stage=study.stage)
    exclude_annotation(annotation=answers.order_by("pk").first(), by=study.admin, reason="typed by mistake")
    for item in study.items[-2:]:
        exclude_item(item=item, by=study.admin, reason="two readings", rule=BAD_ITEM)


def audited(study: Study, k: int = 6) -> tuple[Stage, list[Person]]:
    """k gold labels of each label; of the first two drawn both reviewers say that another is right, and one of them is
    repaired to that; the second reviewer is unsure of the third."""
    reviewers = [make_member(study.project, "meta_reviewer") for _ in range(2)]
    form = [dict(field) for field in KINDS["audit"].fields]
    stage = make_stage(
        study.project, kind="audit", title="Audit of gold", roles=["meta_reviewer"], overlap=2, state="open", form=form
    )
    asked = {"labels": Labels("label"), "keys": ["domain"], "by_label": True}
    drawn = auditing.draw_audit(stage=stage, by=study.admin, k=k, seed=5, **asked)
    places = stage.stage_items.in_bulk()
    order = list(ItemSetEntry.objects.filter(item_set=drawn.audit.item_set).order_by("position").values("revision"))
    by_revision = {place.revision_id: place for place in places.values()}
    for at, entry in enumerate(order):
        place = by_revision[entry["revision"]]
        gold = Gold.objects.get(item=place.revision.item, field="label", is_current=True)
        other = next(label for label in ("yes", "no") if [label] != gold.answers)
        for number, person in enumerate(reviewers):
            verdict = {"verdict": "right"}
            if at < 2:
                verdict = {"verdict": "wrong", "correction": other}
            elif at == 2 and number:
                verdict = {"verdict": "unsure"}
            make_annotation(place, person, {"verdict": verdict})
        if at == 0:
            Gold.objects.filter(pk=gold.pk).update(is_current=False)
            gold.pk, gold.version, gold.answers, gold.is_current = None, gold.version + 1, [other], True
            gold.save()
    Stage.objects.filter(pk=stage.pk).update(state="closed")
    return stage, reviewers


def judged(study: Study, variant: str) -> Stage:
    """A draw from both runs, with two judges, who agree on all but every fifth candidate."""
    judges = make_stage(
        study.project, kind="judge", title=f"Judges, {variant}", form=first_fields("judge", variant), overlap=2, seed=11
    )
    draw_judge_sample(stage=judges, by=study.admin, draw=Draw(runs=study.runs, n=20, seed=11))
    said = ("right", "wrong") if variant == "verdict" else ("first", "tie")
    people = [make_member(study.project) for _ in range(2)]
    gold = {
        origin.candidate_id: origin.prediction.answer in [{"label": answer} for answer in _gold(origin)]
        for origin in CandidateOrigin.objects.filter(sample__stage=judges).select_related("prediction__revision__item")
    }
    for at, place in enumerate(judges.stage_items.order_by("rank")):
        first = said[0] if gold[place.candidate_id] else said[1]
        second = said[1] if at % 5 == 4 else first
        for person, judgement in zip(people, (first, second), strict=True):
            make_annotation(place, person, {"judgement": judgement})
    Stage.objects.filter(pk=judges.pk).update(state="closed")
    return judges


def _gold(origin: CandidateOrigin) -> list[str]:
    gold: Gold = origin.prediction.revision.item.golds.get(field="label", is_current=True)
    return list(gold.answers)
