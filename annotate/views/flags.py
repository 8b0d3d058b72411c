"""What annotators flagged, for those who deal with it."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from annotate.flag_forms import SettleForm
from annotate.models import Project
from annotate.services import flags
from annotate.services.quality_page import summary
from annotate.views.doors import PersonRequest, project_run_by, signed_in
from annotate.views.navigation import project_page
from annotate.views.paging import row_before
from annotate.wording import _, ngettext


@require_safe
@signed_in
def flag_list(request: PersonRequest, slug: str) -> HttpResponse:
    return _list(request, project_run_by(request.user, slug), SettleForm())


@require_POST
@signed_in
def flags_settle(request: PersonRequest, slug: str) -> HttpResponse:
    """Say of every flag that is ticked that it was dealt with."""
    project = project_run_by(request.user, slug)
    form = SettleForm(request.POST)
    if not form.is_valid():
        return _list(request, project, form, status=422)
    asked = form.cleaned_data
    n = flags.settle_flags(project=project, flags=asked["flags"], by=request.user, note=asked["note"])
    messages.success(request, ngettext("%(n)s flag is dealt with.", "%(n)s flags are dealt with.", n, n=f"{n:,}"))
    return redirect("flags", slug)


@require_POST
@signed_in
def flag_reopen(request: PersonRequest, slug: str, annotation_id: int) -> HttpResponse:
    project = project_run_by(request.user, slug)
    flag = get_object_or_404(flags.flags_of(project).select_related("assignment__person"), pk=annotation_id)
    if flags.reopen_flag(project=project, flag=flag, by=request.user):
        messages.success(request, _("The flag is open again."))
    return redirect("flags", slug)


def _list(request: PersonRequest, project: Project, form: SettleForm, *, status: int = 200) -> HttpResponse:
    chosen = request.GET.get("show", flags.OPEN)
    show = chosen if chosen in flags.FILTERS else flags.OPEN
    page = flags.page_of_flags(project, show=show, after=row_before(request))
    address = reverse("flags", args=[project.slug])
    context: dict[str, Any] = project_page(project, request.user, "items") | {
        "rows": [
            {"flag": flag, "words": summary(flag), "is_ticked": str(flag.pk) in form.ticked} for flag in page.flags
        ],
        "chips": [
            {"label": label, "url": f"{address}?{urlencode({'show': name})}", "current": name == show}
            for name, label in flags.FILTERS.items()
        ],
        "show": show,
        "form": form,
        "is_first": not row_before(request),
        "next_url": f"{address}?{urlencode({'show': show, 'after': page.flags[-1].pk})}" if page.has_more else "",
    }
    return render(request, "annotate/flags.html", context, status=status)
