"""Settings that only some kinds of stage have: read from what a stage stores, and refused if they cannot be meant.

Pure: JSON in, a frozen record out. A kind that is not in `OPTIONS` has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, TypeAlias

from annotate.exceptions import StageOptionsInvalid
from annotate.wording import _

# Rows that most infoboxes have and everybody asks about: what the makers of TempTabQA hid from their authors.
POPULAR_KEYS = ("Born", "Died", "Years active", "Year active")
MAX_ENTRIES = 200
MAX_LENGTH = 300


@dataclass(frozen=True)
class RewriteOptions:
    """Of a stage that turns claims into questions.

    claim_key: the content key of the claim; "": the first key that is shown.
    source_label_key: the content key under which the source of the claim says what it is, shown to the writer beside
    the claim; "": not shown. source_labels: (what the source says, value of the label) pairs.
    """

    claim_key: str = ""
    source_label_key: str = ""
    source_labels: tuple[tuple[str, str], ...] = ()

    kind: ClassVar[str] = "rewrite"


@dataclass(frozen=True)
class AuthorOptions:
    """Of a stage in which people write questions about what they are shown.

    hidden_keys, hidden_sections: rows and sections of a table that authors do not see. is_shuffled: authors see
    sections and rows in an order of their own. Whoever answers sees everything in the stored order.
    domain: the stratum by which batches are mixed; "": items stay in the order of their set.
    n_domains, per_domain: of one batch.
    """

    hidden_keys: tuple[str, ...] = ()
    hidden_sections: tuple[str, ...] = ()
    is_shuffled: bool = False
    domain: str = ""
    n_domains: int = 12
    per_domain: int = 3

    kind: ClassVar[str] = "author"

    @property
    def debiases(self) -> bool:
        """Whether authors see a table otherwise than those who answer."""
        return bool(self.hidden_keys or self.hidden_sections or self.is_shuffled)


@dataclass(frozen=True)
class AdjudicateOptions:
    """Of a stage that settles what people disagree on.

    makes_gold: whether adjudicators may accept what they decide as the gold label; admins always may.
    """

    makes_gold: bool = False

    kind: ClassVar[str] = "adjudicate"


@dataclass(frozen=True)
class ReviewOptions:
    """Of a stage in which experts accept, edit or drop items.

    shows_votes: whether reviewers see the answers that people gave; what the votes propose as gold is told anyhow.
    """

    shows_votes: bool = True

    kind: ClassVar[str] = "review"


Options: TypeAlias = RewriteOptions | AuthorOptions | AdjudicateOptions | ReviewOptions
OPTIONS: dict[str, type[RewriteOptions] | type[AuthorOptions] | type[AdjudicateOptions] | type[ReviewOptions]] = {
    "rewrite": RewriteOptions,
    "author": AuthorOptions,
    "adjudicate": AdjudicateOptions,
    "review": ReviewOptions,
}


def read_options(kind: str, data: Mapping[str, Any]) -> Options | None:
    """The options of a stage of that kind; None for a kind without any.

    Raises StageOptionsInvalid, which names the option at fault.
    """
    record = OPTIONS.get(kind)
    if record is None:
        return None
    defaults = asdict(record())
    if unknown := sorted(set(data) - set(defaults)):
        raise StageOptionsInvalid(
            unknown[0], _("A stage of this kind has no option called %(unknown)s.", unknown=repr(unknown[0]))
        )
    read = {name: _value(name, value, defaults[name]) for name, value in data.items()}
    return record(**read)


def rewrite_options(data: Mapping[str, Any]) -> RewriteOptions:
    options = read_options("rewrite", data)
    assert isinstance(options, RewriteOptions)
    return options


def author_options(data: Mapping[str, Any]) -> AuthorOptions:
    options = read_options("author", data)
    assert isinstance(options, AuthorOptions)
    return options


def adjudicate_options(data: Mapping[str, Any]) -> AdjudicateOptions:
    options = read_options("adjudicate", data)
    assert isinstance(options, AdjudicateOptions)
    return options


def review_options(data: Mapping[str, Any]) -> ReviewOptions:
    options = read_options("review", data)
    assert isinstance(options, ReviewOptions)
    return options


def options_to_json(options: Options) -> dict[str, Any]:
    """As a stage stores them: only what differs from the default, so that a new option changes no stored stage."""
    defaults = asdict(type(options)())
    return {
        name: [list(one) if isinstance(one, tuple) else one for one in value] if isinstance(value, tuple) else value
        for name, value in asdict(options).items()
        if value != defaults[name]
    }


def _value(name: str, value: Any, default: Any) -> Any:
    if isinstance(default, bool):
        if not isinstance(value, bool):
            raise StageOptionsInvalid(name, _("This is true or false."))
        return value
    if isinstance(default, int):
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= 100:
            raise StageOptionsInvalid(name, _("This is a whole number from 1 to 100."))
        return value
    if isinstance(default, str):
        return _text(name, value)
    if not isinstance(value, list | tuple) or len(value) > MAX_ENTRIES:
        raise StageOptionsInvalid(
            name, _("This is a list of at most %(max_entries)s entries.", max_entries=MAX_ENTRIES)
        )
    if name != "source_labels":
        return tuple(_text(name, one) for one in value)
    pairs = tuple(_pair(name, one) for one in value)
    if repeated := next((source for n, (source, _) in enumerate(pairs) if source in dict(pairs[:n])), None):
        raise StageOptionsInvalid(name, _("%(repeated)s stands there twice.", repeated=repr(repeated)))
    return pairs


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str) or len(value) > MAX_LENGTH:
        raise StageOptionsInvalid(
            name, _("This is a text of at most %(max_length)s characters.", max_length=MAX_LENGTH)
        )
    return value


def _pair(name: str, value: Any) -> tuple[str, str]:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise StageOptionsInvalid(name, _("Each entry is a pair: what the source says, and the label."))
    return _text(name, value[0]), _text(name, value[1])
