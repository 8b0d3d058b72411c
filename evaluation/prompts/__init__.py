"""From an item to the chat that a model gets.

Pure: no Django. `PromptInput` holds what may be shown and has no place for the item's gold; a strategy and a chat
template turn it into messages. Everything goes through `render_chunk`, which renders in a child process with limits;
`render` is the same without them, for templates that are our own.
"""

# A strategy registers by being imported.
from evaluation.prompts import (  # noqa: F401
    few_shot,
    plan_and_solve,
    self_consistency,
    self_refine,
    until_empty,
    zero_shot,
    zero_shot_cot,
)
from evaluation.prompts.exemplars import ExemplarOverlap, Unit, check_exemplars
from evaluation.prompts.inputs import Exemplar, Message, Option, PromptInput, shown_content
from evaluation.prompts.plain_text import as_plain_text
from evaluation.prompts.rendering import Limits, RenderFailure, render_chunk
from evaluation.prompts.strategies import STRATEGIES, default_wording, fingerprint, render
from evaluation.prompts.templates import ChatTemplate, default_template

__all__ = [
    "STRATEGIES",
    "ChatTemplate",
    "Exemplar",
    "ExemplarOverlap",
    "Limits",
    "Message",
    "Option",
    "PromptInput",
    "RenderFailure",
    "Unit",
    "as_plain_text",
    "check_exemplars",
    "default_template",
    "default_wording",
    "fingerprint",
    "render",
    "render_chunk",
    "shown_content",
]
