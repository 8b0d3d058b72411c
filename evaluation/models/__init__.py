"""The domain of the model side and the numbers; docs/domain.md shows it with the states."""

from .call import Call
from .endpoint import Endpoint
from .log_import import LogImport
from .prediction import Prediction
from .report import Report
from .run import Run
from .score import Score

__all__ = ["Call", "Endpoint", "LogImport", "Prediction", "Report", "Run", "Score"]
