"""The human part of published protocols, as data: one YAML a protocol, beside this file.

human.py   what such a file says: stages, feeds, guidelines, what one brings, what is the paper's and what is ours
strict.py  YAML -> records, where every key, kind and name must be known

Pure: no Django. The model part stands in evaluation/protocols/; evaluation/services/presets.py joins the two.
"""

from annotate.protocols.human import (
    DrawPlan,
    FeedPlan,
    HumanPart,
    Note,
    Paper,
    StagePlan,
    human_part,
    human_parts,
    read_human_part,
)
from annotate.protocols.strict import PresetInvalid, read_record

__all__ = [
    "DrawPlan",
    "FeedPlan",
    "HumanPart",
    "Note",
    "Paper",
    "PresetInvalid",
    "StagePlan",
    "human_part",
    "human_parts",
    "read_human_part",
    "read_record",
]
