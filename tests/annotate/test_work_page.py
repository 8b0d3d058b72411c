"""The page where people work: each step over HTTP, first as it should be, then refused."""

from __future__ import annotations

import json
import re
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotate.models import Annotation, Assignment, GuidelineVersion, Membership, Person, Stage, StageItem, StageVersion
from annotate.person_token import person_token
from annotate.services import assigning, projects, submitting
from tests.annotate.queue_checks import assert_queue_is_sound
from tests.factories import (
    SHORT_ANSWER,
    YES_NO,
    make_annotator,
    make_item,
    make_member,
    make_project,
    make_stage,
    make_stage_item,
)

pytestmark = pytest.mark.django_db


class Worker:
    """A browser with somebody signed in, with or without the page's script (htmx)."""

    def __init__(self, person: Person, *, scripts: bool = True) -> None:
        self.client = Client()
        self.client.force_login(person)
        self.person = person
        self.headers = {"HX-Request": "true"} if scripts else {}

    def open(self, stage: Stage):
        return self.client.get(reverse("work", args=[stage.project.slug, stage.slug]))

    def post(self, name: str, assignment: Assignment, **data):
        form = {"person": person_token(self.person), "client_key": f"key-{assignment.pk}"} | data
        headers = self.headers | ({"Accept": "application/json"} if name in ("work-draft", "work-renew") else {})
        return self.client.post(reverse(name, args=[assignment.token]), form, headers=headers)

    def held(self, stage: Stage) -> Assignment:
        return Assignment.objects.get(stage=stage, person=self.person, state="leased")


def make_queue(*questions: str, **fields) -> Stage:
    stage = make_stage(make_project(), **{"order": "sequential"} | fields)
    for question in questions:
        make_stage_item(stage, make_item(stage.project, [["question", question], ["hidden", "never shown"]]))
    return stage


def hidden_inputs(response) -> dict[str, str]:
    """The hidden inputs of the answer form, as a browser would send them."""
    form = response.content.decode().split('id="answer-form"')[1].split("</form>")[0]
    return dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form))


def text_of(response) -> str:
    return response.content.decode()


# As it should be


def test_the_page_shows_the_item_its_form_and_the_guidelines():
    stage = make_queue("Is the sea salty?")
    response = Worker(make_member(stage.project)).open(stage)
    text = text_of(response)
    assert response.status_code == 200
    assert "Is the sea salty?" in text
    assert "Not sure enough" in text
    assert "Answer what is asked." in text
    assert "never shown" not in text, "only the keys that the stage names are shown"


def test_work_pages_are_not_kept_and_vary_with_who_asks_how():
    stage = make_queue("One?")
    response = Worker(make_member(stage.project)).open(stage)
    assert "no-store" in response["Cache-Control"]
    assert {"HX-Request", "Cookie"} <= {name.strip() for name in response["Vary"].split(",")}


def test_an_answer_is_stored_and_the_response_is_the_next_item():
    stage = make_queue("One?", "Two?")
    worker = Worker(make_member(stage.project))
    sent = hidden_inputs(worker.open(stage))
    response = worker.post("work-submit", worker.held(stage), **sent, label="no")
    assert response.status_code == 200
    assert "Two?" in text_of(response)
    assert "<html" not in text_of(response), "a fragment"
    annotation = Annotation.objects.get()
    assert annotation.answer == {"label": "no"}
    assert annotation.stage_version == stage.versions.get()
    assert annotation.guideline_version == stage.guideline_versions.get()
    assert annotation.client_key == sent["client_key"]
    assert_queue_is_sound(stage)


def test_without_scripts_an_answer_leads_to_the_page_with_the_next_item():
    stage = make_queue("One?", "Two?")
    worker = Worker(make_member(stage.project), scripts=False)
    worker.open(stage)
    response = worker.post("work-submit", worker.held(stage), label="no")
    assert response.status_code == 302
    page = worker.client.get(response["Location"])
    assert "Two?" in text_of(page)
    assert "<html" in text_of(page)


