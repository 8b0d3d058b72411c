"""What must be true of a queue after any history: the counters equal a recount from the assignments."""

from __future__ import annotations

from collections import defaultdict

from annotate.models import Annotation, Assignment, Participation, Stage, StageItem


def assert_queue_is_sound(stage: Stage) -> None:
    active: dict[int, int] = defaultdict(int)
    done: dict[int, int] = defaultdict(int)
    slots: dict[int, list[int]] = defaultdict(list)
    people: dict[int, list[int]] = defaultdict(list)
    for assignment in Assignment.objects.filter(stage=stage):
        people[assignment.stage_item_id].append(assignment.person_id)
        if assignment.slot is not None:
            slots[assignment.stage_item_id].append(assignment.slot)
            (active if assignment.state == "leased" else done)[assignment.stage_item_id] += 1
    for item in StageItem.objects.filter(stage=stage):
        assert (item.active, item.done) == (active[item.pk], done[item.pk])
        assert item.active + item.done <= item.wanted
        assert sorted(slots[item.pk]) == sorted(set(slots[item.pk])), "a slot is held twice"
        assert sorted(people[item.pk]) == sorted(set(people[item.pk])), "somebody got an item twice"
    for participation in Participation.objects.filter(stage=stage):
        # What came before the stage is none of its work.
        mine = Assignment.objects.filter(stage=stage, person=participation.person_id).exclude(purpose="qualification")
        assert participation.n_answered == mine.filter(state="submitted").count()
        assert participation.n_skipped == mine.filter(state="skipped").count()
    for assignment in Assignment.objects.filter(stage=stage, state="submitted"):
        numbers = (
            Annotation.objects.filter(assignment=assignment).order_by("number").values_list("number", "is_current")
        )
        n = len(numbers)
        assert list(numbers) == [(number, number == n) for number in range(1, n + 1)]
