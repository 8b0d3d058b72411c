"""Coming in and going out, in a browser."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.conf import settings
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import expect

from annotate.codes import code_digest
from annotate.models import Invite, Membership, Person, SignInFailure
from annotate.services import people
from tests.factories import make_item, make_member, make_project, make_staff, make_stage, make_stage_item

pytestmark = pytest.mark.browser

# A code with a zero in it, so that an O typed for it can be read.
CODE = "7K3M-90XT-2HBW"


@pytest.fixture
def page(new_context):
    return new_context().new_page()


@pytest.fixture
def project():
    stage = make_stage(make_project(title="Sea and sky"), title="Is it so?")
    make_stage_item(stage, make_item(stage.project, [["question", "Is the sea salty?"]]))
    return stage.project


def make_annotator_with_code(project) -> Person:
    person = Person.objects.create_annotator(code_digest=code_digest(CODE, key=settings.CODE_KEY))
    Membership.objects.create(person=person, project=project, role="annotator")
    return person


def test_a_code_opens_the_site_also_in_small_letters_without_dashes_and_with_an_o_for_the_zero(site, page, project):
    person = make_annotator_with_code(project)
    page.goto("/")
    expect(page).to_have_url(f"{site}/sign-in/?next=/")
    expect(page.locator("#code")).to_be_focused()

    page.keyboard.type("7k3m9oxt-2hbw")
    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", name="My stages")).to_be_visible()
    expect(page.get_by_text(person.pseudonym)).to_be_visible()
    expect(page.get_by_role("heading", name="Is it so?")).to_be_visible()


def test_a_wrong_code_is_refused_in_words_and_counted(page, project, faults):
    make_annotator_with_code(project)
    faults.announce(r"^\d+: POST /sign-in/")
    page.goto("/sign-in/")

    page.get_by_label("Participant code").fill("7K3M-90XT-2HBX")
    page.get_by_role("button", name="Sign in", exact=True).first.click()

    alert = page.get_by_role("alert")
    expect(alert).to_be_visible()
    expect(alert).to_contain_text(re.compile(r"code", re.IGNORECASE))
    expect(page.get_by_label("Participant code")).to_have_attribute("aria-invalid", "true")
    assert SignInFailure.objects.count() == 1
    page.goto("/")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_staff_come_in_by_password_and_go_out_again(page, project):
    admin = make_staff(username="ada", password="correct horse battery")
    Membership.objects.create(person=admin, project=project, role="admin")
    page.goto("/sign-in/")
    page.get_by_text("I have a user name and a password").click()
    page.get_by_label("User name").fill("ada")
    page.get_by_label("Password", exact=True).fill("correct horse battery")
    page.get_by_label("Password", exact=True).press("Enter")
    expect(page.get_by_role("link", name="Sea and sky")).to_be_visible()

    page.get_by_role("button", name="Sign out").click()

    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.go_back()  # What was seen before is not kept by the browser either.
    expect(page.get_by_role("link", name="Sea and sky")).to_be_hidden()
    page.goto(reverse("project", args=[project.slug]))
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_an_invitation_is_taken_by_pressing_not_by_looking_and_gives_a_code_that_is_shown_once(
    site, page, new_context, project
):
    admin = make_member(project, "admin")
    _, token = people.make_invite(project=project, by=admin, max_uses=1, expires_at=timezone.now() + timedelta(days=1))
    page.goto(reverse("join", args=[token]))
    expect(page.get_by_role("heading", name="Sea and sky")).to_be_visible()
    assert Invite.objects.get().uses == 0

    page.get_by_role("button", name="Take part").click()

    code = page.locator(".new-code").inner_text()
    assert re.fullmatch(r"[0-9A-Z]{4}-[0-9A-Z]{4}-[0-9A-Z]{4}", code)
    expect(page).to_have_url(f"{site}/")  # The token stands in no address that is left open.
    assert Invite.objects.get().uses == 1
    membership = Membership.objects.exclude(person=admin).get()
    assert (membership.project, membership.role) == (project, "annotator")
    page.reload()
    expect(page.get_by_role("heading", name="My stages")).to_be_visible()
    expect(page.locator(".new-code")).to_have_count(0)

    elsewhere = new_context().new_page()
    elsewhere.goto("/sign-in/")
    elsewhere.get_by_label("Participant code").fill(code)
    elsewhere.keyboard.press("Enter")
    expect(elsewhere.get_by_text(membership.person.pseudonym)).to_be_visible()


def test_an_invitation_that_was_used_up_says_so(page, project, faults):
    _, token = people.make_invite(
        project=project, by=make_member(project, "admin"), expires_at=timezone.now() + timedelta(days=1)
    )
    people.accept_invite(token=token)
    faults.announce(r"^4\d\d: GET /join/")
    page.goto(reverse("join", args=[token]))

    expect(page.get_by_role("heading", name="This invitation is not open")).to_be_visible()
    expect(page.get_by_role("button", name="Take part")).to_have_count(0)
