"""The domain of the model side and the numbers; docs/domain.md shows it with the states."""

from .call import Call
from .endpoint import Endpoint, EndpointShare
from .judging import CandidateOrigin, JudgeSample
from .log_import import LogImport
from .prediction import Prediction
from .report import Report
from .run import Run
from .score import Score
from .trial import Trial

__all__ = [
    "Call",
    "CandidateOrigin",
    "Endpoint",
    "EndpointShare",
    "JudgeSample",
    "LogImport",
    "Prediction",
    "Report",
    "Run",
    "Score",
    "Trial",
]