def test_reloading_and_a_second_tab_show_the_same_item():
    stage = make_queue("One?", "Two?")
    worker = Worker(make_member(stage.project))
    assert "One?" in text_of(worker.open(stage))
    assert "One?" in text_of(worker.open(stage))
    assert Assignment.objects.count() == 1


def test_a_double_click_stores_one_answer():
    stage = make_queue("One?", "Two?")
    worker = Worker(make_member(stage.project))
    worker.open(stage)
    held = worker.held(stage)
    first = worker.post("work-submit", held, label="no")
    second = worker.post("work-submit", held, label="no")
    assert (first.status_code, second.status_code) == (200, 200)
    assert "Two?" in text_of(second)
    assert Annotation.objects.count() == 1
    assert_queue_is_sound(stage)


def test_the_back_button_cannot_store_a_second_answer():
    stage = make_queue("One?", "Two?")
    worker = Worker(make_member(stage.project), scripts=False)
    worker.open(stage)
    held = worker.held(stage)
    worker.post("work-submit", held, label="no")
    worker.post("work-submit", held, label="yes", client_key="another-key")
    assert Annotation.objects.get().answer == {"label": "no"}


@pytest.mark.parametrize("scripts", [True, False])
def test_other_words_for_an_answered_item_are_not_called_stored_and_may_replace_it(scripts):
    stage = make_queue("One?", "Two?")
    worker = Worker(make_member(stage.project), scripts=scripts)
    worker.open(stage)
    held = worker.held(stage)
    worker.post("work-submit", held, label="yes", client_key="first-tab")
    again = worker.post("work-submit", held, label="yes", client_key="same-words")
    assert again.status_code in (200, 302)

    other = worker.post("work-submit", held, label="no", client_key="second-tab")

    assert other.status_code == 409
    assert "in another tab: “Yes”" in text_of(other)
    assert reverse("work-revise", args=[held.token]) in text_of(other)
    assert re.search(r'value="no" checked', text_of(other))
    assert [one.answer for one in Annotation.objects.all()] == [{"label": "yes"}]
    worker.post("work-revise", held, label="no", client_key="second-tab")
    assert Annotation.objects.get(is_current=True).answer == {"label": "no"}
    assert_queue_is_sound(stage)


def test_my_last_answer_is_shown_and_can_be_changed():
    stage = make_queue("One?", "Two?")
    worker = Worker(make_member(stage.project))
    worker.open(stage)
    first = worker.held(stage)
    response = worker.post("work-submit", first, label="no")
    change = reverse("work-revise", args=[first.token])
    assert change in text_of(response)
    form = worker.client.get(change, headers={"HX-Request": "true"})
    assert "One?" in text_of(form)
    assert re.search(r'value="no"\s+checked', text_of(form))
    assert f'action="{change}"' in text_of(form)
    response = worker.post("work-revise", first, **hidden_inputs(form), label="yes")
    assert "Two?" in text_of(response), "back to the item in hand"
    assert list(Annotation.objects.order_by("number").values_list("answer", "is_current")) == [
        ({"label": "no"}, False),
        ({"label": "yes"}, True),
    ]
    assert_queue_is_sound(stage)


def test_skipping_needs_a_reason_and_brings_the_next_item():
    stage = make_queue("One?", "Two?")
    worker = Worker(make_member(stage.project))
    worker.open(stage)
    held = worker.held(stage)
    refused = worker.post("work-skip", held)
    assert refused.status_code == 422
    assert "One?" in text_of(refused)
    assert "choose a reason" in text_of(refused)
    response = worker.post("work-skip", held, reason="ambiguous", note="Which sea?")
    assert "Two?" in text_of(response)
    held.refresh_from_db()
    assert (held.state, held.skip_reason, held.skip_note) == ("skipped", "ambiguous", "Which sea?")


def test_a_flag_is_stored_with_its_note():
    stage = make_queue("One?")
    worker = Worker(make_member(stage.project))
    worker.open(stage)
    worker.post("work-submit", worker.held(stage), label="no", flag="1", flag_note="Two questions in one")
    annotation = Annotation.objects.get()
    assert (annotation.is_flagged, annotation.flag_note) == (True, "Two questions in one")


