"""A report with every section: what it leaves out adds up, and page, JSON, Markdown, CSV and LaTeX say the same."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from pathlib import Path

import pytest
from django.conf import settings
from django.urls import reverse

from annotate.models import Annotation
from annotate.templatetags.figures import percent
from evaluation.models import Report
from evaluation.reports.further_sections import further_sections
from evaluation.reports.latex import escaped
from tests.api_client import ApiClient
from tests.evaluation.latex import parsed
from tests.evaluation.recompute import audit, judged
from tests.evaluation.studies import make_study
from tests.evaluation.whole_report import BAD_ITEM, SPEED, make_whole_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def whole():
    return make_whole_study()


@pytest.fixture
def report(whole):
    made = whole.study.made_report()
    assert (made.state, made.error) == ("done", "")
    return made


def content(report: Report, name: str) -> str:
    with report.files.get(name=name).file.open("rb") as stored:
        return stored.read().decode("utf-8-sig")


def of(report: Report, section: str, **where):
    return [
        figure
        for figure in report.figures
        if figure["section"] == section and all(figure[name] == value for name, value in where.items())
    ]


def steps(report: Report, row: str) -> list[dict]:
    return of(report, "account", row=row)


REMAINS = {
    *("in_set", "units", "finished", "planned", "counted", "asked", "given", "in_pairs", "shared", "shared_answered"),
    *("scored_all", "scored_answered"),
}


def test_every_account_adds_up_step_by_step(report):
    rows = {figure["row"] for figure in of(report, "account")}
    assert len(rows) == 3 + 2 * 2
    for row in rows:
        first, *rest = steps(report, row)
        remain = first["count"]
        assert first["measure"] in REMAINS
        for step in rest:
            if step["measure"] in REMAINS:
                assert step["count"] == remain, step
            else:
                remain -= step["count"]
            assert step["n"] == remain, step


def test_the_accounts_end_at_the_n_of_the_figures(report):
    def last(row, measure):
        return next(step["n"] for step in steps(report, row) if step["measure"] == measure)

    def n(section, **where):
        (figure,) = of(report, section, **where)
        return figure

    named = {"measure": "label_accuracy"}
    mean = n("accuracy", row="people_mean", denominator="all", **named)
    assert mean["n"] == last("people", "scored_all")
    assert n("accuracy", row="people_mean", denominator="answered", **named)["n"] == last("people", "scored_answered")
    assert n("agreement", measure="krippendorff_alpha_nominal")["n"] == steps(report, "agreement")[-1]["n_items"]
    for run in report.runs.all():
        row = f"run_{run.pk}"
        assert n("accuracy", row=row, denominator="all", **named)["n"] == last(row, "scored_all")
        assert n("accuracy", row=row, denominator="answered", **named)["n"] == last(row, "scored_answered")
        for denominator, measure in (("all", "shared"), ("answered", "shared_answered")):
            difference = n("difference", row=row, denominator=denominator, **named)
            assert difference["n_items"] == last(f"difference_{row}", measure)


def test_each_rule_says_how_much_it_removed_and_on_which_day(whole, report):
    removed = {
        (step["rule"], step["measure"]): (step["count"], step["n_items"], step["n_people"])
        for step in steps(report, "people")
        if step["rule"]
    }
    # 36 items for four people; two items are left out with the answers of all four, the rest of one person, one more.
    assert removed == {
        (BAD_ITEM, "item_excluded"): (8, 2, 4),
        (SPEED, "person_excluded"): (34, 34, 1),
        ("typed by mistake", "answer_excluded"): (1, 1, 1),
    }
    assert {step["decided_on"] for step in steps(report, "people") if step["rule"]} == {
        whole.study.project.exclusions.first().decided_at.date().isoformat()
    }
    rows = list(csv.DictReader(io.StringIO(content(report, "answers.csv"))))
    by_rule = [row["rule"] for row in rows if row["standing"] == "excluded"]
    assert {rule: by_rule.count(rule) for rule in set(by_rule)} == {SPEED: 34, "typed by mistake": 1}
    assert {row["rule"] for row in rows if row["standing"] != "excluded"} == {""}


def test_files_name_nobody_but_by_their_code(whole):
    project = whole.study.project
    people = [member.person for member in project.memberships.select_related("person")] + whole.study.people
    for number, person in enumerate(people):
        type(person).objects.filter(pk=person.pk).update(
            username=f"ada.lovelace.{number}", note=f"born in {1900 + number}"
        )
    report = whole.study.made_report()
    names = ("ada.lovelace", "born in")
    for stored in report.files.exclude(name__startswith="chart"):
        text = content(report, stored.name)
        assert not [name for name in names if name in text], stored.name


def test_the_audit_says_estimates_agreement_and_what_became_of_errors(whole, report):
    (audit,) = report.manifest["audits"]
    assert (audit["stage"], audit["n_errors"], audit["n_repaired"]) == (whole.audit.slug, 2, 1)
    assert audit["reviewers"] == sorted(person.pseudonym for person in whole.reviewers)
    shown = of(report, "audit", stage=whole.audit.slug, row="consensus", denominator="all")
    assert [figure["measure"] for figure in shown] == ["audit_sampled", "audit_population"]
    n = audit["n_drawn"]
    # Two are wrong and one is in doubt.
    assert (shown[0]["value"], shown[0]["n"]) == (pytest.approx((n - 3) / n), n)
    drawn = of(report, "audit_stratum", stage=whole.audit.slug, measure="audit_drawn")
    assert (sum(figure["count"] for figure in drawn), sum(figure["n"] for figure in drawn)) == (
        n,
        audit["n_population"],
    )
    states = {figure["measure"]: figure["count"] for figure in of(report, "audit_errors", stage=whole.audit.slug)}
    assert (states["repaired"], states["as_it_was"], sum(states.values())) == (1, 1, 2)
    errors = list(csv.DictReader(io.StringIO(content(report, "audit-errors.csv"))))
    assert [(error["became"], error["is_repaired"]) for error in errors] == [("repaired", "yes"), ("as_it_was", "no")]
    assert {figure["measure"] for figure in of(report, "audit_agreement")} >= {"percent_agreement", "cohen_kappa"}


def test_without_an_audit_and_without_judges_there_is_no_section_of_them(client):
    study = make_study(n_items=4)
    report = study.made_report()
    assert (report.manifest["audits"], report.manifest["judged"]) == ([], [])
    assert not report.files.filter(name__startswith="audit").exists()
    client.force_login(study.admin)
    page = client.get(reverse("report", args=[study.project.slug, report.pk])).content.decode()
    assert "part-audit" not in page
    assert "part-judged" not in page
    assert "part-account" in page


def test_an_audit_of_which_nothing_was_judged_is_in_no_report(whole):
    Annotation.objects.filter(assignment__stage=whole.audit).delete()
    assert whole.study.made_report().manifest["audits"] == []


def test_an_audit_that_is_open_makes_the_report_provisional(whole):
    type(whole.audit).objects.filter(pk=whole.audit.pk).update(state="open")
    assert "Audit of gold is not closed" in whole.study.made_report().manifest["provisional"]


def test_what_was_judged_adds_up_to_what_was_drawn(whole, report):
    assert [draw["stage"] for draw in report.manifest["judged"]] == [whole.judges.slug, whole.better.slug]
    for run in report.runs.all():
        counts = of(report, "judged_counts", stage=whole.judges.slug, row=f"run_{run.pk}")
        assert sum(figure["count"] for figure in counts) == counts[0]["n"] == 20
        right = next(figure["count"] for figure in counts if figure["measure"] == "right")
        judged, drawn = of(report, "judged", stage=whole.judges.slug, row=f"run_{run.pk}")
        assert judged["value"] == pytest.approx(right / judged["n"])
        assert drawn["value"] == pytest.approx(right / drawn["n"])
    first, second = report.runs.order_by("pk")
    pair = {figure["measure"]: figure for figure in of(report, "judged_pair", row=f"run_{first.pk}_run_{second.pk}")}
    counts = {figure["measure"]: figure["count"] for figure in of(report, "judged_counts", stage=whole.better.slug)}
    n = pair["win_rate"]["n"]
    assert pair["wins_minus_losses"]["value"] == pytest.approx((counts["wins"] - counts["losses"]) / n)
    assert pair["win_rate"]["value"] == pytest.approx((counts["wins"] + counts["ties"] / 2) / n)


def test_audits_and_judgements_can_be_recomputed_from_their_own_files(whole, report, tmp_path):
    def stored(name: str) -> Path:
        path = tmp_path / name
        path.write_text(content(report, name), encoding="utf-8")
        return path

    ours = {
        (figure["row"].removeprefix("reviewer_"), figure["measure"], figure["denominator"]): figure["value"]
        for figure in of(report, "audit", stage=whole.audit.slug)
    }
    again = audit(stored(f"audit-verdicts-{whole.audit.slug}.csv"), by_label=True)
    assert ours == {place: pytest.approx(value, abs=1e-12) for place, value in again.items()}
    ours = {(f["label"], f["denominator"]): f["value"] for f in of(report, "judged", stage=whole.judges.slug)}
    assert ours == pytest.approx(judged(stored(f"judgements-{whole.judges.slug}.csv")), abs=1e-12)
    ours = {(f["label"], "win_rate"): f["value"] for f in of(report, "judged_pair", measure="win_rate")}
    assert ours == pytest.approx(judged(stored(f"judgements-{whole.better.slug}.csv")), abs=1e-12)


def test_a_report_frozen_before_it_had_these_sections_keeps_its_page(client, whole, report):
    older = ("account", "mcnemar", "metrics", "prompts", "grid", "audit", "judged")
    kept = [figure for figure in report.figures if not figure["section"].startswith(older)]
    for figure in kept:
        for name in ("stage", "rule", "decided_on"):
            del figure[name]
    manifest = {name: value for name, value in report.manifest.items() if name not in ("audits", "judged")}
    Report.objects.filter(pk=report.pk).update(figures=kept, manifest=manifest)
    report.files.remove(*report.files.filter(name="report.tex"))
    client.force_login(whole.study.admin)
    response = client.get(reverse("report", args=[whole.study.project.slug, report.pk]))
    assert response.status_code == 200
    assert "part-account" not in response.content.decode()
    assert "LaTeX" not in response.content.decode()


def test_judges_of_other_runs_are_in_no_report(whole):
    report = whole.study.made_report(runs=[], primary_run=None)
    assert report.manifest["judged"] == []
    assert report.manifest["audits"]


def test_page_json_markdown_csv_and_latex_say_the_same(client, whole, report):
    client.force_login(whole.study.admin)
    page = client.get(reverse("report", args=[whole.study.project.slug, report.pk])).content.decode()
    markdown, latex = content(report, "report.md"), content(report, "report.tex")
    document = json.loads(content(report, "report.json"))
    assert document["figures"] == report.figures
    assert len(list(csv.DictReader(io.StringIO(content(report, "figures.csv"))))) == len(report.figures)
    plain = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())
    shown = 0
    for section in further_sections(report.figures, report.manifest, primary_scorer=report.primary_scorer):
        assert f'id="part-{section.name}"' in page
        assert f'href="#part-{section.name}"' in page
        for sheet in section.sheets:
            tables = re.findall(rf"\\label{{tab:{sheet.name}}}.*?\\end{{(?:long)?tab", latex, re.S)
            assert len(tables) == 1, sheet.name
            for line in sheet.lines:
                assert line.label in plain
                assert escaped(line.label) in tables[0]
                for cell in line.cells:
                    if cell.figure is None or cell.figure["value"] is None or cell.style != "percent":
                        continue
                    text = percent(cell.figure["value"])
                    assert text in plain
                    assert text in tables[0]
                    assert text in markdown
                    shown += 1
    assert shown > 30


def test_a_link_to_latex_is_on_the_page_and_among_the_files_of_the_api(client, whole, report):
    client.force_login(whole.study.admin)
    address = reverse("report-file", args=[whole.study.project.slug, report.pk, "report.tex"])
    assert address in client.get(reverse("report", args=[whole.study.project.slug, report.pk])).content.decode()
    response = client.get(address)
    assert response["Content-Type"] == "application/x-tex"
    found = ApiClient(whole.study.admin, "read").get(f"projects/{whole.study.project.slug}/reports/{report.pk}/")
    assert "report.tex" in [file["name"] for file in found.json()["files"]]


def test_every_table_of_latex_parses_and_has_a_caption_with_seed_and_what_was_left_out(report):
    latex = content(report, "report.tex")
    tables = parsed(latex)
    assert len(tables) == latex.count("\\begin{table}") + latex.count("\\begin{longtable}")
    for table in tables:
        assert {len(row) for row in table.rows} == {table.n_columns}, table.label
        assert "seed" in table.caption or "where" in table.caption
        if not table.label.startswith(("tab:audit", "tab:judged")):
            assert f"2 items and 8 answers by the rule “{BAD_ITEM}”" in table.caption
    main = next(table for table in tables if table.label == "tab:main")
    figure = of(report, "accuracy", row="people_mean", measure="label_accuracy", denominator="all")[0]
    assert main.rows[1][3].startswith(f"{percent(figure['value'])} ({percent(figure['lower'])}")


def test_a_page_in_chinese_says_our_sentences_and_leaves_texts_of_the_project(client):
    whole = make_whole_study()
    # A rule whose name is a sentence of ours, too.
    whole.study.project.exclusions.filter(rule=SPEED).update(rule="wrong")
    report = whole.study.made_report()
    client.force_login(whole.study.admin)
    address = reverse("report", args=[whole.study.project.slug, report.pk])
    page = client.get(address, headers={"Accept-Language": "zh-Hans"}).content.decode()
    assert "每个 n 从何而来" in page
    assert "McNemar" in page
    assert re.search(r'<th scope="row"><span><bdi>wrong</bdi>', page)
    assert "From everything to n" not in page
    assert "Left out" not in page
    assert content(report, "report.md").count("每") == content(report, "report.tex").count("每") == 0


# What the people of the study wrote themselves.
THEIR_OWN = (
    *("People against models", "Audit of gold", "Not sure enough"),
    *(BAD_ITEM, SPEED, "much too fast", "two readings", "typed by mistake"),
)


def test_its_page_in_another_language_says_nothing_of_ours_in_english(whole, report, client):
    client.force_login(whole.study.admin)
    client.cookies[settings.LANGUAGE_COOKIE_NAME] = "zh-hans"
    page = client.get(reverse("report", args=[whole.study.project.slug, report.pk])).content.decode()
    # Charts are files, and files are in English.
    page = re.sub(r"(?s)<(script|style|svg).*?</\1>", "", page)
    texts = re.findall(r">([^<]+)<", page) + re.findall(r'(?:aria-label|title|alt)="([^"]+)"', page)
    assert "阶段尚未关闭" in page
    for text in {html.unescape(" ".join(text.split())) for text in texts}:
        ours = text
        for own in THEIR_OWN:
            ours = ours.replace(own, "")
        assert not re.search(r"[a-z]{3,} [a-z]{2,}", ours), text
