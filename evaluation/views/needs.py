"""Runs and reports that wait for an admin, for the home of a project: a fragment there, a page without scripts."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from annotate.views.doors import PersonRequest, project_run_by, signed_in
from annotate.views.navigation import project_page
from evaluation.services.needs import run_needs


@require_safe
@vary_on_headers("HX-Request")
@signed_in
def needs_of_runs(request: PersonRequest, slug: str) -> HttpResponse:
    project = project_run_by(request.user, slug)
    needs = run_needs(project=project)
    if request.htmx:
        return render(request, "evaluation/partials/run_needs.html", {"project": project, "needs": needs})
    return render(request, "evaluation/run_needs.html", project_page(project, request.user, "runs") | {"needs": needs})
