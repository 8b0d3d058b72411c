"""The pinned current date reaches people as it reaches models."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.factories import make_member, make_project, make_stage, make_stage_item

pytestmark = pytest.mark.django_db


def test_the_work_page_says_which_day_the_questions_mean():
    stage = make_stage(make_project(current_date="December 2022"))
    make_stage_item(stage)
    client = Client()
    client.force_login(make_member(stage.project))
    page = client.get(f"/work/{stage.project.slug}/{stage.slug}/")
    assert "Current date: <bdi>December 2022</bdi>" in page.content.decode()
