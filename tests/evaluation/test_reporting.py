"""Reports as services make them: frozen, claimed once, with files that say what the figures say."""

import csv
import io
import json
from datetime import timedelta
from xml.etree import ElementTree

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotate.models import Annotation, Exclusion, Gold, Resolution, StageVersion, StoredFile
from annotate.services import resolving
from annotate.services.background import claim_work
from annotate.services.gold_proposals import accept_proposal, answer_hash
from evaluation.models import Prediction, Report, Run, Score
from evaluation.reports.figures import FIGURE_COLUMNS
from evaluation.reports.tables import main_table
from evaluation.services import reporting
from tests.evaluation.recompute import account, recompute
from tests.evaluation.studies import LABELS, make_study
from tests.evaluation.whole_report import leave_out
from tests.factories import (
    make_annotation,
    make_annotator,
    make_item,
    make_item_set,
    make_prediction,
    make_project,
    make_run,
    make_stage,
    make_stage_item,
)

pytestmark = pytest.mark.django_db


def content(report, name):
    with report.files.get(name=name).file.open("rb") as stored:
        return stored.read()


def rows_of(report, name):
    return list(csv.DictReader(io.StringIO(content(report, name).decode("utf-8-sig"))))


def figure_of(report, **where):
    found = [figure for figure in report.figures if all(figure[name] == value for name, value in where.items())]
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize(
    ("form", "repeats", "n_people", "scorers", "labels"),
    [
        ("label", 1, 3, ["label_accuracy"], LABELS),
        ("label", 3, 2, ["label_accuracy"], LABELS),
        ("label", 1, 12, ["label_accuracy"], LABELS),
        ("ordered", 1, 2, ["label_accuracy"], LABELS),
        ("ordered", 1, 3, ["label_accuracy"], LABELS),
        ("text", 2, 3, ["exact_match", "token_f1"], []),
    ],
)
def test_every_figure_can_be_recomputed_from_the_reports_own_answers(
    form, repeats, n_people, scorers, labels, tmp_path
):
    report = make_study(n_people=n_people, form=form, repeats=repeats).made_report()
    path = tmp_path / "answers.csv"
    path.write_bytes(content(report, "answers.csv"))
    again = recompute(path, scorers=scorers, labels=labels, is_ordered=form == "ordered")
    ours = {
        (row["section"], row["row"], row["measure"], row["denominator"]): row["value"]
        for row in rows_of(report, "figures.csv")
        if row["section"] in ("accuracy", "difference", "agreement", "mcnemar")
    }
    ours |= {
        ("mcnemar", row["row"], "mcnemar_p", "all"): row["p"]
        for row in rows_of(report, "figures.csv")
        if row["section"] == "mcnemar" and row["p"]
    }
    assert set(ours) == set(again)
    for place, value in ours.items():
        assert (value == "") == (again[place] is None), place
        if value:
            assert float(value) == pytest.approx(again[place], abs=1e-12), place


@pytest.mark.parametrize("n_people", [1, 3])
def test_mcnemar_can_be_recomputed_where_items_are_independent(n_people, tmp_path):
    report = make_study(n_people=n_people, n_of_table=0).made_report()
    path = tmp_path / "answers.csv"
    path.write_bytes(content(report, "answers.csv"))
    again = {place: value for place, value in recompute(path, scorers=["label_accuracy"]).items() if "mcnemar" in place}
    found = [figure for figure in report.figures if figure["section"] == "mcnemar"]
    ours = {("mcnemar", figure["row"], figure["measure"], "all"): figure["value"] for figure in found}
    tested = [figure for figure in found if figure["p"] is not None]
    ours |= {("mcnemar", figure["row"], "mcnemar_p", "all"): figure["p"] for figure in tested}
    assert len(tested) == 3
    assert ours == {place: pytest.approx(value, abs=1e-12) for place, value in again.items()}


