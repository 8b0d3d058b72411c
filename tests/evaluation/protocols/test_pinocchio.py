"""Pinocchio, played: claims are rewritten, labelled again by the other group, audited, settled, answered and asked."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from annotate.models import Gold, Item
from annotate.services import auditing, cross_checking, grouping, repairing
from annotate.services.auditing import Labels
from annotate.services.protocols import planned_draw
from annotate.sources.mapping import ContentColumn, GoldColumn, Mapping
from evaluation.services.audits import audit_results
from evaluation.services.cross_checks import cross_check_agreement
from tests.evaluation.protocols.play import Play, accuracy, figure, of_run
from tests.openai_server import Running

pytestmark = pytest.mark.django_db

# (domain, what is true) -> claims; one domain has no third label, as in the public data.
SIZES = {
    ("science", "yes"): 4,
    ("science", "no"): 4,
    ("science", "not_sure"): 2,
    ("adversarial", "yes"): 4,
    ("adversarial", "no"): 2,
}
VERDICTS = {"yes": "Factual", "no": "Non-Factual", "not_sure": "Not Enough Information"}
# The writer's one mistake.
MISTAKEN = "science no 0"


def truth_of(claim: str) -> str:
    return claim.rstrip(".").split()[-2]


def claims() -> list[dict[str, Any]]:
    return [
        {
            "id": f"{domain}-{truth}-{n}",
            "claim": f"It is {domain} {truth} {n}.",
            "verdict": VERDICTS[truth],
            "domain": domain,
        }
        for (domain, truth), size in SIZES.items()
        for n in range(size)
    ]


def write(content: dict[str, Any], _: str) -> dict[str, Any]:
    claim = content["claim"]
    label = "yes" if MISTAKEN in claim else truth_of(claim)
    return {"question": f"Is it {claim.removeprefix('It is ').rstrip('.')}?", "label": label}


def truly(content: dict[str, Any], _: str) -> dict[str, Any]:
    return {"label": truth_of(content["question"].rstrip("?"))}


def always_yes(*_: Any) -> dict[str, Any]:
    return {"label": "yes"}


def test_from_claims_to_the_tables_of_the_paper(server: Running):
    play = Play("pinocchio")
    play.load(claims(), "rewrite")
    writers = play.people(4)
    assert grouping.deal_groups(project=play.project, by=play.admin, seed=1) == {"A": 2, "B": 2}

    # Rewrite: each writer four of sixteen claims; a question with its label becomes an item with the claim's strata.
    play.open("rewrite")
    for writer in writers:
        assert len(play.work("rewrite", writer, write, at_most=4)) == 4
    questions = Item.objects.filter(project=play.project, author__in=writers)
    assert questions.count() == 16
    mistaken = _question(play, MISTAKEN)
    assert mistaken.key.strata == [["domain", "science"]]
    assert mistaken.golds.get().answers == ["yes"]

    # Cross-check: each group wrote eight, fewer than the protocol draws; all are labelled by the other group, truly.
    check, plan = play.stage("cross-check"), planned_draw(play.stage("cross-check"))
    assert (plan.n, plan.written_in) == (200, "rewrite")
    drawn = cross_checking.draw_cross_check(
        stage=check, by=play.admin, n=plan.n, seed=5, written_in=play.stage(plan.written_in)
    )
    assert [(one.n_population, one.n_drawn, one.n_short) for one in drawn.groups] == [(8, 8, 192)] * 2
    play.open("cross-check")
    checked = [play.work("cross-check", writer, truly) for writer in writers]
    assert sum(map(len, checked)) == 16
    agreement = cross_check_agreement(stage=check)
    # The second label differs from the first where the writer was mistaken: 15 of 16.
    assert agreement.figures[0]["measure"] == "percent_agreement"
    assert agreement.figures[0]["value"] == pytest.approx(15 / 16)
    assert {part.value: part.n for part in agreement.by_group} == {"group A": 8, "group B": 8}
    # Authors in rows, cross-checkers in columns: yes, no, not sure.
    assert agreement.matrix == [[8, 1, 0], [0, 5, 0], [0, 0, 2]]

    # Audit: ten of each label in each domain; these are fewer, so all sixteen, and no third label in one domain.
    reviewers = play.people(2, "meta_reviewer")
    audit, plan = play.stage("audit"), planned_draw(play.stage("audit"))
    made = auditing.draw_audit(
        stage=audit, by=play.admin, labels=Labels("label"), k=plan.k or 0, keys=plan.strata, seed=3
    )
    sizes = {stratum.values: (stratum.n_drawn, stratum.n_short) for stratum in made.strata}
    assert sizes == {
        ("adversarial", "no"): (2, 8),
        ("adversarial", "yes"): (4, 6),
        ("adversarial", "not_sure"): (0, 10),
        ("science", "no"): (3, 7),
        ("science", "yes"): (5, 5),
        ("science", "not_sure"): (2, 8),
    }
    play.open("audit")

    def sees_the_mistake(content: dict[str, Any], _: str) -> dict[str, Any]:
        return wrong("no") if MISTAKEN in content["question"] else right()

    def errs_elsewhere(content: dict[str, Any], _: str) -> dict[str, Any]:
        return wrong("no") if "adversarial yes 0" in content["question"] else right()

    assert len(play.work("audit", reviewers[0], sees_the_mistake)) == 16
    assert len(play.work("audit", reviewers[1], errs_elsewhere)) == 16
    said = audit_results(stage=audit)
    rows = {(one.row, one.denominator): one.sampled["value"] for one in said.results}
    # Each calls one of sixteen wrong; both call fourteen right, and disagree on two.
    assert rows["mean", "all"] == pytest.approx(15 / 16)
    assert rows["consensus", "all"] == pytest.approx(14 / 16)
    by_stratum = {one.stratum.values: sorted(one.by_reviewer) for one in said.strata if one.n_audited}
    assert by_stratum["science", "yes"] == [(4, 5), (5, 5)]
    assert by_stratum["adversarial", "yes"] == [(3, 4), (4, 4)]
    assert by_stratum["science", "no"] == [(3, 3), (3, 3)]

    # Settled: the mistake becomes a new version of the gold label, the other stays as it was.
    play.close("rewrite", "cross-check", "audit")
    sent = repairing.send_errors(stage=audit, target=play.stage("settle"), by=play.admin, found_by="any")
    assert sent.n_sent == 2
    play.open("settle")
    (adjudicator,) = play.people(1, "adjudicator")

    def settle(content: dict[str, Any], name: str) -> dict[str, Any]:
        return {"answer": truly(content, name), "reason": "Looked up.", "is_gold": True}

    assert len(play.work("settle", adjudicator, settle)) == 2
    versions = Gold.objects.filter(item=mistaken, field="label").order_by("version")
    assert [(one.answers, one.origin, one.is_current) for one in versions] == [
        (["yes"], "author", False),
        (["no"], "adjudicator", True),
    ]
    play.close("settle")

    # Answer: three who wrote nothing. Two know everything, one says yes to all.
    play.open("answers")
    for person, says in zip(play.people(3), (truly, truly, always_yes), strict=True):
        assert len(play.work("answers", person, says)) == 16
    play.close("answers")
    items = play.items_of("answers", "all questions")

    # Models: one says yes three times to each, one no. Exemplars come from items that share nothing with these.
    server.play(text="Yes")
    zero_shot = play.run("zero-shot", items, server)
    shots = [
        {"id": f"shot-{label}", "question": f"Is this an example of {label}?", "label": label} for label in VERDICTS
    ]
    gold = (GoldColumn("label", "label"),)
    play.load(shots, mapping=Mapping((ContentColumn("question", "question"),), "id", gold=gold))
    exemplars = play.project.item_sets.get(n_items=3)
    server.play(text="No")
    few_shot = play.run("few-shot", items, server, exemplars)
    reasoned = play.run("zero-shot with reasoning", items, server)
    # The reasoning, then the answer.
    assert reasoned.predictions.first().calls.count() == 2
    assert (zero_shot.repeats, few_shot.repeats) == (3, 3)
    asked = few_shot.predictions.first().calls.get().messages
    # Three answered questions before the one that is asked.
    assert [message["role"] for message in asked][-7:] == ["user", "assistant"] * 3 + ["user"]

    report = play.report("Accuracy by domain", items, [zero_shot, few_shot, reasoned])
    # After the repair 8 are yes, 6 no, 2 not sure: two people with 16 of 16 and one with 8.
    assert accuracy(report, "people_mean") == pytest.approx((16 + 16 + 8) / 48)
    assert accuracy(report, "people_vote") == 1
    assert of_run(report, zero_shot) == pytest.approx(8 / 16)
    assert of_run(report, few_shot) == pytest.approx(6 / 16)
    assert of_run(report, reasoned) == pytest.approx(6 / 16)
    # Always yes: precision 1/2, recall 1, F1 2/3 for yes; none for the two others.
    assert of_run(report, zero_shot, "macro_f1_gold_classes") == pytest.approx(2 / 9)
    assert figure(report, section="difference", row=f"run_{few_shot.pk}", measure="label_accuracy")["is_primary"]
    # By domain, and the parts add up.
    parts = [
        one
        for one in report.figures
        if (one["section"], one["stratum"], one["row"]) == ("breakdown", "domain", f"run_{zero_shot.pk}")
        and one["measure"] == "label_accuracy"
    ]
    assert {one["stratum_value"]: one["n_items"] for one in parts} == {"science": 10, "adversarial": 6}
    # The audit stands in the report, and was closed.
    assert report.manifest["audits"][0]["stage"] == "audit"
    assert report.manifest["provisional"] == []
    assert json.dumps(report.manifest["shown"]["people"]) == '["question"]'


def test_three_levels_and_six_on_the_same_questions():
    play = Play("pinocchio")
    records = [
        {"id": f"q{n}", "question": f"How true is {n}?", "fine_label": label}
        for n, label in enumerate(["factual", "mostly_factual", "pants_fire", "not_enough_information"])
    ]
    play.load(records, "six-levels")
    play.open("six-levels")
    gold = play.gold("fine_label")
    for person, n_right in zip(play.people(3), (4, 4, 1), strict=True):
        known = sorted(gold)[:n_right]
        play.work(
            "six-levels",
            person,
            lambda _, name, known=known: {"fine_label": gold[name] if name in known else "mostly_false"},
        )
    play.close("six-levels")
    report = play.report("Six levels", play.items_of("six-levels", "four"), [])
    assert accuracy(report, "people_mean") == pytest.approx((4 + 4 + 1) / 12)


def right() -> dict[str, Any]:
    return {"verdict": {"verdict": "right"}}


def wrong(instead: str) -> dict[str, Any]:
    return {"verdict": {"verdict": "wrong", "correction": instead}, "note": "See the source."}


def _question(play: Play, words: str) -> Item:
    for item in Item.objects.filter(project=play.project, author__isnull=False):
        if words in dict(map(tuple, item.revisions.get(is_current=True).content))["question"]:
            return item
    raise AssertionError(words)


@pytest.mark.shared_data
def test_claims_of_a_licensed_set_of_fact_checks_become_questions(shared_path):
    path = shared_path("data/fever-symmetric/symmetric_v0.1/fever_symmetric_generated.jsonl")
    found = [json.loads(line) for line in path.read_text().splitlines()[:8]]
    play = Play("pinocchio")
    content = (ContentColumn("claim", "claim"), ContentColumn("label", "verdict"))
    play.load(found, "rewrite", mapping=Mapping(content, "id"))
    play.open("rewrite")
    (writer,) = play.people(1)
    labels = {"SUPPORTS": "yes", "REFUTES": "no"}

    def ask(content: dict[str, Any], _: str) -> dict[str, Any]:
        return {"question": f"Is it true that {content['claim'].rstrip('.')}?", "label": labels[content["verdict"]]}

    assert len(play.work("rewrite", writer, ask)) == len(found)
    # What the source says of a claim is content for the writer, and goes nowhere else.
    asked = [dict(map(tuple, place.revision.content)) for place in play.stage("answers").stage_items.all()]
    assert {frozenset(content) for content in asked} == {frozenset({"question", "claim"})}
    assert Counter(play.gold("label").values()) == Counter(labels[one["label"]] for one in found)
