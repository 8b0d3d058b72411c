"""From a completion to an answer, or to the reason why there is none.

The completion is stored verbatim, so that a better parser can read it again without asking the model again.
PARSER_VERSION says which rules made a stored answer.
"""

from evaluation.parsing.answers import parse_answer
from evaluation.parsing.envelope import reasoning_in
from evaluation.parsing.labels import parse_label
from evaluation.parsing.parsed import PARSER_VERSION, Parsed, ParseStatus
from evaluation.parsing.short_answers import parse_short_answer
from evaluation.parsing.tables import parse_table, recover_table

__all__ = [
    "PARSER_VERSION",
    "ParseStatus",
    "Parsed",
    "parse_answer",
    "parse_label",
    "parse_short_answer",
    "parse_table",
    "reasoning_in",
    "recover_table",
]
