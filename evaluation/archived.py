"""What of the model side goes into a project's archive, and how it comes back."""

from typing import Any

from annotate.services.archiving.tables import CLAIMS, LeftOut, Table, unfinished_as_cancelled
from evaluation.clients.logprobs import read_logprobs

_UNFINISHED = {"state": unfinished_as_cancelled}


def _check_logprobs(row: dict[str, Any]) -> None:
    # Other members come as their columns' types say; this one is a page's table.
    if row["logprobs"] is not None and read_logprobs(row["logprobs"]) is None:
        raise ValueError("logprobs must be a list of tokens with their log probabilities")


TABLES = (
    Table(
        "evaluation.Endpoint",
        # Never an address or a key: its answers are here, and nothing can be asked of it.
        keeps=("name", "model", "input_price", "output_price", "currency", "created_at"),
        restored={"provider": "log"},
    ),
    Table(
        "evaluation.Run",
        # A draft has no answers, and nothing to be asked of.
        only={"frozen_at__isnull": False},
        without=CLAIMS,
        restored={"due_at": None},
        archived_as=_UNFINISHED,
    ),
    Table(
        "evaluation.Prediction",
        paths=("run__project",),
        only={"run__frozen_at__isnull": False},
        without=("due_at", "claim_token", "claimed_at"),
        archived_as={"state": lambda state: "cancelled" if state == "pending" else state},
    ),
    Table(
        "evaluation.Call",
        paths=("prediction__run__project",),
        only={"prediction__run__frozen_at__isnull": False},
        check=_check_logprobs,
    ),
    Table("evaluation.Score", paths=("annotation__assignment__stage__project", "prediction__run__project")),
    Table("evaluation.JudgeSample", paths=("stage__project",), many=("runs",)),
    Table("evaluation.CandidateOrigin", paths=("sample__stage__project",)),
    Table(
        "evaluation.Report",
        without=CLAIMS,
        restored={"due_at": None},
        archived_as=_UNFINISHED,
        ids={
            "matrices": {
                "items.revisions[]": "itemrevision",
                "people.answers.annotation[]": "annotation",
                "runs[].run": "run",
                "runs[].answers.prediction[]": "prediction",
            },
            "manifest": {
                "item_set.id": "itemset",
                "runs[].run": "run",
                "exclusions[].annotation": "annotation",
                "primary.run": "run",
            },
            "figures": {"[].run": "run"},
        },
        many=("runs", "files"),
    ),
)

LEFT_OUT = (
    LeftOut("evaluation.LogImport", "the runs that were made of logs are here; the uploaded logs are not"),
    LeftOut("evaluation.Trial", "a trial counts nowhere"),
    LeftOut("evaluation.EndpointShare", "it says what is being asked at this moment"),
)