def test_the_account_can_be_recomputed_from_the_answers(tmp_path):
    study = make_study()
    leave_out(study)
    Gold.objects.filter(item=study.items[5]).delete()
    Gold.objects.filter(item__in=study.items[6:8]).update(votes_of=study.stage)
    Prediction.objects.filter(run=study.runs[0], position__lt=2).update(state="pending", answer=None)
    report = study.made_report()
    path = tmp_path / "answers.csv"
    path.write_bytes(content(report, "answers.csv"))
    ours = {}
    for figure in report.figures:
        is_of_answers = figure["row"] == "people" or figure["row"].startswith("run_")
        if figure["section"] == "account" and is_of_answers and figure["count"]:
            measure = "excluded" if figure["measure"] in ("person_excluded", "answer_excluded") else figure["measure"]
            ours[figure["row"], measure, figure["rule"]] = figure["count"]
    ours = {place: n for place, n in ours.items() if place[1] not in ("finished", "planned", "item_excluded")}
    assert ours == account(path)
    assert ours["people", "gold_of_these_votes", ""] == 2 * 2
    shared = {
        figure["measure"]: figure["count"]
        for figure in report.figures
        if figure["row"] == f"difference_run_{study.runs[1].pk}" and figure["section"] == "account"
    }
    assert (shared["gold_of_these_votes"], shared["shared"]) == (2, 24 - 2 - 1 - 2)
    (difference,) = [
        figure
        for figure in report.figures
        if figure["section"] == "difference" and figure["run"] == study.runs[1].pk and figure["denominator"] == "all"
    ]
    assert difference["n_items"] == shared["shared"]


def test_a_report_keeps_its_numbers_when_answers_and_gold_change_later():
    study = make_study()
    report = study.made_report()
    before, answers = report.figures, content(report, "answers.csv")
    Annotation.objects.update(answer={"label": "not_sure"})
    Gold.objects.update(answers=["yes"])
    report.refresh_from_db()
    assert (report.figures, content(report, "answers.csv")) == (before, answers)
    assert study.made_report().figures != before


def values_without(report: Report, section: str) -> list[float | None]:
    return [figure["value"] for figure in report.figures if figure["section"] != section]


def test_the_same_inputs_and_seed_give_the_same_figures_and_another_seed_other_intervals():
    study = make_study()
    first, second, other = study.made_report(), study.made_report(), study.made_report(seed=8)
    assert first.figures == second.figures
    # The best person is chosen on parts that the seed deals; nothing else that is measured depends on it.
    assert values_without(other, "best_person") == values_without(first, "best_person")
    assert [figure["lower"] for figure in other.figures] != [figure["lower"] for figure in first.figures]


def test_every_outcome_that_is_no_answer_is_a_figure_of_its_own():
    study = make_study()
    Prediction.objects.filter(run=study.runs[0]).update(state="unparsed", answer=None)
    Prediction.objects.filter(run=study.runs[0], position__lt=3).update(state="timed_out")
    report = study.made_report()
    shares = {
        figure["measure"]: (figure["count"], figure["n"])
        for figure in report.figures
        if figure["section"] == "outcomes" and figure["run"] == study.runs[0].pk
    }
    assert shares == {"unparsed": (21, 24), "timed_out": (3, 24)}
    everything = figure_of(
        report, section="accuracy", run=study.runs[0].pk, measure="label_accuracy", denominator="all"
    )
    answered = figure_of(
        report, section="accuracy", run=study.runs[0].pk, measure="label_accuracy", denominator="answered"
    )
    assert (everything["value"], everything["n"]) == (0.0, 24)
    assert (answered["value"], answered["undefined"], answered["n"]) == (None, "no_trials", 0)


