"""The pinned date and the condition reach people: what a report states was told to whoever answered."""

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


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        ({"is_closed_book": True, "time_limit_seconds": 90}, "look nothing up and ask no model. At most 1 min 30 s"),
        ({"is_closed_book": False, "permitted_sources": "Wikipedia"}, "You may use: <bdi>Wikipedia</bdi>."),
    ],
)
def test_the_work_page_states_the_condition(condition: dict[str, object], told: str):
    stage = make_stage(**condition)
    make_stage_item(stage)
    client = Client()
    client.force_login(make_member(stage.project))
    assert told in client.get(f"/work/{stage.project.slug}/{stage.slug}/").content.decode()
