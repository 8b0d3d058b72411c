"""Flags of annotators: open until somebody says that they were dealt with; who, when and what came of it is kept."""

from __future__ import annotations

import io

import pytest
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotate.csv_text import utc
from annotate.models import Annotation, Event, FlagSettlement, Person, Project
from annotate.services import flags, item_list, needs, overview
from annotate.services.archiving import restore, write_archive
from annotate.services.exporting.answers import answer_rows
from annotate.services.member_list import history_of
from tests.api_client import ApiClient
from tests.factories import (
    make_annotation,
    make_item,
    make_member,
    make_project,
    make_staff,
    make_stage,
    make_stage_item,
)

pytestmark = pytest.mark.django_db


class World:
    """Two items that somebody flagged, and one that nobody did."""

    def __init__(self) -> None:
        self.project: Project = make_project(slug="claims")
        self.stage = make_stage(self.project, overlap=2)
        self.admin = make_member(self.project, "admin")
        self.worker = make_member(self.project)
        self.first, self.second = (self.answer(f"Is it {n}?", is_flagged=True, flag_note=f"odd {n}") for n in (1, 2))
        self.answer("Is it 3?")

    def answer(self, question: str, **fields: object) -> Annotation:
        place = make_stage_item(self.stage, make_item(self.project, [["question", question]]))
        return make_annotation(place, self.worker, {"label": "yes"}, **fields)

    def change(self, before: Annotation, **fields: object) -> Annotation:
        Annotation.objects.filter(pk=before.pk).update(is_current=False)
        return Annotation.objects.create(
            assignment=before.assignment, stage_version=before.stage_version, number=before.number + 1,
            answer={"label": "no"}, client_key="changed", **fields,
        )  # fmt: skip

    def settle(self, *given: Annotation, note: str = "") -> int:
        return flags.settle_flags(project=self.project, flags=[one.pk for one in given], by=self.admin, note=note)

    def open(self) -> list[Annotation]:
        return list(flags.flags_of(self.project, show=flags.OPEN).order_by("pk"))

    def alert(self) -> int:
        found = needs.needs(self.project, overview.funnel(self.project))
        return next((one.n for one in found if one.kind == "flagged"), 0)

    def browser(self, person: Person | None = None) -> Client:
        client = Client()
        client.force_login(person or self.admin)
        return client


@pytest.fixture
def world() -> World:
    return World()


def text(response) -> str:
    return " ".join(response.content.decode().split())


def test_a_flag_is_open_until_it_was_dealt_with_and_may_be_opened_again(world: World):
    assert world.open() == [world.first, world.second]
    assert world.settle(world.first, note="The wording was mended.") == 1
    assert world.open() == [world.second]
    settlement = FlagSettlement.objects.get()
    assert (settlement.annotation, settlement.settled_by, settlement.note) == (
        world.first, world.admin, "The wording was mended.",
    )  # fmt: skip
    assert world.settle(world.first, note="Again") == 0, "it is dealt with once"
    assert flags.reopen_flag(project=world.project, flag=world.first, by=world.admin)
    assert not flags.reopen_flag(project=world.project, flag=world.first, by=world.admin)
    assert world.open() == [world.first, world.second]
    world.settle(world.first, note="Now it is.")
    said = [(one.note, one.reopened_by) for one in flags.history_of_flag(world.first)]
    assert said == [("Now it is.", None), ("The wording was mended.", world.admin)]
    assert list(Event.objects.filter(verb__startswith="flag.").order_by("pk").values_list("verb", "actor")) == [
        (verb, world.admin.pseudonym) for verb in ("flag.settled", "flag.reopened", "flag.settled")
    ]
    assert "flag.settled" in [event.verb for event in history_of(world.project, world.worker)]


def test_a_changed_answer_is_flagged_anew_only_in_other_words(world: World):
    world.settle(world.first, world.second)
    world.change(world.first, is_flagged=True, flag_note="odd 1")
    assert world.open() == []
    other = world.change(world.second, is_flagged=True, flag_note="still odd")
    assert world.open() == [other]


def test_a_flag_that_its_author_took_back_is_none(world: World):
    world.change(world.first, is_flagged=False)
    assert world.open() == [world.second]


def test_the_home_counts_open_flags_alone_also_in_a_closed_stage(world: World):
    assert world.alert() == 2
    world.settle(world.first)
    type(world.stage).objects.update(state="closed")
    assert world.alert() == 1
    world.settle(world.second)
    assert world.alert() == 0


def test_items_can_be_asked_for_by_open_flags(world: World):
    world.settle(world.first)
    names = {
        show: [row.pk for row in item_list.page_of_items(project=world.project, show=show).rows]
        for show in ("flagged", "flag-open")
    }
    first, second = (one.assignment.stage_item.revision.item_id for one in (world.first, world.second))
    assert names == {"flagged": [first, second], "flag-open": [second]}


def test_flags_of_another_project_are_not_settled_or_reopened_from_here(world: World):
    elsewhere = make_project()
    stranger = make_member(elsewhere, "admin")
    assert flags.settle_flags(project=elsewhere, flags=[world.first.pk], by=stranger) == 0
    world.settle(world.first)
    client = world.browser(stranger)
    for slug in (elsewhere.slug, world.project.slug):
        assert client.post(reverse("flag-reopen", args=[slug, world.first.pk])).status_code == 404
    assert world.open() == [world.second]


