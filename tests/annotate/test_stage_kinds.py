"""Each kind of work begins with a form that can be answered, and is run by who usually does it."""

from __future__ import annotations

import pytest

from annotate.answers import fields_from_json
from annotate.exceptions import StageNotReady
from annotate.models import Membership, Stage
from annotate.services import projects
from annotate.stage_kinds import KINDS, adjudication_fields
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
