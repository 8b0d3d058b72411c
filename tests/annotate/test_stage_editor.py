"""The stage editor: the annotators' page beside it as the form is typed, every setting explained, fields in order."""

from __future__ import annotations

from html import escape
from typing import Any

import pytest
from django.forms import HiddenInput
from django.test import Client

from annotate.models import Item, Person, Project, Stage
from annotate.project_forms import FieldForm, NewStageForm, StageForm, StageVersionForm
from annotate.stage_forms import OPTION_FORMS
from annotate.stage_kinds import KINDS, first_fields
from tests.factories import make_annotation, make_item, make_member, make_project, make_stage, make_stage_item

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}


@pytest.fixture
def project() -> Project:
    return make_project(slug="claims", title="Claims")


@pytest.fixture
def admin(project: Project) -> Client:
    client = Client()
    client.force_login(make_member(project, "admin"))
    return client


def text(response: Any) -> str:
    return " ".join(response.content.decode().split())


def typed(**changes: Any) -> dict[str, Any]:
    """What the browser sends for the first form of a label stage."""
    return {
        "title": "Label",
        "kind": "label",
        "overlap": "3",
        "roles": ["annotator"],
        "lease_minutes": "30",
        "order": "seeded",
        "is_closed_book": "on",
        "shown_keys": "question",
        "instruction": "Read twice.",
        "fields-TOTAL_FORMS": "2",
        "fields-INITIAL_FORMS": "1",
        "fields-0-name": "label",
        "fields-0-type": "choice",
        "fields-0-caption": "Is it so?",
        "fields-0-options": "yes | Yes\r\nno | No",
        "fields-0-decides": "on",
        "fields-0-required": "on",
        "fields-0-ORDER": "1",
        "fields-1-type": "choice",
        "fields-1-decides": "on",
        "fields-1-required": "on",
    } | changes


def counts() -> tuple[int, int]:
    return Stage.objects.count(), Item.objects.count()


# The page beside the editor


def test_a_new_stage_is_shown_as_people_will_see_it_before_it_exists(project: Project, admin: Client):
    make_item(project, [["question", "Is the sea <b>salt</b>?"]])
    before = counts()
    page = text(admin.get("/p/claims/stages/new/?kind=label"))
    assert "Is the sea &lt;b&gt;salt&lt;/b&gt;?" in page
    assert 'id="submit-answer"' in page  # the template that people get, with its buttons
    sent = typed(**{"fields-0-caption": "Could it be?"})
    fragment = text(admin.post("/p/claims/stages/new/preview/", sent, headers=HTMX))
    for words in ("Is the sea &lt;b&gt;salt&lt;/b&gt;?", "Could it be?", "Read twice.", "Closed book"):
        assert words in fragment
    assert "<html" not in fragment
    assert counts() == before


def test_how_a_new_stage_is_run_is_part_of_what_is_shown(project: Project, admin: Client):
    sent = typed(is_closed_book="", permitted_sources="Wikipedia", title="")
    assert "You may use: <bdi>Wikipedia</bdi>." in text(admin.post("/p/claims/stages/new/preview/", sent, headers=HTMX))


def test_without_an_item_one_is_invented_and_said_to_be(project: Project, admin: Client):
    sent = typed(shown_keys="claim\r\ncontext")
    fragment = text(admin.post("/p/claims/stages/new/preview/", sent, headers=HTMX))
    assert "this one is invented" in fragment
    assert "…claim…" in fragment
    assert "…context…" in fragment
    assert counts() == (0, 0)


@pytest.mark.parametrize("kind", [kind for kind, described in KINDS.items() if described.is_offered])
def test_each_kind_shows_a_page_from_the_start(project: Project, admin: Client, kind: str):
    make_item(project, [["question", "Is the sea salt?"]])
    page = text(admin.get(f"/p/claims/stages/new/?kind={kind}"))
    assert "As people see it" in page
    assert "Is the sea salt?" in page.partition('id="preview"')[2]


def test_nothing_on_the_page_beside_the_editor_can_be_sent(project: Project, admin: Client):
    make_stage_item(make_stage(project, slug="label"))
    fragment = admin.get("/p/claims/stages/label/").content.decode().partition('id="preview"')[2]
    begin = fragment.index('<fieldset disabled class="preview-frame')
    assert begin < fragment.index('id="answer-form"') < fragment.index('id="submit-answer"')
    assert 'action=""' in fragment
    assert 'data-draft-url="/' not in fragment


