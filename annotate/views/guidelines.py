"""Guidelines for those who work by them: beside the item, and on a page with what has changed."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotate.desk import Desk, desk_at, guidelines_seen
from annotate.differences import Piece, marked_text
from annotate.markdown import guidelines_html
from annotate.models import GuidelineVersion
from annotate.services.guidelines import tell_of_guidelines
from annotate.services.questions import pinned_beside
from annotate.views.at_work import at_work, signed_person


@require_http_methods(["GET", "HEAD", "POST"])
@at_work
def work_guidelines(request: HttpRequest, project: str, stage: str) -> HttpResponse:
    """The guidelines as a page, with what is new in them; POST says that it was read."""
    desk = desk_at(person=signed_person(request), project=project, stage=stage)
    if desk is None or not desk.may_take:
        raise Http404
    if request.method == "POST":
        sent = request.POST.get("guideline_version", "")
        seen = int(sent) if sent.isascii() and sent.isdecimal() and len(sent) < 19 else None
        tell_of_guidelines(stage=desk.stage, person=desk.person, guideline_id=guidelines_seen(desk, seen))
        if request.htmx:  # type: ignore[attr-defined]
            return HttpResponse()  # the notice goes, the item stays
        return redirect("work", project, stage)
    context = {
        "project": desk.stage.project,
        "stage": desk.stage,
        "guideline_version": desk.guideline_id,
        "guidelines": guidelines_beside(desk),
        "difference": _difference(desk) if desk.has_new_guidelines else None,
    }
    return render(request, "annotate/work_guidelines.html", context)


def guidelines_beside(desk: Desk) -> dict[str, Any]:
    """html: "" where none are written. pinned: questions with answers, for all in the stage."""
    markdown = ""
    if desk.guideline_id is not None:
        markdown = GuidelineVersion.objects.values_list("markdown", flat=True).get(pk=desk.guideline_id)
    return {
        "html": guidelines_html(markdown) if markdown else "",
        # Nothing was ever pinned: nobody need look.
        "pinned": pinned_beside(desk.stage) if desk.pins else [],
    }


def _difference(desk: Desk) -> list[Piece]:
    """The newest guidelines as they are written, with what they say instead of those that the person knew."""
    now, before = desk.guideline_id or 0, desk.known_guideline_id or 0
    written = dict(GuidelineVersion.objects.filter(pk__in=[now, before]).values_list("pk", "markdown"))
    return marked_text(written.get(now, ""), written.get(before, ""))
