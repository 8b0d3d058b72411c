"""Drawing an audit: which labels, by which seed, frozen, and in whose hands they may come."""

from __future__ import annotations

import threading
from collections import Counter

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from annotate.answers import AnswerInvalid, fields_from_json
from annotate.exceptions import FeedNotPossible, StageNotReady, WorkNotPossible
from annotate.models import Annotation, Assignment, Audit, Event, Gold, Item, ItemSet, Resolution, StageItem
from annotate.sampling import draw_simple, draw_stratified, shuffled
from annotate.services import assigning, auditing, feeds, projects, resolving
from annotate.services.assigning import Left
from annotate.services.auditing import Labels
from annotate.services.excluding import exclude_item
from annotate.services.gold_labels import write_gold
from annotate.services.gold_proposals import accept_proposal, answer_hash, refuse_proposal
from annotate.stage_forms import FeedForm
from tests.annotate.audits import AuditStudy
from tests.executed import statements
from tests.factories import make_annotation, make_item_set, make_member, make_stage, make_stage_item

KEYS = st.lists(st.tuples(st.text(max_size=4), st.sampled_from("abc")), unique_by=lambda pair: pair[0], max_size=30)


@given(KEYS, st.integers(1, 5), st.integers(0, 99))
def test_a_stratum_is_drawn_as_if_it_were_alone(rows, k, seed):
    keys, strata = [key for key, _ in rows], [stratum for _, stratum in rows]
    drawn = draw_stratified(keys, strata, k, seed=seed)
    assert set(drawn) == set(strata)
    for stratum, places in drawn.items():
        own = [key for key, each in rows if each == stratum]
        alone = [own[place] for place in draw_simple(own, min(k, len(own)), seed=seed)]
        assert [keys[place] for place in places] == alone


@pytest.mark.parametrize(("keys", "strata", "k"), [(["a"], [], 1), (["a"], ["x"], 0), (["a", "a"], ["x", "y"], 1)])
def test_what_cannot_be_drawn_by_strata_is_refused(keys, strata, k):
    with pytest.raises(ValueError, match=r"one stratum|cannot draw|twice"):
        draw_stratified(keys, strata, k, seed=0)


def test_the_order_of_a_queue_is_another_than_that_of_the_draw():
    keys = [f"item-{n}" for n in range(50)]
    assert sorted(shuffled(keys, seed=1)) == list(range(50))
    assert shuffled(keys, seed=1) != shuffled(keys, seed=2)
    assert set(shuffled(keys, seed=1)[:5]) != set(draw_simple(keys, 5, seed=1))


@pytest.fixture
def study(db) -> AuditStudy:
    return AuditStudy()


def test_k_labels_of_every_stratum_are_drawn_and_short_ones_taken_whole(study):
    made = study.draw(k=3)
    assert [(one.values, one.n_population, one.n_drawn, one.n_short) for one in made.strata] == [
        (("adversarial", "yes"), 6, 3, 0),
        (("adversarial", "no"), 4, 3, 0),
        (("adversarial", "not_sure"), 0, 0, 3),
        (("science", "yes"), 5, 3, 0),
        (("science", "no"), 2, 2, 1),
        (("science", "not_sure"), 4, 3, 0),
    ]
    assert (made.n_population, made.n_drawn, made.n_unlabelled, made.n_excluded) == (21, 14, 0, 0)
    assert [one.values for one in made.short] == [("adversarial", "not_sure"), ("science", "no")]
    item_set = ItemSet.objects.get()
    assert (item_set.seed, item_set.n_population, item_set.n_items) == (5, 21, 14)
    entries = list(item_set.entries.order_by("position").select_related("revision__item"))
    assert [entry.inclusion_probability for entry in entries] == [
        *([3 / 6] * 3), *([3 / 4] * 3), *([3 / 5] * 3), *([1.0] * 2), *([3 / 4] * 3),
    ]  # fmt: skip
    names = [f"adversarial-yes-{k}" for k in range(6)]
    assert [entry.revision.item.external_id for entry in entries[:3]] == [
        names[place] for place in draw_simple(names, 3, seed=5)
    ]
    # Each place of the set is in the stratum that it was drawn of.
    for entry in entries:
        domain, label = made.strata[made.stratum_at(entry.position)].values
        assert entry.revision.item.external_id.startswith(f"{domain}-{label}-")
    assert Event.objects.get(verb="audit.drawn").detail["n"] == 14


