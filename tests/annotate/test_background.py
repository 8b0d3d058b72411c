"""One claim of long work: taken once, lost by silence, refused when it comes late."""

from datetime import timedelta

import pytest
from django.utils import timezone

from annotate.exceptions import WorkNotPossible, WorkTaken
from annotate.models import Event
from annotate.services.background import beat, cancel_work, claim_work, end_work, holding, restart_work
from evaluation.models import Report
from tests.factories import make_item, make_item_set, make_member, make_stage

pytestmark = pytest.mark.django_db


@pytest.fixture
def work():
    stage = make_stage()
    item_set = make_item_set(stage.project, [make_item(stage.project)])
    return Report.objects.create(
        project=stage.project, title="R", stage=stage, item_set=item_set, field="label", primary_scorer="label_accuracy"
    )


def claim(work):
    return claim_work(model=Report, pk=work.pk)


def make_due(work):
    """As time makes it: the lease of whoever held it has run out."""
    Report.objects.filter(pk=work.pk).update(due_at=timezone.now() - timedelta(seconds=1))


def test_a_claim_gives_the_work_to_one_caller_even_if_the_bell_rings_twice(work):
    assert claim(work).state == "running"
    assert claim(work) is None


def test_work_that_is_not_due_yet_is_nobodys(work):
    Report.objects.filter(pk=work.pk).update(due_at=timezone.now() + timedelta(minutes=1))
    assert claim(work) is None


def test_a_silent_worker_loses_its_claim_and_its_late_result_is_refused(work):
    first = claim(work)
    make_due(work)
    second = claim(work)
    assert second.claim_token != first.claim_token
    with pytest.raises(WorkTaken):
        beat(first)
    with pytest.raises(WorkTaken), holding(first):
        pytest.fail("the claim was taken over")
    with holding(second) as row:
        end_work(row)
    work.refresh_from_db()
    assert (work.state, work.attempts, work.due_at) == ("done", 2, None)


def test_a_beat_keeps_the_claim_and_says_how_far_it_got(work):
    held = claim(work)
    make_due(work)
    beat(held, n_done=3, n_total=5)
    work.refresh_from_db()
    assert (work.n_done, work.n_total) == (3, 5)
    assert work.due_at > timezone.now()


def test_three_attempts_without_a_result_fail_with_the_reason(work):
    for _ in range(3):
        assert claim(work) is not None
        make_due(work)
    assert claim(work) is None
    work.refresh_from_db()
    assert work.state == "failed"
    assert work.error.startswith("Worker lost")
    assert list(Event.objects.values_list("verb", flat=True)) == ["report.failed"]


def test_cancelled_work_is_not_claimed_and_a_result_under_way_is_refused(work):
    held, admin = claim(work), make_member(work.project, "admin")
    cancel_work(work=work, by=admin)
    with pytest.raises(WorkTaken):
        beat(held)
    assert claim(work) is None
    assert Event.objects.get().actor == admin.pseudonym


def test_what_has_ended_cannot_be_cancelled_and_what_is_done_cannot_be_started_again(work):
    admin = make_member(work.project, "admin")
    with holding(claim(work)) as row:
        end_work(row)
    with pytest.raises(WorkNotPossible):
        cancel_work(work=work, by=admin)
    with pytest.raises(WorkNotPossible):
        restart_work(work=work, by=admin)
    work.refresh_from_db()
    assert work.state == "done"


def test_failed_work_starts_again_with_all_its_attempts(work):
    with holding(claim(work)) as row:
        end_work(row, error="The item set is empty.")
    work.refresh_from_db()
    assert (work.state, work.error) == ("failed", "The item set is empty.")
    restart_work(work=work, by=make_member(work.project, "admin"))
    again = claim(work)
    assert (again.state, again.attempts, again.error) == ("running", 1, "")
