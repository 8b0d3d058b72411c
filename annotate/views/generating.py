"""Generate items: say which structured texts are wanted, then see the first of them on the page of any import."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotate.exceptions import ImportRefused
from annotate.generate_forms import GenerateForm
from annotate.services import importing
from annotate.views.doors import PersonRequest, project_run_by, signed_in
from annotate.views.navigation import project_page


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def generate(request: PersonRequest, slug: str) -> HttpResponse:
    """The recipe becomes a draft; nothing is stored as items yet."""
    project = project_run_by(request.user, slug)
    form = GenerateForm(request.POST or None, project=project)
    status = 200
    if request.method == "POST":
        if form.is_valid() and form.recipe is not None:
            file = importing.recipe_file(form.recipe)
            try:
                job = importing.draft_import(
                    project=project, by=request.user, file=file, name=str(file.name), stage=form.cleaned_data["stage"]
                )
            except ImportRefused as refused:
                form.add_error(None, str(refused))
            else:
                return redirect("import-job", slug, job.pk)
        status = 422
    return render(
        request, "annotate/generate.html", project_page(project, request.user, "items") | {"form": form}, status=status
    )