def test_a_draft_comes_back_with_the_page():
    stage = make_queue("One?", form=SHORT_ANSWER)
    worker = Worker(make_member(stage.project))
    worker.open(stage)
    held = worker.held(stage)
    saved = worker.post(
        "work-draft", held, answer="salty", why="I tried", draft_version="1", active_seconds="12", flag="1"
    )
    assert saved.json() == {"version": 1, "readings": {}}
    text = text_of(worker.open(stage))
    assert 'value="salty"' in text
    assert "I tried" in text
    assert 'name="active_seconds" value="12"' in text
    assert 'data-draft-version="1"' in text
    assert re.search(r'id="flag"\s+checked', text)


def test_an_item_at_hand_is_answered_as_it_was_asked():
    stage = make_stage()
    make_stage_item(stage)
    worker = Worker(make_member(stage.project))
    seen = hidden_inputs(worker.open(stage))
    projects.change_form(
        stage=stage, by=make_member(stage.project, "admin"), fields=SHORT_ANSWER, shown_keys=["question"]
    )
    held = worker.held(stage)
    draft = worker.post("work-draft", held, **seen | {"label": "no", "draft_version": "1"})
    assert draft.status_code == 200
    assert worker.post("work-submit", held, **seen | {"label": "no"}).status_code == 200
    annotation = Annotation.objects.get()
    assert (annotation.answer, annotation.stage_version.number) == ({"label": "no"}, 1)


def test_a_draft_may_be_incomplete():
    stage = make_queue("One?", form=SHORT_ANSWER)
    worker = Worker(make_member(stage.project))
    worker.open(stage)
    assert worker.post("work-draft", worker.held(stage), why="I tried", draft_version="1").status_code == 200


def test_an_answer_can_follow_the_last_draft_there_can_be():
    stage = make_queue("One?")
    worker = Worker(make_member(stage.project))
    worker.open(stage)
    held = worker.held(stage)
    assert worker.post("work-draft", held, label="yes", draft_version=str(2**31 - 1)).status_code == 422
    assert worker.post("work-draft", held, label="yes", draft_version=str(2**31 - 2)).status_code == 200
    assert worker.post("work-submit", held, label="yes").status_code == 200
    assert Annotation.objects.count() == 1


def test_a_late_draft_is_refused_quietly():
    stage = make_queue("One?")
    worker = Worker(make_member(stage.project))
    worker.open(stage)
    held = worker.held(stage)
    worker.post("work-submit", held, label="no")
    late = worker.post("work-draft", held, label="yes", draft_version="7")
    assert (late.status_code, late.json()["error"]) == (409, "stale")
    assert Annotation.objects.get().answer == {"label": "no"}


def test_a_sign_of_work_renews_the_lease():
    stage = make_queue("One?")
    worker = Worker(make_member(stage.project))
    worker.open(stage)
    held = worker.held(stage)
    Assignment.objects.update(lease_expires_at=timezone.now() + timedelta(seconds=3))
    assert worker.post("work-renew", held).status_code == 204
    held.refresh_from_db()
    assert held.lease_expires_at > timezone.now() + timedelta(minutes=20)


def test_renewing_says_when_the_place_is_gone():
    stage = make_queue("One?")
    worker, other = Worker(make_member(stage.project)), make_member(stage.project)
    worker.open(stage)
    held = worker.held(stage)
    Assignment.objects.update(lease_expires_at=timezone.now() - timedelta(seconds=3))
    assigning.claim_next(stage=stage, person=other)
    assert worker.post("work-renew", held).status_code == 409


# Nothing left


def test_nothing_left_is_told_apart():
    stage = make_queue("One?")
    first, second = Worker(make_member(stage.project)), Worker(make_member(stage.project))
    first.open(stage)
    waiting = second.open(stage)
    assert 'data-state="all_taken"' in text_of(waiting)
    assert "within 30 minutes" in text_of(waiting)
    done = first.post("work-submit", first.held(stage), label="no")
    assert 'data-state="done"' in text_of(done)
    assert 'data-state="done"' in text_of(second.open(stage))


