"""Side by side: which items are found, what stands beside them, and that nothing else is understood."""

import pytest
from django.urls import reverse

from annotate.models import Annotation
from evaluation.models import Call, Prediction
from evaluation.reports.side_by_side import FILTERS
from evaluation.services.side_by_side import _as_read
from tests.evaluation.studies import Study, make_study
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

# item: (gold, three people, model A, model B); None is unparsed.
ITEMS = {
    "people-right": ("yes", ["yes", "yes", "no"], "no", "yes"),
    "people-wrong": ("yes", ["no", "no", "no"], "yes", "yes"),
    "all-wrong": ("yes", ["no", "no", "no"], "no", "no"),
    "split": ("yes", ["yes", "no", "not_sure"], "yes", "no"),
    "unparsed": ("yes", ["yes", "yes", "yes"], None, "yes"),
}


@pytest.fixture
def study():
    project = make_project()
    stage = make_stage(project, overlap=3)
    people = sorted([make_annotator() for _ in range(3)], key=lambda person: person.pseudonym)
    items = []
    for name, (gold, labels, *_) in ITEMS.items():
        item = make_item(
            project,
            [["question", f"Is {name} so?"]],
            external_id=name,
            gold={"label": [gold]},
            strata=[["kind", "odd" if name in ("split", "unparsed") else "plain"]],
        )
        stage_item = make_stage_item(stage, item)
        for person, label in zip(people, labels, strict=True):
            make_annotation(stage_item, person, {"label": label})
        items.append(item)
    item_set = make_item_set(project, items)
    runs = [make_run(stage, item_set, name=name) for name in ("Model A", "Model B")]
    for run, column in zip(runs, (2, 3), strict=True):
        for position, (item, row) in enumerate(zip(items, ITEMS.values(), strict=True)):
            answer = None if row[column] is None else {"label": row[column]}
            make_prediction(run, item, answer, position=position, note="" if answer else "repeats the question")
    return Study(project, stage, item_set, items, people, runs, make_member(project, "admin"), "label")


@pytest.fixture
def page(client, study):
    """page(show="model_wrong"): the page of the study's report, with Model A as the primary run."""
    report = study.made_report(primary_run=study.runs[0])
    client.force_login(study.admin)

    def get(**asked):
        return client.get(reverse("side-by-side", args=[study.project.slug]), {"report": report.pk} | asked)

    return get


def found(page, **asked):
    """The items that are found, by following the link to the next one."""
    names, at = [], 1
    while True:
        context = page(**asked, at=at).context
        if not context["n_found"]:
            return []
        names.append(context["item"]["external_id"])
        if at == context["n_found"]:
            return names
        at += 1


@pytest.mark.parametrize(
    ("show", "names"),
    [
        ("", list(ITEMS)),
        ("model_wrong", ["people-right"]),
        ("people_wrong", ["people-wrong"]),
        ("both_wrong", ["all-wrong"]),
        ("disagree", ["split"]),
        ("no_answer", ["unparsed"]),
    ],
)
def test_each_filter_finds_its_items(page, show, names):
    assert found(page, show=show) == names


def test_an_unparsed_completion_is_not_a_wrong_answer(page):
    assert "unparsed" not in found(page, show="model_wrong")
    shown = page(show="no_answer").content.decode()
    assert "unparsed: <span" in shown
    assert "repeats the question" in shown


def test_a_filter_speaks_of_the_chosen_run(page, study):
    # Model B is right on people-right, so nothing is left; on all-wrong it is wrong as well.
    assert found(page, show="model_wrong", run=study.runs[1].pk) == []
    assert found(page, show="both_wrong", run=[run.pk for run in study.runs]) == ["all-wrong"]


def test_a_stratum_narrows_and_is_shown_as_a_chip_that_can_be_taken_away(page):
    assert found(page, stratum="kind=odd") == ["split", "unparsed"]
    shown = page(stratum="kind=odd").content.decode()
    assert 'aria-label="Remove kind: odd"' in shown