def test_what_keeps_the_page_from_being_shown_is_named(project: Project, admin: Client):
    sent = typed(**{"fields-0-options": "yes | Yes"})
    fragment = text(admin.post("/p/claims/stages/new/preview/", sent, headers=HTMX))
    assert "The form cannot be shown yet" in fragment
    assert "a choice needs at least two options" in fragment


def test_the_page_can_be_shown_without_scripts(project: Project, admin: Client):
    page = text(admin.post("/p/claims/stages/new/preview/", typed()))
    assert "<html" in page
    assert "Nothing is saved by this." in page
    for address in ("/p/claims/stages/new/", f"/p/claims/stages/{make_stage(project).slug}/"):
        assert 'preview/" formnovalidate>Show the page</button>' in text(admin.get(address))


def test_the_page_keeps_its_own_address_out_of_frames(project: Project, admin: Client):
    assert admin.post("/p/claims/stages/new/preview/", typed())["X-Frame-Options"] == "DENY"


# Every setting explained


def named(form: type, name: str) -> str:
    return f"{form.__name__}.{name}"


@pytest.mark.parametrize("form", [StageForm, NewStageForm, StageVersionForm, FieldForm, *OPTION_FORMS.values()])
def test_every_setting_has_an_explanation(form: Any):
    unexplained = [
        named(form, name)
        for name, field in form.base_fields.items()
        if not isinstance(field.widget, HiddenInput) and not field.help_text
    ]
    assert unexplained == []


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_the_explanations_of_each_kind_stand_on_its_page(project: Project, admin: Client, kind: str):
    fields = first_fields(kind, KINDS[kind].variants[0].name if KINDS[kind].variants else "")
    make_stage(project, slug="stage", kind=kind, form=fields)
    page = text(admin.get("/p/claims/stages/stage/"))
    forms = [StageForm, StageVersionForm, FieldForm, *([OPTION_FORMS[kind]] if kind in OPTION_FORMS else [])]
    missing = [
        named(form, name)
        for form in forms
        for name, field in form.base_fields.items()
        if " ".join(escape(str(field.help_text)).split()) not in page
    ]
    assert missing == []


# Fields in order


def test_fields_are_stored_in_the_order_of_their_places(project: Project, admin: Client):
    why = {"name": "why", "type": "long_text", "caption": "Why?", "ORDER": "1"}
    second = {f"fields-1-{name}": value for name, value in why.items()} | {
        "fields-1-decides": "",
        "fields-1-required": "",
    }
    sent = typed(**second) | {"fields-0-ORDER": "2", "slug": "label"}
    assert admin.post("/p/claims/stages/new/", sent).status_code == 302
    stage = Stage.objects.get()
    assert [field["name"] for field in stage.versions.get().fields] == ["why", "label"]
    preview = text(admin.post("/p/claims/stages/label/preview/", sent, headers=HTMX))
    assert preview.index("Why?") < preview.index("Is it so?")


def test_a_field_without_a_place_comes_last(project: Project, admin: Client):
    why = {"fields-1-name": "why", "fields-1-type": "long_text", "fields-1-caption": "Why?", "fields-1-decides": ""}
    sent = typed(**why) | {"fields-0-ORDER": "5"}
    assert admin.post("/p/claims/stages/new/", sent).status_code == 302
    assert [field["name"] for field in Stage.objects.get().versions.get().fields] == ["label", "why"]


def test_words_may_change_after_the_first_answer_and_the_order_makes_a_new_version(project: Project, admin: Client):
    stage = make_stage(project, slug="label")
    make_annotation(make_stage_item(stage), make_member(project), {"label": "yes"})
    options = "yes | Yes\r\nno | No\r\nnot_sure | Not sure enough"
    sent = typed(**{"fields-0-caption": "Could it be so?", "fields-0-options": options}) | {"instruction": ""}
    assert admin.post("/p/claims/stages/label/form/", sent).status_code == 302
    assert stage.versions.get().fields[0]["caption"] == "Could it be so?"


def test_who_does_not_run_the_project_previews_nothing(project: Project):
    for role in ("viewer", "annotator"):
        person: Person = make_member(project, role)
        client = Client()
        client.force_login(person)
        assert client.post("/p/claims/stages/new/preview/", typed()).status_code == 404
