"""Agreement and the last comparison, for the home of a project: a fragment there, a page without scripts."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from annotate.views.doors import PersonRequest, project_read_by, project_run_by, signed_in
from annotate.views.navigation import project_page
from evaluation.services import agreement


@require_safe
@vary_on_headers("HX-Request")
@signed_in
def agreement_now(request: PersonRequest, slug: str) -> HttpResponse:
    project = project_read_by(request.user, slug)
    context = {
        "stages": agreement.agreement_now(project=project),
        "comparison": agreement.last_comparison(project=project),
    }
    if request.htmx:
        return render(request, "evaluation/partials/agreement_now.html", {"project": project} | context)
    return render(request, "evaluation/agreement.html", project_page(project, request.user, "project") | context)


@require_safe
@vary_on_headers("HX-Request")
@signed_in
def people_agreement(request: PersonRequest, slug: str) -> HttpResponse:
    """Each person against the vote of the others; `?person=` shows one alone."""
    project = project_run_by(request.user, slug)
    stages = agreement.people_now(project=project)
    named = sorted({name for one in stages for name in one.figures or {}})
    asked = request.GET.get("person", "")
    context = {
        "stages": stages,
        "person": asked,
        "rows": [
            {"pseudonym": name, "figures": [(one.figures or {}).get(name) for one in stages]}
            for name in named
            if asked in ("", name)
        ],
    }
    if request.htmx:
        return render(request, "evaluation/partials/people_agreement.html", {"project": project} | context)
    return render(request, "evaluation/people_agreement.html", project_page(project, request.user, "people") | context)