def test_two_settlements_of_one_flag_cannot_both_stand(world: World):
    world.settle(world.first)
    with pytest.raises(IntegrityError), transaction.atomic():
        FlagSettlement.objects.create(annotation=world.first, settled_by=world.admin)


# The page


def test_flags_are_ticked_dealt_with_looked_up_and_opened_again_on_a_page(world: World):
    admin = world.browser()
    page = text(admin.get(reverse("flags", args=["claims"])))
    assert page.index("odd 2") < page.index("odd 1"), "the newest first"
    sent = {"flag": [world.first.pk, world.second.pk], "note": "<b>Mended</b>"}
    page = text(admin.post(reverse("flags-settle", args=["claims"]), sent, follow=True))
    assert "2 flags are dealt with." in page
    assert "No flag is open" in page
    page = text(admin.get(reverse("flags", args=["claims"]), {"show": "settled"}))
    assert "&lt;b&gt;Mended&lt;/b&gt;" in page
    assert world.admin.pseudonym in page
    answer = text(admin.get(reverse("answer", args=["claims", world.first.pk])))
    assert "dealt with" in answer
    page = text(admin.post(reverse("flag-reopen", args=["claims", world.first.pk]), follow=True))
    assert "The flag is open again." in page
    assert "odd 1" in page
    assert "opened again by" in text(admin.get(reverse("answer", args=["claims", world.first.pk])))


@pytest.mark.parametrize("ticked", [[], ["x"], ["9" * 30], ["-1"], ["٣"]])
def test_a_press_without_a_flag_changes_nothing_and_keeps_the_note(world: World, ticked: list[str]):
    response = world.browser().post(reverse("flags-settle", args=["claims"]), {"flag": ticked, "note": "What I wrote"})
    assert response.status_code == 422
    assert "What I wrote" in text(response)
    assert not FlagSettlement.objects.exists()


def test_the_list_has_pages_by_key_and_costs_the_same_for_few_and_many(world: World, monkeypatch):
    admin = world.browser()

    def n_queries() -> int:
        with CaptureQueriesContext(connection) as queries:
            admin.get(reverse("flags", args=["claims"]), {"show": ""})
        return len(queries)

    world.settle(world.first)
    few = n_queries()
    for n in range(5):
        world.settle(world.answer(f"More {n}?", is_flagged=True, flag_note=f"more {n}"))
    assert n_queries() == few
    monkeypatch.setattr(flags, "PAGE", 3)
    seen, after = [], 0
    while True:
        page = flags.page_of_flags(world.project, show="", after=after)
        seen += page.flags
        if not page.has_more:
            break
        after = page.flags[-1].pk
    assert seen == list(flags.flags_of(world.project).order_by("-pk"))


# The API, exports and archives


def test_programs_list_settle_and_reopen_flags(world: World):
    program = ApiClient(world.admin)
    rows = program.rows("projects/claims/flags/", state="open")
    assert [(row["id"], row["note"], row["person"], row["settled"]) for row in rows] == [
        (world.second.pk, "odd 2", world.worker.pseudonym, None),
        (world.first.pk, "odd 1", world.worker.pseudonym, None),
    ]
    told = program.post("projects/claims/flags/settle/", flags=[world.first.pk, 999_999], note="Seen").json()
    assert told == {"n_settled": 1}
    (row,) = program.rows("projects/claims/flags/", state="settled")
    assert (row["settled"]["by"], row["settled"]["note"]) == (world.admin.pseudonym, "Seen")
    assert len(program.rows("projects/claims/flags/", limit=1)) == 2
    assert program.post(f"projects/claims/flags/{world.first.pk}/reopen/").json()["settled"] is None
    assert program.post("projects/claims/flags/settle/", flags=[]).status_code == 422
    unflagged = Annotation.objects.get(is_flagged=False)
    assert program.post(f"projects/claims/flags/{unflagged.pk}/reopen/").status_code == 404


def test_exports_and_archives_have_what_was_said_of_flags(world: World):
    world.settle(world.first, note="Mended")
    head, *rows = answer_rows(project=world.project)
    told = {row[head.index("flag_note")]: row for row in rows}
    note, at = head.index("flag_settled_note"), head.index("flag_settled")
    assert (told["odd 1"][note], told["odd 1"][at]) == ("Mended", utc(FlagSettlement.objects.get().settled_at))
    assert (told["odd 2"][note], told["odd 2"][at]) == (None, None)
    file = io.BytesIO()
    write_archive(world.project, file, lambda n: None)
    file.seek(0)
    Project.objects.filter(pk=world.project.pk).update(slug="before")
    copy = restore(file=file, by=make_staff(), joins_people=True).project
    assert [flag.flag_note for flag in flags.flags_of(copy, show=flags.OPEN)] == ["odd 2"]
    (kept,) = FlagSettlement.objects.filter(annotation__assignment__stage__project=copy)
    assert (kept.note, kept.settled_by) == ("Mended", world.admin)
