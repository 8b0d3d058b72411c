"""The model part of published protocols, as data: one YAML a protocol, beside this file. Pure: no Django.

Named settings of runs and named specifications of reports, offered where runs and reports are made. The human part
stands in annotate/protocols/; evaluation/services/presets.py joins the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from annotate.protocols import Note, PresetInvalid, read_record
from annotate.wording import Words

FOLDER = Path(__file__).parent
MAX_NAME = 120


@dataclass(frozen=True)
class RunSetting:
    """Values that a new run begins with. stage: whose form and shown content the model gets.

    n_exemplars: how many answered items the protocol shows before the question; the set itself is chosen with the run.
    n_steps: samples or rounds of a strategy that takes several. None: not sent, or the form's own value.
    """

    name: str
    stage: str
    strategy: str
    says: Words
    n_exemplars: int | None = None
    n_steps: int | None = None
    repeats: int = 1
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None


@dataclass(frozen=True)
class ReportSpec:
    """A comparison: people of a stage against its runs, by one main score and further ones, broken down by strata.

    every_run_is_primary: the family that is named before results; else the run that is chosen with the report.
    breakdowns: strata that the items must have for the protocol's tables; a report breaks down by all that there are.
    """

    name: str
    stage: str
    field: str
    scorer: str
    gives: Words
    further_scorers: tuple[str, ...] = ()
    every_run_is_primary: bool = False
    breakdowns: tuple[str, ...] = ()


@dataclass(frozen=True)
class ModelPart:
    """models: on the card. not_done: what the platform cannot do of the protocol."""

    name: str
    version: str
    models: Words
    settings: tuple[RunSetting, ...]
    reports: tuple[ReportSpec, ...]
    notes: tuple[Note, ...]
    not_done: tuple[Words, ...] = ()

    def setting(self, name: str) -> RunSetting | None:
        return next((setting for setting in self.settings if setting.name == name), None)

    def report(self, name: str) -> ReportSpec | None:
        return next((report for report in self.reports if report.name == name), None)


def read_model_part(path: Path) -> ModelPart:
    """Raises PresetInvalid. Stages, strategies and scorers are checked where the two parts are joined."""
    part = read_record(path, ModelPart)
    if part.name != path.stem:
        raise PresetInvalid(path.name, "name", f"the file is called {path.stem}")
    for kind, several in (("settings", part.settings), ("reports", part.reports)):
        names = [one.name for one in several]
        for n, name in enumerate(names):
            if names.index(name) != n:
                raise PresetInvalid(path.name, f"{kind}[{n}].name", f"{name} stands there twice")
            if len(name) > MAX_NAME:
                raise PresetInvalid(path.name, f"{kind}[{n}].name", f"longer than {MAX_NAME} characters")
    return part
