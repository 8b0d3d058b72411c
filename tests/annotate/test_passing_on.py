"""What follows from counted votes: new items and places in the next stage, more people, an adjudicator."""

from __future__ import annotations

import pytest
from django.utils import timezone

from annotate.models import Annotation, Event, Feed, Gold, Item, ItemKey, Resolution, StageItem
from annotate.services import assigning, projects, resolving
from annotate.services.assigning import Left
from annotate.services.excluding import exclude_person
from annotate.services.submitting import revise_annotation
from annotate.sources.mapping import hash_content
from tests.factories import (
    SHORT_ANSWER,
    YES_NO,
    make_annotation,
    make_assignment,
    make_item,
    make_item_set,
    make_member,
    make_project,
    make_stage,
    make_stage_item,
)

pytestmark = pytest.mark.django_db

REWRITE_FORM = [
    {"name": "question", "type": "text", "caption": "The question"},
    {**YES_NO[0], "decides": False},
]
PAIRS_FORM = [{"name": "one", "type": "text", "caption": "One"}]
REWRITE_RECIPE = {
    "content": [["question", "answer.question"], ["claim", "item.claim"]],
    "gold": [["label", "answer.label"]],
}


@pytest.fixture
def study():
    """A rewrite stage that feeds a label stage."""

    class Study:
        project = make_project()
        rewrite = make_stage(project, form=REWRITE_FORM, kind="rewrite", shown_keys=["claim"])
        label = make_stage(project, overlap=2)
        feed = Feed.objects.create(source=rewrite, target=label, recipe=REWRITE_RECIPE)
        claim = make_item(project, [["claim", "Water is wet."]], external_id="c7", strata=[["domain", "physics"]])
        place = make_stage_item(rewrite, claim)
        writer = make_member(project, group="A")

    return Study()


def write(study, question: str = "Is water wet?", label: str = "yes"):
    annotation = make_annotation(study.place, study.writer, {"question": question, "label": label})
    resolving.resolve_due()
    return annotation


def test_a_rewritten_claim_becomes_an_item_of_the_next_stage(study):
    annotation = write(study)
    child = Item.objects.get(parent=study.claim)
    assert (child.external_id, child.root, child.author) == ("c7/1", study.claim, study.writer)
    assert (child.source, child.source_position) == (annotation.assignment, 0)
    revision = child.revisions.get()
    assert revision.content == [["question", "Is water wet?"], ["claim", "Water is wet."]]
    assert (revision.annotation, revision.language) == (annotation, "en")
    assert ItemKey.objects.get(item=child).strata == [["domain", "physics"]]
    gold = Gold.objects.get(item=child)
    assert (gold.field, gold.answers, gold.origin, gold.made_by) == ("label", ["yes"], "author", study.writer)
    place = StageItem.objects.get(stage=study.label)
    assert (place.revision, place.author, place.wanted, place.author_group) == (revision, study.writer, 2, "")
    assert Event.objects.filter(verb="stage.fed", subject_id=study.label.pk).count() == 1


def test_counting_again_makes_nothing_twice(study):
    write(study)
    StageItem.objects.update(due_at=timezone.now())
    resolving.resolve_due()
    assert Item.objects.filter(parent=study.claim).count() == 1
    assert StageItem.objects.filter(stage=study.label).count() == 1


def test_its_writer_does_not_get_it(study):
    write(study)
    assert assigning.claim_next(stage=study.label, person=study.writer).kind == Left.NOBODY_ELIGIBLE
    other = make_member(study.project)
    assert assigning.claim_next(stage=study.label, person=other).stage_item.revision.item.parent == study.claim


def revise(study, annotation, **answer):
    revise_annotation(
        assignment=annotation.assignment,
        answer={"question": "Is water wet?", "label": "yes"} | answer,
        client_key="again",
        stage_version=annotation.stage_version,
    )
    resolving.resolve_due()


def test_a_changed_answer_revises_the_item_and_moves_places_that_nobody_took(study):
    revise(study, write(study), question="Is all water wet?", label="no")
    child = Item.objects.get(parent=study.claim)
    current = child.revisions.get(is_current=True)
    assert (current.number, current.content[0]) == (2, ["question", "Is all water wet?"])
    assert StageItem.objects.get(stage=study.label).revision == current
    assert list(Gold.objects.filter(item=child).order_by("version").values_list("answers", "is_current")) == [
        (["yes"], False),
        (["no"], True),
    ]


