"""The pages of an import: what an admin sees and does there, and what everybody else gets."""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotate.models import (
    Annotation,
    Gold,
    ImportJob,
    Item,
    ItemRevision,
    Person,
    Stage,
    StageItem,
    StoredFile,
    WorkerHeartbeat,
)
from annotate.services import importing
from annotate.services.heartbeats import hear
from tests.annotate.sources.workbooks import workbook
from tests.factories import SHORT_ANSWER, make_member, make_project, make_stage

pytestmark = pytest.mark.django_db

CLAIMS = b"".join(
    json.dumps({"id": f"c{n}", "claim": f"{n} is even.", "verdict": ["SUPPORTS", "REFUTES"][n % 2]}).encode() + b"\n"
    for n in range(12)
)


class Desk:
    """A project with an open stage, its admin's browser, and the others who must not see imports."""

    def __init__(self) -> None:
        self.project = make_project(slug="claims", title="Claims", languages=["en"])
        self.stage = make_stage(self.project, slug="true", title="Is it true?")
        self.admin = make_member(self.project, "admin")
        self.others = {
            "viewer": make_member(self.project, "viewer"),
            "annotator": make_member(self.project),
            "admin of another project": make_member(make_project(), "admin"),
        }
        self.browser = self.browser_of(self.admin)

    @staticmethod
    def browser_of(person: Person) -> Client:
        client = Client()
        client.force_login(person)
        return client

    def upload(self, data: bytes, name: str = "claims.jsonl", **more: Any) -> Any:
        file = SimpleUploadedFile(name, data)
        stage = more.pop("stage", self.stage)
        posted = {"file": file, "stage": stage.pk if stage else ""} | more
        return self.browser.post(reverse("import", args=["claims"]), posted)

    def draft(self, data: bytes = CLAIMS, name: str = "claims.jsonl", **more: Any) -> ImportJob:
        response = self.upload(data, name, **more)
        job = ImportJob.objects.latest("pk")
        assert response.status_code == 302
        assert response["Location"] == at("import-job", job)
        return job

    def page(self, job: ImportJob) -> str:
        response = self.browser.get(at("import-job", job))
        assert response.status_code == 200
        return text(response)

    def say(self, job: ImportJob, step: str = "preview", **changes: Any) -> Any:
        """Send the form of the draft's page as it stands, with some of its fields changed."""
        posted = fields_of(self.browser.get(at("import-job", job)).content.decode()) | changes | {"step": step}
        posted = {name: value for name, value in posted.items() if value is not None}
        return self.browser.post(at("import-mapping", job), posted)


def at(name: str, job: ImportJob) -> str:
    return reverse(name, args=["claims", job.pk])


def text(response: Any) -> str:
    return " ".join(response.content.decode().split())


def fields_of(page: str) -> dict[str, str]:
    """What a browser would send of the page's draft form: enough of HTML for forms that Django wrote."""
    form = page[page.index('id="draft-form"') :]
    form = form[: form.index("</form>")]
    fields: dict[str, str] = {}
    for tag in re.findall(r"<input[^>]*>", form):
        attributes = dict(re.findall(r'(\w+)="([^"]*)"', tag))
        if attributes.get("type") != "checkbox" or " checked" in tag:
            fields[attributes["name"]] = attributes.get("value", "on")
    for name, options in re.findall(r'<select name="([^"]+)".*?>(.*?)</select>', form, re.DOTALL) + re.findall(
        r'<select class="input" name="([^"]+)".*?>(.*?)</select>', form, re.DOTALL
    ):
        chosen = re.findall(r'<option value="([^"]*)" selected', options)
        fields[name] = chosen[0] if chosen else ""
    return fields


@pytest.fixture
def desk() -> Desk:
    return Desk()


# From the file to the items