def test_what_was_drawn_is_read_back_as_it_was_made(study):
    made = study.draw(k=3)
    assert auditing.draw_made(study.stage) == made
    assert auditing.draw_made(study.labels) is None


def test_the_same_draw_again_is_the_one_that_was_made_and_any_other_is_refused(study):
    everything = make_item_set(study.project, list(study.project.items.all()), name="everything")
    made = study.draw(k=3)
    places = list(study.stage.stage_items.order_by("rank").values_list("pk", flat=True))
    # Also when a draw of today would come to something else.
    study.add("science", "yes", "later")
    assert study.draw(k=3) == made
    assert list(study.stage.stage_items.order_by("rank").values_list("pk", flat=True)) == places
    assert Event.objects.filter(verb="audit.drawn").count() == Audit.objects.count() == ItemSet.objects.count() - 1 == 1
    for other in (
        {"k": 2}, {"seed": 6}, {"keys": []}, {"by_label": False},
        {"labels": Labels("label", population=everything)}, {"labels": Labels("label", stage=study.labels)},
        {"labels": Labels("label", label_set="fine")}, {"labels": Labels("other")},
    ):  # fmt: skip
        with pytest.raises(WorkNotPossible, match="drawn already, by seed 5"):
            study.draw(**{"k": 3} | other)


def test_each_label_is_frozen_beside_its_item_in_an_order_that_tells_no_stratum(study):
    study.draw(k=3)
    places = list(study.stage.stage_items.order_by("rank").select_related("candidate", "revision__item"))
    assert [place.rank for place in places] == list(range(14))
    assert {place.wanted for place in places} == {2}
    for place in places:
        _, label, _ = place.revision.item.external_id.split("-")
        assert place.candidate.content == [["label", [label]]]
    names = [place.revision.item.external_id for place in places]
    assert names != sorted(names)
    # Repairing gold changes nothing of what is audited.
    item = places[0].revision.item
    write_gold(item=item, field="label", answers=["no"], origin="expert", made_by=study.admin)
    assert StageItem.objects.get(pk=places[0].pk).candidate.content == places[0].candidate.content


def test_the_verdict_offers_the_labels_as_corrections(study):
    study.draw()
    verdict = fields_from_json(study.stage.versions.get().fields)[0]
    assert [(option.value, option.caption) for option in verdict.options] == [
        ("yes", "Yes"), ("no", "No"), ("not_sure", "Not sure enough"),
    ]  # fmt: skip


def test_labels_that_no_stage_asks_for_are_offered_as_they_are(study):
    study.labels.versions.update(fields=[{"name": "other", "type": "text", "caption": "Other"}])
    made = study.draw()
    assert (made.field.type, [option.value for option in made.field.options]) == ("choice", ["no", "not_sure", "yes"])


def test_a_plan_says_what_a_draw_would_give_and_writes_nothing(study):
    asked = {"labels": Labels("label"), "keys": ["domain"], "by_label": True, "k": 3, "seed": 5}
    plan = auditing.plan_draw(stage=study.stage, **asked)
    assert not ItemSet.objects.exists()
    assert not study.stage.stage_items.exists()
    assert plan.strata == study.draw().strata


