"""What an audit says: every number worked out here by hand, told on the page, to programs and as CSV."""

from __future__ import annotations

import csv
import io
from math import sqrt

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotate.models import Audit, Exclusion, Gold, Stage
from annotate.services import projects
from annotate.services.auditing import Labels
from annotate.services.excluding import exclude_item
from annotate.stage_kinds import adjudication_fields
from evaluation.services.audits import Column, audit_results
from evaluation.stats import wilson
from tests.annotate.audits import AuditStudy
from tests.api_client import ApiClient
from tests.factories import YES_NO, make_item, make_member, make_stage

pytestmark = pytest.mark.django_db

# Adversarial has no third label: five strata, and one that is empty.
SIZES = {
    ("adversarial", "yes"): 40,
    ("adversarial", "no"): 10,
    ("science", "yes"): 4,
    ("science", "no"): 2,
    ("science", "not_sure"): 4,
}


class Told(AuditStudy):
    """Four of each stratum are drawn: 4, 4, 4, 2, 4 of 40, 10, 4, 2, 4."""

    def __init__(self) -> None:
        super().__init__(SIZES)
        self.clients: dict[int, Client] = {}
        self.judges = make_stage(
            self.project, kind="adjudicate", roles=["adjudicator"], form=YES_NO, options={"makes_gold": True}
        )

    def address(self, name: str) -> str:
        return reverse(name, args=[self.project.slug, self.stage.slug])

    def client(self, person=None) -> Client:
        person = person or self.admin
        if person.pk not in self.clients:
            self.clients[person.pk] = Client()
            self.clients[person.pk].force_login(person)
        return self.clients[person.pk]

    def page(self, name: str = "audit-results", person=None) -> str:
        response = self.client(person).get(self.address(name))
        assert response.status_code == 200
        return response.content.decode()

    def audit(self) -> None:
        """Of adversarial yes the first two drawn are called wrong by both, of adversarial no one by the first alone,
        and the second is unsure about one of science not_sure; everything else is right."""
        self.draw(k=4)
        drawn: dict[str, list[str]] = {}
        entries = Audit.objects.get(stage=self.stage).item_set.entries.order_by("position")
        for name in entries.values_list("revision__item__external_id", flat=True):
            drawn.setdefault(name.rsplit("-", 1)[0], []).append(name)
        both = drawn["adversarial-yes"][:2]
        self.both, self.alone, self.doubted = both, drawn["adversarial-no"][0], drawn["science-not_sure"][0]

        def said(number, name):
            if name in both:
                return ("wrong", "no") if number == 0 or name == both[0] else ("wrong", "not_sure")
            if name == self.alone and number == 0:
                return ("wrong", "yes")
            return "unsure" if name == self.doubted and number == 1 else "right"

        self.audit_all(said)


@pytest.fixture
def told() -> Told:
    return Told()


def row(found, name: str, denominator: str = "all"):
    return next(one for one in found.results if one.row == name and one.denominator == denominator)


def test_every_number_of_the_sample_and_of_the_population(told):
    told.audit()
    found = audit_results(stage=told.stage)
    first, second = (row(found, f"reviewer_{person.pseudonym}") for person in told.reviewers)
    # 18 labels. The first calls 2 + 1 wrong: 15 of 18. The second calls 2 wrong and doubts one: 15 of 18.
    assert first.sampled["value"] == pytest.approx(15 / 18)
    assert (first.sampled["lower"], first.sampled["upper"]) == pytest.approx(
        (wilson(15, 18).lower, wilson(15, 18).upper)
    )
    # Population of 60: 40 at 2/4, 10 at 3/4, the rest right: (20 + 7.5 + 10) / 60.
    assert first.population["value"] == pytest.approx(37.5 / 60)
    # The second: 40 at 2/4, 10 right, 4 + 2 right, 4 at 3/4: (20 + 10 + 6 + 3) / 60.
    assert second.population["value"] == pytest.approx(39 / 60)
    # Without "unsure" the second says 15 right of 17, and science not_sure is 3 of 3.
    decided = row(found, f"reviewer_{told.reviewers[1].pseudonym}", "decided")
    assert decided.sampled["value"] == pytest.approx(15 / 17)
    assert decided.population["value"] == pytest.approx(40 / 60)
    # Their mean: (15 + 15) / 36, and (37.5 + 39) / 120.
    mean = row(found, "mean")
    assert (mean.sampled["value"], mean.sampled["n"]) == (pytest.approx(30 / 36), 18)
    assert mean.population["value"] == pytest.approx(76.5 / 120)
    # All say right of 18 - 2 - 1 - 1; of the 16 on which both say the same right or wrong, 14 are right.
    assert row(found, "consensus").sampled["value"] == pytest.approx(14 / 18)
    assert row(found, "consensus", "decided").sampled["value"] == pytest.approx(14 / 16)
    # Cochran, the first: only strata with something wrong: weights 40/60 and 10/60, 4 audited of each.
    variances = (40 / 60) ** 2 * 0.25 / 3 + (10 / 60) ** 2 * (3 / 16) / 3
    assert first.standard_error == pytest.approx(sqrt(variances))
    assert first.population["lower"] < 37.5 / 60 < first.population["upper"]
    assert (found.n_waiting, found.n_gone, found.n_unsure, found.n_complete) == (0, 0, 1, 18)