def test_a_run_that_was_asked_none_of_the_items_has_a_row_without_a_number():
    study = make_study()
    others = make_item_set(study.project, [make_item(study.project), make_item(study.project)])
    report = study.made_report(item_set=others)
    assert (report.state, report.error) == ("done", "")
    row = figure_of(report, section="accuracy", run=study.runs[0].pk, measure="label_accuracy", denominator="all")
    assert row["value"] is None
    assert study.runs[0].name in content(report, "report.md").decode()


def test_excluded_answers_are_in_no_figure_and_in_the_files_with_the_reason():
    study = make_study()
    Exclusion.objects.create(
        project=study.project, person=study.people[0], reason="a bot", rule="speed", decided_by=study.admin
    )
    report = study.made_report()
    theirs = [row for row in rows_of(report, "answers.csv") if row["source"] == study.people[0].pseudonym]
    assert {row["standing"] for row in theirs} == {"excluded"}
    assert {row["score.label_accuracy"] for row in theirs} == {""}
    assert (
        figure_of(report, section="accuracy", row="people_mean", measure="label_accuracy", denominator="all")[
            "n_people"
        ]
        == 2
    )
    assert [(one["scope"], one["reason"]) for one in report.manifest["exclusions"]] == [("person", "a bot")]
    assert report.manifest["people"]["outcomes"]["excluded"] == 24


def test_files_hold_one_row_per_answer_and_one_per_figure():
    study = make_study(repeats=2)
    report = study.made_report()
    answers = rows_of(report, "answers.csv")
    # 24 items for 3 people; 24 items, twice each, for 2 runs.
    assert sum(row["who"] == "person" for row in answers) == 24 * 3
    assert sum(row["who"] == "model" for row in answers) == 24 * 2 * 2
    assert [row["item"] for row in answers] == sorted(row["item"] for row in answers)
    assert len(rows_of(report, "figures.csv")) == len(report.figures)
    assert list(rows_of(report, "figures.csv")[0]) == list(FIGURE_COLUMNS)
    assert len(rows_of(report, "votes.csv")) == 24


def test_the_label_matrix_is_the_one_that_the_coefficients_used():
    study = make_study()
    report = study.made_report()
    matrix = rows_of(report, "matrix.csv")
    people = [person.pseudonym for person in study.people]
    paired = [[row[name] for name in people if row[name]] for row in matrix]
    paired = [votes for votes in paired if len(votes) >= 2]
    shares = []
    for votes in paired:
        agreeing = sum(one == other for i, one in enumerate(votes) for other in votes[i + 1 :])
        shares.append(agreeing / (len(votes) * (len(votes) - 1) / 2))
    figure = figure_of(report, section="agreement", measure="percent_agreement")
    assert (figure["value"], figure["n"]) == (pytest.approx(sum(shares) / len(shares)), len(paired))


def test_the_score_matrix_tells_no_answer_from_not_asked():
    study = make_study()
    run = study.runs[0]
    Prediction.objects.filter(run=run, position=0).update(state="refused", answer=None)
    Prediction.objects.filter(run=run, position=1).update(state="pending", answer=None)
    Prediction.objects.filter(run=run, position=2).update(
        state="answered", answer={"label": study.items[2].golds.get().answers[0]}
    )
    rows = rows_of(study.made_report(), "scores.csv")
    assert [row["Model A [1]"] for row in rows[:3]] == ["-", "", "1.0"]


def test_a_tie_is_told_with_its_labels_and_has_no_answer():
    study = make_study(n_people=2)
    stage_item = study.stage.stage_items.get(rank=0)
    Annotation.objects.filter(assignment__stage_item=stage_item).delete()
    type(stage_item).objects.filter(pk=stage_item.pk).update(done=0, active=0)
    stage_item.assignments.all().delete()
    stage_item.refresh_from_db()
    for label in ("yes", "no"):
        make_annotation(stage_item, make_annotator(), {"label": label})
    first = rows_of(study.made_report(), "votes.csv")[0]
    assert (first["status"], first["answer_key"], first["n_votes"]) == ("tie", "", "2")
    assert json.loads(first["tied"]) == ["no", "yes"]


