"""Presets of published protocols: the human part and the model part, read from their files and held against each other.

What a preset says of runs and reports is offered as the first values of their forms, and decides nothing after that.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from annotate.answers import FieldSpec
from annotate.exceptions import UnknownProtocol
from annotate.models import ItemKey, Person, Project, Stage
from annotate.protocols import HumanPart, PresetInvalid, StagePlan, read_human_part
from annotate.protocols.human import FOLDER as HUMAN_FOLDER
from annotate.services import protocols
from annotate.wording import Words, _
from evaluation.protocols import FOLDER as MODEL_FOLDER
from evaluation.protocols import ModelPart, ReportSpec, RunSetting, read_model_part
from evaluation.scorers import SCORERS
from evaluation.services.reporting import fitting_scorers
from evaluation.services.running import MAX_REPEATS
from evaluation.strategies import STRATEGIES

# A few items tell which strata there are; a project has up to hundreds of thousands.
_LOOKED_AT = 500


@dataclass(frozen=True)
class Preset:
    """A published protocol, whole."""

    human: HumanPart
    models: ModelPart

    @property
    def name(self) -> str:
        return self.human.name

    @property
    def version(self) -> str:
        return self.human.version

    @property
    def title(self) -> str:
        return self.human.title

    @property
    def not_done(self) -> tuple[Words, ...]:
        return (*self.human.not_done, *self.models.not_done)

    def notes(self, whose: str) -> list[Words]:
        """What the paper did ("paper"), or what we chose where it is silent ("ours"), of people and models."""
        return [note.says for note in (*self.human.notes, *self.models.notes) if note.whose == whose]


@cache
def all_presets() -> tuple[Preset, ...]:
    """Those that come with the platform, by title. Raises PresetInvalid for a file that cannot be meant."""
    return read_presets(HUMAN_FOLDER, MODEL_FOLDER)


def get_preset(name: str) -> Preset:
    """Raises UnknownProtocol, which names those that there are."""
    for preset in all_presets():
        if preset.name == name:
            return preset
    known = ", ".join(preset.name for preset in all_presets())
    raise UnknownProtocol(_("There is no protocol %(name)s. Known: %(known)s.", name=repr(name), known=known))


def preset_of(project: Project) -> Preset | None:
    """The preset that the project was set up from, as it reads now; None for a study of its own design."""
    return next((preset for preset in all_presets() if preset.name == project.protocol_name), None)


def set_up(*, project: Project, by: Person | None, preset: Preset) -> list[Stage]:
    """Make what the preset says of people; what it says of models is offered from then on.

    Raises ProtocolNotPossible, writing nothing.
    """
    return protocols.set_up_protocol(project=project, by=by, protocol=preset.human)


def offered_settings(project: Project) -> list[RunSetting]:
    """The run settings of the project's protocol whose stages the project still has."""
    preset = preset_of(project)
    return [one for one in preset.models.settings if one.stage in _slugs(project)] if preset else []


def offered_reports(project: Project) -> list[ReportSpec]:
    """The same of its reports."""
    preset = preset_of(project)
    return [one for one in preset.models.reports if one.stage in _slugs(project)] if preset else []


def stages_that_ask(project: Project, field: str) -> list[str]:
    """Addresses of the protocol's stages whose answers can stand in one report: those that people or models answer."""
    preset = preset_of(project)
    return [
        plan.slug
        for plan in (preset.human.stages if preset else ())
        if plan.kind in ("label", "answer") and any(spec.name == field and spec.decides for spec in plan.specs)
    ]


def _slugs(project: Project) -> set[str]:
    return set(project.stages.values_list("slug", flat=True))


def missing_strata(project: Project, report: ReportSpec) -> list[str]:
    """The strata that the protocol breaks down by and that none of the project's first items has."""
    rows = ItemKey.objects.filter(item__project=project).exclude(strata=[]).order_by("-pk")
    known = {pair[0] for strata in rows.values_list("strata", flat=True)[:_LOOKED_AT] for pair in strata}
    return [name for name in report.breakdowns if name not in known]


def missing_scorers(report: ReportSpec) -> list[str]:
    """The scorers of a report that this installation lacks something for."""
    return [name for name in (report.scorer, *report.further_scorers) if SCORERS[name].missing()]


