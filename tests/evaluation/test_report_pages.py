"""The pages of reports: their success, then their refusals, for readers, admins, annotators and strangers."""

import re
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from annotate.models import Annotation, ItemKey, WorkerHeartbeat
from evaluation.models import Prediction, Report, Run
from evaluation.services import agreement
from tests.evaluation.studies import make_study
from tests.factories import (
    make_annotation,
    make_annotator,
    make_item,
    make_item_set,
    make_member,
    make_prediction,
    make_project,
    make_run,
    make_stage,
    make_stage_item,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    return make_study()


def url(name, study, *args):
    return reverse(name, args=[study.project.slug, *args])


def as_person(client, person):
    client.force_login(person)
    return client


def form_of(study, **changes):
    return {
        "title": "A comparison",
        "stage": study.stage.pk,
        "item_set": study.item_set.pk,
        "runs": [run.pk for run in study.runs],
        "comparison": f"{study.stage.pk}:label:label_accuracy",
        "primary_run": study.runs[0].pk,
        "seed": 5,
        "n_resamples": 400,
    } | changes


def test_an_admin_names_a_comparison_and_a_worker_is_awaited(client, study):
    response = as_person(client, study.admin).post(url("report-new", study), form_of(study))
    report = Report.objects.get()
    assert response.url == url("report", study, report.pk)
    assert (report.state, report.primary_run, report.seed) == ("waiting", study.runs[0], 5)
    page = client.get(response.url).content.decode()
    assert "Waiting for a worker" in page
    assert "No worker has ever been heard from" in page


def test_the_form_suggests_finished_runs_and_offers_every_fitting_score(client):
    study = make_study(n_items=4, form="text")
    page = as_person(client, study.admin).get(url("report-new", study)).content.decode()
    assert "Exact match" in page
    assert "Token F1" in page
    assert page.count("checked") == 2


def test_further_scores_and_a_family_of_every_run_are_chosen_on_the_page(client):
    study = make_study(n_items=4, form="text")
    sent = form_of(study, comparison=f"{study.stage.pk}:answer:structext_rouge_l")
    sent |= {"further_scorers": ["rouge_l", "bleu"], "every_run_is_primary": "on"}
    as_person(client, study.admin).post(url("report-new", study), sent)
    report = Report.objects.get()
    assert (report.primary_scorer, report.further_scorers) == ("structext_rouge_l", ["rouge_l", "bleu"])
    assert report.every_run_is_primary


def test_a_score_of_another_type_of_field_is_refused_beside_its_box(client):
    study = make_study(n_items=4, form="text")
    make_stage(
        study.project, title="Tables", form=[{"name": "rows", "type": "table", "caption": "Rows", "columns": ["a"]}]
    )
    sent = form_of(study, comparison=f"{study.stage.pk}:answer:exact_match", further_scorers=["qatch_tuple_order"])
    response = as_person(client, study.admin).post(url("report-new", study), sent)
    assert response.status_code == 422
    assert "Does not fit answers to this field: Tuple order (QATCH)." in response.content.decode()
    assert not Report.objects.exists()


def test_a_finished_report_shows_its_tests_and_what_a_next_study_needs(client):
    study = make_study()
    report = study.made_report()
    page = as_person(client, study.admin).get(url("report", study, report.pk)).content.decode()
    assert "Differences, tested" in page
    assert "Holm, of 1" in page
    assert "BH, of 4" in page
    assert "with a power of 80 %" in page


def test_a_set_of_which_the_stage_asks_nothing_is_refused(client, study):
    others = make_item_set(study.project, [make_item(study.project)], name="newer, and asked nowhere")
    as_person(client, study.admin)
    response = client.post(url("report-new", study), form_of(study, item_set=others.pk))
    assert response.status_code == 422
    assert "Nobody is asked any of these items in that stage" in response.content.decode()
    assert client.get(url("report-new", study)).context["form"].initial["item_set"] == study.item_set


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"title": ""}, "This field is required."),
        ({"primary_run": "0"}, "Select a valid choice"),
        ({"runs": []}, "Choose one of the runs that are compared."),
        ({"n_resamples": 10}, "greater than or equal to 200"),
        ({"comparison": "1:label:rm"}, "Select a valid choice"),
    ],
)
def test_a_wrong_form_comes_back_with_the_reason_and_makes_nothing(client, study, changes, words):
    response = as_person(client, study.admin).post(url("report-new", study), form_of(study, **changes))
    assert response.status_code == 422
    assert words in response.content.decode()
    assert not Report.objects.exists()


@pytest.mark.parametrize("key", ["9" * 30, "9" * 19, "-1", "٣", "1e3", "\x00", "one"])
@pytest.mark.parametrize("name", ["stage", "item_set", "runs", "primary_run"])
def test_what_no_key_can_be_is_no_choice(client, study, name, key):
    client.raise_request_exception = False
    response = as_person(client, study.admin).post(url("report-new", study), form_of(study, **{name: [key]}))
    assert response.status_code == 422
    assert not Report.objects.exists()