def test_a_file_is_shown_as_people_will_see_it_then_imported(desk, django_capture_on_commit_callbacks):
    job = desk.draft()
    page = desk.page(job)
    for n in range(10):
        assert f">{n} is even.</p>" in page
    assert ">10 is even.</p>" not in page
    assert "All 12 rows were checked." in page
    assert not Item.objects.exists()
    with django_capture_on_commit_callbacks(execute=True):
        assert desk.say(job, "start").status_code == 302
    job.refresh_from_db()
    assert job.state == "waiting"
    assert "Waiting for a worker" in desk.page(job)
    importing.run_import(job_id=job.pk)
    page = desk.page(job)
    assert "12 new items. 12 items went into “<bdi>Is it true?</bdi>”." in page
    assert StageItem.objects.filter(stage=desk.stage, state="open").count() == 12
    # The file calls it claim, the stage shows question; SUPPORTS is the option yes.
    assert ItemRevision.objects.order_by("pk")[0].content == [["question", "0 is even."]]
    assert list(Gold.objects.order_by("pk").values_list("answers", flat=True))[:2] == [["yes"], ["no"]]


def test_what_was_detected_is_told_and_can_be_changed(desk):
    job = desk.draft("id;claim\n1;Größe\n".encode("latin-1"), "claims.csv")
    page = desk.page(job)
    assert "likely: not UTF-8, and it reads as Western European" in page
    assert '<option value="cp1252" selected' in page
    assert '<option value="semicolon" selected' in page
    assert "Größe" in page
    desk.say(job, encoding="cp1251")
    page = desk.page(job)
    assert "GrцЯe" in page
    assert "Encoding as you chose it." in page


def test_another_delimiter_proposes_the_columns_anew(desk):
    job = desk.draft(b"id,claim|x\n1,a|b\n2,c|d\n", "claims.csv")
    desk.say(job, delimiter="vertical bar")
    job.refresh_from_db()
    page = desk.page(job)
    assert "id,claim" in page
    assert [entry.column for entry in importing.mapping_of(job).content] == ["id,claim"]


def test_columns_get_another_meaning_and_name(desk):
    data = b'{"id": "1", "claim": "a", "context": "b", "author": "Ada"}\n'
    job = desk.draft(data)
    names = list(fields_of(desk.browser.get(at("import-job", job)).content.decode()))
    assert {"c1-meaning", "c1-key", "c1-kind", "c2-meaning", "c2-key", "c3-meaning"} <= set(names)
    desk.say(job, **{"c2-meaning": "", "c3-meaning": "stratum", "c1-key": "question", "c0-meaning": ""})
    job.refresh_from_db()
    mapping = importing.mapping_of(job)
    assert [(entry.column, entry.key) for entry in mapping.content] == [("claim", "question")]
    assert (mapping.strata, mapping.id_column) == (("author",), None)
    page = desk.page(job)
    assert "SHA-256 of an item's content becomes its id" in page
    assert "author <bdi>Ada</bdi>" in page


def test_labels_that_mean_nothing_known_wait_for_a_choice(desk):
    job = desk.draft(CLAIMS.replace(b"REFUTES", b"DENIES"))
    page = desk.page(job)
    assert "choose what each stands for" in page
    assert "6 problems so far" in page
    assert "6 rows, first in lines 2, 4, 6, 8, 10, verdict" in page
    assert re.search(r'<button class="button primary" name="step" value="start" disabled>', page)
    fields = fields_of(desk.browser.get(at("import-job", job)).content.decode())
    (name,) = (name for name, value in fields.items() if value == "DENIES")
    desk.say(job, **{name.replace("label", "value"): "no"})
    page = desk.page(job)
    assert "problems so far" not in page
    desk.say(job, "start")
    importing.run_import(job_id=job.pk)
    assert Gold.objects.filter(answers=["no"]).count() == 6


