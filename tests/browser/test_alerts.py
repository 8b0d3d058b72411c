"""Alerts on the home of a project, walked: what stands beside each of them makes it go."""

from __future__ import annotations

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from annotate.models import Stage
from tests.annotate.test_flags import World
from tests.browser.visitors import WIDE, sign_in
from tests.factories import make_stage, make_stage_item

pytestmark = pytest.mark.browser


def test_an_admin_deals_with_flags_opens_a_draft_and_finds_whom_to_invite(new_context, site):
    world = World()
    draft = make_stage(world.project, state="draft", title="Second")
    make_stage_item(draft)
    context = new_context(viewport=WIDE)
    sign_in(context, world.admin, site)
    page, home = context.new_page(), reverse("project", args=["claims"])
    main = page.locator("main")

    page.goto(home)
    expect(main).to_contain_text("2 items were flagged by people who answered them")
    page.get_by_role("link", name="Deal with it").click()
    for box in page.get_by_role("checkbox").all():
        box.check()
    page.get_by_label("What came of it").fill("Both were reworded.")
    page.get_by_role("button", name="Those that are ticked were dealt with").click()
    expect(main).to_contain_text("No flag is open")
    page.get_by_role("link", name="Dealt with", exact=True).click()
    expect(main).to_contain_text("Both were reworded.")

    page.goto(home)
    expect(main).not_to_contain_text("flagged")
    page.get_by_role("button", name="Open it").click()
    expect(main).not_to_contain_text("is a draft with")
    assert Stage.objects.get(pk=draft.pk).state == "open"

    page.get_by_role("link", name="Which").first.click()
    expect(main).to_contain_text("1 more person is needed")
    page.get_by_role("link", name="Invite").first.click()
    expect(page).to_have_url(f"{site}{reverse('people', args=['claims'])}#invite")
    expect(page.get_by_role("heading", name="Make participant codes")).to_be_visible()
    page.get_by_role("button", name="Make codes").click()
    expect(main).to_contain_text("5 new codes")
    page.goto(home)
    expect(main).not_to_contain_text("cannot reach their answers")
