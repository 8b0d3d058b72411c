"""Coming from Prolific, and going back there with a code."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import login
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_safe

from annotate.desk import Desk
from annotate.exceptions import SeatRefused, StudyNotOpen
from annotate.models import Assignment, ProlificSeat
from annotate.prolific import PARAMETERS, PERSON, TOKEN, completion_address
from annotate.services import recruiting
from annotate.services.assigning import NothingLeft
from annotate.views.doors import PersonRequest, signed_in
from annotate.views.signing_in import BACKEND

# In the session of whoever came from Prolific: the link, and the only stage they are there for.
SESSION_KEY = "prolific"


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@sensitive_post_parameters(PERSON, TOKEN)
def study(request: HttpRequest, link: str) -> HttpResponse:
    """A participant's link. Looking at it takes no seat; the button does, and signs in."""
    sent = request.POST if request.method == "POST" else request.GET
    parameters = {name: sent[name] for name in PARAMETERS if name in sent}
    host = request.get_host().partition(":")[0].lower()
    try:
        row, ticket = recruiting.open_study(link=link, parameters=parameters, host=host)
        if request.method != "POST":
            context = {"project": row.stage.project, "stage": row.stage, "n_answers": row.n_answers}
            return render(request, "annotate/study.html", context | {"parameters": parameters.items()})
        person = recruiting.take_seat(study=row, ticket=ticket)
    except (SeatRefused, StudyNotOpen) as refusal:
        return render(request, "annotate/study.html", {"error": str(refusal)}, status=refusal.http_status)
    # Whoever was signed in before leaves nothing behind.
    login(request, person, backend=BACKEND)
    request.session[SESSION_KEY] = [link, row.stage_id]
    seat = recruiting.seat_of(link=link, person=person)
    if seat is not None and seat.outcome != ProlificSeat.Outcome.UNDER_WAY:
        return redirect("study-end", link)
    return redirect("work", row.stage.project.slug, row.stage.slug)


@require_safe
@signed_in
def study_end(request: PersonRequest, link: str) -> HttpResponse:
    """The code, and the way back to Prolific; to the work while there is some."""
    seat = recruiting.seat_of(link=link, person=request.user)
    if seat is None:
        raise Http404
    if recruiting.look_at_end(seat=seat).outcome == ProlificSeat.Outcome.UNDER_WAY:
        return redirect("work", seat.study.stage.project.slug, seat.study.stage.slug)
    code = recruiting.code_of(seat)
    context = {"seat": seat, "project": seat.study.stage.project, "code": code}
    return render(request, "annotate/study_end.html", context | {"address": completion_address(code) if code else ""})


def keep_to_stage(request: HttpRequest, desk: Desk) -> None:
    """Whoever came from Prolific came for one stage. Raises Http404 for any other."""
    came: Any = request.session.get(SESSION_KEY)
    if came is not None and came[1] != desk.stage.pk:
        raise Http404


def way_out(request: HttpRequest, desk: Desk, outcome: Assignment | NothingLeft) -> HttpResponse | None:
    """For the work page of whoever came from Prolific: to the end once they are there; None for all others."""
    came: Any = request.session.get(SESSION_KEY)
    if came is None:
        return None
    link, _stage_id = came
    seat = recruiting.seat_of(link=link, person=desk.person)
    left = outcome if isinstance(outcome, NothingLeft) else None
    if seat is None or recruiting.look_at_end(seat=seat, left=left).outcome == ProlificSeat.Outcome.UNDER_WAY:
        return None
    if left is None:
        recruiting.put_down(seat=seat)
    address = reverse("study-end", args=[link])
    if request.htmx:  # type: ignore[attr-defined]
        return HttpResponse(headers={"HX-Redirect": address})
    return redirect(address)