def test_what_a_spreadsheet_would_run_is_escaped_there_and_exact_elsewhere():
    study = make_study(form="text")
    annotation = Annotation.objects.order_by("pk").first()
    Annotation.objects.filter(pk=annotation.pk).update(answer={"answer": "=1+1", "why": "-"})
    report = study.made_report()
    assert "=1+1" in {row["answer"] for row in rows_of(report, "answers.csv")}
    escaped = {row["answer"] for row in rows_of(report, "answers.spreadsheet.csv")}
    assert "'=1+1" in escaped
    assert "=1+1" not in escaped


def test_the_manifest_says_what_went_in():
    study = make_study()
    manifest = study.made_report().manifest
    assert manifest["item_set"]["n_items"] == 24
    assert manifest["item_set"]["n_roots"] == 6
    assert len(manifest["item_set"]["external_ids_sha256"]) == 64
    assert manifest["resampling"] == {
        "method": "percentile bootstrap over roots",
        "percentiles": "expanded for few roots (Hesterberg 2015)",
        "n_resamples": 200,
        "seed": 7,
        "level": 0.95,
    }
    assert manifest["scorers"] == [["label_accuracy", 1]]
    assert [run["name"] for run in manifest["runs"]] == ["Model A", "Model B"]
    assert manifest["primary"] == {"scorer": "label_accuracy", "run": study.runs[1].pk, "every_run": False}
    assert manifest["shown"]["is_same"] is True
    assert manifest["is_sample"] is False


def test_a_model_that_saw_something_else_is_no_match_for_a_human_baseline():
    study = make_study()
    richer = StageVersion.objects.create(
        stage=study.stage,
        number=2,
        fields=study.stage.versions.get().fields,
        shown_keys=["question", "table"],
        is_current=False,
    )
    Run.objects.filter(pk=study.runs[0].pk).update(stage_version=richer)
    shown = study.made_report().manifest["shown"]
    assert shown["is_same"] is False
    assert shown["differences"] == {"Model A": {"only_people": [], "only_model": ["table"]}}


def test_an_open_stage_or_an_unfinished_run_makes_a_report_provisional():
    study = make_study()
    type(study.stage).objects.filter(pk=study.stage.pk).update(state="closed")
    study.stage.refresh_from_db()
    assert study.made_report().manifest["provisional"] == []
    Run.objects.filter(pk=study.runs[0].pk).update(state="paused")
    assert study.made_report().manifest["provisional"] == ["not finished: Model A"]


def test_answers_of_sample_people_mark_the_report():
    study = make_study()
    type(study.people[0]).objects.filter(pk=study.people[0].pk).update(is_sample=True)
    report = study.made_report()
    assert report.manifest["is_sample"] is True
    assert report.manifest["people"]["n_sample_people"] == 1
    assert b"Sample data, no study" in content(report, "report.md")


def test_the_chart_is_drawn_as_svg_and_png_and_asks_nothing_of_the_network():
    report = make_study(n_items=48).made_report()
    for name in ("chart.svg", "chart-dark.svg"):
        drawing = ElementTree.fromstring(content(report, name))
        assert drawing.tag == "{http://www.w3.org/2000/svg}svg"
        texts = [node.text for node in drawing.iter("{http://www.w3.org/2000/svg}text")]
        assert {"All items", "domain", "Model B"} <= set(texts)
        assert b"href=" not in content(report, name)
    assert content(report, "chart.png").startswith(b"\x89PNG\r\n\x1a\n")


def test_the_json_file_holds_figures_votes_and_circumstances():
    report = make_study().made_report()
    document = json.loads(content(report, "report.json"))
    assert document["figures"] == report.figures
    assert document["manifest"] == report.manifest
    assert len(document["votes"]) == 24


