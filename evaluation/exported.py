"""Predictions and scores on their way out, for whoever reads the project's results."""

from __future__ import annotations

from collections.abc import Iterator

from django.db.models import Q

from annotate.answers import fields_from_json
from annotate.csv_text import utc
from annotate.models import Project, StageVersion
from annotate.services.exporting.answers import key_reader
from annotate.services.exporting.kinds import Kind
from annotate.services.exporting.reading import server_side_cursor
from annotate.wording import _
from evaluation.clients.logprobs import logprob_of
from evaluation.models import Call, Prediction, Score

BATCH = 500

PREDICTION_COLUMNS = (
    "project",
    "run",
    "model",
    "strategy",
    "seed",
    "parameters",
    "n_steps",
    "form_version",
    "item",
    "item_revision",
    "content_hash",
    "root",
    "position",
    "repeat",
    "state",
    "note",
    "attempts",
    "step",
    "messages",
    "completion",
    "reasoning",
    "finish_reason",
    "server_model",
    "prompt_tokens",
    "completion_tokens",
    "latency_ms",
    "http_status",
    "error_kind",
    "error",
    "logprob",
    "logprobs",
    "reading",
    "asked_at",
    "finished_at",
)


def n_prediction_rows(project: Project) -> int:
    return (
        Call.objects.filter(prediction__run__project=project).count()
        + Prediction.objects.filter(run__project=project, calls__isnull=True).count()
    )


def prediction_rows(*, project: Project) -> Iterator[list[object]]:
    """A row for each call of each prediction, and one for a prediction without any, by run, repeat and item.

    `step` counts the calls of a prediction from 0; answer and key are the prediction's own, and stand in each of its
    rows. logprob: natural logarithm of the completion's probability, the sum over `logprobs`; both empty where the
    server said nothing. reading: state, note and answer of the call alone, where a strategy reads each of them.
    asked_at: when the call had ended; finished_at: when the prediction had.
    """
    versions = {
        version.pk: fields_from_json(version.fields)
        for version in StageVersion.objects.filter(stage__project=project).order_by(
            "stage__position", "stage", "number"
        )
    }
    names = list(dict.fromkeys(spec.name for fields in versions.values() for spec in fields if spec.decides))
    yield [*PREDICTION_COLUMNS, *(f"answer.{name}" for name in names), *(f"key.{name}" for name in names)]
    rows = (
        Prediction.objects.filter(run__project=project)
        .order_by("run", "repeat", "position", "pk", "calls__step")
        .values_list(
            "answer",
            "run__stage_version_id",
            "run__name",
            "run__endpoint__model",
            "run__strategy",
            "run__seed",
            "run__parameters",
            "run__n_steps",
            "run__stage_version__number",
            "revision__item__external_id",
            "revision__number",
            "revision__content_hash",
            "revision__item__root__external_id",
            "position",
            "repeat",
            "state",
            "note",
            "attempts",
            "calls__step",
            "calls__messages",
            "calls__completion",
            "calls__reasoning",
            "calls__finish_reason",
            "calls__server_model",
            "calls__prompt_tokens",
            "calls__completion_tokens",
            "calls__latency_ms",
            "calls__http_status",
            "calls__error_kind",
            "calls__error",
            "calls__logprobs",
            "calls__reading",
            "calls__finished_at",
            "finished_at",
        )
    )
    slug, keys_of = project.slug, key_reader()
    with server_side_cursor():
        for (
            answer, version_id, run, model, strategy, seed, parameters, n_steps, form, item, item_revision,
            content_hash, root, *plain, logprobs, reading, asked_at, finished_at,
        ) in rows.iterator(chunk_size=BATCH):  # fmt: skip
            given = answer or {}
            keys = keys_of(versions[version_id], given)
            yield [
                slug, run, model, strategy, seed, parameters, n_steps, form, item, item_revision, content_hash,
                root or item, *plain, logprob_of(logprobs), logprobs, reading, utc(asked_at), utc(finished_at),
                *(given.get(name) for name in names), *(keys.get(name) for name in names),
            ]  # fmt: skip


SCORE_COLUMNS = (
    "project",
    "source",
    "person",
    "run",
    "item",
    "item_revision",
    "answer_revision",
    "repeat",
    "field",
    "scorer",
    "scorer_version",
    "gold_label_set",
    "gold_version",
    "value",
    "note",
    "scored_at",
)


def _scores(project: Project) -> Q:
    return Q(annotation__assignment__stage__project=project) | Q(prediction__run__project=project)


def n_score_rows(project: Project) -> int:
    return Score.objects.filter(_scores(project)).count()


def score_rows(*, project: Project) -> Iterator[list[object]]:
    """What each scorer said of each answer, of people and models alike, and against which version of the gold label.

    value: empty where the answer could not be scored; note says why.
    """
    yield list(SCORE_COLUMNS)
    rows = (
        Score.objects.filter(_scores(project))
        .order_by("pk")
        .values_list(
            "annotation__assignment__person__pseudonym",
            "prediction__run__name",
            "gold__item__external_id",
            "annotation__assignment__stage_item__revision__number",
            "prediction__revision__number",
            "annotation__number",
            "prediction__repeat",
            "field",
            "scorer",
            "scorer_version",
            "gold__label_set",
            "gold__version",
            "value",
            "note",
            "created_at",
        )
    )
    with server_side_cursor():
        for person, run, item, of_person, of_model, *plain, scored_at in rows.iterator(chunk_size=BATCH):
            source = "model" if run else "person"
            yield [
                project.slug, source, person, run, item, of_model if run else of_person, *plain, utc(scored_at)
            ]  # fmt: skip


KINDS = (
    Kind(
        "predictions",
        _("Predictions"),
        _(
            "One row per call to a model: the prompt as sent, the completion as it came, the answer read "
            "from it, tokens and time."
        ),
        False,
        n_prediction_rows,
        prediction_rows,
    ),
    Kind(
        "scores",
        _("Scores"),
        _("One row per answer and scorer, of people and models alike, with the version of the gold label."),
        True,
        n_score_rows,
        score_rows,
    ),
)
