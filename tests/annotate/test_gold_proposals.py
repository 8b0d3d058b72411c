"""What people came to, accepted as the gold label or refused: by service, on the item's page, for whom."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotate.exceptions import ProposalChanged
from annotate.models import Event, Gold, GoldRefusal, Resolution
from annotate.services import resolving
from annotate.services.gold_proposals import accept_proposal, answer_hash, decided_in, proposals_of, refuse_proposal
from annotate.services.submitting import revise_annotation
from tests.api_client import ApiClient
from tests.factories import (
    SHORT_ANSWER,
    make_annotation,
    make_item,
    make_member,
    make_project,
    make_stage,
    make_stage_item,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> SimpleNamespace:
    """Three people say 365 days, twice in other words; the label says two."""
    project = make_project()
    stage = make_stage(project, kind="answer", overlap=3, form=SHORT_ANSWER, title="Answers")
    item = make_item(project, gold={"answer": ["two"]})
    place = make_stage_item(stage, item)
    for words in ("365 days", "12 months", "one year"):
        make_annotation(place, make_member(project), {"answer": words})
    resolving.resolve_due()
    return SimpleNamespace(
        project=project, stage=stage, item=item, place=place, admin=make_member(project, "admin"),
        resolution=Resolution.objects.get(stage_item=place), address=f"/p/{project.slug}/items/{item.pk}/",
    )  # fmt: skip


def open_proposals(study) -> list[str]:
    return [one.resolution.answer for one in proposals_of(list(decided_in(study.project))) if one.is_open]


def decide(study, do, **more):
    row = Resolution.objects.get(stage_item=study.place)
    return do(resolution=row, seen=answer_hash(row), by=study.admin, **more)


def test_a_decided_answer_is_proposed_where_the_label_means_something_else(study):
    assert open_proposals(study) == ["365 days"]
    # In other words it is the same label.
    Gold.objects.update(answers=["one year"])
    assert open_proposals(study) == []
    Gold.objects.update(answers=["five", "12 months"])
    assert open_proposals(study) == []
    Gold.objects.all().delete()
    assert open_proposals(study) == ["365 days"]


def test_a_label_that_the_field_could_not_read_is_another_one(study):
    Gold.objects.update(answers=[{"rows": []}])
    assert open_proposals(study) == ["365 days"]


def test_what_is_voted_on_elsewhere_is_no_proposal(study):
    review = make_stage(study.project, kind="review", form=SHORT_ANSWER)
    make_annotation(make_stage_item(review, study.item), study.admin, {"answer": "nine"})
    resolving.resolve_due()
    assert open_proposals(study) == ["365 days"]


def test_accepted_it_is_a_version_that_says_who_and_where_from(study):
    gold = decide(study, accept_proposal)
    assert (gold.version, gold.answers, gold.origin) == (2, ["365 days"], "expert")
    assert (gold.made_by, gold.accepted_by, gold.votes_of) == (study.admin, study.admin, study.stage)
    told = ApiClient(study.admin, "read").get(f"projects/{study.project.slug}/gold/").json()["results"]
    assert {one["version"]: one["votes_of"] for one in told} == {1: None, 2: study.stage.slug}
    assert Gold.objects.get(is_current=True) == gold
    assert Event.objects.get(verb="gold.made").actor == study.admin.pseudonym
    assert open_proposals(study) == []
    # A second click makes no third version.
    assert decide(study, accept_proposal) == gold


def test_refused_it_is_not_proposed_again_until_people_come_to_something_else(study):
    decide(study, refuse_proposal, reason="The table says two.")
    decide(study, refuse_proposal, reason="A second click.")
    assert GoldRefusal.objects.get().reason == "The table says two."
    assert open_proposals(study) == []
    for annotation in [*study.place.assignments.all()]:
        newest = annotation.annotations.get(is_current=True)
        revise_annotation(
            assignment=annotation, answer={"answer": "nine"}, client_key="n", stage_version=newest.stage_version
        )
    resolving.resolve_due()
    assert open_proposals(study) == ["nine"]
    decide(study, refuse_proposal)
    gold = decide(study, accept_proposal)
    assert (gold.answers, GoldRefusal.objects.count()) == (["nine"], 1)


@pytest.mark.parametrize("do", [accept_proposal, refuse_proposal])
def test_what_changed_meanwhile_is_neither_accepted_nor_refused(study, do):
    seen = answer_hash(study.resolution)
    Resolution.objects.update(answer="nine", answer_key="nine")
    with pytest.raises(ProposalChanged):
        do(resolution=study.resolution, seen=seen, by=study.admin)
    Resolution.objects.update(answer="365 days", answer_key=study.resolution.answer_key, status="tie")
    with pytest.raises(ProposalChanged):
        do(resolution=study.resolution, seen=seen, by=study.admin)
    assert (Gold.objects.count(), GoldRefusal.objects.count()) == (1, 0)


class TestPage:
    def test_it_shows_versions_with_origin_and_who_and_takes_the_decision(self, study, client):
        client.force_login(study.admin)
        page = client.get(study.address).text
        assert "365 days" in page
        assert "Proposed:" in page
        sent = dict(re.findall(r'<input type="hidden" name="(resolution|seen)" value="([^"]+)">', page))
        assert client.post(f"{study.address}gold/", sent | {"step": "accept"}).status_code == 302
        page = client.get(study.address).text
        assert "Proposed:" not in page
        rows = re.findall(r"<tr>\s*<th scope=\"row\">(\d).*?</tr>", page, re.DOTALL)
        assert rows == ["2", "1"]
        assert study.admin.pseudonym in page

    def test_a_refusal_is_said_with_its_reason(self, study, client):
        client.force_login(study.admin)
        sent = {"resolution": study.resolution.pk, "seen": answer_hash(study.resolution), "step": "refuse"}
        client.post(f"{study.address}gold/", sent | {"reason": "The table says two."})
        page = client.get(study.address).text
        assert "Refused:" in page
        assert "The table says two." in page

    @pytest.mark.parametrize("sent", [{}, {"resolution": "x"}, {"resolution": "9" * 30}, {"step": "accept"}])
    def test_what_is_incomplete_or_stale_says_so_and_changes_nothing(self, study, client, sent):
        client.force_login(study.admin)
        whole = {"resolution": study.resolution.pk, "seen": "stale", "step": "accept"}
        response = client.post(f"{study.address}gold/", whole | sent, follow=True)
        assert "The votes on this item come to something else by now" in response.text
        assert Gold.objects.count() == 1

    def test_experts_decide_when_they_have_judged_and_viewers_read(self, study):
        expert, viewer = make_member(study.project, "adjudicator"), make_member(study.project, "viewer")
        judging = make_stage(study.project, kind="adjudicate", roles=["adjudicator"], form=SHORT_ANSWER)
        sent = {"resolution": study.resolution.pk, "seen": answer_hash(study.resolution), "step": "accept"}
        client = Client()
        client.force_login(viewer)
        assert "Accept as gold label" not in client.get(study.address).text
        assert client.post(f"{study.address}gold/", sent).status_code == 404
        client.force_login(expert)
        assert client.get(study.address).status_code == 404
        assert client.post(f"{study.address}gold/", sent).status_code == 404
        judging.state = "closed"
        judging.save()
        assert "Accept as gold label" in client.get(study.address).text
        assert client.post(f"{study.address}gold/", sent).status_code == 302
        assert Gold.objects.get(is_current=True).made_by == expert

    def test_its_queries_do_not_grow_with_stages_and_versions(self, study, client):
        client.force_login(study.admin)
        client.get(study.address)
        with CaptureQueriesContext(connection) as few:
            client.get(study.address)
        for _ in range(3):
            stage = make_stage(study.project, kind="answer", form=SHORT_ANSWER)
            make_annotation(make_stage_item(stage, study.item), make_member(study.project), {"answer": "nine"})
        resolving.resolve_due()
        for n in range(2, 5):
            Gold.objects.create(
                item=study.item, field="answer", version=n, answers=["x"], is_current=False, made_by=study.admin
            )
        with CaptureQueriesContext(connection) as many:
            client.get(study.address)
        assert len(many) == len(few)

    def test_an_item_that_others_hang_together_by_has_a_page_too(self, study, client):
        root = make_item(study.project)
        root.revisions.all().delete()
        client.force_login(study.admin)
        page = client.get(f"/p/{study.project.slug}/items/{root.pk}/")
        assert page.status_code == 200
        assert "no content of its own" in page.text