def test_each_stratum_and_the_agreement_of_the_reviewers(told):
    told.audit()
    found = audit_results(stage=told.stage)
    pseudonyms = sorted(person.pseudonym for person in told.reviewers)
    assert list(found.reviewers) == pseudonyms
    order = [pseudonyms.index(person.pseudonym) for person in told.reviewers]
    by_words = {one.words: one for one in found.strata}
    assert list(by_words) == [
        ("adversarial", "Yes"), ("adversarial", "No"), ("adversarial", "Not sure enough"),
        ("science", "Yes"), ("science", "No"), ("science", "Not sure enough"),
    ]  # fmt: skip
    no = by_words["adversarial", "No"]
    assert [no.by_reviewer[place] for place in order] == [(3, 4), (4, 4)]
    assert (no.mean["value"], no.consensus["value"]) == (pytest.approx(7 / 8), pytest.approx(3 / 4))
    assert (by_words["science", "No"].stratum.n_short, by_words["science", "No"].n_audited) == (2, 2)
    # Nothing is certain of four right of four, and there is nothing to say of a stratum without items.
    whole = by_words["science", "Yes"].mean
    assert (whole["value"], whole["lower"] < 1) == (1.0, True)
    assert by_words["adversarial", "Not sure enough"].mean["undefined"] == "no_trials"
    # 16 of 18 verdicts are the same.
    measures = {one["measure"]: one for one in found.agreement}
    assert list(measures) == ["percent_agreement", "gwet_ac1", "krippendorff_alpha_nominal", "cohen_kappa"]
    assert measures["percent_agreement"]["value"] == pytest.approx(16 / 18)
    # Shares of right, wrong, unsure: 30/36, 5/36, 1/36; chance of AC1: sum of p(1 - p) / 2.
    chance = sum(p * (1 - p) for p in (30 / 36, 5 / 36, 1 / 36)) / 2
    assert measures["gwet_ac1"]["value"] == pytest.approx((16 / 18 - chance) / (1 - chance))


def test_labels_meet_their_corrections(told):
    told.audit()
    found = audit_results(stage=told.stage)
    assert found.labels == ("yes", "no", "not_sure")
    assert found.columns == (
        Column("right"), Column("wrong", "yes"), Column("wrong", "no"), Column("wrong", "not_sure"),
        Column("wrong"), Column("unsure"),
    )  # fmt: skip
    # yes: 8 labels, 16 verdicts, 4 of them wrong (3 no, 1 not_sure). no: 6 labels. not_sure: 4 labels.
    assert found.matrix == [[12, 0, 3, 1, 0, 0], [11, 1, 0, 0, 0, 0], [7, 0, 0, 0, 0, 1]]


def test_what_is_not_finished_and_what_was_left_out_is_counted_apart(told):
    told.draw(k=4)
    items = list(told.stage.stage_items.order_by("rank").select_related("revision__item"))
    exclude_item(item=items[-1].revision.item, by=told.admin, reason="broken", rule="bad item")
    held = told.next_for(told.reviewers[0])
    told.say(held, "right")
    found = audit_results(stage=told.stage)
    assert (len(found.items), found.n_waiting, found.n_gone) == (17, 17, 1)
    # One verdict says something of one stratum: nothing of the population.
    assert row(found, "mean").sampled["value"] == 1.0
    assert row(found, "mean").population["undefined"] == "no_trials"
    assert "Provisional" in told.page()
    assert "1 was left out before it had its verdicts." in told.page()


