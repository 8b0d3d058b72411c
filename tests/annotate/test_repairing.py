"""What an audit found wrong: on to adjudicators, once, and what has become of it since."""

from __future__ import annotations

import pytest

from annotate.exceptions import WorkNotPossible
from annotate.models import Annotation, Assignment, Decision, Event, Gold, Resolution, StageItem
from annotate.services import assigning, projects, resolving
from annotate.services.adjudicating import Ruling, adjudicate
from annotate.services.assigning import Left
from annotate.services.auditing import Labels, audited_labels, draw_made
from annotate.services.gold_labels import write_gold
from annotate.services.repairing import BY_ALL, BY_ALL_ALIKE, BY_ANY, found_wrong, repairs_of, send_errors
from annotate.services.votes import votes_about
from tests.annotate.audits import AuditStudy
from tests.factories import SHORT_ANSWER, YES_NO, make_annotation, make_member, make_stage, make_stage_item

pytestmark = pytest.mark.django_db

# What the two reviewers say of five labels, each "yes"; the rest is right.
SAID = {
    "science-yes-0": (("wrong", "no"), ("wrong", "no")),
    "science-yes-1": (("wrong", "no"), ("wrong", "not_sure")),
    "science-yes-2": (("wrong",), ("wrong",)),
    "science-yes-3": (("wrong", "no"), "right"),
    "science-yes-4": ("right", "unsure"),
}


class Repairs(AuditStudy):
    def __init__(self, **more) -> None:
        super().__init__({("science", "yes"): 6})
        self.judges = make_stage(
            self.project, kind="adjudicate", roles=["adjudicator"], form=YES_NO, options={"makes_gold": True}, **more
        )
        self.judge = make_member(self.project, "adjudicator")

    def audit(self, said=SAID, **draw) -> None:
        self.draw(k=10, **draw)
        self.audit_all(lambda number, name: said.get(name, ("right", "right"))[number])
        projects.close_stage(stage=self.stage, by=self.admin)

    def send(self, found_by: str = BY_ANY, target=None):
        return send_errors(stage=self.stage, target=target or self.judges, by=self.admin, found_by=found_by)

    def sent(self) -> set[str]:
        return set(self.judges.stage_items.values_list("revision__item__external_id", flat=True))

    def place(self, name: str) -> StageItem:
        return self.judges.stage_items.select_related("stage", "source__stage", "revision__item").get(
            revision__item__external_id=name
        )

    def decide(self, kind: str, label: str = "", **more) -> Annotation:
        """The adjudicator's word on the next item."""
        held = assigning.claim_next(stage=self.judges, person=self.judge)
        assert isinstance(held, Assignment)
        votes = votes_about(self.place(held.stage_item.revision.item.external_id))
        card = next((card.id for card in votes.cards if card.answer == {"label": label, "note": None}), "")
        ruling = Ruling(kind, votes.seen, card, {"label": label} if label else None, "I looked it up.", **more)
        return adjudicate(
            assignment=held,
            ruling=ruling,
            client_key=f"decides-{held.pk}",
            stage_version=self.judges.versions.get(is_current=True),
        )

    def states(self) -> dict[str, str]:
        made = draw_made(self.stage)
        wrong = [one for one in audited_labels(made) if one.wrong]
        repairs = repairs_of(made, wrong)
        return {one.external_id: repairs[one.place].state for one in wrong}


@pytest.fixture
def study() -> Repairs:
    return Repairs()


@pytest.mark.parametrize(
    ("found_by", "expected"),
    [
        (BY_ANY, {"science-yes-0", "science-yes-1", "science-yes-2", "science-yes-3"}),
        (BY_ALL, {"science-yes-0", "science-yes-1", "science-yes-2"}),
        (BY_ALL_ALIKE, {"science-yes-0"}),
    ],
)
def test_labels_go_on_that_somebody_or_everybody_calls_wrong(study, found_by, expected):
    study.audit()
    assert study.send(found_by).n_sent == len(expected)
    assert study.sent() == expected


def test_each_goes_on_once_whatever_is_asked_how_often(study):
    study.audit()
    assert study.send(BY_ALL_ALIKE).n_sent == 1
    again = study.send(BY_ANY)
    assert (again.n_sent, again.n_already) == (3, 1)
    assert (study.send(BY_ANY).n_sent, study.judges.stage_items.count()) == (0, 4)
    other = make_stage(study.project, kind="adjudicate", form=YES_NO)
    assert study.send(BY_ANY, target=other).n_sent == 0
    assert Event.objects.filter(verb="audit.errors_sent").count() == 4


def test_a_label_with_one_verdict_of_two_is_not_wrong_by_all(study):
    made = study.draw(k=10)
    study.say(study.next_for(study.reviewers[0]), "wrong", "no")
    one = next(one for one in audited_labels(made) if one.wrong)
    assert [found_wrong(made, one, by) for by in (BY_ANY, BY_ALL, BY_ALL_ALIKE)] == [True, False, False]