def test_whoever_has_met_everything_hears_who_is_needed():
    stage = make_queue("One?", overlap=2)
    worker = Worker(make_member(stage.project))
    worker.open(stage)
    response = worker.post("work-submit", worker.held(stage), label="no")
    assert 'data-state="nobody_eligible"' in text_of(response)
    assert "You have met them all" in text_of(response)


@pytest.mark.parametrize(("state", "words"), [("paused", "goes on here when it is opened"), ("closed", "is closed")])
def test_a_stage_that_is_not_open_says_so(state, words):
    stage = make_queue("One?")
    Stage.objects.update(state=state)
    text = text_of(Worker(make_member(stage.project)).open(stage))
    assert 'data-state="paused"' in text
    assert words in text


# Refused, with the words kept


def test_an_answer_that_is_missing_comes_back_with_what_was_typed():
    stage = make_queue("One?", form=SHORT_ANSWER)
    worker = Worker(make_member(stage.project))
    worker.open(stage)
    response = worker.post("work-submit", worker.held(stage), answer="  ", why="I tried")
    assert response.status_code == 422
    assert "Write an answer." in text_of(response)
    assert "I tried" in text_of(response)
    assert Annotation.objects.count() == 0


def test_a_value_that_is_no_option_is_refused():
    stage = make_queue("One?")
    worker = Worker(make_member(stage.project))
    worker.open(stage)
    response = worker.post("work-submit", worker.held(stage), label="perhaps")
    assert response.status_code == 422
    assert "Choose one of the answers shown." in text_of(response)


def test_two_values_of_a_choice_are_refused():
    stage = make_queue("One?")
    worker = Worker(make_member(stage.project))
    worker.open(stage)
    assert worker.post("work-submit", worker.held(stage), label=["yes", "no"]).status_code == 422


@pytest.mark.parametrize("key", ["", "x" * 65, "with space", "key\n"])
def test_a_form_without_its_key_is_refused_and_nothing_is_lost(key):
    stage = make_queue("One?", form=SHORT_ANSWER)
    worker = Worker(make_member(stage.project))
    worker.open(stage)
    response = worker.post("work-submit", worker.held(stage), answer="salty", client_key=key)
    assert response.status_code == 422
    assert 'value="salty"' in text_of(response)
    assert re.fullmatch(r"[A-Za-z0-9_-]{10,}", hidden_inputs(response)["client_key"])


def test_an_item_that_was_withdrawn_takes_no_answer_and_the_words_stay():
    stage = make_queue("One?", form=SHORT_ANSWER)
    worker = Worker(make_member(stage.project))
    worker.open(stage)
    held = worker.held(stage)
    Assignment.objects.update(state="withdrawn", slot=None)
    response = worker.post("work-submit", held, answer="salty")
    assert response.status_code == 409
    assert "no longer open for you" in text_of(response)
    assert 'value="salty"' in text_of(response)
    assert "To the next item" in text_of(response)


def test_a_late_answer_is_taken():
    stage = make_queue("One?", "Two?")
    worker, other = Worker(make_member(stage.project)), make_member(stage.project)
    worker.open(stage)
    late = worker.held(stage)
    Assignment.objects.update(lease_expires_at=timezone.now() - timedelta(seconds=3))
    assigning.expire_leases()
    assigning.claim_next(stage=stage, person=other)
    assert worker.post("work-submit", late, label="no").status_code == 200
    late.refresh_from_db()
    assert (late.state, late.slot) == ("submitted", None)


def test_the_answer_is_checked_against_the_form_its_author_saw():
    stage = make_queue("One?")
    worker = Worker(make_member(stage.project))
    sent = hidden_inputs(worker.open(stage))
    seen = stage.versions.get()
    StageVersion.objects.update(is_current=False)
    newer = [YES_NO[0] | {"options": [{"value": "true", "caption": "True"}, {"value": "false", "caption": "False"}]}]
    StageVersion.objects.create(stage=stage, number=2, fields=newer, shown_keys=["question"])
    assert worker.post("work-submit", worker.held(stage), **sent, label="no").status_code == 200
    assert Annotation.objects.get().stage_version == seen