def test_strata_of_any_keys_are_combined_and_items_without_a_value_are_one(study):
    study.add("", "yes", "nowhere")
    both = study.add("science", "yes", "twice")
    both.key.strata = [["domain", "science"], ["domain", "adversarial"]]
    both.key.save()
    plan = auditing.plan_draw(
        stage=study.stage, labels=Labels("label"), k=1, keys=["domain", "hops"], by_label=False, seed=1
    )
    assert {one.values: one.n_population for one in plan.strata} == {
        ("(none)", "(none)"): 1,
        ("adversarial", "(none)"): 10,
        ("adversarial; science", "(none)"): 1,
        ("science", "(none)"): 11,
    }
    whole = auditing.plan_draw(stage=study.stage, labels=Labels("label"), k=4, keys=[], by_label=False, seed=1)
    assert [(one.values, one.n_population, one.n_drawn) for one in whole.strata] == [((), 23, 4)]


def test_unlabelled_and_excluded_items_are_no_population_and_told(study):
    study.add("science", "", "bare")
    excluded = study.project.items.get(external_id="science-no-0")
    exclude_item(item=excluded, by=study.admin, reason="broken", rule="bad item")
    taken_back = study.project.items.get(external_id="science-no-1")
    Gold.objects.filter(item=taken_back).update(answers=[])
    made = study.draw()
    assert (made.n_unlabelled, made.n_excluded, made.n_population) == (2, 1, 19)
    assert next(one for one in made.strata if one.values == ("science", "no")).n_population == 0


def test_only_items_of_a_set_are_drawn_and_its_own_chance_stays(study):
    items = list(study.project.items.filter(external_id__startswith="science-yes").order_by("external_id"))
    population = make_item_set(study.project, items, name="lite")
    population.entries.update(inclusion_probability=0.5)
    made = study.draw(k=2, labels=Labels("label", population=population))
    assert (made.n_population, made.n_drawn) == (5, 2)
    assert {entry.inclusion_probability for entry in made.audit.item_set.entries.all()} == {0.5 * 2 / 5}
    assert made.audit.item_set.rule["population"] == "lite"


def test_decisions_of_a_stage_are_audited_and_those_without_a_majority_told(study):
    voters = [make_member(study.project) for _ in range(2)]
    for n, item in enumerate(study.project.items.order_by("external_id")[:6]):
        place = make_stage_item(study.labels, item, wanted=2)
        for voter, label in zip(voters, ("yes", "no" if n == 0 else "yes"), strict=True):
            make_annotation(place, voter, {"label": label})
    resolving.resolve_due()
    made = study.draw(k=4, labels=Labels("label", stage=study.labels), keys=[])
    assert [(one.values, one.n_population, one.n_drawn) for one in made.strata] == [
        (("yes",), 5, 4), (("no",), 0, 0), (("not_sure",), 0, 0),
    ]  # fmt: skip
    assert made.n_unlabelled == 1
    assert made.audit.label_stage == study.labels
    assert {place.source.stage for place in study.stage.stage_items.all()} == {study.labels}


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        ({"k": 0}, "between 1 and 1,000"),
        ({"labels": Labels("colour")}, "No item has a gold label in “colour”"),
        ({"labels": Labels("label", label_set="fine")}, "No item has a gold label"),
    ],
)
def test_draws_that_make_no_sense_are_refused_and_write_nothing(study, asked, problem):
    with pytest.raises(WorkNotPossible, match=problem):
        study.draw(**asked)
    assert not Audit.objects.exists()
    assert not ItemSet.objects.exists()


def test_a_second_draw_another_kind_of_stage_and_a_form_without_a_verdict_are_refused(study):
    study.draw()
    with pytest.raises(WorkNotPossible, match="drawn already, by seed 5"):
        study.draw(seed=6)
    with pytest.raises(WorkNotPossible, match="No item has a decision"):
        auditing.plan_draw(
            stage=study.stage, labels=Labels("label", stage=study.labels), k=1, keys=[], by_label=True, seed=1
        )
    with pytest.raises(WorkNotPossible, match="in which people label"):
        auditing.plan_draw(
            stage=study.stage, labels=Labels("label", stage=study.stage), k=1, keys=[], by_label=True, seed=1
        )
    other = make_stage(study.project)
    with pytest.raises(WorkNotPossible, match="Only a stage that audits"):
        auditing.draw_audit(stage=other, by=None, labels=Labels("label"), k=1, keys=[], seed=1)
    mute = make_stage(study.project, kind="audit")
    with pytest.raises(WorkNotPossible, match="asks for no verdict"):
        auditing.draw_audit(stage=mute, by=None, labels=Labels("label"), k=1, keys=[], seed=1)