def test_errors_stay_while_verdicts_can_change_and_where_nobody_could_decide_them(study):
    study.draw(k=10)
    with pytest.raises(WorkNotPossible, match="Close the audit first"):
        study.send()
    projects.close_stage(stage=study.stage, by=study.admin)
    with pytest.raises(WorkNotPossible, match="does not ask for label"):
        study.send(target=make_stage(study.project, kind="adjudicate", form=SHORT_ANSWER))
    with pytest.raises(WorkNotPossible, match="in which adjudicators decide"):
        study.send(target=study.labels)
    with pytest.raises(WorkNotPossible, match="in which adjudicators decide"):
        study.send(target=make_stage(kind="adjudicate", form=YES_NO))
    with pytest.raises(WorkNotPossible, match="no rule called"):
        study.send("nobody")
    with pytest.raises(WorkNotPossible, match="Nothing was drawn"):
        send_errors(stage=study.labels, target=study.judges, by=study.admin, found_by=BY_ANY)


def test_an_adjudicator_sees_verdicts_as_votes_for_labels(study):
    study.audit()
    study.send()
    votes = votes_about(study.place("science-yes-1"))
    assert {card.answer["label"]: card.n for card in votes.cards} == {"no": 1, "not_sure": 1}
    assert (votes.audited, votes.leading, votes.others) == (("Yes",), None, ())
    split = votes_about(study.place("science-yes-3"))
    assert {card.answer["label"]: card.n for card in split.cards} == {"no": 1, "yes": 1}
    without = votes_about(study.place("science-yes-2"))
    assert (without.cards, without.others) == ((), (("wrong", ""), ("wrong", "")))
    # What the reviewers stored is as it was.
    assert Annotation.objects.filter(assignment__stage=study.stage, answer__has_key="label").count() == 0


def test_who_audited_a_label_does_not_decide_about_it(study):
    study.audit()
    study.send()
    me = study.reviewers[0]
    me.memberships.update(role="adjudicator")
    assert assigning.claim_next(stage=study.judges, person=me).kind == Left.NOBODY_ELIGIBLE


def test_a_decided_label_that_becomes_gold_is_repaired(study):
    study.audit()
    study.send(BY_ALL_ALIKE)
    assert study.states()["science-yes-0"] == "as_it_was"
    study.decide("taken", "no", is_gold=True)
    gold = Gold.objects.get(item__external_id="science-yes-0", is_current=True)
    assert (gold.answers, gold.origin, gold.version) == (["no"], "adjudicator", 2)
    assert Decision.objects.get().taken_from.assignment.stage == study.stage
    made = draw_made(study.stage)
    repaired = next(one for one in audited_labels(made) if one.external_id == "science-yes-0")
    repair = repairs_of(made, [repaired])[repaired.place]
    assert (repair.state, repair.now, repair.sent) == ("repaired", ("No",), "decided")


def test_what_became_of_each_error_is_told_apart(study):
    study.audit()
    study.send(BY_ALL_ALIKE)
    study.decide("bad")
    items = {item.external_id: item for item in study.project.items.all()}
    write_gold(item=items["science-yes-1"], field="label", answers=["not_sure"], origin="expert", made_by=study.admin)
    write_gold(item=items["science-yes-2"], field="label", answers=["no"], origin="expert", made_by=study.admin)
    Gold.objects.filter(item=items["science-yes-3"]).update(answers=[])
    assert study.states() == {
        "science-yes-0": "excluded",
        "science-yes-1": "repaired",
        "science-yes-2": "changed",  # nobody had said to what
        "science-yes-3": "taken_back",
    }


def test_the_label_that_was_audited_is_the_one_that_is_repaired_where_there_are_several(study):
    item = study.project.items.get(external_id="science-yes-0")
    Gold.objects.create(item=item, field="label", label_set="fine", answers=["yes"])
    study.audit({"science-yes-0": (("wrong", "no"),) * 2}, labels=Labels("label", label_set="fine"))
    study.send()
    study.decide("taken", "no", is_gold=True)
    current = dict(Gold.objects.filter(item=item, is_current=True).values_list("label_set", "answers"))
    assert current == {"": ["yes"], "fine": ["no"]}
    assert study.states() == {"science-yes-0": "repaired"}


def test_an_adjudicated_error_outranks_the_votes_that_were_audited():
    study = Repairs()
    voters = [make_member(study.project) for _ in range(2)]
    for item in study.project.items.all():
        place = make_stage_item(study.labels, item, wanted=2)
        for voter in voters:
            make_annotation(place, voter, {"label": "yes"})
    resolving.resolve_due()
    study.audit({"science-yes-0": (("wrong", "no"), ("wrong", "no"))}, labels=Labels("label", stage=study.labels))
    study.send()
    # Whoever voted does not decide about the audit of it either.
    voters[0].memberships.update(role="adjudicator")
    assert assigning.claim_next(stage=study.judges, person=voters[0]).kind == Left.NOBODY_ELIGIBLE
    decided = Resolution.objects.get(
        stage_item__stage=study.labels, stage_item__revision__item__external_id="science-yes-0"
    )
    assert (decided.status, decided.answer) == ("unanimous", "yes")
    study.decide("taken", "no")
    resolving.resolve_due()
    decided.refresh_from_db()
    assert (decided.status, decided.answer) == ("adjudicated", "no")
    assert study.states() == {"science-yes-0": "repaired"}
    # A vote that is counted again changes nothing of that, and nothing of what waits.
    StageItem.objects.filter(stage=study.labels).update(due_at="2020-01-01T00:00Z")
    resolving.resolve_due()
    decided.refresh_from_db()
    assert decided.status == "adjudicated"