def test_runs_and_sets_of_another_project_cannot_be_chosen(client, study):
    other = make_study(n_items=4)
    changed = form_of(study, item_set=other.item_set.pk)
    assert as_person(client, study.admin).post(url("report-new", study), changed).status_code == 422
    assert not Report.objects.exists()


def test_the_page_shows_every_row_with_interval_both_denominators_and_what_was_left_out(client, study):
    Prediction.objects.filter(run=study.runs[0]).update(state="unparsed", answer=None)
    report = study.made_report()
    response = as_person(client, study.admin).get(url("report", study, report.pk))
    page = response.content.decode()
    assert "People, mean person" in page
    assert "24 unparsed: not right" in page
    assert "answered only" in page
    assert "nothing to average" in page  # all unparsed: undefined among the answered
    assert "primary comparison" in page
    assert "Krippendorff’s alpha, nominal" in page
    assert 'src="' + url("report-file", study, report.pk, "chart.svg") in page
    assert " style=" not in page


def test_a_difference_says_on_how_many_items_it_stands_when_these_are_fewer_than_the_rows(client):
    # People were asked the 24 items of the study; a run of 25 shares no more of them.
    study = make_study(n_runs=0)
    items = [*study.items, make_item(study.project, gold={"label": ["yes"]})]
    more = make_item_set(study.project, items)
    run = make_run(study.stage, more, name="Longer", state="done", frozen_at=timezone.now())
    for item in items:
        make_prediction(run, item, {"label": "yes"})
    report = study.made_report(item_set=more, runs=[run], primary_run=run)
    page = as_person(client, study.admin).get(url("report", study, report.pk)).content.decode()
    difference = next(figure for figure in report.figures if figure["section"] == "difference")
    assert difference["n_items"] == 24
    assert "on 24 shared items" in page


@pytest.mark.parametrize("n_left", [22, 2])
def test_a_cell_of_a_breakdown_says_how_few_of_the_items_it_covers(client, n_left):
    study = make_study(n_items=30, n_runs=1)
    ItemKey.objects.filter(item__in=study.items).update(strata=[["domain", "rivers"]])
    # What is left of people: the items that were answered, and those that somebody skipped.
    Annotation.objects.exclude(assignment__stage_item__revision__item__in=study.items[:n_left]).delete()
    report = study.made_report()
    [people] = [f for f in report.figures if f["section"] == "breakdown" and f["row"] == "people_mean"]
    page = as_person(client, study.admin).get(url("report", study, report.pk)).content.decode()
    assert n_left <= people["n_items"] < 30
    if n_left < 20:
        assert (people["value"], people["undefined"]) == (None, "too_few")
        assert "fewer than 20 items" in page
    else:
        assert f"on {people['n_items']} items<" in page


def test_a_report_without_a_figure_asks_for_no_chart(client):
    study = make_study()
    others = make_item_set(study.project, [make_item(study.project)])
    report = study.made_report(item_set=others)
    page = as_person(client, study.admin).get(url("report", study, report.pk)).content.decode()
    assert "nobody answered" in page
    assert "chart.svg" not in page


def test_failed_calls_are_pointed_out_before_anybody_reads_the_number(client, study):
    Prediction.objects.filter(run=study.runs[0], position=0).update(state="error", answer=None)
    report = study.made_report()
    page = as_person(client, study.admin).get(url("report", study, report.pk)).content.decode()
    assert "had calls that failed" in page


def test_the_words_human_baseline_are_withheld_where_people_and_model_saw_different_things(client, study):
    report = study.made_report()
    same = as_person(client, study.admin).get(url("report", study, report.pk)).content.decode()
    assert "human baseline: both saw the same" in same
    report.manifest["shown"] |= {
        "is_same": False,
        "differences": {"Model A": {"only_people": ["table"], "only_model": []}},
    }
    report.save(update_fields=["manifest"])
    page = client.get(url("report", study, report.pk)).content.decode()
    assert "human baseline: both saw the same" not in page
    assert "Not a human baseline" in page
    assert "only people saw <bdi>table</bdi>" in page


def test_names_are_escaped(client, study):
    Run.objects.filter(pk=study.runs[0].pk).update(name="<script>alert(1)</script>")
    report = study.made_report(title="<b>bold</b>")
    page = as_person(client, study.admin).get(url("report", study, report.pk)).content.decode()
    assert "<script>alert" not in page
    assert "<b>bold" not in page


