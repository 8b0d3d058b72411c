"""Presets of published protocols: what a file may say, setting one up, and what it offers to runs and reports."""

from __future__ import annotations

import dataclasses
import io
import json
import shutil
import zipfile
from pathlib import Path
from typing import Any, get_type_hints

import pytest
import yaml
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotate.exceptions import ProtocolNotPossible, UnknownProtocol
from annotate.models import Event, Feed, GuidelineVersion, Project, Stage, StageVersion
from annotate.project_forms import FieldFormSet, NewStageForm, StageVersionForm, field_initial
from annotate.protocols import HumanPart, Note, PresetInvalid, StagePlan, human_part
from annotate.protocols.human import FOLDER as HUMAN
from annotate.services.archiving.writing import write_archive
from annotate.services.exporting.formats import TICK
from annotate.services.protocols import planned_draw, protocol_title
from annotate.wording import Words
from config import messages
from evaluation.protocols import FOLDER as MODELS
from evaluation.protocols import ModelPart, ReportSpec, RunSetting
from evaluation.report_forms import ReportForm
from evaluation.run_forms import STRATEGY_WORDS, RunForm
from evaluation.services import presets
from evaluation.services.reporting import deciding_field, scorers_for
from tests.api_client import ApiClient
from tests.factories import (
    YES_NO,
    make_endpoint,
    make_item,
    make_item_set,
    make_member,
    make_project,
    make_run,
    make_stage,
)

NAMES = ["pinocchio", "relationalfactqa", "structext-eval", "temptabqa"]


# What a file may say


@pytest.fixture
def files(tmp_path):
    """files(part, change): the presets read from a copy in which one file was changed."""
    folders = {"human": tmp_path / "human", "models": tmp_path / "models"}
    for name, source in (("human", HUMAN), ("models", MODELS)):
        folders[name].mkdir()
        for path in source.glob("pinocchio.yaml"):
            shutil.copy(path, folders[name])

    def read(part: str, change: Any) -> tuple[presets.Preset, ...]:
        path: Path = folders[part] / "pinocchio.yaml"
        data = yaml.safe_load(path.read_text())
        change(data)
        path.write_text(yaml.safe_dump(data, allow_unicode=True, sort_keys=False))
        return presets.read_presets(folders["human"], folders["models"])

    read.folders = folders  # type: ignore[attr-defined]
    return read


def setting(*path: str | int, to: Any) -> Any:
    def change(data: Any) -> None:
        for step in path[:-1]:
            data = data[step]
        data[path[-1]] = to

    return change


def test_what_comes_with_the_platform_can_all_be_meant():
    assert [preset.name for preset in presets.all_presets()] == NAMES
    for preset in presets.all_presets():
        assert preset.notes("paper")
        assert preset.notes("ours")
        assert preset.human.brings
        assert preset.models.settings
        assert preset.models.reports


