"""Who comes in: every page of a project finds it through one of these; a stranger gets 404."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.views.decorators.cache import never_cache

from annotate.models import Participation, Person, Project, Stage

View = Callable[..., HttpResponseBase]


class PersonRequest(HttpRequest):
    """A request behind `signed_in`: somebody is there. `htmx` comes from django-htmx's middleware."""

    user: Person
    htmx: Any


def signed_in(view: View) -> View:
    """Anonymous visitors are sent to sign in; a fragment gets 401, for a sign-in page inside a page helps nobody.

    Nothing behind it is kept by browsers and proxies: on a shared device the next person must not go back to it.
    """

    @wraps(view)
    def inner(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.user.is_authenticated:
            return view(request, *args, **kwargs)
        if request.headers.get("HX-Request") == "true":
            return HttpResponse(status=401)
        # A POST cannot be repeated by following a link, so the way back is the start.
        return redirect_to_login(request.get_full_path() if request.method in ("GET", "HEAD") else "/")

    return never_cache(inner)


def project_read_by(person: Person | Any, slug: str) -> Project:
    return get_object_or_404(Project.objects.visible_to(person), slug=slug)


def project_joined_by(person: Person | Any, slug: str) -> Project:
    return get_object_or_404(Project.objects.joined_by(person), slug=slug)


def project_run_by(person: Person | Any, slug: str) -> Project:
    return get_object_or_404(Project.objects.run_by(person), slug=slug)


def stage_read_by(person: Person | Any, slug: str, stage_slug: str) -> Stage:
    stages = Stage.objects.visible_to(person).filter(project__slug=slug)
    return get_object_or_404(stages.select_related("project"), slug=stage_slug)


def own_stage(person: Person | Any, slug: str, stage_slug: str) -> Stage:
    """A stage that the person has worked in, or may work in. Raises Http404."""
    project = project_joined_by(person, slug)
    stage: Stage = get_object_or_404(project.stages.exclude(state=Stage.State.DRAFT), slug=stage_slug)
    is_theirs = Participation.objects.filter(stage=stage, person=person).exists()
    if not is_theirs and not Stage.objects.workable_by(person).filter(pk=stage.pk).exists():
        raise Http404
    stage.project = project
    return stage