def test_no_field_of_the_mapping_takes_what_could_not_be_stored(desk):
    job = desk.draft(CLAIMS.replace(b"REFUTES", b"DENIES"))
    for name in fields_of(desk.browser.get(at("import-job", job)).content.decode()):
        assert desk.say(job, **{name: "\x00"}).status_code in (302, 422), name
        job.refresh_from_db()
        assert "\\u0000" not in json.dumps(job.mapping), name


@pytest.mark.parametrize("step", ["preview", "start"])
def test_a_button_pressed_right_after_a_stage_was_chosen_keeps_no_labels_of_the_former_one(desk, step):
    options = [{"value": "SUPPORTS", "caption": "Supported"}, {"value": "REFUTES", "caption": "Refuted"}]
    label = {"name": "label", "type": "choice", "caption": "Is it?", "decides": True, "required": True}
    stage = make_stage(desk.project, slug="supported", title="Supported?", form=[label | {"options": options}])
    job = desk.draft(stage=None)
    before = fields_of(desk.browser.get(at("import-job", job)).content.decode())
    chosen = before | {"stage": str(stage.pk)}
    desk.browser.post(at("import-mapping", job), chosen | {"step": "preview"})
    desk.browser.post(at("import-mapping", job), chosen | {"step": step})
    job.refresh_from_db()
    (gold,) = importing.mapping_of(job).gold
    assert (job.state, gold.values) == ("draft", {"SUPPORTS": "SUPPORTS", "REFUTES": "REFUTES"})


def test_a_column_that_becomes_gold_gets_its_labels(desk):
    data = b"".join(b'{"id": "%d", "claim": "c%d", "truth": "%s"}\n' % (n, n, b"true") for n in range(3))
    job = desk.draft(data)
    desk.say(job, **{"c2-meaning": "gold:label"})
    job.refresh_from_db()
    (gold,) = importing.mapping_of(job).gold
    assert (gold.column, gold.values) == ("truth", {"true": "yes"})


def test_tables_are_joined_by_a_second_file(desk):
    stage = make_stage(desk.project, form=SHORT_ANSWER, shown_keys=["question", "table"])
    tables = SimpleUploadedFile("tables.json", b'{"T1": {"caption": "Ada", "Born": "1815"}}')
    job = desk.draft(b"id,table_id,question,answer\n1,T1,When?,1815\n", "q.csv", tables=tables, stage=stage)
    page = desk.page(job)
    assert "Column that names the table" in page
    assert "1815" in page
    desk.say(job, "start")
    importing.run_import(job_id=job.pk)
    assert "1, resampled as wholes" in desk.page(job)
    assert Item.objects.get(external_id="1").root.external_id == "table_id=T1"


def test_the_draft_alone_comes_back_to_htmx(desk):
    job = desk.draft()
    posted = fields_of(desk.browser.get(at("import-job", job)).content.decode())
    response = desk.browser.post(at("import-mapping", job), posted, headers={"HX-Request": "true"})
    assert response.status_code == 200
    assert response.content.strip().startswith(b'<div id="draft"')


def test_a_project_without_a_stage_keeps_the_items_in_their_set(desk):
    Stage.objects.all().delete()
    job = desk.draft(stage=None)
    assert "Without a stage the items wait in an item set" in desk.page(job)
    desk.say(job, "start")
    importing.run_import(job_id=job.pk)
    page = desk.page(job)
    assert "12 new items." in page
    assert "Make a stage for them" in page
    # Mapped to what a new stage is offered, so that the gold fits it.
    assert Gold.objects.filter(answers=["yes"]).count() == 6


# Refusals


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("empty.csv", b"", "The file is empty"),
        ("items.csv", b"PK\x03\x04 and so on", "The ZIP cannot be read"),
        ("items.jsonl", b"SQLite format 3\x00", "is an SQLite database"),
    ],
)
def test_what_is_no_text_is_refused_at_once_and_not_kept(desk, name, data, words):
    response = desk.upload(data or b" ", name)
    assert response.status_code == 422
    assert words in text(response)
    assert not StoredFile.objects.exists()
    assert not ImportJob.objects.exists()


