"""Judge stages from end to end on their pages, through the API and from the command line."""

from __future__ import annotations

import io

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotate.models import Stage
from annotate.services import excluding, projects
from evaluation.models import JudgeSample, Run
from evaluation.services.judging import draw_judge_sample
from tests.api_client import ApiClient
from tests.evaluation.judged import judge, make_bench
from tests.factories import make_member

pytestmark = pytest.mark.django_db


@pytest.fixture
def bench():
    bench = make_bench(3)
    bench.runs = [bench.run("Model A", ["x", "y", None]), bench.run("Model B", ["x", "z", "w"])]
    bench.address = f"/p/{bench.project.slug}/stages/{bench.judges.slug}/"
    return bench


def asked(bench, **others):
    return {
        "runs": [run.pk for run in bench.runs],
        "n": 3,
        "rule": "same_items",
        "stratum": "",
        "shows": "answer",
        "unanswered": "left_out",
        "seed": "",
    } | others


@pytest.mark.parametrize(("form", "first"), [("verdict", "right"), ("better", "first")])
def test_the_page_of_a_new_stage_offers_both_ways_to_judge(client, bench, form, first):
    client.force_login(bench.admin)
    page = client.get(f"/p/{bench.project.slug}/stages/new/", {"kind": "judge", "form": form})
    (fields,) = [one.initial for one in page.context["field_forms"].forms if one.initial.get("name") == "judgement"]
    assert first in str(fields)
    assert page.text.count('aria-current="true"') >= 2


def test_the_stage_page_leads_to_the_draw_and_offers_no_items(client, bench):
    client.force_login(bench.admin)
    page = client.get(bench.address)
    assert f'hx-get="{bench.address}judge/draw/"' in page.text
    assert "Add these items" not in page.text


def test_the_form_says_what_a_draw_comes_to_and_draws_it(client, bench):
    client.force_login(bench.admin)
    page = client.get(f"{bench.address}judge/draw/")
    assert "Model A" in page.text
    looked = client.post(f"{bench.address}judge/draw/", asked(bench, look="1"), headers={"HX-Request": "true"})
    assert looked.status_code == 200
    assert "4 candidates to judge" in looked.text
    assert "1 more answer is equal to one of these" in looked.text
    assert "unparsed 1" in looked.text
    assert "<html" not in looked.text
    assert not JudgeSample.objects.exists()
    assert client.post(f"{bench.address}judge/draw/", asked(bench)).url == bench.address
    sample = JudgeSample.objects.get()
    assert sample.seed == bench.judges.seed
    after = client.get(f"{bench.address}judge/draw/")
    assert "4 candidates stand before the judges" in after.text
    assert "seed 11" in after.text
    preview = client.get(bench.address)
    assert "judged-value" in preview.text, "the preview shows the first candidate as judges see it"


def test_what_cannot_be_drawn_is_said_in_the_form(client, bench):
    client.force_login(bench.admin)
    nothing = client.post(f"{bench.address}judge/draw/", asked(bench, runs=[]))
    assert nothing.status_code == 422
    Run.objects.filter(pk=bench.runs[1].pk).update(state="running")
    unfinished = client.post(f"{bench.address}judge/draw/", asked(bench))
    assert unfinished.status_code == 422
    draw_judge_sample(stage=bench.judges, by=None, draw=bench.draw(bench.runs[0]))
    again = client.post(f"{bench.address}judge/draw/", asked(bench, runs=[bench.runs[0].pk], seed=5))
    assert again.status_code == 409


def test_admins_who_judge_are_told_that_they_are_not_blind(client, bench):
    client.force_login(bench.admin)
    assert "not blind" not in client.get(f"{bench.address}judge/draw/").text
    Stage.objects.filter(pk=bench.judges.pk).update(roles=["annotator", "admin"])
    assert "not blind" in client.get(f"{bench.address}judge/draw/").text


def test_the_results_say_so_while_nothing_was_drawn_or_judged(client, bench):
    client.force_login(make_member(bench.project, "viewer"))
    assert "Nothing was drawn for this stage yet" in client.get(f"{bench.address}judge/").text
    assert client.get(f"{bench.address}judge/judged.csv").status_code == 409
    draw_judge_sample(stage=bench.judges, by=None, draw=bench.draw(*bench.runs))
    page = client.get(f"{bench.address}judge/")
    assert "4 judgements are still to be given" in page.text
    assert "nothing to average" in page.text
    assert "None of these answers has been scored yet" in page.text


def test_the_results_name_runs_shares_and_what_is_left_out(client, bench):
    draw_judge_sample(stage=bench.judges, by=None, draw=bench.draw(*bench.runs))
    judge(bench.judges, bench.runs[0], bench.items[0], "right")
    judge(bench.judges, bench.runs[1], bench.items[1], "wrong")
    client.force_login(make_member(bench.project, "viewer"))
    page = client.get(f"{bench.address}judge/").text
    assert "Model A" in page
    assert "unparsed 1" in page
    assert "50.0" in page
    assert client.get(f"{bench.address}judge/judged.json").json()["n_drawn"] == 6
    csv_file = client.get(f"{bench.address}judge/judged.csv")
    assert csv_file["Content-Disposition"].endswith('-judged.csv"')


