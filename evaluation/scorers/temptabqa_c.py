"""TempTabQA-C's scores: are the gold parts, split at commas, among those of the answer?"""

from collections.abc import Collection

from evaluation.scorers.registry import Score, scorer


@scorer("temptabqa_c_rems", is_published_rule=True)
def temptabqa_c_rems(answer: str, gold: Collection[str]) -> Score:
    """The share of gold parts found, to two decimals as its script prints it; the best over the gold answers."""
    return Score(max(round(_share_found(answer, label), 2) for label in gold))


@scorer("temptabqa_c_ems", is_published_rule=True)
def temptabqa_c_ems(answer: str, gold: Collection[str]) -> Score:
    """1.0 if every gold part is found, else 0.0."""
    return Score(float(any(_share_found(answer, label) == 1 for label in gold)))


def _share_found(answer: str, gold: str) -> float:
    """A part is found if it equals a part of the answer or stands in one between blanks.

    Case counts, parts that nobody asked for cost nothing, and a gold part that is there twice counts twice.
    """
    given = [f" {part.strip()} " for part in answer.split(",")]
    wanted = [part.strip() for part in gold.split(",")]
    # Joined by a character that no part is searched for across, so that one look serves all parts.
    line = "\n".join(given)
    exact = {part.strip() for part in answer.split(",")}
    found = sum(part in exact or (part != "" and f" {part} " in line) for part in wanted)
    return found / len(wanted)
