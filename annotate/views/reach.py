"""Which items of a stage cannot reach the answers they want with today's people, and what helps."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from annotate.models import StageItem
from annotate.services.reaching import reach
from annotate.views.doors import PersonRequest, signed_in
from annotate.views.navigation import project_page
from annotate.views.paging import row_before
from annotate.views.stage import stage_run_by

PAGE = 50


@require_safe
@signed_in
def stage_reach(request: PersonRequest, slug: str, stage_slug: str) -> HttpResponse:
    project, stage = stage_run_by(request, slug, stage_slug)
    found = reach([stage])[stage.pk]
    # In the order of the queue; the page begins after the item that the address names.
    ids = [one.place.pk for one in found.items]
    after = row_before(request)
    begin = ids.index(after) + 1 if after in ids else 0
    shown = found.items[begin : begin + PAGE]
    names = dict(
        StageItem.objects.filter(pk__in=[one.place.pk for one in shown]).values_list(
            "pk", "revision__item__external_id"
        )
    )
    address = reverse("stage-reach", args=[slug, stage_slug])
    has_more = begin + PAGE < len(found.items)
    context = project_page(project, request.user, "") | {
        "stage": stage,
        "reach": found,
        "rows": [{"found": one, "external_id": names[one.place.pk]} for one in shown],
        "next_url": f"{address}?after={shown[-1].place.pk}" if has_more else "",
    }
    return render(request, "annotate/stage_reach.html", context)