def test_a_changed_answer_leaves_what_people_have_answered(study):
    annotation = write(study)
    place = StageItem.objects.get(stage=study.label)
    make_annotation(place, make_member(study.project), {"label": "yes"})
    seen = place.revision
    revise(study, annotation, question="Is all water wet?")
    place.refresh_from_db()
    assert place.revision == seen


def test_words_that_others_have_put_right_stay(study):
    # A reviewer has reworded the item; counting its author's answer again put the first words back.
    annotation = write(study)
    child = Item.objects.get(parent=study.claim)
    child.revisions.update(is_current=False)
    content = [["question", "Is water ever dry?"], ["claim", "Water is wet."]]
    better = child.revisions.create(number=2, content=content, content_hash=hash_content(content), language="en")
    StageItem.objects.update(due_at=timezone.now())
    resolving.resolve_due()
    assert child.revisions.get(is_current=True) == better
    revise(study, annotation, question="Is all water wet?")
    assert child.revisions.get(is_current=True) == better


def test_what_its_author_takes_back_and_gives_again_is_offered_again():
    project = make_project()
    form = [{"name": "pairs", "type": "qa_pairs", "caption": "Pairs"}]
    author = make_stage(project, form=form, kind="author", shown_keys=["table"])
    last = make_stage(project, form=SHORT_ANSWER, kind="answer")
    recipe = {"each": "pairs", "content": [["question", "each.question"]], "gold": [["answer", "each.answer"]]}
    Feed.objects.create(source=author, target=last, recipe=recipe)
    pairs = [{"question": f"Which is number {n}?", "answer": str(n)} for n in range(3)]
    place = make_stage_item(author, make_item(project, [["table", "1, 2, 3"]]))
    annotation = make_annotation(place, make_member(project), {"pairs": pairs})
    resolving.resolve_due()
    first, second, third = last.stage_items.order_by("rank")
    # An admin has withdrawn what three people had skipped.
    for _ in range(3):
        make_assignment(second, make_member(project), state="skipped", skip_reason="broken", slot=None)
        second.active = 0
    StageItem.objects.filter(pk=second.pk).update(state="withdrawn", active=0)

    def give(n: int, key: str) -> list[str]:
        revise_annotation(
            assignment=annotation.assignment,
            answer={"pairs": pairs[:n]},
            client_key=key,
            stage_version=annotation.stage_version,
        )
        resolving.resolve_due()
        return [StageItem.objects.get(pk=one.pk).state for one in (first, second, third)]

    assert give(1, "fewer") == ["open", "withdrawn", "withdrawn"]
    assert give(3, "all") == ["open", "withdrawn", "open"]


def test_gold_that_others_repaired_outranks_the_author(study):
    annotation = write(study)
    child = Item.objects.get(parent=study.claim)
    Gold.objects.filter(item=child).update(is_current=False)
    Gold.objects.create(item=child, field="label", version=2, answers=["not_sure"], origin="adjudicator")
    revise(study, annotation, label="no")
    assert Gold.objects.get(item=child, is_current=True).answers == ["not_sure"]


def test_an_excluded_writer_feeds_nothing(study):
    make_annotation(study.place, study.writer, {"question": "Is water wet?", "label": "yes"})
    exclude_person(project=study.project, person=study.writer, reason="a test", by=make_member(study.project, "admin"))
    resolving.resolve_due()
    assert not Item.objects.filter(parent=study.claim).exists()


def test_children_of_one_root_stand_together_however_late_they_come(study):
    other = make_item(study.project, [["claim", "Fire is hot."]])
    place = make_stage_item(study.rewrite, other)
    study.rewrite.stage_items.update(wanted=3)
    for turn in range(3):
        for one in (study.place, place):
            one.refresh_from_db()
            make_annotation(one, make_member(study.project), {"question": f"Number {turn}?", "label": "yes"})
            resolving.resolve_due()
    queue = StageItem.objects.filter(stage=study.label).order_by("rank")
    assert [row.revision.item.parent_id for row in queue] == [study.claim.pk] * 3 + [other.pk] * 3