@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        ("answers.csv", "text/csv; charset=utf-8"),
        ("answers.spreadsheet.csv", "text/csv; charset=utf-8"),
        ("figures.csv", "text/csv; charset=utf-8"),
        ("matrix.csv", "text/csv; charset=utf-8"),
        ("report.json", "application/json"),
        ("report.md", "text/markdown; charset=utf-8"),
        ("chart.svg", "image/svg+xml"),
        ("chart.png", "image/png"),
    ],
)
def test_files_are_attachments_of_their_own_type(client, study, name, media_type):
    report = study.made_report()
    response = as_person(client, study.admin).get(url("report-file", study, report.pk, name))
    assert response.status_code == 200
    assert response["Content-Type"] == media_type
    assert response["Content-Disposition"].startswith("attachment;")
    assert response["X-Content-Type-Options"] == "nosniff"
    assert b"".join(response.streaming_content)


def test_only_files_of_this_very_report_are_served(client, study):
    report, other = study.made_report(), make_study(n_items=4).made_report()
    client = as_person(client, study.admin)
    assert client.get(url("report-file", study, report.pk, "nothing.csv")).status_code == 404
    assert client.get(url("report-file", study, other.pk, "answers.csv")).status_code == 404


def test_the_list_tells_states_apart_and_needs_the_same_queries_for_any_number(
    client, study, django_assert_max_num_queries
):
    study.made_report(title="First")
    study.report(title="Second")
    Report.objects.create(
        project=study.project,
        title="Third",
        stage=study.stage,
        item_set=study.item_set,
        field="label",
        primary_scorer="label_accuracy",
        state="failed",
        error="The item set is empty.",
    )
    client = as_person(client, study.admin)
    # Session, person, project, role for the nav and for the buttons, reports, whether one can be made (two).
    with django_assert_max_num_queries(8):
        page = client.get(url("reports", study)).content.decode()
    assert "frozen" in page
    assert "waiting" in page
    assert "failed" in page
    assert "New report" in page


@pytest.mark.parametrize("n_items", [4, 24])
def test_the_page_of_a_report_needs_the_same_queries_for_any_number_of_items(
    client, n_items, django_assert_max_num_queries
):
    study = make_study(n_items=n_items)
    report = study.made_report()
    client = as_person(client, study.admin)
    # Session, person, report with its rows, role for nav and buttons, files.
    with django_assert_max_num_queries(6):
        assert client.get(url("report", study, report.pk)).status_code == 200


def test_an_admin_cancels_and_makes_again(client, study):
    report = study.report()
    client = as_person(client, study.admin)
    client.post(url("report-cancel", study, report.pk))
    report.refresh_from_db()
    assert report.state == "cancelled"
    assert "Make it again" in client.get(url("report", study, report.pk)).content.decode()
    client.post(url("report-again", study, report.pk))
    report.refresh_from_db()
    assert report.state == "waiting"


def test_a_finished_report_is_not_cancelled_and_says_so(client, study):
    report = study.made_report()
    response = as_person(client, study.admin).post(url("report-cancel", study, report.pk), follow=True)
    assert "nothing to cancel" in response.content.decode()
    report.refresh_from_db()
    assert report.state == "done"


def test_the_waiting_part_says_since_when_no_worker_was_heard_and_reloads_when_the_report_is_there(client, study):
    report = study.report()
    WorkerHeartbeat.objects.create(name="w", role="worker", heard_at=timezone.now() - timedelta(hours=2))
    client = as_person(client, study.admin)
    fragment = client.get(url("report-progress", study, report.pk), headers={"HX-Request": "true"})
    assert "No worker has been heard from since" in fragment.content.decode()
    assert "<html" not in fragment.content.decode()
    Report.objects.filter(pk=report.pk).update(state="done")
    ended = client.get(url("report-progress", study, report.pk), headers={"HX-Request": "true"})
    assert (ended.status_code, ended["HX-Refresh"]) == (204, "true")


def test_the_waiting_part_without_scripts_is_the_page(client, study):
    report = study.report()
    response = as_person(client, study.admin).get(url("report-progress", study, report.pk))
    assert response.url == url("report", study, report.pk)


# Who may what

READING = ["reports", "report", "report-file", "report-progress", "side-by-side", "agreement-now"]
RUNNING = ["report-new", "report-cancel", "report-again"]


def pages(study, report):
    ids = {"report-file": (report.pk, "answers.csv")}
    plain = {"reports", "report-new", "side-by-side", "agreement-now"}
    return {
        name: url(name, study, *(() if name in plain else ids.get(name, (report.pk,)))) for name in READING + RUNNING
    }


@pytest.mark.parametrize("role", ["viewer", "adjudicator", "meta_reviewer"])
def test_who_reads_results_sees_them_and_changes_nothing(client, study, role):
    report = study.made_report()
    client = as_person(client, make_member(study.project, role))
    found = pages(study, report)
    for name in READING:
        assert client.get(found[name]).status_code in (200, 302), name
    for name in RUNNING:
        assert client.post(found[name]).status_code == 404, name
    assert "New report" not in client.get(found["reports"]).content.decode()


