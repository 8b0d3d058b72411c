"""People from Prolific who click at the same moment, with real threads, connections and commits."""

from __future__ import annotations

import pytest

from annotate.exceptions import SeatRefused
from annotate.models import ImportedAnnotator, Membership, Person, ProlificSeat, ProlificStudy
from annotate.prolific import Ticket
from annotate.services.recruiting import take_seat
from tests.annotate.test_queue_race import in_threads
from tests.factories import make_stage

pytestmark = pytest.mark.django_db(transaction=True)


def test_ten_clicks_at_once_make_one_seat():
    study = ProlificStudy.objects.create(stage=make_stage())
    found = in_threads(lambda ticket: take_seat(study=study, ticket=ticket).pk, [Ticket("5e90b1c2d3e4", "s")] * 10)
    assert len(set(found)) == 1
    assert {model.objects.count() for model in (ProlificSeat, ImportedAnnotator, Membership, Person)} == {1}


def test_of_twelve_who_come_at_once_no_more_get_in_than_there_are_seats():
    study = ProlificStudy.objects.create(stage=make_stage(), max_people=5)

    def come(ticket: Ticket) -> bool:
        try:
            take_seat(study=study, ticket=ticket)
        except SeatRefused:
            return False
        return True

    found = in_threads(come, [Ticket(f"5e90b1c2d3e{n:x}", "s") for n in range(12)])
    assert sum(found) == 5
    # Whoever was turned away left nothing behind.
    assert {model.objects.count() for model in (ProlificSeat, ImportedAnnotator, Membership, Person)} == {5}