def test_a_decided_item_goes_on_as_itself_and_its_voters_do_not_meet_it_again():
    project = make_project()
    label, review = make_stage(project, overlap=2), make_stage(project, kind="review")
    Feed.objects.create(source=label, target=review, rule="decided", recipe={"when": [["label", ["yes"]]]})
    agreed, tied, other = (make_stage_item(label) for _ in range(3))
    first, second = make_member(project), make_member(project)
    for place, votes in ((agreed, ("yes", "yes")), (tied, ("yes", "no")), (other, ("no", "no"))):
        for person, vote in zip((first, second), votes, strict=True):
            make_annotation(place, person, {"label": vote})
    resolving.resolve_due()
    place = StageItem.objects.get(stage=review)
    assert (place.revision, place.source) == (agreed.revision, agreed)
    assert assigning.claim_next(stage=review, person=first).kind == Left.NOBODY_ELIGIBLE
    assert assigning.claim_next(stage=review, person=make_member(project)).stage_item == place


class TestEscalation:
    def make(self, *votes: str, **fields):
        project = make_project()
        self.judges = make_stage(project, kind="adjudicate", roles=["adjudicator"])
        stage = make_stage(project, overlap=2, escalate_by=1, adjudicated_in=self.judges, **fields)
        self.place = make_stage_item(stage)
        self.vote(*votes)
        return self.place

    def vote(self, *votes: str):
        self.place.refresh_from_db()
        for vote in votes:
            made = make_annotation(self.place, make_member(self.place.stage.project), {"label": vote})
            made.assignment.round = self.place.round
            made.assignment.save()
        resolving.resolve_due()
        self.place.refresh_from_db()

    def status(self) -> tuple:
        row = Resolution.objects.get(stage_item=self.place)
        return row.status, row.answer, row.round

    def test_no_majority_asks_more_people(self):
        place = self.make("yes", "no")
        assert (place.round, place.wanted) == (2, 3)
        assert not self.judges.stage_items.exists()
        self.vote("yes")
        assert self.status() == ("majority", "yes", 2)
        assert (self.place.round, self.place.wanted) == (2, 3)

    def test_counting_the_same_round_again_opens_no_further_one(self):
        place = self.make("yes", "no")
        StageItem.objects.filter(pk=place.pk).update(due_at=timezone.now())
        resolving.resolve_due()
        place.refresh_from_db()
        assert (place.round, place.wanted) == (2, 3)

    def test_a_majority_asks_nobody(self):
        place = self.make("yes", "yes")
        assert (place.round, place.wanted) == (1, 2)

    def test_what_is_not_complete_waits(self):
        project = make_project()
        self.place = make_stage_item(make_stage(project, overlap=3, escalate_by=2))
        self.vote("yes", "no")
        assert (self.place.round, self.place.wanted) == (1, 3)

    def test_in_the_end_an_adjudicator_is_asked_once(self):
        self.make("yes", "no")
        self.vote("not_sure")
        assert (self.place.round, self.place.wanted) == (2, 3)
        waiting = self.judges.stage_items.get()
        assert (waiting.source, waiting.revision, waiting.wanted) == (self.place, self.place.revision, 1)
        StageItem.objects.update(due_at=timezone.now())
        resolving.resolve_due()
        assert self.judges.stage_items.count() == 1

    def test_the_adjudicator_outranks_the_vote_and_a_withdrawn_word_gives_it_back(self):
        self.make("yes", "no")
        self.vote("not_sure")
        judge = make_member(self.judges.project, "adjudicator")
        word = make_annotation(self.judges.stage_items.get(), judge, {"label": "no"})
        resolving.resolve_due()
        row = Resolution.objects.get(stage_item=self.place)
        assert (row.status, row.answer, row.adjudication, row.n_votes) == ("adjudicated", "no", word, 3)
        # Excluding the adjudicator's answers makes both places due again.
        exclude_person(
            project=judge_project(self), person=judge, reason="a test", by=make_member(judge_project(self), "admin")
        )
        resolving.resolve_due()
        assert self.status()[:2] == ("tie", None)

    def test_another_overlap_leaves_what_was_opened(self):
        place = self.make("yes", "no")
        stage = place.stage
        projects.change_stage(
            stage=stage,
            by=make_member(stage.project, "admin"),
            title=stage.title,
            overlap=2,
            lease_minutes=31,
            order=stage.order,
            is_closed_book=True,
            time_limit_seconds=None,
            permitted_sources="",
        )
        projects.change_stage(
            stage=stage,
            by=make_member(stage.project, "admin"),
            title=stage.title,
            overlap=1,
            lease_minutes=31,
            order=stage.order,
            is_closed_book=True,
            time_limit_seconds=None,
            permitted_sources="",
        )
        place.refresh_from_db()
        assert place.wanted == 2


def judge_project(case):
    return case.judges.project