def test_what_is_left_out_after_its_verdicts_still_counts(told):
    told.audit()
    before = audit_results(stage=told.stage)
    item = told.project.items.get(external_id=told.both[0])
    exclude_item(item=item, by=told.admin, reason="found in the audit", rule="bad item")
    after = audit_results(stage=told.stage)
    assert [one.sampled for one in after.results] == [one.sampled for one in before.results]
    assert next(one for one in after.errors if one.audited.external_id == told.both[0]).repair.state == "excluded"


def test_labels_of_one_table_are_no_independent_labels(told):
    """Adversarial hangs on two tables, science on none: the same shares, less certain, and the page says by what."""
    plain = Told()
    for study in (told, plain):
        study.audit()
    tables = [make_item(told.project, external_id=f"table {n}") for n in range(2)]
    for n, name in enumerate(sorted(told.project.items.filter(external_id__startswith="adv").values_list("pk"))):
        told.project.items.filter(pk=name[0]).update(root=tables[n % 2])
    found, alone = audit_results(stage=told.stage), audit_results(stage=plain.stage)
    # 8 labels on two tables, 10 on their own.
    assert (len(found.items), found.n_roots, alone.n_roots) == (18, 12, 18)
    name = f"reviewer_{told.reviewers[0].pseudonym}"
    one, other = row(found, name), row(alone, f"reviewer_{plain.reviewers[0].pseudonym}")
    for figure, independent in ((one.sampled, other.sampled), (one.population, other.population)):
        assert figure["value"] == independent["value"]
        assert (figure["n_items"], figure["n_roots"]) == (18, 12)
        assert "percentile bootstrap over roots" in figure["method"]
        assert (figure["n_resamples"], figure["seed"]) == (1000, 1)
    assert other.sampled["method"] == "wilson"
    by_words = {one.words: one for one in found.strata}
    assert by_words["adversarial", "Yes"].mean["n_roots"] == 2
    assert by_words["science", "Yes"].mean["method"] == "wilson"
    page = told.page()
    assert "The 18 labels hang on 12 roots (tables, databases, groups), so they are not independent." in page
    assert "percentile bootstrap over roots, 1,000 resamples, seed 1" in page
    assert "Wilson’s in the sample" not in page
    assert "Wilson’s in the sample" in plain.page()
    api = ApiClient(told.admin, "run", "read")
    told_by_api = api.get(f"projects/{told.project.slug}/stages/{told.stage.slug}/audit/results/").json()
    assert told_by_api["n_roots"] == 12


def test_an_excluded_reviewer_counts_no_more(told):
    told.audit()
    Exclusion.objects.create(project=told.project, person=told.reviewers[1], reason="careless", decided_by=told.admin)
    found = audit_results(stage=told.stage)
    assert list(found.reviewers) == [told.reviewers[0].pseudonym]
    assert (found.n_waiting, found.agreement) == (18, [])
    assert {one.row for one in found.results} == {f"reviewer_{told.reviewers[0].pseudonym}", "mean"}


def test_the_page_says_what_was_found_and_what_became_of_it(told):
    told.audit()
    projects.close_stage(stage=told.stage, by=told.admin)
    page = told.page()
    assert "18 labels of 60, up to 4 of each stratum, drawn by seed 5." in page
    assert "3 labels were called wrong by somebody, 2 by all reviewers, 1 with the same label in their place." in page
    assert "0 repaired since." in page
    assert "Provisional" not in page
    response = told.client().post(told.address("audit-errors"), {"found_by": "all", "target": told.judges.slug})
    assert response.status_code == 302
    page = told.page()
    assert "2 labels wait for adjudicators now." in page
    assert page.count("waits for an adjudicator") == 2
    Gold.objects.filter(item__external_id=told.both[0]).update(answers=["no"])
    assert "1 repaired since." in told.page()
    told.client().post(told.address("audit-errors"), {"found_by": "all", "target": "nowhere"})
    assert "Choose a stage of this project in which adjudicators decide." in told.page()


