"""A cross-check from the draw to the coefficients, and three and three people who write and check each other."""

from __future__ import annotations

import io
import re

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotate.exceptions import WorkNotPossible
from annotate.models import Annotation, Assignment, Event, Gold, ItemSet, Membership, StageItem
from annotate.person_token import person_token
from annotate.services import cross_checking, feeds, grouping, projects, resolving
from annotate.services.excluding import exclude_person
from annotate.stage_kinds import KINDS
from evaluation.services import cross_checks
from tests.api_client import ApiClient, body_of
from tests.factories import make_annotation, make_item, make_member, make_project, make_stage, make_stage_item

pytestmark = pytest.mark.django_db

FORM = [dict(field) for field in KINDS["rewrite"].fields]


@pytest.fixture
def study():
    """Who wrote how many: A 6 in all, B 3; each item is labelled "yes" by its author."""

    class Study:
        project = make_project()
        admin = make_member(project, "admin")
        check = make_stage(project, is_cross_group=True, title="Cross-check", seed=11, state="draft")

        def write(self, group: str, n: int, **fields):
            author = make_member(self.project, group=group)
            for k in range(n):
                item = make_item(self.project, author=author, external_id=f"{group}{n}-{k}", **fields)
                Gold.objects.create(item=item, field="label", answers=["yes"], origin="author", made_by=author)

        def draw(self, n: int = 4, seed: int = 3, **more):
            return cross_checking.draw_cross_check(stage=self.check, by=self.admin, n=n, seed=seed, **more)

        def address(self, name: str, stage=None) -> str:
            return reverse(name, args=[self.project.slug, (stage or self.check).slug])

        @property
        def client(self):
            client = Client()
            client.force_login(self.admin)
            return client

    study = Study()
    study.write("A", 6)
    study.write("B", 3)
    return study


def test_each_group_is_drawn_from_and_a_small_one_is_taken_whole(study):
    made = study.draw()
    assert [(one.group, one.n_population, one.n_drawn, one.n_short) for one in made.groups] == [
        ("A", 6, 4, 0),
        ("B", 3, 3, 1),
    ]
    a, b = ItemSet.objects.order_by("pk")
    assert (a.rule["group"], a.rule["wanted"], a.seed, a.n_population) == ("A", 4, 3, 6)
    assert {entry.inclusion_probability for entry in a.entries.all()} == {4 / 6}
    assert {entry.inclusion_probability for entry in b.entries.all()} == {1.0}
    places = StageItem.objects.filter(stage=study.check)
    assert sorted(places.values_list("author_group", flat=True)) == ["A"] * 4 + ["B"] * 3
    assert Event.objects.get(verb="cross_check.drawn").detail["A"] == [4, 6]
    assert cross_checking.draw_made(study.check).seed == 3


def test_the_same_seed_draws_the_same_and_another_stage_may_be_drawn(study):
    study.draw()
    drawn = set(study.check.stage_items.values_list("revision__item__external_id", flat=True))
    again = make_stage(study.project, is_cross_group=True, title="Cross-check")
    cross_checking.draw_cross_check(stage=again, by=None, n=4, seed=3)
    assert set(again.stage_items.values_list("revision__item__external_id", flat=True)) == drawn
    assert ItemSet.objects.filter(name__endswith="(2)").count() == 2


def test_a_second_draw_another_kind_of_stage_and_nothing_written_are_refused(study):
    study.draw()
    with pytest.raises(WorkNotPossible, match="drawn already, by seed 3"):
        study.draw()
    with pytest.raises(WorkNotPossible, match="Only a stage that is a cross-check"):
        cross_checking.draw_cross_check(stage=make_stage(study.project), by=None, n=1, seed=1)
    empty = make_stage(is_cross_group=True)
    with pytest.raises(WorkNotPossible, match="Nobody of group A or B"):
        cross_checking.draw_cross_check(stage=empty, by=None, n=1, seed=1)
    with pytest.raises(WorkNotPossible, match="between 1"):
        cross_checking.draw_cross_check(stage=make_stage(study.project, is_cross_group=True), by=None, n=0, seed=1)
    assert not empty.stage_items.exists()


def test_what_was_excluded_taken_back_or_written_elsewhere_is_no_population(study):
    author = Membership.objects.filter(project=study.project, group="B").get().person
    exclude_person(project=study.project, person=author, reason="careless", by=study.admin)
    assert cross_checking.written_by(study.check, "B").count() == 0
    label = make_stage(study.project)
    first = cross_checking.written_by(study.check, "A").first()
    make_stage_item(label, first.item, state="withdrawn")
    assert cross_checking.written_by(study.check, "A").count() == 5
    assert cross_checking.written_by(study.check, "A", label).count() == 0