def test_the_markdown_file_shows_undefined_with_its_reason_and_cannot_be_broken_by_a_name():
    study = make_study(n_people=1, n_runs=1)
    Run.objects.filter(pk=study.runs[0].pk).update(name="A | <b>B</b>")
    text = content(study.made_report(), "report.md").decode()
    assert "| Krippendorff’s alpha, nominal | undefined | no item has two answers | 0 |" in text
    assert "A \\| \\<b\\>B\\</b\\>" in text


def test_people_alone_make_a_report_without_models():
    report = make_study(n_runs=0).made_report()
    assert report.state == "done"
    assert "model" not in {figure["who"] for figure in report.figures}
    assert not [figure for figure in report.figures if figure["section"] == "difference"]


def test_a_report_without_any_answer_says_undefined_everywhere():
    study = make_study(n_people=1, n_runs=0)
    unanswered = make_stage(study.project, title="Later")
    report = study.made_report(stage=unanswered)
    assert report.state == "done"
    values = [figure for figure in report.figures if figure["section"] in ("accuracy", "agreement")]
    assert values
    assert {(figure["value"], bool(figure["undefined"])) for figure in values} == {(None, True)}
    assert "nobody has answered 24 of 24 items" in report.manifest["provisional"]
    assert not report.files.filter(name="chart.svg").exists()


def test_an_empty_item_set_fails_with_the_reason():
    study = make_study(n_items=4)
    report = study.made_report(item_set=make_item_set(study.project, []))
    assert (report.state, report.error) == ("failed", "The item set is empty.")
    assert report.figures == []


def test_rows_of_another_project_are_refused():
    study, other = make_study(n_items=4), make_study(n_items=4)
    for wrong in ({"stage": other.stage}, {"item_set": other.item_set}, {"runs": other.runs, "primary_run": None}):
        with pytest.raises(reporting.ReportNotPossible):
            study.report(**wrong)
    assert Report.objects.count() == 0


@pytest.mark.parametrize("wrong", [{"field": "why"}, {"primary_scorer": "token_f1"}, {"runs": []}])
def test_a_comparison_that_does_not_fit_is_refused(wrong):
    study = make_study(n_items=4)
    with pytest.raises(reporting.ReportNotPossible):
        study.report(**wrong)


def test_ringing_twice_makes_one_report():
    study = make_study(n_items=8)
    report = study.made_report()
    n_files = StoredFile.objects.count()
    reporting.make_report(report_id=report.pk)
    report.refresh_from_db()
    assert (report.attempts, StoredFile.objects.count()) == (1, n_files)


def test_a_report_cancelled_while_it_is_made_keeps_nothing():
    study = make_study(n_items=8)
    report = study.report()
    held = claim_work(model=Report, pk=report.pk)
    made = reporting._make(held)
    reporting.cancel_report(report=report, by=study.admin)
    reporting._keep(held, made)
    report.refresh_from_db()
    assert (report.state, report.figures, StoredFile.objects.count()) == ("cancelled", [], 0)


def test_a_worker_that_dies_three_times_fails_the_report_and_it_can_be_made_again():
    study = make_study(n_items=8)
    report = study.report()
    for _ in range(3):
        Report.objects.filter(pk=report.pk).update(state="running", attempts=3, due_at=timezone.now() - timedelta(1))
    reporting.make_report(report_id=report.pk)
    report.refresh_from_db()
    assert report.state == "failed"
    assert report.error.startswith("Worker lost")
    reporting.remake_report(report=report, by=study.admin)
    reporting.make_report(report_id=report.pk)
    report.refresh_from_db()
    assert report.state == "done"


def test_reports_share_scores_and_never_write_them_twice():
    study = make_study(n_items=8)
    study.made_report()
    n_scores = Score.objects.count()
    assert n_scores > 0
    study.made_report()
    assert Score.objects.count() == n_scores


