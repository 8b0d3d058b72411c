"""What people do in a published protocol: its stages with their forms, what leads from one to the next, guidelines.

Words are said by pages in their language; every other text is what is made in the project, in English as it stands.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

from annotate.answers import FieldSpec, FieldSpecInvalid, fields_from_json
from annotate.exceptions import RecipeInvalid, StageOptionsInvalid
from annotate.feeding import Recipe
from annotate.protocols.strict import PresetInvalid, read_record
from annotate.recipes import check_recipe
from annotate.stage_kinds import KINDS
from annotate.stage_options import read_options
from annotate.wording import Words

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Paper:
    citation: str
    link: str


@dataclass(frozen=True)
class Note:
    """whose: something that the paper did, or our choice where it is silent."""

    whose: Literal["paper", "ours"]
    says: Words


@dataclass(frozen=True)
class DrawPlan:
    """What a stage whose items are drawn draws to begin with: n of each group or run, k of every stratum."""

    n: int | None = None
    k: int | None = None
    strata: tuple[str, ...] = ()
    written_in: str = ""


@dataclass(frozen=True)
class StagePlan:
    """A stage as it is made, and for whoever reads about it what people do there and where its items come from.

    sources: what people may look things up in; "": closed book. for_models_only: it is there for what models are shown.
    """

    slug: str
    kind: Literal["rewrite", "author", "review", "label", "answer", "adjudicate", "audit", "judge"]
    title: str
    does: Words
    comes_from: Words
    shown_keys: tuple[str, ...]
    fields: tuple[dict[str, Any], ...]
    instruction: str = ""
    guidelines: str = ""
    overlap: int = 1
    roles: tuple[Literal["annotator", "adjudicator", "meta_reviewer"], ...] = ("annotator",)
    order: Literal["seeded", "sequential"] = "seeded"
    lease_minutes: int | None = None
    sources: str = ""
    time_limit_seconds: int | None = None
    is_cross_group: bool = False
    escalate_by: int = 0
    escalate_times: int = 1
    adjudicated_in: str = ""
    shows_decided: bool = True
    options: dict[str, Any] = field(default_factory=dict)
    draw: DrawPlan | None = None
    for_models_only: bool = False

    @property
    def specs(self) -> tuple[FieldSpec, ...]:
        return fields_from_json(self.fields)


@dataclass(frozen=True)
class FeedPlan:
    """source, target: addresses of stages. An empty recipe: the item itself goes on."""

    source: str
    target: str
    rule: Literal["every", "complete", "decided"] = "every"
    recipe: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class HumanPart:
    """people, outcome: on the card. brings: what whoever sets it up must have. not_done: what the platform cannot."""

    name: str
    version: str
    title: str
    paper: Paper
    people: Words
    outcome: Words
    brings: tuple[Words, ...]
    stages: tuple[StagePlan, ...]
    notes: tuple[Note, ...]
    feeds: tuple[FeedPlan, ...] = ()
    not_done: tuple[Words, ...] = ()
    current_date: str = ""

    def stage(self, slug: str) -> StagePlan | None:
        return next((stage for stage in self.stages if stage.slug == slug), None)


def read_human_part(path: Path) -> HumanPart:
    """Raises PresetInvalid for what no stage editor would take either."""
    part = read_record(path, HumanPart)
    if part.name != path.stem:
        raise PresetInvalid(path.name, "name", f"the file is called {path.stem}")
    for n, stage in enumerate(part.stages):
        _check_stage(part, stage, path.name, f"stages[{n}]")
    for n, feed in enumerate(part.feeds):
        _check_feed(part, feed, path.name, f"feeds[{n}]")
    return part


@cache
def human_parts() -> tuple[HumanPart, ...]:
    """Of every protocol that comes with the platform, by title."""
    return tuple(sorted(map(read_human_part, FOLDER.glob("*.yaml")), key=lambda part: part.title.casefold()))


def human_part(name: str) -> HumanPart | None:
    return next((part for part in human_parts() if part.name == name), None)


def _check_stage(part: HumanPart, stage: StagePlan, file: str, path: str) -> None:
    if [one.slug for one in part.stages].count(stage.slug) > 1:
        raise PresetInvalid(file, f"{path}.slug", f"{stage.slug} stands there twice")
    try:
        decides = [spec for spec in stage.specs if spec.decides]
    except FieldSpecInvalid as problem:
        raise PresetInvalid(file, f"{path}.fields", str(problem)) from None
    if not decides:
        raise PresetInvalid(file, f"{path}.fields", "at least one field must decide")
    try:
        read_options(stage.kind, stage.options)
    except StageOptionsInvalid as problem:
        raise PresetInvalid(file, f"{path}.options.{problem.option}", str(problem)) from None
    if read_options(stage.kind, {}) is None and stage.options:
        raise PresetInvalid(file, f"{path}.options", f"a stage of the kind {stage.kind} has none")
    if stage.draw is not None and not (KINDS[stage.kind].is_drawn or stage.is_cross_group):
        raise PresetInvalid(file, f"{path}.draw", "the items of this stage are not drawn")
    if stage.draw is not None and stage.draw.written_in and part.stage(stage.draw.written_in) is None:
        raise PresetInvalid(file, f"{path}.draw.written_in", f"there is no stage {stage.draw.written_in}")
    if stage.adjudicated_in:
        _check_adjudication(part, stage, file, f"{path}.adjudicated_in")


def _check_adjudication(part: HumanPart, stage: StagePlan, file: str, path: str) -> None:
    judges = part.stage(stage.adjudicated_in)
    if judges is None or judges.kind != "adjudicate":
        raise PresetInvalid(file, path, f"there is no stage {stage.adjudicated_in} that adjudicates")
    asked = {spec.name: spec.type for spec in judges.specs}
    if missing := [spec.name for spec in stage.specs if spec.decides and asked.get(spec.name) != spec.type]:
        raise PresetInvalid(file, path, f"{judges.slug} does not ask {', '.join(missing)}")


def _check_feed(part: HumanPart, feed: FeedPlan, file: str, path: str) -> None:
    source, target = part.stage(feed.source), part.stage(feed.target)
    for name, stage in (("source", source), ("target", target)):
        if stage is None:
            raise PresetInvalid(file, f"{path}.{name}", f"there is no stage {getattr(feed, name)}")
    assert source is not None
    assert target is not None
    try:
        check_recipe(
            Recipe.from_json(feed.recipe),
            fields=source.specs,
            target=target.specs,
            target_keys=target.shown_keys,
            content_keys=None,
        )
    except RecipeInvalid as problem:
        raise PresetInvalid(file, f"{path}.recipe", str(problem)) from None
