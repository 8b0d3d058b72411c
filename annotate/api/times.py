"""Days and times as programs are told them: what is not known is null, what a sum leaves out beside it."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from annotate.services.days_of_work import Day
from annotate.time_spent import TimeSpent


class DayOfWork(serializers.Serializer):
    """A day by the clock of the project. Answers count on the day they were first given, changes with their time."""

    day = serializers.DateField()
    answers = serializers.IntegerField()
    active_seconds = serializers.IntegerField(allow_null=True, help_text="Null: not known of any answer.")
    answers_not_timed = serializers.IntegerField(help_text="Answers that active_seconds leaves out.")
    open_seconds = serializers.IntegerField(
        allow_null=True, help_text="From the moment an item came to its answer, breaks included."
    )


def day_told(day: Day) -> dict[str, Any]:
    return {
        "day": day.day,
        "answers": day.n_answers,
        **time_told("active_seconds", "answers_not_timed", day.active),
        "open_seconds": day.wall.seconds,
    }


def time_told(seconds: str, left_out: str, time: TimeSpent) -> dict[str, int | None]:
    return {seconds: time.seconds, left_out: time.n_unknown}