def test_whoever_made_the_gold_label_of_an_item_is_not_scored_on_it():
    study = make_study()
    maker = study.people[0]
    Gold.objects.filter(item=study.items[0]).update(made_by=maker)
    report = study.made_report()
    row = next(
        row
        for row in rows_of(report, "answers.csv")
        if row["source"] == maker.pseudonym and row["item"] == study.items[0].external_id
    )
    assert (row["standing"], row["score.label_accuracy"]) == ("made_gold", "")
    assert report.manifest["people"]["outcomes"]["made_gold"] == 1


def test_people_are_not_compared_with_gold_that_their_own_votes_became():
    study = make_study()
    resolving.resolve_due(limit=100)
    before = study.made_report()
    place = study.stage.stage_items.get(revision__item=study.items[0])
    Gold.objects.filter(item=study.items[0]).update(answers=["another"])
    row = Resolution.objects.filter(stage_item=place, status__in=["unanimous", "majority"]).get()
    accept_proposal(resolution=row, seen=answer_hash(row), by=study.admin)
    report = study.made_report()
    assert report.manifest["gold"]["n_of_these_votes"] == 1
    assert (report.manifest["gold"]["n_items"], before.manifest["gold"]["n_of_these_votes"]) == (24, 0)
    # Neither a person, nor their vote, is held against it; models are, and people still agree or not.
    asked = {"section": "accuracy", "measure": "label_accuracy", "denominator": "all"}
    for who in ("people_mean", "people_vote"):
        assert figure_of(report, row=who, **asked)["n_items"] == figure_of(before, row=who, **asked)["n_items"] - 1
    assert figure_of(report, run=study.runs[0].pk, **asked)["n_items"] == 24
    agreed = {"section": "agreement", "measure": "percent_agreement"}
    assert figure_of(report, **agreed)["value"] == figure_of(before, **agreed)["value"]
    told = [one for one in rows_of(report, "answers.csv") if one["item"] == study.items[0].external_id]
    people, models = ([one for one in told if one["who"] == who] for who in ("person", "model"))
    assert {(one["gold"], one["score.label_accuracy"], one["gold_of_these_votes"]) for one in people} == {
        ("", "", "yes")
    }
    assert {one["gold_of_these_votes"] for one in models} == {"no"}
    assert all(one["gold"] for one in models)
    assert "1 item whose gold came from these votes" in content(report, "report.md").decode()


def test_gold_that_the_votes_of_another_stage_became_counts():
    study = make_study()
    other = make_stage(study.project, title="Elsewhere")
    Gold.objects.filter(item=study.items[0]).update(votes_of=other)
    assert study.made_report().manifest["gold"]["n_of_these_votes"] == 0


def test_items_without_gold_count_for_agreement_and_not_for_accuracy():
    study = make_study()
    bare = make_item(study.project, external_id="bare")
    item_set = make_item_set(study.project, [*study.items, bare])
    report = study.made_report(item_set=item_set)
    assert report.manifest["gold"]["n_items"] == 24
    assert report.manifest["item_set"]["n_items"] == 25
    figure = figure_of(report, section="accuracy", run=study.runs[0].pk, measure="label_accuracy", denominator="all")
    assert figure["n_items"] == 24


def test_an_answer_that_a_scorer_cannot_score_is_counted_and_stops_no_report():
    study = make_study(form="text")
    # ROUGE knows no word of it: undefined, where rouge-score says 0 to the gold answer itself.
    Gold.objects.filter(item=study.items[0]).update(answers=["Москва"])
    report = study.made_report(primary_scorer="rouge_l", further_scorers=["exact_match"])
    assert (report.state, report.error) == ("done", "")
    unscored = Score.objects.filter(scorer="rouge_l", gold__item=study.items[0])
    assert unscored.exists()
    assert {(score.value, score.note.partition(":")[0]) for score in unscored} == {
        (None, "the gold label has no word that ROUGE counts")
    }
    by = {
        name: figure_of(report, section="accuracy", row="people_mean", measure=name, denominator="answered")
        for name in ("rouge_l", "exact_match")
    }
    n_answers = by["rouge_l"]["n"] + unscored.filter(annotation__isnull=False).count()
    assert n_answers == by["exact_match"]["n"]
    vote = figure_of(report, section="accuracy", row="people_vote", measure="rouge_l", denominator="all")
    assert "cannot be scored" in vote["note"]
    # The page's table and the Markdown file say how many, of people and of models.
    n_unscored = unscored.count()
    main = main_table(report.figures, scorers=["rouge_l", "exact_match", "token_f1"], primary_scorer="rouge_l")
    assert main["unscorable"] == [("ROUGE-L", n_unscored)]
    assert (
        f"ROUGE-L cannot score {n_unscored} answers, which count as not right." in content(report, "report.md").decode()
    )


