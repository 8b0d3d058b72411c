"""People from Prolific: what a link says and who signed it, one seat a person, and the code they go back with."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotate.models import Assignment, Event, ImportedAnnotator, Membership, Person, ProlificSeat, ProlificStudy, Stage
from annotate.prolific import LinkRefused, Ticket, completion_address, read_keys, read_link
from annotate.services import checks, leaving, qualifying
from annotate.services.resolving import resolve_due
from tests.annotate.queue_checks import assert_queue_is_sound
from tests.factories import make_item, make_item_set, make_member, make_stage, make_stage_item
from tests.prolific_links import encoded, signing_key

ANNA, BEN, STUDY = "5e90b1c2d3e4f5a6b7c8d9e0", "60a1b2c3d4e5f6a7b8c9d0e1", "65f0a1b2c3d4e5f6a7b8c9d0"
NOW = 1_800_000_000.0
TOLD = {"PROLIFIC_PID": ANNA, "STUDY_ID": STUDY, "SESSION_ID": "65f0a1b2c3d4e5f6a7b8c9d1"}


def read(parameters: dict[str, str], *, study: str = "", signed: bool = False, host: str = "panel.example") -> Ticket:
    keys = [signing_key().public()] if signed else []
    return read_link(parameters, study=study, keys=keys, host=host, now=NOW)


def token(told: Any = None, *, host: Any = "panel.example", expires: float = NOW + 60, **more: Any) -> str:
    return signing_key().token(TOLD if told is None else told, host=host, expires=expires, **more)


# The link


def test_a_link_says_who_comes_and_for_which_study():
    assert read(TOLD) == Ticket(ANNA, STUDY)
    assert read(TOLD, study=STUDY) == Ticket(ANNA, STUDY)


@pytest.mark.parametrize("person", ["", "{{%PROLIFIC_PID%}}", "x" * 65, "a b", "<script>", "5e9"])
def test_a_link_without_a_person_is_refused(person):
    with pytest.raises(LinkRefused, match="does not say who you are"):
        read(TOLD | {"PROLIFIC_PID": person})


def test_a_link_of_another_study_is_refused():
    with pytest.raises(LinkRefused, match="another study"):
        read(TOLD, study="another")


@pytest.mark.parametrize("host", ["panel.example", "https://panel.example/study/x/", ["a.example", "panel.example"]])
def test_a_signed_link_counts_with_or_without_its_words_beside_it(host):
    assert read({"prolific_token": token(host=host)}, signed=True, study=STUDY) == Ticket(ANNA, STUDY)
    assert read(TOLD | {"prolific_token": token(host=host)}, signed=True) == Ticket(ANNA, STUDY)


OTHER_CLAIMS = encoded(
    json.dumps({"aud": "panel.example", "exp": NOW + 9, "prolific": TOLD | {"PROLIFIC_PID": BEN}}).encode()
)


def token_by_another() -> str:
    """By a key under the name of the right one."""
    return signing_key("k1", 2056).token(TOLD, host="panel.example", expires=NOW + 9)


def forged(part: int, text: str) -> str:
    parts = token().split(".")
    parts[part] = text
    return ".".join(parts)


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (lambda: TOLD, "not signed as Prolific signs"),
        (lambda: {"prolific_token": ""}, "not signed as Prolific signs"),
        (lambda: {"prolific_token": "a.b"}, "not signed as Prolific signs"),
        (lambda: {"prolific_token": "x" * 9_000}, "not signed as Prolific signs"),
        (lambda: {"prolific_token": token(header={"alg": "none"})}, "not signed as Prolific signs"),
        (lambda: {"prolific_token": token(header={"alg": "HS256"})}, "not signed as Prolific signs"),
        (lambda: {"prolific_token": token(header={"kid": "k2"})}, "not signed as Prolific signs"),
        (lambda: {"prolific_token": token("nobody")}, "not signed as Prolific signs"),
        (lambda: {"prolific_token": token(expires=float("nan"))}, "too old"),
        (lambda: {"prolific_token": forged(2, "")}, "not signed by Prolific"),
        (lambda: {"prolific_token": forged(2, encoded(b"\xff" * 256))}, "not signed by Prolific"),
        (lambda: {"prolific_token": forged(1, OTHER_CLAIMS)}, "not signed by Prolific"),
        (lambda: {"prolific_token": token_by_another()}, "not signed by Prolific"),
        (lambda: {"prolific_token": token(expires=NOW)}, "too old"),
        (lambda: {"prolific_token": token(host="other.example")}, "another site"),
        (lambda: {"prolific_token": token(host="panel.example.evil.example")}, "another site"),
        (lambda: {"prolific_token": token(), "PROLIFIC_PID": BEN}, "something else than its signature"),
        (lambda: {"prolific_token": token({"STUDY_ID": STUDY})}, "does not say who you are"),
    ],
)  # fmt: skip
def test_what_is_not_signed_by_prolific_for_us_now_is_refused(sent, said):
    with pytest.raises(LinkRefused, match=said):
        read(sent(), signed=True)


def test_keys_are_read_as_prolific_publishes_them():
    assert read_keys(signing_key().published()) == [signing_key().public()]
    assert read_keys(" ") == []


@pytest.mark.parametrize(
    "text", ["{", "[]", "{}", '{"keys": []}', '{"keys": [{"kty": "EC"}]}', '{"keys": [{"kty": "RSA"}]}']
)
def test_what_is_no_set_of_keys_is_refused(text):
    with pytest.raises(ValueError, match=r"no set of keys|no RSA key"):
        read_keys(text)


def test_a_short_key_is_refused():
    with pytest.raises(ValueError, match="no RSA key of at least"):
        read_keys(signing_key("k1", 1024).published())


# The seat


@pytest.fixture
def stage(db: None) -> Stage:
    stage = make_stage(overlap=3, order="sequential")
    for _ in range(4):
        make_stage_item(stage)
    return stage


def study_of(stage: Stage, **settings: Any) -> ProlificStudy:
    codes = {"code_done": "CDONE", "code_screened_out": "CSCREEN", "code_no_work": "CNONE", "n_answers": 2}
    return ProlificStudy.objects.create(stage=stage, **(codes | settings))


def come(study: ProlificStudy, person: str = ANNA, *, client: Client | None = None, **more: str) -> tuple[Client, Any]:
    client = client or Client()
    return client, client.post(reverse("study", args=[study.link]), TOLD | {"PROLIFIC_PID": person} | more)


def work_address(stage: Stage) -> str:
    return reverse("work", args=[stage.project.slug, stage.slug])


def answer(client: Client, stage: Stage, label: str = "yes") -> Any:
    """Answer what is in hand, as a browser without scripts does: the response to what follows."""
    page = client.get(work_address(stage))
    context = page.context
    form = {
        "person": context["person_token"], "client_key": context["client_key"], "label": label,
        "stage_version": context["stage_version"], "draft_version": "0",
    }  # fmt: skip
    return client.post(context["addresses"]["answer"], form, follow=True)


def test_looking_at_a_link_takes_no_seat_and_the_button_does(stage):
    study = study_of(stage)
    client = Client()
    page = client.get(reverse("study", args=[study.link]), TOLD)
    assert page.status_code == 200
    assert "You answer 2 items." in page.content.decode()
    assert (ProlificSeat.objects.count(), ImportedAnnotator.objects.count()) == (0, 0)
    assert "sessionid" not in client.cookies
    _, response = come(study, client=client)
    assert response["Location"] == work_address(stage)
    seat = ProlificSeat.objects.get()
    # Who it is stands where identities stand; the person has a pseudonym, no code and no name.
    assert ImportedAnnotator.objects.get() == ImportedAnnotator.objects.get(name=ANNA, person=seat.person)
    assert (seat.person.code_digest, seat.person.username, seat.person.note) == (None, None, "")
    assert Membership.objects.get(person=seat.person).role == "annotator"
    assert ANNA not in repr(list(Event.objects.values_list()))


def test_whoever_comes_again_from_anywhere_has_the_same_seat(stage):
    study = study_of(stage)
    first, _ = come(study)
    held = first.get(work_address(stage)).context["assignment"].pk
    second, _ = come(study)
    assert second.get(work_address(stage)).context["assignment"].pk == held
    come(study, BEN)
    assert (ProlificSeat.objects.count(), Person.objects.count()) == (2, 2)


def test_after_the_answers_come_the_code_and_the_way_back(stage):
    study = study_of(stage)
    client, _ = come(study)
    assert client.get(reverse("study-end", args=[study.link])).status_code == 302
    assert "CDONE" not in answer(client, stage).content.decode()
    last = answer(client, stage)
    assert last.redirect_chain[-1][0] == reverse("study-end", args=[study.link])
    page = last.content.decode()
    assert "Done: thank you" in page
    assert completion_address("CDONE") in page
    # Nothing stays in their hands, and coming again, or going on by address, shows the same code.
    assert not Assignment.objects.filter(state="leased").exists()
    assert client.get(work_address(stage)).status_code == 302
    assert not Assignment.objects.filter(state="leased").exists()
    _, again = come(study)
    assert again["Location"] == reverse("study-end", args=[study.link])
    assert list(Event.objects.filter(verb__startswith="prolific").values_list("verb", "detail__outcome")) == [
        ("prolific.seat_taken", None),
        ("prolific.seat_ended", "done"),
    ]
    assert_queue_is_sound(stage)


def test_a_script_is_sent_to_the_end_as_well(stage):
    study = study_of(stage, n_answers=1)
    client, _ = come(study)
    page = client.get(work_address(stage))
    form = {
        "person": page.context["person_token"], "client_key": "k", "label": "yes",
        "stage_version": page.context["stage_version"], "draft_version": "0",
    }  # fmt: skip
    response = client.post(page.context["addresses"]["answer"], form, headers={"HX-Request": "true"})
    assert response["HX-Redirect"] == reverse("study-end", args=[study.link])


@pytest.mark.parametrize("why", ["nothing left", "closed"])
def test_who_finds_no_work_gets_a_code_of_its_own(stage, why):
    study = study_of(stage, n_answers=9)
    client, _ = come(study)
    if why == "closed":
        Stage.objects.update(state="closed")
        last = client.get(work_address(stage), follow=True)
    else:
        for _ in range(4):
            last = answer(client, stage)
    assert "CNONE" in last.content.decode()
    assert ProlificSeat.objects.get().outcome == "no_work"


def test_who_only_has_to_wait_is_not_sent_away(stage):
    study = study_of(stage)
    stage.stage_items.exclude(rank=0).delete()
    stage.stage_items.update(wanted=1)
    first, _ = come(study)
    first.get(work_address(stage))
    second, _ = come(study, BEN)
    page = second.get(work_address(stage))
    assert page.status_code == 200
    assert "All are taken at the moment" in page.content.decode()
    assert set(ProlificSeat.objects.values_list("outcome", flat=True)) == {""}


def test_who_does_not_qualify_gets_a_code_of_its_own(stage):
    pool = [make_item(stage.project, gold={"label": ["yes"]}) for _ in range(2)]
    checks.set_apart(stage=stage, item_set=make_item_set(stage.project, pool), purpose="qualification", by=None)
    Stage.objects.filter(pk=stage.pk).update(qualification_size=1, qualification_mark=1)
    stage.refresh_from_db()
    study = study_of(stage, n_answers=1)
    client, _ = come(study)
    person = ProlificSeat.objects.get().person
    for _ in range(2):
        qualifying.begin(stage=stage, person=person, languages=[])
        # An answer to qualify is none of those that are paid for.
        last = answer(client, stage, "no")
        assert "CDONE" not in last.content.decode()
        resolve_due()
    page = client.get(work_address(stage), follow=True).content.decode()
    assert "CSCREEN" in page
    assert "closed to you" in page


def test_without_a_code_the_end_says_so(stage):
    study = study_of(stage, n_answers=1, code_done="")
    client, _ = come(study)
    page = answer(client, stage).content.decode()
    assert "There is no code for this." in page
    assert "app.prolific.com" not in page


# Refusals


@pytest.mark.parametrize(
    ("settings", "sent", "said"),
    [
        ({"is_open": False}, {}, "This study is not open."),
        ({"max_people": 0}, {}, "All places are taken."),
        ({"study_id": "another"}, {}, "This link belongs to another study."),
        ({}, {"PROLIFIC_PID": "x"}, "does not say who you are"),
        ({"keys": ["signed"]}, {}, "not signed as Prolific signs links"),
    ],
)
def test_who_may_not_come_is_told_why_and_nothing_is_stored(stage, settings, sent, said):
    if settings.get("keys"):
        settings = {"keys": [signing_key().public()]}
    study = study_of(stage, **settings)
    client, response = come(study, **sent)
    assert response.status_code == (404 if settings == {"is_open": False} else 422)
    assert said in response.content.decode()
    assert (ProlificSeat.objects.count(), Person.objects.count(), "sessionid" in client.cookies) == (0, 0, False)


@pytest.mark.parametrize("state", ["draft", "paused", "closed"])
def test_nobody_new_comes_to_a_stage_that_is_not_open(stage, state):
    study = study_of(stage)
    come(study, BEN)
    Stage.objects.update(state=state)
    assert "hands out nothing at the moment" in come(study)[1].content.decode()
    assert come(study, BEN)[1].status_code == 302
    assert ProlificSeat.objects.count() == 1


def test_a_signed_link_lets_its_person_in_and_nobody_else(stage, settings):
    settings.ALLOWED_HOSTS = ["testserver"]
    study = study_of(stage, keys=[signing_key().public()])
    signed = signing_key().token(TOLD, host="testserver", expires=4_000_000_000)
    assert come(study, BEN, prolific_token=signed)[1].status_code == 422
    assert come(study, ANNA, prolific_token=signed)[1].status_code == 302
    assert ImportedAnnotator.objects.get().name == ANNA


def test_who_was_shut_out_does_not_come_back_by_the_link(stage):
    study = study_of(stage)
    come(study)
    person, admin = ProlificSeat.objects.get().person, make_member(stage.project, "admin")
    leaving.deactivate_person(person=person, by=admin)
    assert come(study)[1].status_code == 422
    # With the identity goes what a link could find: the same person would be somebody new, without the old answers.
    leaving.erase_person(person=person, by=admin)
    assert not ImportedAnnotator.objects.exists()


def test_whoever_came_for_one_stage_works_in_no_other(stage):
    other = make_stage(stage.project)
    make_stage_item(other)
    client, _ = come(study_of(stage))
    assert client.get(work_address(stage)).status_code == 200
    assert client.get(work_address(other)).status_code == 404
    assert not Assignment.objects.filter(stage=other).exists()


def test_the_end_is_for_whoever_has_the_seat(stage):
    study = study_of(stage)
    come(study)
    stranger = Client()
    stranger.force_login(make_member(stage.project))
    assert stranger.get(reverse("study-end", args=[study.link])).status_code == 404


# The settings


SETTINGS = {"is_open": "on", "n_answers": "5", "max_people": "20", "study_id": STUDY, "code_done": "C1ABC"}


def test_an_admin_opens_a_stage_to_prolific_and_sees_the_link(stage):
    admin = Client()
    admin.force_login(make_member(stage.project, "admin"))
    address = reverse("stage-prolific", args=[stage.project.slug, stage.slug])
    assert admin.post(address, SETTINGS | {"keys": signing_key().published()}).status_code == 302
    study = ProlificStudy.objects.get()
    assert (study.n_answers, study.keys) == (5, [signing_key().public()])
    page = admin.get(reverse("stage", args=[stage.project.slug, stage.slug])).content.decode()
    assert f"http://testserver/study/{study.link}/?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}&amp;STUDY_ID=" in page
    assert "Links are not checked" not in page
    admin.post(address, SETTINGS)
    page = admin.get(reverse("stage", args=[stage.project.slug, stage.slug])).content.decode()
    assert "Links are not checked" in page
    # The link stays when something is changed.
    assert ProlificStudy.objects.get().link == study.link
    assert list(Event.objects.filter(verb__startswith="prolific").values_list("verb", flat=True)) == [
        "prolific.opened",
        "prolific.changed",
    ]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"n_answers": "0"}, "greater than or equal to 1"),
        ({"code_done": "a b"}, "Letters, digits, - and _"),
        ({"study_id": "a/b"}, "Letters and digits only"),
        ({"keys": "{}"}, "This is no set of keys"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(stage, changed, said):
    admin = Client()
    admin.force_login(make_member(stage.project, "admin"))
    response = admin.post(reverse("stage-prolific", args=[stage.project.slug, stage.slug]), SETTINGS | changed)
    assert response.status_code == 422
    assert said in response.content.decode()
    assert not ProlificStudy.objects.exists()
