"""Each kind of work begins with a form that can be answered, and is run by who usually does it."""

from __future__ import annotations

import pytest

from annotate.answers import fields_from_json
from annotate.exceptions import StageNotReady
from annotate.models import Feed, Membership, Stage
from annotate.services import projects
from annotate.stage_kinds import KINDS, adjudication_fields, review_fields
from tests.api_client import ApiClient
from tests.factories import SHORT_ANSWER, YES_NO, make_member, make_project, make_stage


def test_every_kind_is_described():
    assert list(KINDS) == list(Stage.Kind.values)
    for kind in KINDS.values():
        assert set(kind.roles) <= set(Membership.Role.values)
        assert kind.order in Stage.Order.values
        assert any(field.decides for field in fields_from_json(kind.fields))


def test_an_adjudicator_is_asked_what_decides():
    asked = fields_from_json(adjudication_fields(SHORT_ANSWER))
    assert [(field.name, field.type, field.required, field.decides) for field in asked] == [
        ("answer", "text", True, True),
    ]


@pytest.mark.django_db
def test_a_stage_is_adjudicated_only_where_its_fields_are_asked():
    project = make_project()
    judges = make_stage(project, kind="adjudicate", form=adjudication_fields(YES_NO))
    by = make_member(project, "admin")
    settings = {"project": project, "by": by, "kind": "label", "shown_keys": ["question"], "adjudicated_in": judges}
    assert projects.create_stage(title="A", slug="a", fields=YES_NO, **settings).adjudicated_in == judges
    with pytest.raises(StageNotReady, match=r"does not ask for answer \(text\)"):
        projects.create_stage(title="B", slug="b", fields=SHORT_ANSWER, **settings)
    assert not project.stages.filter(slug="b").exists()


@pytest.mark.django_db
@pytest.mark.parametrize("kind", [kind for kind, described in KINDS.items() if described.is_offered])
def test_the_page_of_a_new_stage_offers_each_kind_with_its_form(client, kind):
    project = make_project()
    client.force_login(make_member(project, "admin"))
    page = client.get(f"/p/{project.slug}/stages/new/", {"kind": kind})
    assert page.status_code == 200
    assert KINDS[kind].says in page.text
    form = page.context["form"]
    assert form.initial["roles"] == list(KINDS[kind].roles)
    names = [field.initial.get("name") for field in page.context["field_forms"].forms if field.initial]
    assert names == [field["name"] for field in KINDS[kind].fields]


@pytest.mark.django_db
def test_a_stage_for_adjudicating_another_begins_with_what_decides_there(client):
    project = make_project()
    make_stage(project, slug="answers", title="Answers", form=SHORT_ANSWER)
    client.force_login(make_member(project, "admin"))
    page = client.get(f"/p/{project.slug}/stages/new/", {"kind": "adjudicate", "for": "answers"})
    names = [field.initial.get("name") for field in page.context["field_forms"].forms if field.initial]
    assert names == ["answer"]
    assert page.context["form"].initial["title"] == "Answers: adjudication"


def test_a_reviewer_corrects_the_wording_and_what_decides():
    def names(*asked: object, **more: str) -> list[str]:
        return [field.name for field in fields_from_json(review_fields(*asked, **more))]

    assert names(SHORT_ANSWER) == ["decision", "code", "question", "answer", "note"]
    assert names(YES_NO, wording="claim") == ["decision", "code", "claim", "label", "note"]
    # What is no field's name, or another part of the form, is no text that can be corrected.
    assert names(YES_NO, wording="Claim text") == names(YES_NO, wording="note") == names(YES_NO, wording="person")
    # What was written in pairs comes one by one.
    assert names(KINDS["author"].fields) == ["decision", "code", "question", "answer", "note"]
    assert names(KINDS["rewrite"].fields) == ["decision", "code", "question", "label", "note"]
    decides = [field.name for field in fields_from_json(review_fields(SHORT_ANSWER)) if field.decides]
    assert decides == ["decision"]


def sent_form(page, **more: object) -> dict[str, object]:
    """What the page of a new stage would send as it stands."""
    context = page.context
    sent: dict[str, object] = {"for": context["about"].slug}
    for form in (context["form"], context["version_form"], *context["field_forms"].forms):
        for field in form:
            if (value := field.value()) not in (None, "", False):
                sent[field.html_name] = value
    formset = context["field_forms"]
    counts = {"TOTAL_FORMS": formset.total_form_count(), "INITIAL_FORMS": formset.initial_form_count()}
    return sent | {f"fields-{name}": n for name, n in counts.items()} | more


