"""Every type of field from the editor to the answer: on the work page without scripts, and by the API."""

from __future__ import annotations

import json

import pytest
from django.test import Client
from django.urls import reverse

from annotate.models import Annotation, Assignment, StageVersion
from annotate.person_token import person_token
from annotate.project_forms import FieldFormSet, field_initial
from annotate.services import resolving
from tests.api_client import ApiClient
from tests.factories import make_item, make_member, make_project, make_stage, make_stage_item

pytestmark = pytest.mark.django_db

OPTIONS = [
    {"value": "art", "caption": "Art", "captions": {"hi": "कला"}},
    {"value": "war", "caption": "War"},
]
FORM = [
    {"name": "topic", "type": "choice", "options": OPTIONS, "ordered": True},
    {"name": "topics", "type": "choices", "options": OPTIONS},
    {"name": "sure", "type": "scale", "min": 1, "max": 3},
    {"name": "words", "type": "text", "unit": "months"},
    {"name": "essay", "type": "long_text"},
    {"name": "age", "type": "number", "unit": "years"},
    {"name": "born", "type": "date"},
    {"name": "places", "type": "list"},
    {"name": "people", "type": "table", "columns_from": "schema"},
    {"name": "rewritten", "type": "question"},
    {"name": "pairs", "type": "qa_pairs"},
    {"name": "check", "type": "verdict"},
]
FIELDS = [{"caption": f"The {field['name']}?", "decides": True, "required": True} | field for field in FORM]
TYPED = {
    "topic": "war",
    "topics": ["war", "art"],
    "sure": "2",
    "words": "12",
    "essay": "Two\r\nlines",
    "age": "twenty-three years",
    "born": "10 December 1815",
    "places": "Rome\r\nOslo",
    "people": "Ada\t1815\r\nAlan",
    "rewritten": "Was she born in London?",
    "pairs.question": "Who?",
    "pairs.answer": "Ada",
    "check": "wrong",
    "check.correction": "1815",
}
STORED = {
    "topic": "war",
    "topics": ["art", "war"],
    "sure": 2,
    "words": "12",
    "essay": "Two\nlines",
    "age": "23",
    "born": "1815-12-10",
    "places": ["Rome", "Oslo"],
    "people": {"columns": ["name", "born"], "rows": [["Ada", "1815"], ["Alan", None]]},
    "rewritten": "Was she born in London?",
    "pairs": [{"question": "Who?", "answer": "Ada"}],
    "check": {"verdict": "wrong", "correction": "1815"},
}


@pytest.fixture
def stage():
    stage = make_stage(make_project(), form=FIELDS, overlap=2)
    content = [["question", "Who was it?"], ["schema", ["name", "born"]]]
    make_stage_item(stage, make_item(stage.project, content))
    return stage


def test_every_type_can_be_answered_on_the_page_and_by_a_program(stage):
    person, program = make_member(stage.project), make_member(stage.project)
    client = Client()
    client.force_login(person)
    url = reverse("work", args=[stage.project.slug, stage.slug])
    page = client.get(url).content.decode()
    assert "name, born" in page  # the columns of this item
    held = Assignment.objects.get(person=person)
    sent = TYPED | {"person": person_token(person), "client_key": "a-key", "active_seconds": 5}
    submit = reverse("work-submit", args=[held.token])
    refused = client.post(submit, sent | {"age": "old", "people": "Ada\t1815\tx"})
    assert refused.status_code == 422
    shown = refused.content.decode()
    assert "Write a number of years" in shown
    assert "Row 1 has 3 cells, and there are 2 columns." in shown
    for kept in ("Rome\nOslo", "10 December 1815", "Was she born in London?", 'value="old"', "\nWho?", 'value="Ada"'):
        assert kept in shown
    assert client.post(submit, sent).status_code == 302
    assert Annotation.objects.get(assignment=held).answer == STORED

    api = ApiClient(program, "work")
    told = api.post(f"work/{stage.project.slug}/{stage.slug}/next/").json()["held"]
    fields = {field["name"]: field for field in told["form"]["fields"]}
    assert fields["people"]["columns"] == ["name", "born"]
    assert fields["sure"]["schema"] == {"type": "integer", "minimum": 1, "maximum": 3}
    answer = STORED | {"words": "one year"}
    version = told["form"]["version"]
    done = api.post(f"assignments/{told['token']}/submit/", form_version=version, client_key="b-key", answer=answer)
    assert done.status_code == 200, done.content
    resolving.resolve_due()
    statuses = set(stage.stage_items.get().resolutions.values_list("status", flat=True))
    # The same answers twice, "12" and "one year" among them, for months are asked for.
    assert statuses == {"unanimous"}


def test_an_answer_of_every_type_can_be_changed_in_its_form(stage):
    person = make_member(stage.project)
    client = Client()
    client.force_login(person)
    client.get(reverse("work", args=[stage.project.slug, stage.slug]))
    held = Assignment.objects.get(person=person)
    sent = TYPED | {"person": person_token(person), "client_key": "a-key"}
    client.post(reverse("work-submit", args=[held.token]), sent)
    page = client.get(reverse("work-revise", args=[held.token])).content.decode()
    for kept in (
        "Rome\nOslo",
        "1815-12-10",
        "name\tborn\nAda\t1815\nAlan\t",
        'value="1815"',
        "\nWho?",
        'value="Ada"',
        'value="23"',
    ):
        assert kept in page
    # Up to the end of the form: the page asks other things behind it.
    form = page.partition('id="answer-form"')[2].partition("</form>")[0]
    assert form.count(" checked") == 5  # one topic, two topics, a point, a verdict


def test_captions_are_shown_in_the_language_of_the_item(stage):
    stage.stage_items.all().delete()
    make_stage_item(stage, make_item(stage.project, [["question", "कौन?"]], language="hi"))
    client = Client()
    client.force_login(make_member(stage.project))
    assert "कला" in client.get(reverse("work", args=[stage.project.slug, stage.slug])).content.decode()


def test_the_editor_keeps_every_setting():
    stage = make_stage(make_project(), form=FIELDS)
    stored = StageVersion.objects.get(stage=stage).fields
    initial = field_initial(stored)
    data = {"form-TOTAL_FORMS": len(initial), "form-INITIAL_FORMS": len(initial)}
    for n, field in enumerate(initial):
        for name, value in field.items():
            if isinstance(value, bool):
                data |= {f"form-{n}-{name}": "on"} if value else {}
            elif name != "stored_options" and value is not None:
                data[f"form-{n}-{name}"] = "\n".join(value) if isinstance(value, list) else value
    forms = FieldFormSet(data, initial=initial)
    assert forms.is_valid(), (forms.errors, forms.non_form_errors())
    from annotate.answers import fields_from_json

    assert fields_from_json(forms.fields_json) == fields_from_json(json.loads(json.dumps(stored)))