def test_nothing_else_comes_into_an_audit(study):
    items = make_item_set(study.project, list(study.project.items.all()))
    with pytest.raises(StageNotReady, match="come from a draw"):
        projects.add_items_to_stage(stage=study.stage, item_set=items)
    with pytest.raises(FeedNotPossible, match="come from a draw"):
        feeds.set_feed(source=study.labels, target=study.stage, by=study.admin, recipe={})
    assert study.stage not in FeedForm(stage=study.labels).fields["target"].queryset


def audited_by(study, person) -> set[str]:
    found = set()
    while isinstance(held := assigning.claim_next(stage=study.stage, person=person), Assignment):
        found.add(held.stage_item.revision.item.external_id)
        study.say(held, "right")
    assert held.kind in (Left.DONE, Left.NOBODY_ELIGIBLE)
    return found


def test_nobody_audits_what_they_wrote_labelled_or_made_gold_for(study):
    me = study.reviewers[0]
    wrote = study.add("science", "yes", "wrote", author=me)
    labelled, held = (study.add("science", "yes", name) for name in ("labelled", "held"))
    make_annotation(make_stage_item(study.labels, labelled), me, {"label": "yes"})
    place = make_stage_item(make_stage(study.project, kind="adjudicate", roles=["adjudicator"]), held)
    make_annotation(place, me, {"label": "yes"})
    golden = study.add("science", "", "golden")
    write_gold(item=golden, field="label", answers=["yes"], origin="expert", made_by=me)
    study.draw(k=100)
    everything = set(study.stage.stage_items.values_list("revision__item__external_id", flat=True))
    mine = {wrote.external_id, labelled.external_id, held.external_id, golden.external_id}
    assert mine <= everything
    assert audited_by(study, me) == everything - mine
    assert audited_by(study, study.reviewers[1]) == everything


def proposed(study, name: str) -> Resolution:
    """What somebody else voted for the item, against its gold label."""
    item = study.add("science", "no", name)
    make_annotation(make_stage_item(study.labels, item, wanted=1), make_member(study.project), {"label": "yes"})
    resolving.resolve_due()
    return Resolution.objects.get(stage_item__revision__item=item)


@pytest.mark.parametrize("step", [accept_proposal, refuse_proposal])
@pytest.mark.parametrize("later", [None, "by another"])
def test_nobody_audits_answers_or_labels_what_they_decided_outside_a_stage(study, step, later):
    me, other = study.reviewers
    writer = make_member(study.project)
    row = proposed(study, "decided")
    item = row.stage_item.revision.item
    # The author of an item is another than who decided its label, and a later label is somebody else's word.
    Item.objects.filter(pk=item.pk).update(author=writer)
    step(resolution=row, seen=answer_hash(row), by=me)
    if later:
        write_gold(item=item, field="label", answers=["not_sure"], origin="expert", made_by=study.admin)
    study.draw(k=100)
    assert "decided" not in audited_by(study, me)
    assert "decided" in audited_by(study, other)
    for kind in ("label", "answer", "rewrite"):
        stage = make_stage(study.project, kind=kind, roles=["meta_reviewer"])
        make_stage_item(stage, item)
        assert assigning.claim_next(stage=stage, person=me).kind == Left.NOBODY_ELIGIBLE
    # Judging what the votes say is another work: adjudicators who make labels go on with it.
    deciding = make_stage(study.project, kind="adjudicate", roles=["meta_reviewer"])
    make_stage_item(deciding, item)
    assert isinstance(assigning.claim_next(stage=deciding, person=me), Assignment)