def test_a_file_above_the_limit_is_dropped(desk, settings):
    settings.MAX_UPLOAD_BYTES = 1_000
    response = desk.upload(CLAIMS * 2)
    assert response.status_code == 413
    assert "a file may have 1,000 bytes" in text(response)
    assert not StoredFile.objects.exists()


def test_faults_in_the_first_rows_stand_in_the_preview_with_their_places(desk):
    job = desk.draft(CLAIMS + b'{"id": "x", "claim": NaN}\n')
    page = desk.page(job)
    assert "line 13, claim" in page
    assert "NaN is not a value" in page
    # Whoever sends it all the same is told by the import itself.
    desk.say(job, "start")
    importing.run_import(job_id=job.pk)
    assert not Item.objects.exists()


def test_a_fault_far_down_is_told_by_line_and_the_mapping_can_be_opened_again(desk):
    lines = b"".join(b'{"id": "%d", "claim": "Is it %d?"}\n' % (n, n) for n in range(3_000))
    job = desk.draft(lines + b'{"id": "x", "claim": "open}\n')
    assert "problems so far" not in desk.page(job)
    desk.say(job, "start")
    importing.run_import(job_id=job.pk)
    page = desk.page(job)
    assert "Nothing was imported: the file has a problem." in page
    assert "line 3001, column 22" in page
    assert not Item.objects.exists()
    desk.browser.post(at("import-step", job), {"step": "reopen"})
    job.refresh_from_db()
    assert job.state == "draft"
    assert "What the columns mean" in desk.page(job)


def test_changed_content_is_refused_in_the_preview_until_new_revisions_are_chosen(desk):
    first = desk.draft()
    desk.say(first, "start")
    importing.run_import(job_id=first.pk)
    job = desk.draft(CLAIMS.replace(b"3 is even", b"3 is odd"))
    page = desk.page(job)
    assert "1 known item has other content in this file" in page
    assert "line 4, id" in page
    desk.say(job, new_revisions="on")
    assert "other content in this file" not in desk.page(job)
    desk.say(job, "start")
    importing.run_import(job_id=job.pk)
    assert "1 new revision" in desk.page(job)


def test_the_same_file_twice_says_so(desk):
    for _ in range(2):
        job = desk.draft()
        desk.say(job, "start")
        importing.run_import(job_id=job.pk)
    assert "The project had all of this already: nothing was changed." in desk.page(job)


def test_duplicates_and_conflicts_are_listed(desk):
    more = b'{"id": "z", "claim": "1 is even.", "verdict": "SUPPORTS"}\n'
    job = desk.draft(CLAIMS + more)
    assert "1 has the content of another item. 1 gold label contradicts" in desk.page(job)
    desk.say(job, "start")
    importing.run_import(job_id=job.pk)
    page = desk.page(job)
    assert "Content that stands in the file more than once: 1" in page
    assert "Gold labels that contradict one another: 1" in page
    assert "line 2, <bdi>c1</bdi>" in page


def test_a_draft_without_content_cannot_be_started(desk):
    job = desk.draft()
    response = desk.say(job, "start", **{"c1-meaning": ""})
    assert response.status_code == 422
    assert "No column is shown to people" in text(response)
    job.refresh_from_db()
    assert job.state == "draft"


# Waiting


def test_a_silent_worker_is_told_with_since_when_and_the_import_can_be_cancelled(desk):
    job = desk.draft()
    desk.say(job, "start")
    assert "No worker has ever been heard from." in desk.page(job)
    hear(name="worker@here", role="worker")
    assert "Background work is running" in desk.page(job)
    WorkerHeartbeat.objects.update(heard_at=timezone.now() - timedelta(hours=3))
    page = desk.page(job)
    assert re.search(r"No worker has been heard from since <time .*?</time> \(3.hours ago\)", page)
    desk.browser.post(at("import-step", job), {"step": "cancel"})
    page = desk.page(job)
    assert "The import was cancelled. Nothing was imported." in page
    importing.run_import(job_id=job.pk)
    assert not Item.objects.exists()