def test_it_is_drawn_on_the_page_and_by_programs_and_commands(study):
    page = study.client.get(study.address("stage")).content.decode()
    assert "Group A: 1 person, 6 items written." in page
    refused = study.client.post(study.address("stage-cross-check"), {"n": "0"})
    assert refused.status_code == 422
    assert study.client.post(study.address("stage-cross-check"), {"n": "4", "seed": ""}).status_code == 302
    page = study.client.get(study.address("stage")).content.decode()
    assert "seed 11" in page
    assert "taken whole: 1 fewer than asked for" in page
    assert study.client.post(study.address("stage-cross-check"), {"n": "4"}).status_code == 409

    other = make_stage(study.project, is_cross_group=True)
    api = ApiClient(study.admin, "run")
    address = f"projects/{study.project.slug}/stages/{other.slug}/cross-check/"
    made = api.post(address, n=2, seed=5)
    assert made.status_code == 201, made.content
    assert [(row["group"], row["n_drawn"]) for row in made.json()["groups"]] == [("A", 2), ("B", 2)]
    assert api.post(address, n=2).status_code == 409
    assert api.post(address, n=2, written_in="nowhere").json()["fields"] == {
        "written_in": "This project has no stage 'nowhere'."
    }

    third = make_stage(study.project, is_cross_group=True)
    out = io.StringIO()
    call_command("draw_cross_check", study.project.slug, third.slug, n=5, seed=9, stdout=out)
    assert out.getvalue().splitlines() == [
        *("Seed 9.", "Group A: 5 of 6 items.", "Group B: 3 of 3 items; 2 fewer than asked for, taken whole.")
    ]
    with pytest.raises(CommandError, match="drawn already"):
        call_command("draw_cross_check", study.project.slug, third.slug, n=5)


@pytest.mark.parametrize("kind", ["judge", "audit"])
def test_a_stage_whose_items_come_from_another_draw_says_so_on_its_page(study, kind):
    stage = make_stage(study.project, kind=kind, is_cross_group=True, title=f"A {kind}", state="draft")
    page = study.client.post(study.address("stage-cross-check", stage), {"n": "4"})
    assert page.status_code == 409
    assert not stage.stage_items.exists()


def test_groups_are_dealt_at_random_and_those_who_have_one_keep_it(study):
    people = [make_member(study.project) for _ in range(7)]
    before = dict(Membership.objects.exclude(group="").values_list("pk", "group"))
    assert study.client.post(reverse("people-groups", args=[study.project.slug]), {"seed": "4"}).status_code == 302
    sizes = grouping.group_sizes(study.project)
    assert sizes[""] == 0
    assert sorted([sizes["A"], sizes["B"]]) == [4, 5]
    assert all(Membership.objects.get(pk=pk).group == group for pk, group in before.items())
    assert grouping.deal_groups(project=study.project, by=None, seed=4) == {"A": 0, "B": 0}
    assert Event.objects.get(verb="groups.dealt").detail["seed"] == 4
    assert Membership.objects.filter(person__in=people, group__in=["A", "B"]).count() == 7


class TestAgreement:
    def label(self, study, *answers: str):
        places = study.check.stage_items.order_by("revision__item__external_id")
        for place, answer in zip(places, answers, strict=False):
            make_annotation(place, make_member(study.project), {"label": answer})

    def test_authors_are_the_first_rater_and_the_matrix_adds_up(self, study):
        study.draw(n=9)
        self.label(study, "yes", "yes", "no", "yes", "yes", "yes", "yes", "not_sure")
        found = cross_checks.cross_check_agreement(stage=study.check)
        measures = [figure["measure"] for figure in found.figures]
        assert measures == [*("percent_agreement", "scott_pi", "krippendorff_alpha_nominal", "gwet_ac1", "cohen_kappa")]
        values = {figure["measure"]: figure["value"] for figure in found.figures}
        assert values["percent_agreement"] == 0.75
        # By hand: shares of yes 14/16, no 1/16, not sure 1/16 for both raters together.
        by_chance = (14 / 16) ** 2 + 2 * (1 / 16) ** 2
        assert values["scott_pi"] == pytest.approx((0.75 - by_chance) / (1 - by_chance))
        # Authors said one label only: by chance they agree as often as they did.
        assert values["cohen_kappa"] == pytest.approx(0)
        assert found.matrix == [[6, 1, 1], [0, 0, 0], [0, 0, 0]]
        assert found.pairs.n_waiting == 1
        # Where a tenth of the resamples have one label only, the coefficients that need two say so.
        notes = {figure["measure"]: figure["note"] for figure in found.figures if figure["lower"] is None}
        assert set(notes) == {"scott_pi", "krippendorff_alpha_nominal", "cohen_kappa"}
        assert all(note.startswith("no interval") for note in notes.values())
        assert [(part.value, part.n) for part in found.by_group] == [("group A", 6), ("group B", 2)]

    def test_what_the_author_said_counts_also_after_others_repaired_it(self, study):
        study.draw(n=9)
        self.label(study, "yes")
        item = study.check.stage_items.order_by("revision__item__external_id").first().revision.item
        item.golds.update(is_current=False)
        item.golds.create(field="label", version=2, answers=["no"], origin="adjudicator")
        assert cross_checks.read_pairs(stage=study.check).pairs[0].first == "yes"

    def test_nothing_to_compare_is_said_and_one_label_is_undefined(self, study):
        study.draw(n=9)
        page = study.client.get(study.address("cross-check-agreement"))
        assert "No item has both labels yet" in page.content.decode()
        self.label(study, *["yes"] * 9)
        page = study.client.get(study.address("cross-check-agreement")).content.decode()
        assert "undefined" in page
        assert "100.0" in page

    def test_a_field_of_words_has_no_labels_to_meet(self, study):
        words = make_stage(
            study.project, is_cross_group=True, form=[{"name": "answer", "type": "text", "caption": "Answer"}]
        )
        page = study.client.get(study.address("cross-check-agreement", words))
        assert "needs a field to choose in" in page.content.decode()
        assert study.client.get(study.address("cross-check-matrix", words)).status_code == 409

    def test_page_matrix_and_api_tell_the_same(self, study):
        for item in study.check.project.items.all():
            item.key.strata = [["domain", "sea" if item.external_id.startswith("A") else "sky"]]
            item.key.save()
        study.project.items.get(external_id="B3-2").key.delete()
        study.draw(n=9)
        self.label(study, *["yes", "no"] * 4, "yes")
        page = study.client.get(study.address("cross-check-agreement")).content.decode()
        assert "made for two persons, not for two roles" in page
        assert re.search(r"<bdi>none given</bdi>", page)
        rows = body_of(study.client.get(study.address("cross-check-matrix"))).decode().splitlines()
        assert rows[0] == "item,written_by,author_label,cross_label,root,stratum.domain"
        assert rows[1] == "A6-0,A,yes,yes,0,sea"
        assert len(rows) == 10
        api = ApiClient(study.admin, "read")
        told = api.get(f"projects/{study.project.slug}/stages/{study.check.slug}/cross-check/agreement/").json()
        assert (told["n_pairs"], told["matrix"][0]) == (9, [5, 4, 0])
        domains = {part["value"]: part["n"] for part in told["parts"] if part["name"] == "domain"}
        assert domains == {"sea": 6, "sky": 2, "none given": 1}


