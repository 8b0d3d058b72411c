"""Where models answer: for admins alone."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from annotate.exceptions import WorkNotPossible
from annotate.models import Project
from annotate.views.doors import PersonRequest, project_run_by, signed_in
from annotate.views.navigation import project_page
from annotate.wording import _
from evaluation.models import Endpoint
from evaluation.run_forms import EndpointForm
from evaluation.services import endpoints as service

# What only a server has.
SERVER_FIELDS = (
    *(
        "protocol",
        "base_url",
        "key_variable",
        "max_in_flight",
        "requests_per_minute",
        "tokens_per_minute",
        "timeout_seconds",
    ),
    *("input_price", "output_price", "currency"),
)


@require_safe
@signed_in
def endpoints(request: PersonRequest, slug: str) -> HttpResponse:
    project = project_run_by(request.user, slug)
    rows = Endpoint.objects.visible_to(request.user).askable().filter(project=project)
    context = project_page(project, request.user, "runs") | {
        "endpoints": rows.annotate(n_runs=Count("runs")).order_by("name")
    }
    return render(request, "evaluation/endpoints.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def endpoint_new(request: PersonRequest, slug: str) -> HttpResponse:
    project = project_run_by(request.user, slug)
    form = EndpointForm(request.POST or None, project=project, initial=_of_baseline(request.GET.get("baseline", "")))
    if request.method == "POST" and form.is_valid():
        try:
            endpoint = service.create_endpoint(project=project, by=request.user, **form.cleaned_data)
        except WorkNotPossible as refusal:
            _tell(form, refusal)
        else:
            messages.success(request, _("%(name)s can be chosen for runs now.", name=endpoint.name))
            return redirect("endpoints", slug)
    return _form_page(request, project, form)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def endpoint(request: PersonRequest, slug: str, endpoint_id: int) -> HttpResponse:
    project = project_run_by(request.user, slug)
    row = get_object_or_404(Endpoint.objects.run_by(request.user).askable().filter(project=project), pk=endpoint_id)
    initial = {name: getattr(row, name) for name in EndpointForm.base_fields}
    form = EndpointForm(request.POST or None, project=project, endpoint=row, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            service.change_endpoint(endpoint=row, by=request.user, **form.cleaned_data)
        except WorkNotPossible as refusal:
            _tell(form, refusal)
        else:
            messages.success(
                request, _("%(name)s was changed. Runs under way use it from their next requests on.", name=row.name)
            )
            return redirect("endpoints", slug)
    return _form_page(request, project, form, endpoint=row, is_fixed=service.has_begun_runs(row))


def _of_baseline(name: str) -> dict[str, Any]:
    """What a new endpoint starts with when one of the listed baselines was chosen."""
    if name not in service.BASELINES:
        return {}
    return {"name": name.replace("_", " ").capitalize(), "provider": Endpoint.Provider.BASELINE, "model": name}


def _tell(form: EndpointForm, refusal: WorkNotPossible) -> None:
    field = "base_url" if isinstance(refusal, service.AddressNotAllowed) else None
    form.add_error(field, str(refusal))


def _form_page(request: PersonRequest, project: Project, form: EndpointForm, **more: Any) -> HttpResponse:
    status = 422 if form.is_bound else 200
    if form.is_bound:
        form.refuse_key()
    context = project_page(project, request.user, "runs") | {
        "form": form,
        "server_fields": [form[name] for name in SERVER_FIELDS],
        "baselines": service.BASELINES,
    }
    return render(request, "evaluation/endpoint.html", context | more, status=status)