@pytest.mark.parametrize("who", ["annotator", "stranger", "admin of another project"])
def test_others_find_nothing(client, study, who):
    report = study.made_report()
    person = {
        "annotator": lambda: study.people[0],
        "stranger": make_annotator,
        "admin of another project": lambda: make_member(make_project(), "admin"),
    }[who]()
    if who == "annotator":
        make_member(study.project, "annotator", person=person)
    client = as_person(client, person)
    for name, address in pages(study, report).items():
        answer = client.post(address) if name in RUNNING else client.get(address)
        assert answer.status_code == 404, name
    assert Report.objects.get().state == "done"


def test_anonymous_visitors_are_sent_to_sign_in(client, study):
    report = study.made_report()
    for name, address in pages(study, report).items():
        response = client.get(address) if name in READING else client.post(address)
        assert response.status_code == 302, name
        assert response.url.startswith("/sign-in/"), name


# Agreement as it stands


def test_agreement_now_is_worked_out_from_the_current_answers(client):
    stage = make_stage(overlap=2)
    admin = make_member(stage.project, "admin")
    people = [make_annotator() for _ in range(2)]
    for labels in (("yes", "yes"), ("no", "no"), ("yes", "no")):
        stage_item = make_stage_item(stage)
        for person, label in zip(people, labels, strict=True):
            make_annotation(stage_item, person, {"label": label})
    # Two of three items have a majority among two answers. Alpha: pairs y y, n n, y n, so coincidences of 6 values
    # (y 3, n 3): observed disagreement 2/6, expected 2*3*3/(6*5) = 18/30; alpha 1 - (1/3)/(3/5) = 4/9.
    address = reverse("agreement-now", args=[stage.project.slug])
    page = as_person(client, admin).get(address, headers={"HX-Request": "true"}).content.decode()
    assert "66.7" in page
    assert "α 0.44" in page
    assert "As it stands now" in page
    assert "<html" not in page
    assert "<html" in client.get(address).content.decode()


def test_agreement_now_of_many_items_comes_from_the_last_report_and_says_so(client, study, monkeypatch):
    monkeypatch.setattr(agreement, "MAX_UNITS", 10)
    address = url("agreement-now", study)
    client = as_person(client, study.admin)
    assert "make a report" in client.get(address).content.decode()
    study.made_report(title="The last one")
    page = client.get(address).content.decode()
    assert "As <a" in page
    assert "The last one" in page


def test_agreement_now_shows_the_primary_difference_of_the_last_report(client, study):
    study.made_report()
    page = as_person(client, study.admin).get(url("agreement-now", study)).content.decode()
    assert "<bdi>Model B</bdi> against the mean person" in page
    assert "24 shared items" in page


def test_agreement_now_without_answers_says_so(client):
    project = make_project()
    admin = make_member(project, "admin")
    page = as_person(client, admin).get(reverse("agreement-now", args=[project.slug])).content.decode()
    assert "No answers yet" in page


@pytest.mark.parametrize("n_items", [4, 24])
def test_agreement_now_needs_the_same_queries_for_any_number_of_items(client, n_items, django_assert_max_num_queries):
    study = make_study(n_items=n_items)
    client = as_person(client, study.admin)
    with django_assert_max_num_queries(16):
        client.get(url("agreement-now", study), headers={"HX-Request": "true"})


def test_an_interval_without_width_is_not_shown_as_certainty(client):
    study = make_study(n_items=24, n_runs=0)
    Annotation.objects.filter(assignment__stage=study.stage).update(answer={"label": "yes"})
    report = study.made_report(primary_run=None)
    client.force_login(study.admin)
    page = client.get(reverse("report", args=[study.project.slug, report.pk])).content.decode()
    # All of one label: percent agreement is 100 % in every resample, alpha is undefined.
    assert "every resample alike: no certainty" in page
    assert "one label in use" in page
    assert "Where people agree" in page


def test_every_link_of_the_contents_leads_to_a_part_and_every_folded_part_has_one(client):
    study = make_study()
    report = study.made_report()
    page = as_person(client, study.admin).get(url("report", study, report.pk)).content.decode()
    contents = re.search(r'<nav class="contents".*?</nav>', page, re.S)[0]
    links = re.findall(r'href="#([^"]+)"', contents)
    assert len(set(links)) == len(links)
    assert all(page.count(f'id="{link}"') == 1 for link in links)
    folded = re.findall(r'<details class="card report-part">.*?<div class="stack" id="([^"]+)">', page, re.S)
    assert len(folded) == page.count('<details class="card report-part">')
    assert set(folded) <= set(links)
