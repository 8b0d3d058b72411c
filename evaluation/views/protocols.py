"""Published protocols: what each would make, setting one up, and what it offers where runs and reports are made."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe
from django.views.decorators.vary import vary_on_headers

from annotate.exceptions import ProtocolNotPossible, UnknownProtocol
from annotate.feeding import Recipe
from annotate.markdown import guidelines_html
from annotate.models import Membership, Project
from annotate.protocols import StagePlan
from annotate.recipes import in_words
from annotate.stage_forms import OPTION_FORMS
from annotate.stage_kinds import KINDS
from annotate.views.doors import PersonRequest, project_read_by, project_run_by, signed_in
from annotate.views.navigation import project_page
from annotate.wording import _, listed
from evaluation.protocols import RunSetting
from evaluation.reports.words import measure_words
from evaluation.run_forms import STRATEGY_WORDS
from evaluation.services import presets
from evaluation.services.presets import Preset

ROLE_WORDS = dict(Membership.Role.choices)


@require_safe
@vary_on_headers("HX-Request")
@signed_in
def protocols(request: PersonRequest) -> HttpResponse:
    """The protocols as cards, for whoever may make a project: a page, and a part of the page of a new project."""
    _check_staff(request)
    return _cards(request, {"presets": presets.all_presets()})


@require_safe
@signed_in
def protocol(request: PersonRequest, name: str) -> HttpResponse:
    _check_staff(request)
    return render(request, "evaluation/protocol.html", described(_preset(name)))


@require_safe
@vary_on_headers("HX-Request")
@signed_in
def project_protocols(request: PersonRequest, slug: str) -> HttpResponse:
    """The same for a project: a page, and a part of the home of one that is empty."""
    project = project_run_by(request.user, slug)
    return _cards(request, project_page(project, request.user, "") | {"presets": presets.all_presets()})


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def project_protocol(request: PersonRequest, slug: str, name: str) -> HttpResponse:
    """What the protocol makes, or has made, in this project; POST sets it up."""
    if request.method != "POST":
        project = project_read_by(request.user, slug)
        return _protocol_page(request, project, _preset(name))
    project, preset = project_run_by(request.user, slug), _preset(name)
    try:
        stages = presets.set_up(project=project, by=request.user, preset=preset)
    except ProtocolNotPossible as refusal:
        return _protocol_page(request, project, preset, refusal=str(refusal), status=refusal.http_status)
    messages.success(
        request,
        _(
            "%(title)s is set up: %(n)s stages as drafts, which nobody sees. Import items, ask people in, "
            "then open them.",
            title=preset.title,
            n=len(stages),
        ),
    )
    return redirect("project", slug)


def described(preset: Preset) -> dict[str, Any]:
    """For the context of a page that shows everything the preset would make."""
    human, models = preset.human, preset.models
    titles = {plan.slug: plan.title for plan in human.stages}
    return {
        "preset": preset,
        "stages": [_stage(preset, plan, titles) for plan in human.stages],
        "settings": [
            {
                "setting": one,
                "stage": titles[one.stage],
                "strategy": STRATEGY_WORDS.get(one.strategy, one.strategy),
                "sent": _sent(one),
            }
            for one in models.settings
        ],
        "reports": [
            {
                "report": one,
                "stage": titles[one.stage],
                "scorer": measure_words(one.scorer),
                "further": [measure_words(name) for name in one.further_scorers],
            }
            for one in models.reports
        ],
        "of_the_paper": preset.notes("paper"),
        "ours": preset.notes("ours"),
    }


def _stage(preset: Preset, plan: StagePlan, titles: dict[str, str]) -> dict[str, Any]:
    return {
        "plan": plan,
        "kind": KINDS[plan.kind].caption,
        "roles": [ROLE_WORDS[role] for role in plan.roles],
        "adjudicated_in": titles.get(plan.adjudicated_in, ""),
        "written_in": titles.get(plan.draw.written_in, "") if plan.draw else "",
        "feeds": [
            {"target": titles[feed.target], "words": in_words(Recipe.from_json(feed.recipe), plan.specs), "feed": feed}
            for feed in preset.human.feeds
            if feed.source == plan.slug
        ],
        "options": [(_option_label(plan.kind, name), _option_words(value)) for name, value in plan.options.items()],
        "guidelines_html": guidelines_html(plan.guidelines),
    }


def _option_label(kind: str, name: str) -> str:
    """As the stage editor calls it."""
    return str(OPTION_FORMS[kind].base_fields[name].label)


def _option_words(value: Any) -> str:
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, list):
        return ", ".join(one if isinstance(one, str) else " → ".join(one) for one in value)
    return str(value)


def _sent(setting: RunSetting) -> str:
    """The parameters that go to the server."""
    parts = []
    if setting.temperature is not None:
        parts.append(_("temperature %(value)s", value=setting.temperature))
    if setting.top_p is not None:
        parts.append(_("top-p %(value)s", value=setting.top_p))
    if setting.max_tokens is not None:
        parts.append(_("at most %(n)s tokens", n=f"{setting.max_tokens:,}"))
    return listed(parts)


def _protocol_page(
    request: PersonRequest, project: Project, preset: Preset, *, refusal: str = "", status: int = 200
) -> HttpResponse:
    context = project_page(project, request.user, "") | described(preset)
    context |= {"refusal": refusal, "is_set_up": project.protocol_name == preset.name}
    return render(request, "evaluation/protocol.html", context, status=status)


def _cards(request: PersonRequest, context: dict[str, Any]) -> HttpResponse:
    template = "evaluation/partials/protocol_cards.html" if request.htmx else "evaluation/protocols.html"
    return render(request, template, context)


def _check_staff(request: PersonRequest) -> None:
    # Only they make projects (annotate/views/project.py).
    if not request.user.is_staff:
        raise PermissionDenied


def _preset(name: str) -> Preset:
    try:
        return presets.get_preset(name)
    except UnknownProtocol as unknown:
        raise Http404(str(unknown)) from unknown