def test_an_adjudicators_label_that_was_accepted_is_kept_from_both(study):
    me, other = study.reviewers
    row = proposed(study, "decided")
    place = make_stage_item(make_stage(study.project, kind="adjudicate"), row.stage_item.revision.item)
    word = make_annotation(place, make_member(study.project), {"label": "yes"})
    Resolution.objects.filter(pk=row.pk).update(status="adjudicated", adjudication=word)
    row.refresh_from_db()
    accept_proposal(resolution=row, seen=answer_hash(row), by=me)
    study.draw(k=100)
    assert "decided" not in audited_by(study, me)
    assert "decided" in audited_by(study, other)


def test_nobody_decides_about_an_error_in_a_label_that_they_decided(study):
    _me, other = study.reviewers
    row = proposed(study, "decided")
    accept_proposal(resolution=row, seen=answer_hash(row), by=study.admin)
    study.draw(k=100)
    audited = study.stage.stage_items.get(revision__item__external_id="decided")
    deciding = make_stage(study.project, kind="adjudicate", roles=["admin", "meta_reviewer"])
    make_stage_item(deciding, audited.revision.item, source=audited)
    assert assigning.claim_next(stage=deciding, person=study.admin).kind == Left.NOBODY_ELIGIBLE
    assert isinstance(assigning.claim_next(stage=deciding, person=other), Assignment)


def test_who_has_a_hand_in_gold_is_known_without_reading_it(study):
    row = proposed(study, "decided")
    accept_proposal(resolution=row, seen=answer_hash(row), by=study.reviewers[0])
    study.draw(k=2)
    with CaptureQueriesContext(connection) as queries:
        study.next_for(study.reviewers[0])
    asked = statements(queries)
    assert not [one for one in asked if "annotate_gold" in one]
    assert any("annotate_itemhand" in one for one in asked)


def test_who_has_audited_a_label_answers_the_item_no_more_and_may_audit_it_again(study):
    study.draw(k=1, keys=[], by_label=False)
    me = study.reviewers[0]
    item = study.next_for(me).stage_item.revision.item
    label = make_stage(study.project, roles=["meta_reviewer"])
    make_stage_item(label, item)
    assert assigning.claim_next(stage=label, person=me).kind == Left.NOBODY_ELIGIBLE
    assert isinstance(assigning.claim_next(stage=label, person=study.reviewers[1]), Assignment)
    again = make_stage(study.project, kind="audit", roles=["meta_reviewer"], form=study.stage.versions.get().fields)
    auditing.draw_audit(stage=again, by=None, labels=Labels("label"), k=100, keys=[], seed=1)
    met = set()
    while isinstance(held := assigning.claim_next(stage=again, person=me), Assignment):
        met.add(held.stage_item.revision.item_id)
        study.say(held, "right") if held.stage == study.stage else held.__class__.objects.filter(pk=held.pk).update(
            state="skipped", skip_reason="other", slot=None
        )
    assert item.pk in met


def test_a_voter_does_not_audit_the_decision(study):
    voter = study.reviewers[0]
    item = study.project.items.first()
    make_annotation(make_stage_item(study.labels, item, wanted=1), voter, {"label": "yes"})
    resolving.resolve_due()
    study.draw(labels=Labels("label", stage=study.labels), keys=[])
    assert study.next_for(voter).kind == Left.NOBODY_ELIGIBLE
    assert isinstance(study.next_for(study.reviewers[1]), Assignment)


def test_a_correction_is_another_label_and_belongs_to_what_is_wrong(study):
    study.draw()
    held = study.next_for(study.reviewers[0])
    label = held.stage_item.revision.item.external_id.split("-")[1]
    other = "no" if label != "no" else "yes"
    for verdict, correction, problem in (
        ("wrong", label, "the label that you call wrong"),
        ("right", other, "belongs to an answer that is wrong"),
        ("wrong", "perhaps", "among the answers shown"),
    ):
        with pytest.raises(AnswerInvalid, match=problem):
            study.say(held, verdict, correction)
    assert not Annotation.objects.exists()
    assert study.say(held, "wrong", other, "Look it up.").answer == {
        "verdict": {"verdict": "wrong", "correction": other},
        "note": "Look it up.",
    }