def test_the_command_makes_a_report_and_writes_its_files(tmp_path, capsys):
    study = make_study(n_items=8)
    call_command("report", study.project.slug, tmp_path / "out", primary_run="Model B", resamples=200)
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"answers.csv", "figures.csv", "report.json", "report.md", "chart.svg", "chart.png", "matrix.csv"} <= names
    report = Report.objects.get()
    assert (report.primary_run, report.runs.count()) == (study.runs[1], 2)
    assert (tmp_path / "out" / "report.md").read_bytes() == content(report, "report.md")
    assert f"{len(names)} files" in capsys.readouterr().out


def test_the_command_names_what_is_not_there(tmp_path):
    study = make_study(n_items=4)
    with pytest.raises(CommandError, match="no run Model C"):
        call_command("report", study.project.slug, tmp_path, run=["Model C"])
    with pytest.raises(CommandError, match="no project nowhere"):
        call_command("report", "nowhere", tmp_path)


def test_an_event_says_who_asked_for_which_report():
    study = make_study(n_items=4)
    report = study.report()
    event = study.project.event_set.get(verb="report.created")
    assert (event.subject_id, event.actor) == (report.pk, study.admin.pseudonym)
    assert event.detail["primary_run"] == study.runs[1].pk


def test_a_chosen_score_stands_beside_the_usual_ones_with_its_parameters():
    study = make_study(n_items=8, form="text", n_runs=1)
    report = study.made_report(further_scorers=["rouge_l", "temptabqa_f1"])
    assert report.state == Report.State.DONE, report.error
    assert [name for name, _ in report.manifest["scorers"]] == ["exact_match", "token_f1", "rouge_l", "temptabqa_f1"]
    assert report.manifest["scorer_parameters"]["rouge_l"]["stemmer"] is False
    measured = {figure["measure"] for figure in report.figures if figure["section"] == "accuracy"}
    assert {"rouge_l", "temptabqa_f1"} <= measured
    assert 0 < report.n_scored == report.n_to_score


@pytest.mark.parametrize("scorer", ["cell_f1", "label_accuracy", "no_such_scorer"])
def test_a_score_that_does_not_fit_the_field_is_refused(scorer):
    study = make_study(n_items=4, form="text", n_runs=1)
    for choice in ({"primary_scorer": scorer}, {"further_scorers": [scorer]}):
        with pytest.raises(reporting.ReportNotPossible, match="does not fit the field answer"):
            study.report(**choice)
    assert not Report.objects.exists()


def test_every_run_can_be_one_family_and_the_rest_is_exploratory():
    study = make_study()
    report = study.made_report(every_run_is_primary=True)
    tested = [figure for figure in report.figures if figure["p"] is not None]
    named = [figure for figure in tested if figure["is_primary"]]
    assert [figure["run"] for figure in named] == [run.pk for run in study.runs]
    assert {(figure["adjustment"], figure["n_family"]) for figure in named} == {("holm", 2)}
    others = [figure for figure in tested if not figure["is_primary"]]
    # Two votes against votes and one pair of runs.
    assert {(figure["adjustment"], figure["n_family"]) for figure in others} == {("benjamini_hochberg", 3)}
    assert all(figure["is_exploratory"] and figure["p_adjusted"] >= figure["p"] for figure in others)