def test_without_a_stage_to_decide_them_the_page_offers_one_that_fits(told):
    told.audit()
    projects.close_stage(stage=told.stage, by=told.admin)
    Stage.objects.filter(pk=told.judges.pk).delete()
    page = told.page()
    assert f"?kind=adjudicate&amp;for={told.stage.slug}" in page
    offered = told.client().get(
        reverse("stage-new", args=[told.project.slug]), {"kind": "adjudicate", "for": told.stage.slug}
    )
    names = [form.initial.get("name") for form in offered.context["field_forms"].forms if form.initial]
    assert names == [field["name"] for field in adjudication_fields(YES_NO)]
    assert "sent here from its results" in offered.text


def test_a_stage_that_was_not_drawn_or_said_nothing_has_no_figures(told):
    assert "Nothing was drawn" in told.page()
    told.draw(k=1)
    assert "Nobody has said anything yet" in told.page()
    assert told.client().get(told.address("audit-verdicts")).status_code == 200


def test_reviewers_see_no_results_before_the_stage_is_closed(told):
    told.audit()
    names = ("audit-results", "audit-verdicts", "stage")
    for person in (told.reviewers[0], make_member(told.project, "meta_reviewer")):
        assert [told.client(person).get(told.address(name)).status_code for name in names] == [404] * 3
    projects.close_stage(stage=told.stage, by=told.admin)
    assert [told.client(told.reviewers[0]).get(told.address(name)).status_code for name in names] == [200] * 3
    # And they send nothing on.
    sent = told.client(told.reviewers[0]).post(told.address("audit-errors"), {"found_by": "any"})
    assert sent.status_code == 404


def test_figures_can_be_worked_out_again_from_the_verdicts(told):
    told.audit()
    response = told.client().get(told.address("audit-verdicts"))
    rows = list(csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode())))
    assert len(rows) == 18
    names = [person.pseudonym for person in told.reviewers]
    right = [sum(one[f"verdict.{name}"] == "right" for one in rows) for name in names]
    assert right == [15, 15]
    weights = {(one["stratum.domain"], one["label"]): int(one["in_population"]) for one in rows}
    assert sum(weights.values()) == 60
    share = {
        key: [one[f"verdict.{names[0]}"] == "right" for one in rows if (one["stratum.domain"], one["label"]) == key]
        for key in weights
    }
    population = sum(weights[key] * sum(said) / len(said) for key, said in share.items()) / 60
    first = row(audit_results(stage=told.stage), f"reviewer_{names[0]}")
    assert population == pytest.approx(first.population["value"])


def test_programs_draw_read_and_send_on(told):
    api = ApiClient(told.admin, "run", "read")
    base = f"projects/{told.project.slug}/stages/{told.stage.slug}/audit/"
    asked = {"field": "label", "keys": ["domain"], "k": 4, "seed": 5}
    planned = api.post(base, **asked, plan_only=True)
    assert (planned.status_code, planned.json()["n_drawn"], planned.json()["item_set"]) == (200, 18, None)
    assert not Audit.objects.exists()
    assert api.post(base, **asked, population="nowhere").json()["fields"] == {
        "population": "This project has no item set 'nowhere'."
    }
    assert api.post(base, **asked, decided_in="nowhere").status_code == 422
    made = api.post(base, **asked)
    assert made.status_code == 201, made.content
    assert made.json()["strata"][4] == {"values": ["science", "no"], "n_population": 2, "n_drawn": 2, "n_short": 2}
    again = api.post(base, **asked)
    assert (again.status_code, again.json()) == (200, made.json())
    assert api.post(base, **asked | {"k": 5}).status_code == 409
    assert Audit.objects.count() == 1
    told.audit_all(lambda number, name: ("wrong", "no") if "yes" in name else "right")
    results = api.get(f"{base}results/").json()
    assert (results["n_drawn"], results["n_complete"], results["seed"]) == (18, 18, 5)
    assert {one["row"] for one in results["results"]} >= {"mean", "consensus"}
    assert results["errors"][0]["verdicts"][0]["correction"] == "No"
    assert api.post(f"{base}errors/", target=told.judges.slug, found_by="alike").status_code == 409
    projects.close_stage(stage=told.stage, by=told.admin)
    sent = api.post(f"{base}errors/", target=told.judges.slug, found_by="alike")
    assert (sent.status_code, sent.json()) == (201, {"n_sent": 8, "n_already": 0})
    assert api.post(f"{base}errors/", target="nowhere", found_by="any").status_code == 422