def test_progress_is_a_fragment_that_asks_again_until_the_end(desk):
    job = desk.draft()
    desk.say(job, "start")
    ImportJob.objects.update(state="running", n_total=200, n_done=90)
    address = at("import-progress", job)
    part = text(desk.browser.get(address, headers={"HX-Request": "true"}))
    assert part.startswith('<div id="import-state"')
    assert f'hx-get="{address}"' in part
    assert "Reading the file: 45 %" in part
    ImportJob.objects.update(n_done=200)
    assert "Storing the items" in text(desk.browser.get(address, headers={"HX-Request": "true"}))
    ImportJob.objects.update(state="cancelled")
    assert "hx-get" not in text(desk.browser.get(address, headers={"HX-Request": "true"}))
    # A reload of the page, and an address opened by hand, lead to the whole page.
    assert desk.browser.get(address)["Location"] == at("import-job", job)


def test_a_draft_can_be_discarded_with_its_file(desk, django_capture_on_commit_callbacks):
    job = desk.draft()
    stored = job.source.file
    with django_capture_on_commit_callbacks(execute=True):
        response = desk.browser.post(at("import-step", job), {"step": "discard"})
    assert response["Location"] == reverse("import", args=["claims"])
    assert not ImportJob.objects.exists()
    assert not stored.storage.exists(stored.name)


def test_a_started_import_does_not_listen_to_its_old_form(desk):
    job = desk.draft()
    posted = fields_of(desk.browser.get(at("import-job", job)).content.decode())
    desk.say(job, "start")
    before = ImportJob.objects.get()
    response = desk.browser.post(at("import-mapping", job), posted | {"encoding": "gb18030", "step": "preview"})
    assert response.status_code == 302
    after = ImportJob.objects.get()
    assert (after.options, after.mapping, after.state) == (before.options, before.mapping, before.state)


def test_earlier_imports_are_listed(desk):
    desk.draft()
    page = text(desk.browser.get(reverse("import", args=["claims"])))
    assert "claims.jsonl" in page
    assert "draft: go on" in page


# Content is data


def test_nothing_in_a_file_runs_as_html(desk):
    evil = "<script>alert(1)</script>"
    record = {"id": evil, "claim": evil, "<b>x</b>": evil, "verdict": evil}
    job = desk.draft(json.dumps(record).encode() + b"\n", "<i>.jsonl")
    page = desk.page(job)
    for tag in ("<script>alert", "<b>x</b>", "<i>.jsonl"):
        assert tag not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_a_file_of_a_thousand_columns_can_be_mapped(desk):
    record = {"id": "1", "claim": "It is so."} | {f"column {n}": n for n in range(1_000)}
    job = desk.draft(json.dumps(record).encode() + b"\n")
    assert "852 further columns are kept aside" in desk.page(job)
    assert desk.say(job, "start").status_code == 302


# Everybody else


def test_imports_are_for_admins_of_the_project_only(desk):
    job = desk.draft()
    posts = (at("import-mapping", job), at("import-step", job), reverse("import", args=["claims"]))
    for words, person in desk.others.items():
        browser = desk.browser_of(person)
        for address in (reverse("import", args=["claims"]), at("import-job", job), at("import-progress", job)):
            assert browser.get(address).status_code == 404, (words, address)
        for address in posts:
            assert browser.post(address, {"step": "discard"}).status_code == 404, (words, address)
    assert ImportJob.objects.filter(pk=job.pk).exists()
    for address in (reverse("import", args=["claims"]), at("import-job", job), at("import-progress", job)):
        assert Client().get(address).status_code == 302
    assert Client().get(at("import-progress", job), headers={"HX-Request": "true"}).status_code == 401


