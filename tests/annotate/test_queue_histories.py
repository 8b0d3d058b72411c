"""Any history of claims, answers, skips, late answers and expiry leaves the counters equal to a recount."""

from __future__ import annotations

from datetime import timedelta

import hypothesis.strategies as st
import pytest
from django.utils import timezone
from hypothesis import HealthCheck, given, settings

from annotate.exceptions import AssignmentNotOpen
from annotate.models import Assignment
from annotate.services import assigning, projects, submitting
from tests.annotate.queue_checks import assert_queue_is_sound
from tests.factories import make_member, make_project, make_stage, make_stage_item

pytestmark = pytest.mark.django_db

N_PEOPLE = 4
WHO = st.integers(0, N_PEOPLE - 1)
STEPS = st.one_of(
    st.tuples(st.sampled_from(["claim", "submit", "submit_late", "revise", "renew", "run_out"]), WHO),
    st.tuples(st.just("skip"), WHO, st.sampled_from(["broken", "ambiguous"])),
    st.tuples(st.just("overlap"), st.integers(1, 4)),
)


@given(st.lists(STEPS, max_size=30))
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_counters_equal_a_recount_after_any_history(steps):
    stage = make_stage(make_project(), overlap=2, order="sequential")
    for _ in range(3):
        make_stage_item(stage)
    admin = make_member(stage.project, "admin")
    people = [make_member(stage.project) for _ in range(N_PEOPLE)]
    version = stage.versions.get(is_current=True)
    acknowledged = set()
    for step, who, *rest in steps:
        if step == "overlap":
            projects.change_stage(
                stage=stage,
                by=admin,
                title=stage.title,
                overlap=who,
                lease_minutes=30,
                order="sequential",
                is_closed_book=True,
                time_limit_seconds=None,
                permitted_sources="",
            )
            continue
        person = people[who]
        mine = Assignment.objects.filter(stage=stage, person=person).select_related("stage", "person")
        if step == "claim":
            assigning.claim_next(stage=stage, person=person)
        elif step == "run_out":
            mine.filter(state="leased").update(lease_expires_at=timezone.now() - timedelta(minutes=1))
            assigning.expire_leases(stage=stage)
        else:
            wanted = {"submit": "leased", "skip": "leased", "submit_late": "expired", "revise": "submitted"}
            for assignment in mine.filter(state=wanted.get(step, "expired")):
                if step == "skip":
                    submitting.skip_assignment(assignment=assignment, reason=rest[0])
                elif step == "renew":
                    assigning.renew_lease(assignment=assignment)
                else:
                    store = submitting.revise_annotation if step == "revise" else submitting.submit_annotation
                    annotation = store(
                        assignment=assignment,
                        answer={"label": "yes"},
                        client_key=f"key-{len(acknowledged)}",
                        stage_version=version,
                    )
                    acknowledged.add(annotation.pk)
        assert_queue_is_sound(stage)
    # Whatever happened since, nothing acknowledged is gone.
    kept = Assignment.objects.filter(stage=stage, annotations__isnull=False).values_list("annotations", flat=True)
    assert acknowledged == set(kept)


@given(st.sampled_from(["submitted", "skipped", "withdrawn"]))
@settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_finished_item_takes_no_other_ending(state):
    stage = make_stage(make_project(), order="sequential")
    make_stage_item(stage)
    held = assigning.claim_next(stage=stage, person=make_member(stage.project))
    Assignment.objects.filter(pk=held.pk).update(state=state, slot=None, skip_reason="other")
    if state != "skipped":
        with pytest.raises(AssignmentNotOpen):
            submitting.skip_assignment(assignment=held, reason="broken")
    held.refresh_from_db()
    assert held.state == state
