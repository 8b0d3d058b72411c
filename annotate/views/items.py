"""The items of a project: what they say, their gold labels, how far each stage is with them."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from annotate.exceptions import GoldpanelError
from annotate.models import Item, StageItem
from annotate.services import item_list, reviewing
from annotate.views.doors import PersonRequest, project_read_by, project_run_by, signed_in
from annotate.views.navigation import project_page
from annotate.views.paging import row_before
from annotate.wording import _

REVIEWED = {"return": reviewing.return_to_queue, "withdraw": reviewing.withdraw_item}


@require_safe
@signed_in
def items(request: PersonRequest, slug: str) -> HttpResponse:
    project = project_read_by(request.user, slug)
    chosen = request.GET.get("show", "")
    show = chosen if chosen in item_list.FILTERS else ""
    starts_with = request.GET.get("id", "").strip()[:200]
    after = row_before(request)
    page = item_list.page_of_items(project=project, show=show, starts_with=starts_with, after=after)
    kept: dict[str, Any] = {"id": starts_with} if starts_with else {}
    address = reverse("items", args=[slug])
    chips = [
        {
            "label": label,
            "url": f"{address}?{urlencode(kept | ({'show': name} if name else {}))}",
            "current": name == show,
        }
        for name, label in {"": _("All"), **item_list.FILTERS}.items()
    ]
    if show:
        kept["show"] = show
    context = project_page(project, request.user, "items") | {
        "page": page,
        "chips": chips,
        "show": show,
        "starts_with": starts_with,
        "first_url": f"{address}?{urlencode(kept)}" if after else "",
        "next_url": f"{address}?{urlencode(kept | {'after': page.last_pk})}" if page.has_more else "",
        "has_items": bool(page.rows) or Item.objects.filter(project=project).exists(),
    }
    return render(request, "annotate/items.html", context)


@require_POST
@signed_in
def stage_item_review(request: PersonRequest, slug: str, stage_item_id: int) -> HttpResponse:
    """Decide about an item that several people skipped for the same reason."""
    project = project_run_by(request.user, slug)
    rows = StageItem.objects.run_by(request.user).filter(stage__project=project)
    stage_item = get_object_or_404(rows, pk=stage_item_id)
    if decide := REVIEWED.get(request.POST.get("step", "")):
        try:
            decide(stage_item=stage_item, by=request.user)
        except GoldpanelError as problem:
            messages.error(request, str(problem))
    return redirect(f"{reverse('items', args=[slug])}?show=review")