def test_a_reviewer_sees_what_is_left_of_the_draw_and_nothing_of_the_other(study):
    made = study.draw(k=3)
    me, other = study.reviewers

    def left(person):
        return {one.values: one.n_left for one in auditing.left_to_audit(stage=study.stage, person=person)}

    whole = {one.values: one.n_drawn for one in made.strata if one.n_drawn}
    assert left(me) == whole
    held = study.next_for(me)
    name = tuple(held.stage_item.revision.item.external_id.split("-")[:2])
    assert left(me) == whole
    study.say(held, "right")
    assert left(me) == whole | {name: whole[name] - 1}
    assert left(other) == whole
    assert sum(Counter(left(me)).values()) == 13


def work_page(study, person) -> str:
    client = Client()
    client.force_login(person)
    page = client.get(f"/work/{study.project.slug}/{study.stage.slug}/")
    assert page.status_code == 200
    return page.text


def left_told(page: str) -> str:
    return page[page.index('class="draw-left"') :].partition("</details>")[0]


def test_strata_that_reviewers_do_not_see_are_told_to_none_of_them(study):
    study.draw(k=3)
    told = left_told(work_page(study, study.reviewers[0]))
    assert "14 of 14 left to you" in told
    assert not [word for word in ("science", "adversarial", "domain", "Not sure enough", "<td") if word in told]
    client = Client()
    client.force_login(study.admin)
    assert "adversarial" in client.get(f"/p/{study.project.slug}/stages/{study.stage.slug}/").text


@pytest.mark.parametrize(
    ("content", "shown", "is_told"),
    [
        ([["domain", "science"]], ["question", "domain"], True),
        # One item says something else than its stratum, one says nothing, and what is not shown is not seen.
        ([["domain", "history"]], ["question", "domain"], False),
        ([], ["question", "domain"], False),
        ([["domain", "science"]], ["question"], False),
    ],
)
def test_strata_of_what_a_reviewer_sees_are_told(study, content, shown, is_told):
    for item in study.project.items.all():
        domain = [["domain", item.external_id.partition("-")[0]]]
        item.revisions.update(content=[["question", "?"], *domain])
    study.project.items.get(external_id="science-no-0").revisions.update(content=[["question", "?"], *content])
    study.stage.versions.update(shown_keys=shown)
    study.draw(k=100)
    told = left_told(work_page(study, study.reviewers[0]))
    assert ("<td><bdi>science</bdi></td>" in told) == is_told
    assert "21 of 21 left to you" in told


def test_the_label_itself_is_seen_and_told_as_a_stratum_and_no_strata_are_none(study):
    study.draw(k=2, keys=[])
    assert "<td><bdi>Not sure enough</bdi></td>" in left_told(work_page(study, study.reviewers[0]))
    plain = AuditStudy()
    plain.draw(k=2, keys=[], by_label=False)
    assert "<td" not in left_told(work_page(plain, plain.reviewers[0]))


@pytest.mark.django_db(transaction=True)
def test_of_two_draws_at_once_one_is_made():
    study = AuditStudy()
    start, refusals = threading.Barrier(2), []

    def draw(seed):
        try:
            start.wait(timeout=30)
            study.draw(seed=seed)
        except WorkNotPossible as refusal:
            refusals.append(str(refusal))
        finally:
            connection.close()

    threads = [threading.Thread(target=draw, args=[seed]) for seed in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert len(refusals) == 1
    assert "drawn already" in refusals[0]
    assert Audit.objects.count() == ItemSet.objects.count() == 1
    assert study.stage.stage_items.count() == 14
