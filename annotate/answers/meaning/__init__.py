"""What a short answer means: one file per idea, each from one spelling of the text to a key, or to None.

A reader that finds two meanings finds none: what is ambiguous equals its own spelling only.
"""

from annotate.answers.meaning.key import KINDS, member_key, short_answer_key

__all__ = ["KINDS", "member_key", "short_answer_key"]