FAULTS = {
    "an unknown key": ("human", setting("colour", to="red"), r"pinocchio\.yaml: there is no key 'colour'"),
    "an unknown key deep inside": (
        ("human", setting("stages", 1, "overlapp", to=3), r"pinocchio\.yaml: stages\[1\]: there is no key 'overlapp'")
    ),
    "a text for a number": (
        ("human", setting("stages", 0, "overlap", to="three"), r"stages\[0\]\.overlap: a whole number is expected, not")
    ),
    "true for a number": ("human", setting("stages", 0, "overlap", to=True), r"overlap: a whole number is expected"),
    "an unquoted no": (
        ("human", setting("stages", 0, "title", to=False), r"stages\[0\]\.title: a text is expected, not False")
    ),
    "an empty text": ("human", setting("title", to="  "), r"title: this is empty"),
    "an unknown kind": (
        ("human", setting("stages", 0, "kind", to="guess"), r"stages\[0\]\.kind: one of rewrite, .* not 'guess'")
    ),
    "an unknown role": ("human", setting("stages", 0, "roles", to=["admin"]), r"stages\[0\]\.roles\[0\]: one of"),
    "a list for one": ("human", setting("paper", to=["a"]), r"paper: keys with values are expected"),
    "one for a list": ("human", setting("brings", to="data"), r"brings: a list is expected"),
    "a missing key": ("human", lambda data: data["stages"][2].pop("title"), r"stages\[2\]: title is missing"),
    "another name than its file": ("human", setting("name", to="geppetto"), r"name: the file is called pinocchio"),
    "a type of field that there is not": (
        ("human", setting("stages", 0, "fields", 0, "type", to="essay"), r"stages\[0\]\.fields: .*'essay'")
    ),
    "a form in which nothing decides": (
        ("human", setting("stages", 1, "fields", 0, "decides", to=False), r"stages\[1\]\.fields: at least one")
    ),
    "an option that the kind has not": (
        ("human", setting("stages", 0, "options", "is_shuffled", to=True), r"stages\[0\]\.options\.is_shuffled: ")
    ),
    "options of a kind without any": (
        ("human", setting("stages", 1, "options", to={"claim_key": "x"}), r"stages\[1\]\.options: .* has none")
    ),
    "a draw where nothing is drawn": (
        ("human", setting("stages", 0, "draw", to={"k": 3}), r"stages\[0\]\.draw: the items of this stage")
    ),
    "a draw of what no stage writes": (
        ("human", setting("stages", 1, "draw", "written_in", to="nowhere"), r"written_in: there is no stage nowhere")
    ),
    "two stages of one address": (
        ("human", setting("stages", 1, "slug", to="rewrite"), r"stages\[0\]\.slug: rewrite stands there twice")
    ),
    "adjudication in a stage that does not": (
        ("human", setting("stages", 4, "adjudicated_in", to="audit"), r"stages\[4\]\.adjudicated_in: there is no stage")
    ),
    "adjudication of other fields": (
        ("human", setting("stages", 5, "adjudicated_in", to="settle"), r"settle does not ask fine_label")
    ),
    "a feed to nowhere": ("human", setting("feeds", 0, "target", to="moon"), r"feeds\[0\]\.target: there is no stage"),
    "a recipe that takes what is not asked": (
        (
            "human",
            setting("feeds", 0, "recipe", "gold", to=[["label", "answer.colour"]]),
            r"feeds\[0\]\.recipe: .*colour",
        )
    ),
    "versions that differ": ("models", setting("version", to="2"), r"version: 1 of people is not 2 of models"),
    "a run about no stage": ("models", setting("settings", 0, "stage", to="x"), r"settings\[0\]\.stage: there is no"),
    "an unknown strategy": (
        ("models", setting("settings", 0, "strategy", to="telepathy"), r"settings\[0\]\.strategy: .*telepathy; known")
    ),
    "too many repeats": ("models", setting("settings", 0, "repeats", to=99), r"repeats: 99 is not between 1 and 20"),
    "a temperature that no server takes": (
        ("models", setting("settings", 0, "temperature", to=7), r"temperature: 7 is not between 0 and 2")
    ),
    "few-shot without exemplars": (
        ("models", setting("settings", 1, "n_exemplars", to=None), r"n_exemplars: with few_shot exemplars are needed")
    ),
    "zero-shot with exemplars": (
        ("models", setting("settings", 0, "n_exemplars", to=3), r"n_exemplars: with zero_shot exemplars are none")
    ),
    "samples where nobody votes": (
        ("models", setting("settings", 0, "n_steps", to=5), r"n_steps: zero_shot has a number of calls of its own")
    ),
    "a vote of one": ("models", setting("settings", 3, "n_steps", to=1), r"n_steps: 1 is not between 2 and 50"),
    "samples that are all the same": (
        ("models", setting("settings", 3, "temperature", to=0.0), r"temperature: self_consistency needs one above 0")
    ),
    "rounds for what is no table": (
        ("models", setting("settings", 0, "strategy", to="until_empty"), r"strategy: until_empty is not for a choice")
    ),
    "two settings of one name": (
        ("models", setting("settings", 1, "name", to="zero-shot"), r"settings\[1\]\.name: zero-shot stands there twice")
    ),
    "a report on no field": (
        ("models", setting("reports", 0, "field", to="colour"), r"reports\[0\]\.field: answers has no field colour")
    ),
    "an unknown scorer": (
        ("models", setting("reports", 0, "scorer", to="vibes"), r"reports\[0\]\.scorer: there is no scorer vibes")
    ),
    "a scorer of other answers": (
        (
            "models",
            setting("reports", 0, "further_scorers", to=["cell_f1"]),
            r"reports\[0\]\.further_scorers: cell_f1 does not fit answers to label",
        )
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_told_with_its_file_and_its_path(files, name):
    part, change, said = FAULTS[name]
    with pytest.raises(PresetInvalid, match=said) as refused:
        files(part, change)
    assert str(refused.value).startswith("pinocchio.yaml: ")


def test_half_a_preset_is_none(files):
    (files.folders["models"] / "pinocchio.yaml").unlink()
    with pytest.raises(PresetInvalid, match=r"pinocchio\.yaml: the model part is missing"):
        presets.read_presets(files.folders["human"], files.folders["models"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name: a\nname: b\n", "name stands there twice"),
        ("1: a\n", "1 is no text, as a key must be"),
        ("name: [a\n", "this is no YAML"),
        ("name: !!python/object/apply:os.system [ls]\n", "this is no YAML"),
        ("- a\n", "keys with values are expected"),
        ("", "keys with values are expected, not nothing"),
        ("name: \xff\n".encode("latin-1"), "this is no YAML"),
        ("x" * 200_001, "more than 200,000 bytes"),
    ],
)
def test_a_file_that_is_no_record(tmp_path, text, said):
    path = tmp_path / "odd.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(PresetInvalid, match=rf"^odd\.yaml: .*{said}"):
        presets.read_presets(tmp_path, tmp_path)


def test_pages_say_in_their_language_what_the_gathering_of_words_knows():
    said = set()
    for record in (HumanPart, StagePlan, Note, ModelPart, RunSetting, ReportSpec):
        hints = get_type_hints(record)
        said |= {one.name for one in dataclasses.fields(record) if hints[one.name] in (Words, tuple[Words, ...])}
    assert said == messages.SAID_OF_PROTOCOLS


# Setting one up

db = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make_project()


def chosen(name: str) -> presets.Preset:
    return presets.get_preset(name)


@db
@pytest.mark.parametrize("name", NAMES)
def test_every_preset_is_set_up_as_drafts_with_all_that_it_says(project, name):
    admin, preset = make_member(project, "admin"), chosen(name)
    made = presets.set_up(project=project, by=admin, preset=preset)
    project.refresh_from_db()
    assert (project.protocol_name, project.protocol_version) == (name, preset.version)
    assert project.current_date == preset.human.current_date
    assert [stage.slug for stage in project.stages.order_by("position")] == [stage.slug for stage in made]
    for stage, plan in zip(project.stages.order_by("position"), preset.human.stages, strict=True):
        version = stage.versions.get()
        assert (stage.state, stage.kind, stage.title) == ("draft", plan.kind, plan.title)
        assert (stage.overlap, stage.roles, stage.order) == (plan.overlap, list(plan.roles), plan.order)
        assert (stage.is_closed_book, stage.permitted_sources) == (not plan.sources, plan.sources)
        assert (stage.escalate_by, stage.is_cross_group) == (plan.escalate_by, plan.is_cross_group)
        assert (stage.adjudicated_in.slug if stage.adjudicated_in else "") == plan.adjudicated_in
        assert version.specs == plan.specs
        assert version.shown_keys == list(plan.shown_keys)
        guidelines = GuidelineVersion.objects.filter(stage=stage)
        assert [one.markdown for one in guidelines] == ([plan.guidelines] if plan.guidelines else [])
    feeds = Feed.objects.filter(source__project=project)
    assert {(feed.source.slug, feed.target.slug, feed.rule) for feed in feeds} == {
        (feed.source, feed.target, feed.rule) for feed in preset.human.feeds
    }
    event = Event.objects.get(verb="protocol.set_up")
    assert (event.actor, event.detail["protocol"], event.detail["feeds"]) == (admin.pseudonym, name, len(feeds))


@pytest.mark.parametrize("plan", [plan for name in NAMES for plan in human_part(name).stages], ids=lambda p: p.slug)
@db
def test_every_stage_could_have_been_typed_in_the_editor(project, plan):
    run_how = {
        "kind": plan.kind,
        "title": plan.title,
        "slug": plan.slug,
        "overlap": plan.overlap,
        "roles": list(plan.roles),
        "lease_minutes": plan.lease_minutes or 30,
        "order": plan.order,
        "permitted_sources": plan.sources,
        "time_limit_seconds": plan.time_limit_seconds or "",
        "escalate_by": plan.escalate_by,
    }
    form = NewStageForm(run_how | ({} if plan.sources else {"is_closed_book": "on"}), project=project)
    assert form.is_valid(), form.errors
    asked = StageVersionForm({"shown_keys": "\n".join(plan.shown_keys), "instruction": plan.instruction})
    assert asked.is_valid(), asked.errors
    initial = field_initial([spec.to_json() for spec in plan.specs])
    sent = {"fields-TOTAL_FORMS": len(initial), "fields-INITIAL_FORMS": 0}
    for n, field in enumerate(initial):
        for key, value in field.items():
            if value not in (None, False, [], ""):
                sent[f"fields-{n}-{key}"] = (
                    "\n".join(value) if isinstance(value, list) and key != "stored_options" else value
                )
    fields = FieldFormSet(sent, prefix="fields")
    assert fields.is_valid(), (fields.errors, fields.non_form_errors())
    assert [one["name"] for one in fields.fields_json] == [spec.name for spec in plan.specs]


@db
def test_a_second_protocol_and_the_same_again_are_refused_and_nothing_is_made(project):
    presets.set_up(project=project, by=None, preset=chosen("temptabqa"))
    for name in ("temptabqa", "pinocchio"):
        with pytest.raises(ProtocolNotPossible, match="follows the protocol TempTabQA already"):
            presets.set_up(project=project, by=None, preset=chosen(name))
    assert project.stages.count() == 4


@db
@pytest.mark.parametrize("there", [{"slug": "answers"}, {"title": "ANSWER THE QUESTIONS"}])
def test_a_stage_of_the_same_name_is_in_the_way(project, there):
    make_stage(project, **there)
    with pytest.raises(ProtocolNotPossible, match="would make: “Answer the questions”"):
        presets.set_up(project=project, by=None, preset=chosen("pinocchio"))
    assert (project.stages.count(), Event.objects.count()) == (1, 0)


@db
def test_items_of_which_a_feed_could_take_nothing_are_in_the_way_and_nothing_half_done_stays(project):
    make_item(project, [["text", "There is no claim here."]])
    with pytest.raises(ProtocolNotPossible, match=r"“Rewrite claims as questions” to .*no item has content called"):
        presets.set_up(project=project, by=None, preset=chosen("pinocchio"))
    assert not project.stages.exists()
    assert not StageVersion.objects.exists()
    assert not Event.objects.exists()
    project.refresh_from_db()
    assert project.protocol_name == ""
    make_item(project, [["claim", "Now there is."]])
    assert len(presets.set_up(project=project, by=None, preset=chosen("pinocchio"))) == 6


@db
def test_a_project_keeps_the_date_that_it_has(project):
    Project.objects.filter(pk=project.pk).update(current_date="May 2024")
    presets.set_up(project=project, by=None, preset=chosen("temptabqa"))
    project.refresh_from_db()
    assert project.current_date == "May 2024"


@db
def test_a_protocol_that_this_installation_does_not_have_is_called_by_its_stored_name(project):
    project.protocol_name = "from-elsewhere"
    stage = make_stage(project)
    assert protocol_title(project) == "from-elsewhere"
    assert presets.preset_of(project) is None
    assert (planned_draw(stage).k, presets.offered_settings(project)) == (None, [])
    with pytest.raises(UnknownProtocol, match="Known: pinocchio, relationalfactqa"):
        presets.get_preset("from-elsewhere")


# Where it is offered


@pytest.fixture
def admin(project):
    return make_member(project, "admin")


@pytest.fixture
def client(admin):
    client = Client()
    client.force_login(admin)
    return client


def page(client: Client, name: str, *arguments: str, **asked: str) -> str:
    response = client.get(reverse(name, args=arguments), asked)
    assert response.status_code == 200
    return response.content.decode()


@db
def test_an_empty_project_offers_the_protocols_and_one_is_set_up_with_a_button(client, project):
    assert reverse("project-protocols", args=[project.slug]) in page(client, "project", project.slug)
    cards = page(client, "project-protocols", project.slug)
    assert [preset.title in cards for preset in presets.all_presets()] == [True] * 4
    address = reverse("project-protocol", args=[project.slug, "pinocchio"])
    assert address in cards
    whole = page(client, "project-protocol", project.slug, "pinocchio")
    for said in ("Rewrite claims as questions", "10 of each label in each domain", "few-shot, six exemplars", "85.6"):
        assert said in whole
    response = client.post(address, follow=True)
    assert "Pinocchio is set up: 6 stages as drafts" in response.content.decode()
    home = page(client, "project", project.slug)
    assert "protocol" in home
    assert address in home
    assert reverse("project-protocols", args=[project.slug]) + '"' not in home
    again = client.post(address)
    assert again.status_code == 409
    assert "follows the protocol Pinocchio already" in again.content.decode()
    assert "This project was set up from version 1" in page(client, "project-protocol", project.slug, "pinocchio")


@db
def test_a_fragment_for_pages_with_scripts(client, project):
    for name, arguments in (("protocols", []), ("project-protocols", [project.slug])):
        part = client.get(reverse(name, args=arguments), headers={"HX-Request": "true"}).content.decode()
        assert part.count("<article") == 4
        assert "<html" not in part


@db
def test_a_new_project_leads_on_to_the_protocol_that_was_chosen(client):
    assert reverse("protocols") in page(client, "project-new")
    assert "?protocol=temptabqa" in page(client, "protocol", "temptabqa")
    form = page(client, "project-new", protocol="temptabqa")
    assert 'value="December 2022"' in form
    sent = {"title": "Tables", "slug": "tables", "time_zone": "UTC", "protocol": "temptabqa"}
    response = client.post(reverse("project-new"), sent)
    assert response.url == reverse("project-protocol", args=["tables", "temptabqa"])
    assert client.get(reverse("protocol", args=["hearsay"])).status_code == 404


@db
def test_cards_and_pages_are_said_in_chinese_and_what_is_made_stays_english(client, project):
    client.post(reverse("language"), {"language": "zh-hans", "next": "/"})
    cards = page(client, "project-protocols", project.slug)
    assert "把论断改写成问题并标注" in cards
    assert "Rewrite claims" not in cards
    whole = page(client, "project-protocol", project.slug, "pinocchio")
    assert "改写者把每条论断变成保持其真实性的问题" in whole
    assert "Rewrite claims as questions" in whole
    client.post(reverse("project-protocol", args=[project.slug, "pinocchio"]))
    assert project.stages.filter(title="Rewrite claims as questions").exists()


@db
def test_a_viewer_reads_which_protocol_it_is_and_sets_up_none(project):
    viewer = Client()
    viewer.force_login(make_member(project, "viewer"))
    whole = page(viewer, "project-protocol", project.slug, "pinocchio")
    assert '<button class="button primary">' not in whole
    assert viewer.post(reverse("project-protocol", args=[project.slug, "pinocchio"])).status_code == 404


@db
@pytest.mark.parametrize("name", NAMES)
def test_every_setting_of_runs_and_reports_fills_in_its_form(client, project, name):
    preset = chosen(name)
    presets.set_up(project=project, by=None, preset=preset)
    for one in preset.models.settings:
        assert one.strategy in STRATEGY_WORDS
        response = client.get(reverse("run-new", args=[project.slug]), {"setting": one.name})
        form: RunForm = response.context["form"]
        assert (form["name"].value(), form["strategy"].value()) == (one.name, one.strategy)
        assert form["stage"].value() == project.stages.get(slug=one.stage).pk
        assert (form["repeats"].value(), form["temperature"].value()) == (one.repeats, one.temperature)
        assert form["n_steps"].value() == one.n_steps
        assert str(one.says) in response.content.decode().replace("&#x27;", "'")
    for spec in preset.models.reports:
        response = client.get(reverse("report-new", args=[project.slug]), {"spec": spec.name})
        report: ReportForm = response.context["form"]
        stage = project.stages.get(slug=spec.stage)
        assert (report["title"].value(), report["stage"].value()) == (spec.name, stage.pk)
        assert report["comparison"].value() == f"{stage.pk}:{spec.field}:{spec.scorer}"
        usual = scorers_for(deciding_field(stage=stage, name=spec.field))
        offered = {value for value, _ in report.fields["further_scorers"].choices}
        assert set(spec.further_scorers) - set(presets.missing_scorers(spec)) <= offered | set(usual)
        assert report["every_run_is_primary"].value() == spec.every_run_is_primary


@db
def test_a_report_is_offered_the_runs_of_every_stage_that_asks_the_same(client, project):
    presets.set_up(project=project, by=None, preset=chosen("structext-eval"))
    items = make_item_set(project, [make_item(project, [["question", "?"]], strata=[["language", "csv"]])])
    runs = [
        make_run(project.stages.get(slug=slug), items, state="done", frozen_at=timezone.now())
        for slug in ("answers", "with-hint", "judges")
    ]
    response = client.get(reverse("report-new", args=[project.slug]), {"spec": "People against models"})
    assert sorted(response.context["form"]["runs"].value()) == [runs[0].pk, runs[1].pk]
    assert "No breakdown by task, depth, width" in response.content.decode()


@db
@pytest.mark.parametrize(
    ("name", "filled_by_hand"),
    [
        ("pinocchio", {"rewrite", "six-levels"}),
        ("temptabqa", {"write"}),
        ("structext-eval", {"answers"}),
        ("relationalfactqa", {"check"}),
    ],
)
def test_the_home_asks_for_items_only_where_they_come_by_hand(client, project, name, filled_by_hand):
    presets.set_up(project=project, by=None, preset=chosen(name))
    told = client.get(reverse("project", args=[project.slug])).context["needs"]
    assert {need.stage.slug for need in told if need.kind == "stage_empty"} == filled_by_hand


@db
def test_a_setting_that_there_is_not_and_a_project_of_its_own_design_have_plain_forms(client, project):
    assert "From the protocol" not in page(client, "run-new", project.slug, setting="few-shot")
    presets.set_up(project=project, by=None, preset=chosen("pinocchio"))
    make_endpoint(project)
    whole = page(client, "run-new", project.slug, setting="no such")
    assert "From the protocol Pinocchio" in whole
    assert 'aria-current="true"' not in whole.partition("<form")[0].partition("settings-title")[2]


@db
def test_draws_begin_with_what_the_protocol_draws(client, project):
    presets.set_up(project=project, by=None, preset=chosen("pinocchio"))
    make_item(project, [["question", "Is it?"]], gold={"label": ["yes"]}, strata=[["domain", "science"]])
    audit = client.get(reverse("stage", args=[project.slug, "audit"])).context["audit_form"]
    assert (audit["k"].value(), audit["keys"].value()) == (10, ["domain"])
    check = client.get(reverse("stage", args=[project.slug, "cross-check"])).context["cross_check_form"]
    assert (check["n"].value(), check["written_in"].value()) == (200, project.stages.get(slug="rewrite").pk)
    own = make_stage(project, kind="audit", form=[dict(YES_NO[0]) | {"name": "other"}], slug="own")
    assert client.get(reverse("stage", args=[project.slug, own.slug])).context["audit_form"]["keys"].value() == []


@db
def test_pages_cost_the_same_however_many_items_a_project_has(client, project):
    presets.set_up(project=project, by=None, preset=chosen("pinocchio"))
    address = reverse("project-protocol", args=[project.slug, "pinocchio"])
    with CaptureQueriesContext(
        connection,
    ) as few:
        client.get(address)
    for _ in range(5):
        make_item(project)
    with CaptureQueriesContext(connection) as many:
        client.get(address)
    assert len(many) == len(few)


# For programs


@db
def test_programs_list_read_and_set_up(project, admin):
    api = ApiClient(admin)
    told = api.rows(reverse("api:api-protocols"))
    assert [one["name"] for one in told] == NAMES
    whole = api.get(reverse("api:api-protocol", args=["temptabqa"])).json()
    assert [stage["slug"] for stage in whole["stages"]] == ["write", "validate", "settle", "review"]
    assert whole["feeds"][0]["from_stage"] == "write"
    assert {one["strategy"] for one in whole["run_settings"]} >= {"zero_shot", "few_shot"}
    assert api.get(reverse("api:api-protocol", args=["hearsay"])).status_code == 404
    address = reverse("api:api-project-protocol", args=[project.slug])
    made = api.post(address, name="temptabqa")
    assert (made.status_code, made.json()["stages"]) == (201, ["write", "validate", "settle", "review"])
    again = api.post(address, name="temptabqa")
    assert (again.status_code, project.stages.count()) == (409, 4)
    assert api.post(address, name="hearsay").status_code == 404
    told = api.get(reverse("api:api-project", args=[project.slug])).json()
    assert (told["protocol_name"], told["protocol_version"]) == ("temptabqa", "1")


@db
def test_from_the_command_line(project, admin):
    said = io.StringIO()
    call_command("set_up_protocol", project.slug, "structext-eval", "--look", stdout=said)
    assert "1. Answer from the text (answers, answer)" in said.getvalue()
    assert not project.stages.exists()
    call_command("set_up_protocol", project.slug, "structext-eval", "--by", admin.username, stdout=said)
    assert Stage.objects.filter(project=project, state="draft").count() == 3
    assert Event.objects.get(verb="protocol.set_up").actor == admin.pseudonym
    for arguments, refusal in (
        ((project.slug, "structext-eval"), "already"),
        ((project.slug, "hearsay"), "no protocol 'hearsay'"),
        (("nowhere", "pinocchio"), "no project nowhere"),
        ((project.slug, "pinocchio", "--by", "nobody"), "no person nobody"),
    ):
        with pytest.raises(CommandError, match=refusal):
            call_command("set_up_protocol", *arguments)


@db
def test_an_archive_names_the_protocol(project):
    presets.set_up(project=project, by=None, preset=chosen("pinocchio"))
    project.refresh_from_db()
    file = io.BytesIO()
    write_archive(project, file, TICK)
    with zipfile.ZipFile(file) as archive:
        manifest = json.loads(archive.read("manifest.json"))
    assert manifest["project"]["protocol"] == {"name": "pinocchio", "version": "1"}