def test_the_largest_gap_comes_first(page):
    # People's mean against Model A: people-right 2/3 - 0; people-wrong 0 - 1; all-wrong 0 - 0; split 1/3 - 1;
    # unparsed has no model score. Equal gaps keep the order of the set.
    assert found(page, sort="gap") == ["people-wrong", "people-right", "split", "all-wrong", "unparsed"]


def test_links_page_by_keys_and_say_where_one_is(page):
    first = page().content.decode()
    assert "1 of 5" in first
    assert 'data-key="j"' in first
    assert 'data-key="k"' not in first
    last = page(at=5).content.decode()
    assert 'data-key="k"' in last
    assert 'data-key="j"' not in last


def test_a_place_beyond_the_last_is_the_last(page):
    assert page(at=99).context["at"] == 5


def test_people_stand_by_their_pseudonyms_with_score_and_vote(page, study):
    shown = page(show="model_wrong").content.decode()
    for person in study.people:
        assert person.pseudonym in shown
    assert "majority 2 of 3" in shown
    assert shown.count('<span class="right">1.00</span>') == 3  # two people and Model B
    assert shown.count('<span class="wrong">0.00</span>') == 2  # a person and Model A


def test_a_tie_is_named_with_its_answers(page):
    assert "tie of 3: <bdi>No, Not sure enough, Yes</bdi>" in page(show="disagree").content.decode()


def test_captions_are_shown_and_values_are_not(page):
    assert "<bdi>Yes</bdi>" in page(show="model_wrong").content.decode()


@pytest.mark.parametrize(
    "asked",
    [
        {"show": "gold__answers"},
        {"sort": "-person__username"},
        {"stratum": "kind=' OR 1=1"},
        {"stratum": "person__code_digest=x"},
        {"run": "999999"},
        {"run": "1 OR 1"},
        {"at": "-4"},
        {"at": "9" * 40},
        {"at": "1e3"},
    ],
)
def test_what_is_not_on_the_list_of_filters_is_as_if_it_were_not_there(page, asked):
    response = page(**asked)
    assert response.status_code == 200
    assert response.context["n_found"] == 5


def test_a_report_of_another_project_is_not_found(page):
    other = make_study(n_items=4).made_report()
    assert page(report=other.pk).status_code == 404
    assert page(report="9" * 30).status_code == 200  # not a number that could be one: the newest report


def test_without_a_report_the_page_says_what_comes_first(client):
    project = make_project()
    client.force_login(make_member(project, "viewer"))
    response = client.get(reverse("side-by-side", args=[project.slug]))
    assert "Make a report first" in response.content.decode()


def test_the_answers_are_those_that_the_report_counted(page):
    before = page(show="model_wrong").content
    Annotation.objects.update(is_current=False)
    assert page(show="model_wrong").content.count(b"1.00") == before.count(b"1.00")


def test_hostile_text_of_people_models_and_items_is_escaped(page):
    hostile = "<img src=x onerror=alert(1)>"
    Call.objects.update(completion=hostile)
    Prediction.objects.update(note=hostile)
    shown = page().content.decode()
    assert hostile not in shown
    assert "&lt;img src=x" in shown


@pytest.mark.parametrize(("n_items", "n_people"), [(4, 2), (40, 6)])
def test_the_page_needs_the_same_queries_for_any_number_of_items_and_people(
    client, n_items, n_people, django_assert_max_num_queries
):
    study = make_study(n_items=n_items, n_people=n_people)
    study.made_report()
    client.force_login(study.admin)
    # Session, person, project, role, report; revision, form, answers, predictions, calls.
    with django_assert_max_num_queries(10):
        response = client.get(reverse("side-by-side", args=[study.project.slug]))
    assert response.context["n_found"] == n_items


def test_every_filter_has_words():
    assert all(words for words, _ in FILTERS.values())


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, None),
        ("yes", "Yes"),
        ("other", "other"),
        (3, "3"),
        ({"columns": ["city"], "rows": [["Ulm"], ["Jena"]]}, "2 rows of city"),
        ({"verdict": "right"}, "{'verdict': 'right'}"),
        (["a", "b"], "['a', 'b']"),
    ],
)
def test_an_answer_of_any_form_is_put_into_words(value, words):
    assert _as_read(value, {"yes": "Yes"}) == words
