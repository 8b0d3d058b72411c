"""Items side by side: what is given on the left, everybody's answers on the right, one item a page."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from annotate.views.doors import PersonRequest, project_read_by, signed_in
from annotate.views.navigation import project_page
from evaluation.models import Report
from evaluation.reports.side_by_side import FILTERS, SORTS, cases, choose, strata
from evaluation.reports.words import measure_words
from evaluation.services.side_by_side import item_side_by_side


@require_safe
@signed_in
def side_by_side(request: PersonRequest, slug: str) -> HttpResponse:
    project = project_read_by(request.user, slug)
    context = project_page(project, request.user, "side-by-side")
    done = Report.objects.visible_to(request.user).filter(project=project, state=Report.State.DONE)
    rows = done.select_related("stage").defer("figures", "manifest").order_by("-pk")
    asked = request.GET.get("report", "")
    report = get_object_or_404(rows, pk=asked) if asked.isdecimal() and len(asked) < 19 else rows.first()
    if report is None:
        return render(request, "evaluation/side_by_side_empty.html", context)
    chosen = _Choice.read(request, report)
    found = choose(
        cases(report.matrices, scorer=report.primary_scorer, runs=chosen.runs),
        matrices=report.matrices,
        filter_name=chosen.filter_name,
        stratum=chosen.stratum,
        sort=chosen.sort,
    )
    at = min(chosen.at, len(found))
    context |= {"report": report, "measure": measure_words(report.primary_scorer), "n_found": len(found), "at": at}
    context |= {"chips": chosen.chips(), "strata": chosen.stratum_choices(), "choice": chosen}
    if found:
        context |= item_side_by_side(report=report, unit=found[at - 1].unit)
        context["previous_url"] = chosen.url(at=at - 1) if at > 1 else ""
        context["next_url"] = chosen.url(at=at + 1) if at < len(found) else ""
    return render(request, "evaluation/side_by_side.html", context)


class _Choice:
    """What is asked of the page. Only what is listed is understood; anything else is as if it were not there."""

    def __init__(
        self,
        *,
        report: Report,
        filter_name: str,
        stratum: tuple[str, str] | None,
        sort: str,
        runs: list[int],
        at: int,
    ) -> None:
        self.report, self.filter_name, self.stratum = report, filter_name, stratum
        self.sort, self.runs, self.at = sort, runs, at

    @classmethod
    def read(cls, request: PersonRequest, report: Report) -> _Choice:
        given = request.GET
        known: list[int] = [run["run"] for run in report.matrices["runs"]]
        asked = {int(run) for run in given.getlist("run") if run.isdecimal() and len(run) < 19}
        primary = [run for run in known if run == report.primary_run_id] or known[:1]
        name, _, value = given.get("stratum", "").partition("=")
        at = given.get("at", "")
        return cls(
            report=report,
            filter_name=given.get("show", "") if given.get("show", "") in FILTERS else "",
            stratum=(name, value) if value in strata(report.matrices).get(name, []) else None,
            sort=given.get("sort", "") if given.get("sort", "") in SORTS else "order",
            runs=[run for run in known if run in asked] or primary,
            at=int(at) if at.isdecimal() and 0 < len(at) < 10 and int(at) > 0 else 1,
        )

    def url(self, **changes: Any) -> str:
        """This page with something changed; a change of what is shown begins at its first item."""
        chosen: dict[str, Any] = {
            "report": self.report.pk,
            "show": self.filter_name,
            "stratum": "=".join(self.stratum) if self.stratum else "",
            "sort": "" if self.sort == "order" else self.sort,
            "run": self.runs,
        } | changes
        return "?" + urlencode([(name, value) for name, value in chosen.items() if value], doseq=True)

    def chips(self) -> dict[str, list[dict[str, Any]]]:
        """The filters, runs and sorts as links, each saying whether it is chosen. Choosing again takes it away."""
        filters = [
            {
                "label": words,
                "url": self.url(show="" if name == self.filter_name else name),
                "current": name == self.filter_name,
            }
            for name, (words, _) in FILTERS.items()
        ]
        runs = []
        for run in self.report.matrices["runs"]:
            others = [other for other in self.runs if other != run["run"]]
            is_chosen = run["run"] in self.runs
            toggled = others if is_chosen and others else [*others, run["run"]]
            runs.append({"label": run["name"], "url": self.url(run=toggled), "current": is_chosen})
        sorts = [
            {"label": words, "url": self.url(sort="" if name == "order" else name), "current": name == self.sort}
            for name, words in SORTS.items()
        ]
        return {"filters": filters, "runs": runs, "sorts": sorts}

    def stratum_choices(self) -> list[dict[str, Any]]:
        """[{name, values: [{label, url, current}]}] for the menu of strata."""
        return [
            {
                "name": name,
                "values": [
                    {
                        "label": value,
                        "url": self.url(stratum="" if self.stratum == (name, value) else f"{name}={value}"),
                        "current": self.stratum == (name, value),
                    }
                    for value in values
                ],
            }
            for name, values in strata(self.report.matrices).items()
        ]