def test_newer_guidelines_come_with_the_next_item_and_the_answer_names_those_that_were_seen():
    stage = make_queue("One?", "Two?", "Three?")
    worker = Worker(make_member(stage.project))
    sent = hidden_inputs(worker.open(stage))
    seen = stage.guideline_versions.get()
    newer = GuidelineVersion.objects.create(project=stage.project, stage=stage, number=2, markdown="Mind the *date*.")
    first = worker.post("work-submit", worker.held(stage), **sent, label="no")
    assert Annotation.objects.get().guideline_version == seen
    assert "Mind the <em>date</em>." in text_of(first)
    second = worker.post("work-submit", worker.held(stage), **hidden_inputs(first), label="no")
    assert Annotation.objects.latest("pk").guideline_version == newer
    assert "Mind the" not in text_of(second), "the page has them already"


def test_whose_membership_was_paused_keeps_their_answer_and_gets_nothing_more():
    stage = make_queue("One?", "Two?")
    worker = Worker(make_member(stage.project))
    worker.open(stage)
    held = worker.held(stage)
    Membership.objects.update(state="paused")
    response = worker.post("work-submit", held, label="no")
    assert 'data-state="paused"' in text_of(response)
    assert Annotation.objects.count() == 1
    assert Assignment.objects.count() == 1
    assert worker.open(stage).status_code == 404


@pytest.mark.parametrize("change", [{"state": "paused"}, {"role": "viewer"}], ids=["paused", "another role"])
@pytest.mark.parametrize("scripts", [True, False])
@pytest.mark.parametrize("step", ["work-submit", "work-skip", "work-revise"])
def test_whoever_lost_their_role_meanwhile_is_handed_nothing_by_any_step(step, scripts, change):
    stage = make_queue("One?", "Two?", "Three?")
    worker = Worker(make_member(stage.project), scripts=scripts)
    worker.open(stage)
    held = worker.held(stage)
    if step == "work-revise":
        submitting.submit_annotation(
            assignment=held, answer={"label": "yes"}, client_key="first", stage_version=stage.versions.get()
        )
    Membership.objects.update(**change)
    response = worker.post(step, held, label="no", reason="broken")
    assert response.status_code in (200, 302, 409)
    assert "Two?" not in text_of(response)
    assert Assignment.objects.count() == 1
    assert worker.open(stage).status_code == 404


def test_whose_membership_was_paused_changes_no_answer_and_keeps_the_words():
    stage = make_queue("One?", form=SHORT_ANSWER)
    worker = Worker(make_member(stage.project))
    worker.open(stage)
    held = worker.held(stage)
    worker.post("work-submit", held, answer="first words")
    Membership.objects.update(state="paused")
    response = worker.post("work-revise", held, answer="second words", client_key="second")
    assert response.status_code == 409
    assert "second words" in text_of(response)
    assert "paused" in text_of(response)
    assert Annotation.objects.get().answer == {"answer": "first words"}
    assert worker.client.get(reverse("work-revise", args=[held.token])).status_code == 404


# Refused to those who have no business here


@pytest.fixture
def cast():
    """An admin, an annotator at work, and a stranger who annotates elsewhere."""
    stage = make_queue("One?", "Two?")
    worker = Worker(make_member(stage.project))
    worker.open(stage)
    stranger = Worker(make_member(make_project()))
    admin = Worker(make_member(stage.project, "admin"))
    return stage, worker, stranger, admin


@pytest.mark.parametrize("name", ["work-submit", "work-draft", "work-skip", "work-renew", "work-revise"])
def test_nobody_works_for_somebody_else_an_admin_neither(cast, name):
    stage, worker, *others = cast
    held = worker.held(stage)
    for other in others:
        response = other.post(name, held, label="no", reason="broken", draft_version="1")
        assert response.status_code == 404
    held.refresh_from_db()
    assert (held.state, held.draft) == ("leased", None)