def test_in_a_cross_check_nobody_gets_what_their_group_wrote():
    project = make_project()
    stage = make_stage(project, is_cross_group=True)
    ann, abe = make_member(project, group="A"), make_member(project, group="A")
    bea = make_member(project, group="B")
    item = make_item(project, author=ann)
    projects.add_items_to_stage(stage=stage, item_set=make_item_set(project, [item]))
    assert stage.stage_items.get().author_group == "A"
    for person in (ann, abe):
        assert assigning.claim_next(stage=stage, person=person).kind == Left.NOBODY_ELIGIBLE
    assert assigning.claim_next(stage=stage, person=bea).stage_item.revision.item == item


class TestDisputes:
    """The most disputed item is adjudicated first, whenever it arrived."""

    def make(self, *elections: str, **fields) -> list[StageItem]:
        project = make_project()
        self.judges = make_stage(project, kind="adjudicate", roles=["adjudicator"], form=SHORT_ANSWER)
        self.stage = make_stage(project, overlap=4, adjudicated_in=self.judges, form=SHORT_ANSWER, **fields)
        places = []
        for votes in elections:
            places.append(make_stage_item(self.stage))
            for vote in votes:
                make_annotation(places[-1], make_member(project), {"answer": vote})
            resolving.resolve_due()
        return places

    def test_the_smallest_margin_first_then_the_most_different_answers(self):
        plurality, pairs, all_different = self.make("aabc", "aabb", "abcd")
        waiting = [place.source for place in self.judges.stage_items.order_by("rank")]
        assert waiting == [all_different, pairs, plurality]

    def test_adjudicators_get_what_arrived_after_they_had_read_on(self):
        plurality, later = self.make("aabc", "abcd")
        judge = make_member(self.judges.project, "adjudicator")
        self.judges.participations.create(person=judge, rank=self.judges.stage_items.get(source=plurality).rank - 1)
        assert assigning.claim_next(stage=self.judges, person=judge).stage_item.source == later

    def test_what_the_votes_decide_meanwhile_is_called_off_and_may_come_back(self):
        (place,) = self.make("aabb")
        waiting = self.judges.stage_items.get()
        turned = Annotation.objects.filter(assignment__stage=self.stage, answer__answer="b").first()

        def turn(answer: str, key: str) -> str:
            revise_annotation(
                assignment=turned.assignment,
                answer={"answer": answer},
                client_key=key,
                stage_version=turned.stage_version,
            )
            resolving.resolve_due()
            waiting.refresh_from_db()
            return waiting.state

        assert turn("a", "one") == "withdrawn"
        assert turn("c", "two") == "open"
        assert self.judges.stage_items.get().source == place

    def test_what_an_adjudicator_has_met_is_not_called_off(self):
        self.make("aabb")
        waiting = self.judges.stage_items.get()
        assigning.claim_next(stage=self.judges, person=make_member(self.judges.project, "adjudicator"))
        turned = Annotation.objects.filter(assignment__stage=self.stage, answer__answer="b").first()
        revise_annotation(
            assignment=turned.assignment,
            answer={"answer": "a"},
            client_key="one",
            stage_version=turned.stage_version,
        )
        resolving.resolve_due()
        waiting.refresh_from_db()
        assert waiting.state == "open"

    def test_equal_keys_are_no_dispute(self):
        project = make_project()
        stage = make_stage(project, overlap=3, escalate_by=3, form=SHORT_ANSWER)
        place = make_stage_item(stage)
        for vote in ("365 days", "one year", "12 months"):
            make_annotation(place, make_member(project), {"answer": vote})
        resolving.resolve_due()
        place.refresh_from_db()
        assert (place.round, place.wanted) == (1, 3)
        assert Resolution.objects.get(stage_item=place).status == "unanimous"


def test_whoever_adjudicated_an_item_does_not_answer_it_afterwards():
    project = make_project()
    judges = make_stage(project, kind="adjudicate", roles=["adjudicator"])
    stage = make_stage(project, overlap=2, adjudicated_in=judges, roles=["annotator", "adjudicator"])
    place = make_stage_item(stage)
    for vote in ("yes", "no"):
        make_annotation(place, make_member(project), {"label": vote})
    resolving.resolve_due()
    judge = make_member(project, "adjudicator")
    assert assigning.claim_next(stage=judges, person=judge).stage_item.source == place
    StageItem.objects.filter(pk=place.pk).update(wanted=3)
    assert assigning.claim_next(stage=stage, person=judge).kind == Left.NOBODY_ELIGIBLE
    assert assigning.claim_next(stage=stage, person=make_member(project)).stage_item == place