def test_the_pages_ask_the_same_number_of_questions_whatever_was_drawn(client):
    counts = []
    for n, n_runs in ((3, 2), (9, 4)):
        bench = make_bench(n)
        runs = [bench.run(f"Model {k}", [f"{k}-{item}" for item in range(n)]) for k in range(n_runs)]
        draw_judge_sample(stage=bench.judges, by=None, draw=bench.draw(*runs))
        for item in bench.items:
            judge(bench.judges, runs[0], item, "right")
        client.force_login(bench.admin)
        for part in ("judge/", "judge/draw/"):
            with CaptureQueriesContext(connection) as queries:
                assert client.get(f"/p/{bench.project.slug}/stages/{bench.judges.slug}/{part}").status_code == 200
            counts.append(len(queries))
    assert counts[:2] == counts[2:]


def test_programs_look_draw_and_read(bench):
    api = ApiClient(bench.admin)
    address = f"projects/{bench.project.slug}/stages/{bench.judges.slug}/judge"
    sent = {"runs": [run.pk for run in bench.runs], "n": 3}
    looked = api.post(f"{address}/draw/", **sent, only_look=True)
    assert (looked.status_code, looked.json()["is_drawn"], looked.json()["n_places"]) == (200, False, 4)
    assert not JudgeSample.objects.exists()
    drawn = api.post(f"{address}/draw/", **sent)
    assert drawn.status_code == 201
    assert drawn.json() == looked.json() | {"is_drawn": True}
    # What was drawn is told as it was drawn, also when a draw of today would come to something else.
    excluding.exclude_item(item=bench.items[0], by=bench.admin, reason="broken", rule="bad item")
    again = api.post(f"{address}/draw/", **sent)
    assert (again.status_code, again.json()) == (200, drawn.json())
    assert JudgeSample.objects.count() == 1
    excluding.lift_exclusion(exclusion=bench.project.exclusions.get(), by=bench.admin)
    assert api.post(f"{address}/draw/", **sent, seed=4).status_code == 409
    assert api.post(f"{address}/draw/", **sent | {"runs": [10**9]}).status_code == 422
    judge(bench.judges, bench.runs[0], bench.items[0], "right")
    told = api.get(f"{address}/").json()
    assert [one["counts"]["right"] for one in told["runs"]] == [1, 1]


def test_the_page_and_programs_take_a_draw_back_with_a_reason(client, bench):
    client.force_login(bench.admin)
    base = f"/p/{bench.project.slug}/stages/{bench.judges.slug}/"
    api = ApiClient(bench.admin, "run")
    discard = f"projects/{bench.project.slug}/stages/{bench.judges.slug}/judge/discard/"
    assert api.post(discard, reason="None.").status_code == 409
    for take_back in (
        lambda: client.post(f"{base}judge/discard/", {"reason": "Too many."}),
        lambda: api.post(discard, reason="Too many."),
    ):
        draw_judge_sample(stage=bench.judges, by=None, draw=bench.draw(*bench.runs))
        assert "Discard this draw" in client.get(f"{base}judge/draw/").text
        assert client.post(f"{base}judge/discard/").status_code == 302
        assert JudgeSample.objects.exists()
        assert take_back().status_code in (200, 302)
        assert not JudgeSample.objects.exists()
    draw_judge_sample(stage=bench.judges, by=None, draw=bench.draw(*bench.runs))
    projects.open_stage(stage=Stage.objects.get(pk=bench.judges.pk), by=bench.admin)
    judge(bench.judges, bench.runs[0], bench.items[0], "right")
    assert "End it before it is complete" in client.get(f"{base}judge/draw/").text
    client.post(f"{base}state/", {"step": "close", "reason": "Enough is known."})
    told = client.get(f"{base}judge/").text
    assert "closed for this reason: <bdi>Enough is known.</bdi>" in told
    assert "were not given before the stage was closed: what lacks one is left out." in told
    assert "still to be given" not in told


def test_the_command_looks_and_draws(bench):
    output = io.StringIO()
    names = [bench.project.slug, bench.judges.slug, "Model A", "Model B"]
    call_command("draw_judge_sample", *names, "--n", "3", "--look", stdout=output)
    assert not JudgeSample.objects.exists()
    call_command("draw_judge_sample", *names, "--n", "3", "--by", bench.admin.username, stdout=output)
    assert JudgeSample.objects.get().n_per_run == 3
    assert "To judge: 4; 1 more are equal to one of these." in output.getvalue()
    assert "Nothing to judge, unparsed: 1." in output.getvalue()
    for wrong, words in (
        ([bench.project.slug, "nowhere", "Model A"], "no stage nowhere"),
        ([bench.project.slug, bench.judges.slug, "Model Z"], "no run Model Z"),
        ([*names, "--seed", "77"], "drawn already"),
    ):
        with pytest.raises(CommandError, match=words):
            call_command("draw_judge_sample", *wrong, stdout=output)