@pytest.mark.django_db
class TestAStageAboutAnother:
    @pytest.fixture
    def project(self, client):
        project = make_project()
        make_stage(project, slug="answers", title="Answers", kind="answer", form=SHORT_ANSWER, shown_keys=["claim"])
        client.force_login(make_member(project, "admin"))
        return project

    def make(self, client, project, kind: str, **more: object) -> Stage:
        address = f"/p/{project.slug}/stages/new/"
        page = client.get(address, {"kind": kind, "for": "answers"})
        assert client.post(address, sent_form(page, **more)).status_code == 302
        return project.stages.exclude(slug="answers").latest("pk")

    def test_adjudication_gets_what_is_undecided_and_may_make_gold(self, client, project):
        made = self.make(client, project, "adjudicate", leads_here="1", makes_gold="1")
        assert (made.title, made.options, made.overlap) == ("Answers: adjudication", {"makes_gold": True}, 1)
        assert project.stages.get(slug="answers").adjudicated_in == made

    def test_review_gets_what_is_decided(self, client, project):
        made = self.make(client, project, "review", leads_here="1")
        version = made.versions.get()
        assert [field["name"] for field in version.fields] == ["decision", "code", "claim", "answer", "note"]
        assert version.shown_keys == ["claim"]
        feed = Feed.objects.get(target=made)
        assert (feed.source.slug, feed.rule, feed.recipe) == ("answers", "decided", {})

    def test_nothing_leads_there_if_that_is_not_wanted(self, client, project):
        self.make(client, project, "review")
        made = self.make(client, project, "adjudicate", title="Other", slug="other")
        assert made.options == {}
        assert not Feed.objects.exists()
        assert project.stages.get(slug="answers").adjudicated_in is None

    def test_what_authors_wrote_comes_with_their_answer_as_gold(self, client, project):
        author = make_stage(
            project, slug="writing", kind="author", form=list(KINDS["author"].fields), shown_keys=["table"]
        )
        page = client.get(f"/p/{project.slug}/stages/new/", {"kind": "review", "for": "writing"})
        sent = sent_form(page, leads_here="1")
        assert client.post(f"/p/{project.slug}/stages/new/", sent).status_code == 302
        feed = Feed.objects.get(source=author)
        assert feed.rule == "every"
        assert feed.recipe["content"] == [["question", "each.question"], ["table", "item.table"]]
        assert feed.recipe["gold"] == [["answer", "each.answer"]]

    def test_a_refused_form_keeps_what_it_is_about(self, client, project):
        address = f"/p/{project.slug}/stages/new/"
        page = client.get(address, {"kind": "review", "for": "answers"})
        again = client.post(address, sent_form(page, overlap=""))
        assert again.status_code == 422
        assert 'name="for" value="answers"' in again.text
        assert not again.context["leads_here"]


@pytest.mark.django_db
def test_the_page_of_a_stage_changes_what_happens_where_people_disagree(client):
    project = make_project()
    judges = make_stage(project, kind="adjudicate", form=adjudication_fields(YES_NO))
    other = make_stage(make_project(), kind="adjudicate", form=adjudication_fields(YES_NO))
    stage = make_stage(project, slug="labels")
    client.force_login(make_member(project, "admin"))
    sent = {
        "title": "Labels",
        "overlap": 3,
        "roles": ["annotator"],
        "lease_minutes": 30,
        "order": "seeded",
        "is_closed_book": "on",
        "is_cross_group": "on",
        "escalate_by": 2,
        "escalate_times": 3,
        "adjudicated_in": judges.pk,
    }
    address = f"/p/{project.slug}/stages/labels/"
    assert client.post(address, sent).status_code == 302
    stage.refresh_from_db()
    assert (stage.is_cross_group, stage.escalate_by, stage.escalate_times) == (True, 2, 3)
    assert stage.adjudicated_in == judges
    # A stage of another project cannot be named, and nothing is changed.
    refused = client.post(address, sent | {"adjudicated_in": other.pk, "escalate_by": 1})
    assert refused.status_code == 422
    stage.refresh_from_db()
    assert (stage.adjudicated_in, stage.escalate_by) == (judges, 2)


@pytest.mark.django_db
def test_labels_are_audited_with_the_sources_that_settle_them(client):
    """Closed book is how answers are given; whether a label is right is looked up."""
    project = make_project()
    client.force_login(make_member(project, "admin"))
    sources = KINDS["audit"].permitted_sources
    page = client.get(f"/p/{project.slug}/stages/new/", {"kind": "audit"})
    assert not page.context["form"]["is_closed_book"].value()
    assert page.context["form"]["permitted_sources"].value() == sources
    assert f"You may use: <bdi>{sources}</bdi>" in page.text
    label = client.get(f"/p/{project.slug}/stages/new/", {"kind": "label"})
    assert label.context["form"]["is_closed_book"].value()
    assert "You may use" not in label.text


@pytest.mark.django_db
def test_programs_and_commands_begin_an_audit_with_its_sources_unless_they_say_otherwise():
    project = make_project()
    admin = make_member(project, "admin")
    api = ApiClient(admin, "run")
    sent = {
        "kind": "audit", "title": "Audit", "fields": [dict(field) for field in KINDS["audit"].fields],
        "shown_keys": ["question"], "roles": ["meta_reviewer"], "overlap": 2,
    }  # fmt: skip
    address = f"projects/{project.slug}/stages/"
    made = api.post(address, **sent, slug="usual")
    assert made.status_code == 201, made.content
    assert (made.json()["is_closed_book"], made.json()["permitted_sources"]) == (
        False,
        KINDS["audit"].permitted_sources,
    )
    closed = api.post(address, **sent, slug="closed", is_closed_book=True).json()
    assert (closed["is_closed_book"], closed["permitted_sources"]) == (True, "")
    named = api.post(address, **sent, slug="named", is_closed_book=False, permitted_sources="Wikipedia").json()
    assert (named["is_closed_book"], named["permitted_sources"]) == (False, "Wikipedia")
    label = projects.create_stage(
        project=project, by=admin, kind="label", title="L", slug="l", fields=YES_NO, shown_keys=["question"]
    )
    assert (label.is_closed_book, label.permitted_sources) == (True, "")