def test_the_page_of_a_stage_is_for_those_whose_role_takes_it(cast):
    stage, _, stranger, admin = cast
    assert stranger.open(stage).status_code == 404
    assert admin.open(stage).status_code == 404
    assert Worker(make_annotator()).open(stage).status_code == 404


def test_a_draft_stage_is_nobodys(cast):
    stage, worker, *_ = cast
    Stage.objects.update(state="draft")
    assert worker.open(stage).status_code == 404


@pytest.mark.parametrize("name", ["work-submit", "work-draft", "work-skip", "work-renew", "work-revise"])
def test_a_form_of_another_person_stores_nothing_and_shows_nothing(cast, name):
    stage, worker, *_ = cast
    held = worker.held(stage)
    second = Worker(make_member(stage.project))
    second.open(stage)
    # Two people share a device: the first one's page is still open when the second has signed in.
    response = second.post(name, held, person=person_token(worker.person), label="no", reason="broken")
    assert response.status_code == 409
    if name in ("work-draft", "work-renew"):
        assert response.json()["error"] == "person"
    else:
        assert 'data-conflict="person"' in text_of(response)
        assert "One?" not in text_of(response)
    assert Annotation.objects.count() == 0


def test_a_form_without_its_persons_token_is_refused_even_to_its_own_person(cast):
    stage, worker, *_ = cast
    assert worker.post("work-submit", worker.held(stage), person="", label="no").status_code == 409
    assert Annotation.objects.count() == 0


def test_what_a_get_may_not_do(cast):
    stage, worker, *_ = cast
    held = worker.held(stage)
    for name in ("work-submit", "work-draft", "work-skip", "work-renew"):
        assert worker.client.get(reverse(name, args=[held.token])).status_code == 405
    assert worker.client.get(reverse("work-revise", args=[held.token])).status_code == 404, "nothing to change yet"


def test_a_form_version_of_another_stage_is_not_found(cast):
    stage, worker, *_ = cast
    elsewhere = make_stage().versions.get()
    response = worker.post("work-submit", worker.held(stage), stage_version=elsewhere.pk, label="no")
    assert response.status_code == 404


def test_guidelines_of_another_project_are_not_named_in_an_answer(cast):
    stage, worker, *_ = cast
    elsewhere = make_stage().guideline_versions.get()
    worker.post("work-submit", worker.held(stage), guideline_version=elsewhere.pk, label="no")
    assert Annotation.objects.get().guideline_version == stage.guideline_versions.get()


# A dead session


def test_without_a_session_a_script_hears_401_and_never_a_redirect(cast):
    stage, worker, *_ = cast
    held = worker.held(stage)
    worker.client.logout()
    for name in ("work-submit", "work-draft", "work-skip", "work-renew", "work-revise"):
        assert worker.post(name, held, label="no").status_code == 401
    page = worker.client.get(reverse("work", args=[stage.project.slug, stage.slug]), headers={"HX-Request": "true"})
    assert page.status_code == 401


def test_without_a_session_a_reader_is_led_to_sign_in_and_back(cast):
    stage, worker, *_ = cast
    worker.client.logout()
    response = worker.open(stage)
    address = reverse("work", args=[stage.project.slug, stage.slug])
    assert response["Location"] == f"{reverse('sign-in')}?next={address}"


def test_without_scripts_an_answer_survives_signing_in_again():
    stage = make_queue("One?", "Two?", form=SHORT_ANSWER)
    person, code = person_with_code(stage)
    browser = Worker(person, scripts=False)
    browser.open(stage)
    held = browser.held(stage)
    browser.client.logout()
    page = browser.post("work-submit", held, answer='two "salty" <seas>')
    assert page.status_code == 401
    kept = {"kept": page.context["kept"]["posted"], "kept_path": page.context["kept"]["path"]}
    # A wrong code in between loses nothing either.
    wrong = browser.client.post(reverse("sign-in"), kept | {"code": "nonsense"})
    assert wrong.context["kept"]["posted"] == kept["kept"]
    again = browser.client.post(reverse("sign-in"), kept | {"code": code})
    assert "two &quot;salty&quot; &lt;seas&gt;" in text_of(again)
    sent = dict(again.context["kept"]["fields"])
    response = browser.client.post(again.context["kept"]["path"], sent)
    assert response.status_code == 302
    assert Annotation.objects.get().answer == {"answer": 'two "salty" <seas>'}