def test_a_reviewer_who_is_a_program_gets_the_label_and_gives_a_verdict(told):
    told.draw(k=4)
    api = ApiClient(told.reviewers[0], "work")
    held = api.post(f"work/{told.project.slug}/{told.stage.slug}/next/").json()["held"]
    label = held["item"]["content"][0][1].split(", ")[1]
    assert held["beside"]["content"] == [["label", [label]]]
    assert held["beside"]["caption"] == "Is it so?"
    sent = {"form_version": held["form"]["version"], "client_key": "one"}
    same = {"verdict": {"verdict": "wrong", "correction": label}}
    address = f"assignments/{held['token']}/submit/"
    assert "label that you call wrong" in api.post(address, answer=same, **sent).content.decode()
    assert api.post(address, answer={"verdict": {"verdict": "right"}}, **sent).status_code == 200


def test_the_command_plans_and_draws(told):
    out = io.StringIO()
    call_command(
        "draw_audit", told.project.slug, told.stage.slug, k=4, seed=5, strata=["domain"], plan=True, stdout=out
    )
    assert not Audit.objects.exists()
    assert "science, no: 2 of 2; 2 fewer than asked for, taken whole." in out.getvalue()
    out = io.StringIO()
    call_command("draw_audit", told.project.slug, told.stage.slug, k=4, seed=5, strata=["domain"], stdout=out)
    assert out.getvalue().splitlines()[0] == "Drawn by seed 5."
    assert out.getvalue().splitlines()[-1] == "In all 18 of 60; left out: 0 without a label, 0 excluded."
    with pytest.raises(CommandError, match="drawn already"):
        call_command("draw_audit", told.project.slug, told.stage.slug)
    for wrong in ({"by": "nobody"}, {"of": "nothing"}, {"decided_in": "nowhere"}):
        with pytest.raises(CommandError, match="There is no"):
            call_command("draw_audit", told.project.slug, told.stage.slug, **wrong)


def test_the_stage_page_plans_first_and_then_draws(told):
    page = told.page("stage")
    assert "Show the strata" in page
    assert "Add these items" not in page
    asked = {"labels": "gold/label/", "keys": ["domain"], "by_label": "on", "k": "4", "seed": "5"}
    looked = told.client().post(told.address("stage-audit"), asked | {"look": "1"})
    assert (looked.status_code, Audit.objects.count()) == (200, 0)
    assert "18 labels of 60 would be drawn." in looked.text
    assert "taken whole: 2 fewer than asked for" in looked.text
    assert "no item: nothing to draw" in looked.text
    part = told.client().post(told.address("stage-audit"), asked | {"look": "1"}, headers={"HX-Request": "true"})
    assert part.text.lstrip().startswith("<section")
    wrong = told.client().post(told.address("stage-audit"), asked | {"labels": "gold/other/"})
    assert wrong.status_code == 422
    assert told.client().post(told.address("stage-audit"), asked).status_code == 302
    page = told.page("stage")
    assert "18 labels drawn. 1 stratum was taken whole: it has fewer than 4." in page
    assert "seed 5" in page
    # A double click is one draw; another is none.
    assert told.client().post(told.address("stage-audit"), asked).status_code == 302
    assert told.client().post(told.address("stage-audit"), asked | {"k": "3"}).status_code == 409
    assert Audit.objects.count() == 1


def test_what_people_decided_can_be_drawn_on_the_page(told):
    asked = {"labels": f"decided/label/{told.labels.slug}", "k": "1"}
    refused = told.client().post(told.address("stage-audit"), asked)
    assert refused.status_code == 409
    assert "No item has a decision" in refused.text


def test_the_results_cost_the_same_statements_however_many_labels(told):
    def cost() -> int:
        client = told.client()
        client.get(told.address("audit-results"))
        with CaptureQueriesContext(connection) as queries:
            assert client.get(told.address("audit-results")).status_code == 200
        return len(queries)

    told.audit()
    small = cost()
    other = Told()
    other.draw(k=10, labels=Labels("label"))
    other.audit_all(lambda number, name: ("wrong", "no") if "yes" in name else "right")
    told = other
    assert cost() == small
