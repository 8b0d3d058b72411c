"""Options of a kind of stage: read, kept, refused, changed on the page and by programs."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotate.exceptions import StageOptionsInvalid
from annotate.models import Event
from annotate.stage_options import AuthorOptions, RewriteOptions, options_to_json, read_options
from tests.api_client import ApiClient
from tests.factories import make_member, make_project, make_stage

PAIRS = [{"name": "pairs", "type": "qa_pairs", "caption": "Write", "min": 1}]


def test_options_come_back_as_they_were_stored():
    stored = {"hidden_keys": ["Born"], "is_shuffled": True, "per_domain": 2}
    options = read_options("author", stored)
    assert options == AuthorOptions(hidden_keys=("Born",), is_shuffled=True, per_domain=2)
    assert options_to_json(options) == stored
    assert options_to_json(AuthorOptions()) == {}
    labels = RewriteOptions(source_labels=(("SUPPORTS", "yes"),))
    assert read_options("rewrite", options_to_json(labels)) == labels
    assert read_options("label", {}) is None


@pytest.mark.parametrize(
    ("kind", "option", "value"),
    [
        ("author", "hidden", ["Born"]),
        ("author", "hidden_keys", "Born"),
        ("author", "hidden_keys", [7]),
        ("author", "hidden_keys", ["x" * 301]),
        ("author", "hidden_keys", ["x"] * 201),
        ("author", "is_shuffled", 1),
        ("author", "n_domains", 0),
        ("author", "n_domains", True),
        ("author", "domain", None),
        ("rewrite", "source_labels", [["SUPPORTS"]]),
        ("rewrite", "source_labels", [["SUPPORTS", "yes"], ["SUPPORTS", "no"]]),
    ],
)
def test_what_cannot_be_meant_is_refused_by_name(kind, option, value):
    with pytest.raises(StageOptionsInvalid) as refused:
        read_options(kind, {option: value})
    assert refused.value.option == option


@pytest.mark.django_db
class TestEditor:
    @pytest.fixture
    def stage(self):
        return make_stage(make_project(), kind="author", form=PAIRS, shown_keys=["table"])

    @pytest.fixture
    def admin(self, stage):
        client = Client()
        client.force_login(make_member(stage.project, "admin"))
        return client

    def address(self, name: str, stage) -> str:
        return reverse(name, args=[stage.project.slug, stage.slug])

    def test_they_are_changed_on_the_page(self, stage, admin):
        sent = {"hidden_keys": "Born\r\nDied\r\n", "is_shuffled": "on", "n_domains": "12", "per_domain": "3"}
        assert admin.post(self.address("stage-options", stage), sent).status_code == 302
        stage.refresh_from_db()
        assert stage.options == {"hidden_keys": ["Born", "Died"], "is_shuffled": True}
        page = admin.get(self.address("stage", stage)).content.decode()
        assert "Born\nDied" in page
        event = Event.objects.get(verb="stage.options")
        assert event.detail == {"before": {}, "after": stage.options}

    def test_a_mistake_comes_back_beside_its_field(self, stage, admin):
        refused = admin.post(self.address("stage-options", stage), {"n_domains": "0", "domain": "kept words"})
        assert refused.status_code == 422
        assert "kept words" in refused.content.decode()
        stage.refresh_from_db()
        assert stage.options == {}

    def test_labels_of_the_source_are_pairs(self, stage, admin):
        rewrite = make_stage(
            stage.project, kind="rewrite", form=[{"name": "question", "type": "question", "caption": "Question"}]
        )
        address = self.address("stage-options", rewrite)
        assert admin.post(address, {"source_labels": "SUPPORTS"}).status_code == 422
        assert admin.post(address, {"source_label_key": "v", "source_labels": "SUPPORTS | yes"}).status_code == 302
        rewrite.refresh_from_db()
        assert rewrite.options == {"source_label_key": "v", "source_labels": [["SUPPORTS", "yes"]]}

    def test_other_kinds_have_none(self, stage, admin):
        label = make_stage(stage.project)
        assert admin.post(self.address("stage-options", label), {}).status_code == 302
        assert 'id="options"' not in admin.get(self.address("stage", label)).content.decode()

    def test_a_program_sets_and_changes_them(self, stage):
        api = ApiClient(make_member(stage.project, "admin"), "run", "read")
        address = f"projects/{stage.project.slug}/stages/"
        new = {"kind": "author", "title": "More", "shown_keys": ["table"], "fields": PAIRS}
        refused = api.post(address, **new, options={"hidden": []})
        assert (refused.status_code, refused.json()["error"]) == (422, "stage_options_invalid")
        made = api.post(address, **new, options={"domain": "category"})
        assert (made.status_code, made.json()["options"]) == (201, {"domain": "category"})
        changed = api.post(f"{address}{made.json()['slug']}/options/", options={"per_domain": 2})
        assert changed.json()["options"] == {"per_domain": 2}