def person_with_code(stage: Stage) -> tuple[Person, str]:
    from annotate.services import people

    return people.new_annotator(project=stage.project)


def test_what_is_carried_through_signing_in_goes_to_work_pages_only():
    stage = make_queue("One?")
    _, code = person_with_code(stage)
    for path in ("/", "https://elsewhere.example/work/a/x/submit/", "/p/some/people/codes/", "not a path"):
        kept = {"kept": json.dumps([["label", "no"]]), "kept_path": path}
        response = Client().post(reverse("sign-in"), kept | {"code": code})
        assert response.status_code == 302, path
    broken = {"kept": "{", "kept_path": reverse("work-submit", args=["x"])}
    assert Client().post(reverse("sign-in"), broken | {"code": code}).status_code == 302


def test_an_answer_with_a_token_from_before_the_last_sign_in_can_be_sent_again():
    stage = make_queue("One?")
    person = make_member(stage.project)
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(person)
    browser.get(reverse("work", args=[stage.project.slug, stage.slug]))
    held = Assignment.objects.get()
    form = {"person": person_token(person), "client_key": "key", "label": "no", "csrfmiddlewaretoken": "x" * 64}
    refused = browser.post(reverse("work-submit", args=[held.token]), form)
    assert refused.status_code == 403
    assert Annotation.objects.count() == 0
    token = re.search(
        r'action="/work[^>]*>\s*<input type="hidden" name="csrfmiddlewaretoken" value="(\w+)"', text_of(refused)
    )
    again = dict(refused.context["kept"]["fields"]) | {"csrfmiddlewaretoken": token[1]}
    assert browser.post(refused.context["kept"]["path"], again).status_code == 302
    assert Annotation.objects.get().answer == {"label": "no"}


# What is shown of items


def test_item_text_is_shown_as_text():
    stage = make_queue("<script>alert(1)</script> & <b>bold</b>?")
    text = text_of(Worker(make_member(stage.project)).open(stage))
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; &lt;b&gt;bold&lt;/b&gt;?" in text
    assert "<script>alert" not in text


def test_a_table_is_a_table():
    table = {"type": "table", "title": "Mira", "sections": [["Career", [["Gold", ["2009", "2011"]]]]]}
    stage = make_stage(make_project(), shown_keys=["question", "table"], order="sequential")
    make_stage_item(stage, make_item(stage.project, [["table", table], ["question", "How many?"]]))
    text = text_of(Worker(make_member(stage.project)).open(stage))
    assert "<h1" in text
    assert text.index("Mira") < text.index("How many?</h1>")
    assert "2011" in text


def test_progress_is_mine_and_leaves_out_what_i_skipped():
    stage = make_queue("One?", "Two?", "Three?")
    worker = Worker(make_member(stage.project))
    assert "you 0 of 3" in text_of(worker.open(stage))
    assert "you 1 of 3" in text_of(worker.post("work-submit", worker.held(stage), label="no"))
    # What I skipped is not for me to do any more.
    assert "you 1 of 2" in text_of(worker.post("work-skip", worker.held(stage), reason="broken"))


def test_an_overlap_that_was_lowered_ends_the_work_of_those_it_concerns():
    stage = make_queue("One?", "Two?", overlap=2)
    admin = make_member(stage.project, "admin")
    worker = Worker(make_member(stage.project))
    worker.open(stage)
    StageItem.objects.filter(rank=1).update(wanted=1)
    projects.change_stage(
        stage=stage,
        by=admin,
        title=stage.title,
        overlap=1,
        lease_minutes=30,
        order="sequential",
        is_closed_book=True,
        time_limit_seconds=None,
        permitted_sources="",
    )
    response = worker.post("work-submit", worker.held(stage), label="no")
    assert "Two?" in text_of(response)
    assert 'data-state="done"' in text_of(worker.post("work-submit", worker.held(stage), label="no"))
    assert_queue_is_sound(stage)