def test_three_and_three_people_write_label_and_check_each_other():
    project = make_project()
    admin = make_member(project, "admin")
    rewrite = make_stage(project, form=FORM, kind="rewrite", shown_keys=["claim"], order="sequential")
    label = make_stage(project, overlap=1, order="sequential")
    check = make_stage(project, is_cross_group=True, order="sequential", state="draft")
    feeds.set_feed(source=rewrite, target=label, by=admin, recipe=feeds.offered_recipe(rewrite, label))
    for n in range(12):
        make_stage_item(rewrite, make_item(project, [["claim", f"{n} is even."]], external_id=f"c{n:02}"))
    people = [make_member(project, group=group) for group in "AAABBB"]
    groups = dict(zip([person.pk for person in people], "AAABBB", strict=True))
    clients = {}
    for person in people:
        clients[person.pk] = Client()
        clients[person.pk].force_login(person)

    def work(stage, answer_for) -> int:
        """Everybody by turns until nobody gets anything; how many answers were given."""
        given, idle = 0, 0
        while idle < len(people):
            idle = 0
            for person in people:
                client = clients[person.pk]
                client.get(reverse("work", args=[project.slug, stage.slug]))
                held = Assignment.objects.filter(stage=stage, person=person, state="leased").first()
                if held is None:
                    idle += 1
                    continue
                page = client.get(reverse("work", args=[project.slug, stage.slug])).content.decode()
                sent = {"person": person_token(person), "client_key": f"k{held.pk}"} | answer_for(held, page)
                assert client.post(reverse("work-submit", args=[held.token]), sent).status_code == 302
                given += 1
        resolving.resolve_due()
        return given

    def rewriting(held, page):
        number = held.stage_item.revision.content[0][1].split()[0]
        return {"question": f"Is {number} even?", "label": "yes" if int(number) % 2 == 0 else "no"}

    def labelling(held, page):
        # The author's label is gold: the page shows the question and nothing of it.
        assert held.stage_item.author_id != held.person_id
        assert " checked" not in page.partition('id="answer-form"')[2].partition("</form>")[0]
        number = int(re.search(r"Is (\d+) even", page)[1])
        return {"label": "no" if number in (3, 4) else "yes" if number % 2 == 0 else "no"}

    assert work(rewrite, rewriting) == 12
    assert work(label, labelling) == 12
    cross_checking.draw_cross_check(stage=check, by=admin, n=4, seed=1, written_in=rewrite)
    projects.open_stage(stage=check, by=admin)
    assert work(check, labelling) == 8
    for annotation in Annotation.objects.filter(assignment__stage=check):
        author = annotation.assignment.stage_item.author_id
        assert {groups[author], groups[annotation.assignment.person_id]} == {"A", "B"}
    found = cross_checks.cross_check_agreement(stage=check)
    assert len(found.pairs.pairs) == 8
    drawn_four = check.stage_items.filter(revision__item__parent__external_id="c04").count()
    assert sum(pair.first != pair.second for pair in found.pairs.pairs) == drawn_four