def test_an_import_of_another_project_is_not_found(desk):
    other = make_project(slug="other")
    admin = make_member(other, "admin")
    job = desk.draft()
    browser = desk.browser_of(admin)
    assert browser.get(reverse("import-job", args=["other", job.pk])).status_code == 404
    # Nor can it be put into a stage of another project.
    foreign = make_stage(other)
    assert desk.upload(CLAIMS, stage=foreign).status_code == 422


# Answers, workbooks


ANSWERS = b"item_id,claim,annotator,label\n" + b"".join(
    f"c{n % 4},{n % 4} is even.,w{n // 4},{['TRUE', 'FALSE'][n % 2]}\n".encode() for n in range(12)
)


def test_answers_are_recognised_mapped_and_imported_by_page(desk):
    job = desk.draft(ANSWERS, "answers.csv")
    page = desk.page(job)
    assert "12 answers of 3 people to 4 items" in page
    assert "The first answers, and what they are to" in page
    assert "Name of the new stage" not in page  # the answers go into the stage that was chosen
    form = fields_of(desk.browser.get(at("import-job", job)).content.decode())
    meanings = sorted(form[name] for name in form if name.endswith("-meaning"))
    assert meanings == ["annotator", "answer:label", "content", "id"]
    response = desk.say(job, "start")
    assert response["Location"] == at("import-job", job)
    importing.run_import(job_id=job.pk)
    done = desk.page(job)
    assert "12 answers of 3 people." in done
    assert "under pseudonyms, and without a way to sign in" in done
    answers = Annotation.objects.filter(assignment__stage=desk.stage)
    assert Counter(answers.values_list("answer__label", flat=True)) == {"yes": 6, "no": 6}


def test_answers_without_a_stage_get_one_of_the_name_that_was_given(desk):
    job = desk.draft(ANSWERS.replace(b",w0,", b",w1,"), "answers.csv", stage=None)
    page = desk.page(job)
    assert "4 times somebody answers an item more than once" in page
    assert "no times say which answer is the newer one" in page
    desk.say(job, "start", stage_title="By the crowd", repeats="order")
    importing.run_import(job_id=job.pk)
    stage = Stage.objects.get(title="By the crowd")
    assert (stage.state, Annotation.objects.filter(assignment__stage=stage, is_current=True).count()) == ("closed", 8)


def test_another_sheet_of_a_workbook_is_chosen_by_page(desk):
    rows = [["id", "claim", "verdict"], ["c1", "1 is even.", "REFUTES"]]
    job = desk.draft(workbook(("Read me", [["about this file"]]), ("Claims", rows)), "claims.xlsx")
    page = desk.page(job)
    assert "Only the sheet “Read me” is read, not “Claims”." in page
    assert "Encoding" not in page
    desk.say(job, sheet="Claims")
    job.refresh_from_db()
    mapping = importing.mapping_of(job)
    assert (importing.options_of(job).source.sheet, mapping.id_column) == ("Claims", "id")
    assert "1 is even." in desk.page(job)
    assert desk.say(job, sheet="Gone").status_code == 422


def test_a_change_that_arrives_after_the_start_changes_nothing(desk, monkeypatch):
    job = desk.draft(ANSWERS, "answers.csv")
    posted = fields_of(desk.browser.get(at("import-job", job)).content.decode())
    read = ImportJob.objects.get(pk=job.pk)
    importing.start_import(job=job, by=desk.admin)
    # The request that lost the race had read the job as a draft.
    monkeypatch.setattr("annotate.views.importing._job_run_by", lambda *_: (desk.project, read))
    response = desk.browser.post(at("import-mapping", job), posted)
    assert (response.status_code, response["Location"]) == (302, at("import-job", job))
    assert ImportJob.objects.get(pk=job.pk).state == "waiting"