def test_tables_of_people_and_models_are_scored_cell_by_cell():
    fields = [{"name": "rows", "type": "table", "caption": "Which cities?", "columns": ["city", "people"]}]
    stage = make_stage(make_project(), overlap=1, form=fields)
    gold = {"columns": ["city", "people"], "rows": [["Oslo", "700000"], ["Bergen", "290000"]]}
    item = make_item(stage.project, gold={"rows": [gold]})
    item_set = make_item_set(stage.project, [item])
    run = make_run(stage, item_set)
    make_annotation(make_stage_item(stage, item), make_annotator(), {"rows": gold})
    make_prediction(run, item, {"rows": gold | {"rows": [["Oslo", "0.7M"]]}})
    report = reporting.create_report(
        project=stage.project,
        by=None,
        title="Cities",
        stage=stage,
        item_set=item_set,
        runs=[run],
        field="rows",
        primary_scorer="tuple_fraction",
        primary_run=run,
        further_scorers=["galois_cell_f1"],
        n_resamples=200,
    )
    reporting.make_report(report_id=report.pk)
    report.refresh_from_db()
    assert report.state == Report.State.DONE, report.error
    accuracy = {
        (figure["row"], figure["measure"]): figure["value"]
        for figure in report.figures
        if figure["section"] == "accuracy" and figure["denominator"] == "all"
    }
    # The person has both rows; the model one of two: cells 2 of 4, so P 1, R 1/2, F1 2/3.
    assert accuracy["people_mean", "tuple_fraction"] == accuracy["people_mean", "cell_f1"] == 1
    assert accuracy[f"run_{run.pk}", "tuple_fraction"] == 0.5
    assert accuracy[f"run_{run.pk}", "cell_f1"] == pytest.approx(2 / 3)
    assert accuracy[f"run_{run.pk}", "tuple_similarity"] == 0.5


def test_a_later_round_counts_in_the_vote_after_escalation_and_nowhere_else():
    study = make_study(n_items=0, n_people=4, n_runs=0)
    item = make_item(study.project, gold={"label": ["yes"]})
    stage_item = make_stage_item(study.stage, item)
    # A tie of two, and two more people who end it.
    for number, (person, label) in enumerate(zip(study.people, ["yes", "no", "yes", "yes"], strict=True)):
        given = make_annotation(stage_item, person, {"label": label})
        type(given.assignment).objects.filter(pk=given.assignment_id).update(round=1 + number // 2)
    report = study.made_report(item_set=make_item_set(study.project, [item]), primary_run=None)
    assert report.state == Report.State.DONE, report.error
    by_all = {"section": "accuracy", "measure": "label_accuracy", "denominator": "all"}
    assert figure_of(report, row="people_vote", **by_all)["value"] == 0
    after = figure_of(report, row="people_vote_escalated", **by_all)
    assert (after["value"], after["n"]) == (1, 4)
    # Mean person and agreement stay with the two of round one.
    assert figure_of(report, row="people_mean", **by_all)["n"] == 2
    assert figure_of(report, section="agreement", measure="percent_agreement")["value"] == 0
    assert "after escalation" in content(report, "report.md").decode()


def test_the_votes_file_tells_agreement_and_the_most_probable_label():
    report = make_study().made_report()
    rows = rows_of(report, "votes.csv")
    unanimous = [row for row in rows if row["status"] == "unanimous"]
    assert unanimous
    assert {(float(row["agreement"]), row["dawid_skene_key"] == row["answer_key"]) for row in unanimous} == {
        (1.0, True)
    }
    assert all(0 <= float(row["dawid_skene_probability"]) <= 1 for row in rows)
    assert report.matrices["dawid_skene"]["n_starts"] == 10