def read_presets(human_folder: Path, model_folder: Path) -> tuple[Preset, ...]:
    """Join the files of the same name. Raises PresetInvalid for one without the other, and for what does not fit."""
    files = {path.name for folder in (human_folder, model_folder) for path in folder.glob("*.yaml")}
    found = []
    for name in sorted(files):
        for folder, part in ((human_folder, "human"), (model_folder, "model")):
            if not (folder / name).exists():
                raise PresetInvalid(name, "", f"the {part} part is missing")
        preset = Preset(read_human_part(human_folder / name), read_model_part(model_folder / name))
        _check(preset, name)
        found.append(preset)
    return tuple(sorted(found, key=lambda preset: preset.title.casefold()))


def _check(preset: Preset, file: str) -> None:
    if preset.human.version != preset.models.version:
        raise PresetInvalid(
            file, "version", f"{preset.human.version} of people is not {preset.models.version} of models"
        )
    for n, setting in enumerate(preset.models.settings):
        _check_setting(preset.human, setting, file, f"settings[{n}]")
    for n, report in enumerate(preset.models.reports):
        _check_report(preset.human, report, file, f"reports[{n}]")


def _check_setting(human: HumanPart, setting: RunSetting, file: str, path: str) -> None:
    stage = human.stage(setting.stage)
    if stage is None:
        raise PresetInvalid(file, f"{path}.stage", f"there is no stage {setting.stage}")
    if setting.strategy not in STRATEGIES:
        raise PresetInvalid(
            file, f"{path}.strategy", f"there is no strategy {setting.strategy}; known are {', '.join(STRATEGIES)}"
        )
    _check_range(setting.repeats, 1, MAX_REPEATS, file, f"{path}.repeats")
    _check_range(setting.temperature, 0, 2, file, f"{path}.temperature")
    _check_range(setting.top_p, 0, 1, file, f"{path}.top_p")
    _check_range(setting.max_tokens, 1, 200_000, file, f"{path}.max_tokens")
    _check_strategy(stage, setting, file, path)


def _check_strategy(stage: StagePlan, setting: RunSetting, file: str, path: str) -> None:
    """What would be refused when the run is made."""
    asks = STRATEGIES[setting.strategy]
    if (asks.exemplars == "needed" and not setting.n_exemplars) or (asks.exemplars == "none" and setting.n_exemplars):
        raise PresetInvalid(file, f"{path}.n_exemplars", f"with {setting.strategy} exemplars are {asks.exemplars}")
    if asks.steps is None and setting.n_steps is not None:
        raise PresetInvalid(file, f"{path}.n_steps", f"{setting.strategy} has a number of calls of its own")
    if asks.steps is not None:
        _check_range(setting.n_steps, asks.steps.least, asks.steps.most, file, f"{path}.n_steps")
    if asks.by_chance and setting.temperature == 0:
        raise PresetInvalid(file, f"{path}.temperature", f"{setting.strategy} needs one above 0")
    answered = next(spec.type for spec in stage.specs if spec.decides)
    if asks.field_types and answered not in asks.field_types:
        raise PresetInvalid(file, f"{path}.strategy", f"{setting.strategy} is not for a {answered}")


def _check_range(value: float | None, low: float, high: float, file: str, path: str) -> None:
    if value is not None and not low <= value <= high:
        raise PresetInvalid(file, path, f"{value} is not between {low} and {high}")


def _check_report(human: HumanPart, report: ReportSpec, file: str, path: str) -> None:
    stage = human.stage(report.stage)
    if stage is None:
        raise PresetInvalid(file, f"{path}.stage", f"there is no stage {report.stage}")
    spec = next((spec for spec in stage.specs if spec.name == report.field and spec.decides), None)
    if spec is None:
        raise PresetInvalid(file, f"{path}.field", f"{stage.slug} has no field {report.field} that decides")
    _check_scorers(spec, [report.scorer], file, f"{path}.scorer")
    _check_scorers(spec, report.further_scorers, file, f"{path}.further_scorers")


def _check_scorers(spec: FieldSpec, names: Iterable[str], file: str, path: str) -> None:
    fitting = fitting_scorers(spec)
    for name in names:
        if name not in SCORERS:
            raise PresetInvalid(file, path, f"there is no scorer {name}")
        if name not in fitting:
            raise PresetInvalid(file, path, f"{name} does not fit answers to {spec.name}")
