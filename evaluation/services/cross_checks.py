"""How far a cross-check agrees with the labels that authors gave their own items: the first label against the second.

The two raters are roles, not persons: many people stand behind each. So Scott's pi and Krippendorff's alpha come first,
which take one share of each label for both; Cohen's kappa, which takes two, stands last and says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotate.answers import FieldSpec, get_field_type
from annotate.exceptions import WorkNotPossible
from annotate.models import Annotation, Gold, ItemKey, Stage
from annotate.wording import _
from evaluation.services.reporting import deciding_field

# Two labels an item are counted fast; more items than these have no intervals while somebody waits.
MAX_RESAMPLED = 5_000
RESAMPLES = 1_000
SEED = 1
# A stratum with more values than this is none to break down by.
MAX_PARTS = 40
HEAD = ("item", "written_by", "author_label", "cross_label", "root")


@dataclass(frozen=True)
class Pair:
    """One item with both labels, as canonical keys. group: of its author, when it came into the stage."""

    item: str
    root: int
    group: str
    first: str
    second: str
    strata: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Pairs:
    """What is compared, and what is not: n_waiting items have no second label yet, n_unlabelled no author's label.

    n_further: second labels beyond the first of an item, which its overlap asked for.
    """

    field: FieldSpec
    labels: tuple[str, ...]
    pairs: tuple[Pair, ...]
    n_waiting: int
    n_unlabelled: int
    n_further: int


@dataclass(frozen=True)
class Part:
    """Some of the pairs, with two coefficients of them. name "": all of a kind."""

    name: str
    value: str
    n: int
    figures: list[dict[str, Any]]


@dataclass(frozen=True)
class CrossCheckAgreement:
    """Figures as reports have them (evaluation/reports/figures.py), and a matrix: authors in rows, cross-checkers in
    columns. by_label: specific agreement of each label."""

    pairs: Pairs
    figures: list[dict[str, Any]]
    matrix: list[list[int]]
    by_label: list[Part]
    by_group: list[Part]
    by_stratum: dict[str, list[Part]] = field(default_factory=dict)


def read_pairs(*, stage: Stage) -> Pairs:
    """Both labels of every item of the stage that has them, in the order of the items' ids.

    The author's label is the newest that the author gave, also where somebody has repaired it since: the question is
    what the author said. The second is the first counted answer. Raises WorkNotPossible where the field that decides
    has no declared labels.
    """
    spec = deciding_field(stage=stage)
    if spec.type not in ("choice", "scale"):
        raise WorkNotPossible(
            _("Agreement of two labels needs a field to choose in; “%(caption)s” is none.", caption=spec.caption)
        )
    kind = get_field_type(spec.type)
    authors: dict[int, str] = {}
    gold = Gold.objects.filter(field=spec.name, label_set="", origin=Gold.Origin.AUTHOR)
    rows = gold.filter(item__revisions__stage_items__stage=stage).order_by("version").values_list("item", "answers")
    for item, answers in rows.distinct():
        if answers:
            authors[item] = kind.canonical_key(answers[0], spec)
    given = Annotation.objects.counted().filter(assignment__stage=stage).order_by("created_at", "pk")
    second: dict[int, str] = {}
    n_further = 0
    for place, answer in given.values_list("assignment__stage_item", "answer"):
        if answer.get(spec.name) is None:
            continue
        if place in second:
            n_further += 1
        else:
            second[place] = kind.canonical_key(answer[spec.name], spec)
    places = stage.stage_items.exclude(state__in=["withdrawn", "left_out"]).order_by("revision__item__external_id")
    columns = ("pk", "author_group", "revision__item", "revision__item__external_id", "revision__item__root")
    found = list(places.values_list(*columns))
    strata = dict(ItemKey.objects.filter(item__in=[row[2] for row in found]).values_list("item", "strata"))
    pairs = [
        Pair(
            item=name,
            root=root or item,
            group=group,
            first=authors[item],
            second=second[place],
            strata=tuple((key, value) for key, value in strata.get(item, [])),
        )
        for place, group, item, name, root in found
        if item in authors and place in second
    ]
    declared = _declared(spec)
    extra = sorted({label for pair in pairs for label in (pair.first, pair.second)} - set(declared))
    return Pairs(
        field=spec,
        labels=(*declared, *extra),
        pairs=tuple(pairs),
        n_waiting=sum(row[0] not in second for row in found),
        n_unlabelled=sum(row[2] not in authors and row[0] in second for row in found),
        n_further=n_further,
    )


def cross_check_agreement(*, stage: Stage) -> CrossCheckAgreement:
    """Raises WorkNotPossible as `read_pairs` does."""
    # Imported here: most requests of the web server never need NumPy.
    from evaluation.stats import Ratings, confusion_matrix, label_agreements

    compared = read_pairs(stage=stage)
    first, second, roots = _columns(compared, compared.pairs)
    n_labels = len(compared.labels)
    ratings = Ratings.from_labels(_beside(first, second), roots, n_labels=n_labels)
    bootstrap = _bootstrap(compared)
    captions = {option.value: option.caption for option in compared.field.options}
    by_label = [
        Part(
            "label",
            captions.get(compared.labels[one.label], compared.labels[one.label]),
            one.n_answers,
            [_figure(one.specific), _figure(one.alpha)],
        )
        for one in label_agreements(ratings, bootstrap)
    ]
    groups = [(f"group {name}", [pair for pair in compared.pairs if pair.group == name]) for name in ("A", "B")]
    return CrossCheckAgreement(
        pairs=compared,
        figures=_coefficients(compared, compared.pairs, whole=True),
        matrix=confusion_matrix(first, second, n_labels).tolist(),
        by_label=by_label,
        by_group=[_part(compared, _("written by"), name, pairs) for name, pairs in groups if pairs],
        by_stratum=_by_stratum(compared),
    )


def matrix_rows(*, stage: Stage) -> Iterator[Sequence[object]]:
    """The matrix behind every figure: one row an item, both labels as they were compared."""
    compared = read_pairs(stage=stage)
    strata = list(dict.fromkeys(name for pair in compared.pairs for name, _ in pair.strata))
    yield [*HEAD, *(f"stratum.{name}" for name in strata)]
    roots = {root: n for n, root in enumerate(dict.fromkeys(pair.root for pair in compared.pairs))}
    for pair in compared.pairs:
        values = [";".join(value for key, value in pair.strata if key == name) for name in strata]
        yield [pair.item, pair.group, pair.first, pair.second, roots[pair.root], *values]


def _by_stratum(compared: Pairs) -> dict[str, list[Part]]:
    """Every stratum with its values and, where some items have none, what is left."""
    parts = {}
    for name in dict.fromkeys(name for pair in compared.pairs for name, __ in pair.strata):
        counted = Counter(value for pair in compared.pairs for key, value in set(pair.strata) if key == name)
        if not 1 < len(counted) <= MAX_PARTS:
            continue
        values = [
            _part(compared, name, value, [pair for pair in compared.pairs if (name, value) in pair.strata])
            for value in sorted(counted)
        ]
        rest = [pair for pair in compared.pairs if name not in {key for key, _ in pair.strata}]
        parts[name] = values + ([_part(compared, name, _("none given"), rest)] if rest else [])
    return parts


def _part(compared: Pairs, name: str, value: str, pairs: Sequence[Pair]) -> Part:
    return Part(name, value, len(pairs), _coefficients(compared, pairs, whole=False))


def _coefficients(compared: Pairs, pairs: Sequence[Pair], *, whole: bool) -> list[dict[str, Any]]:
    """Percent, Scott's pi and, of the whole, alpha, AC1 and Cohen's kappa, in that order."""
    from evaluation.stats import Ratings, cohen_kappa, gwet_ac1, krippendorff_alpha_nominal, percent_agreement, scott_pi

    first, second, roots = _columns(compared, pairs)
    n_labels, bootstrap = len(compared.labels), _bootstrap(compared)
    ratings = Ratings.from_labels(_beside(first, second), roots, n_labels=n_labels)
    found = [
        percent_agreement(ratings, bootstrap),
        scott_pi(first, second, roots=roots, bootstrap=bootstrap, n_labels=n_labels),
    ]
    if whole:
        found += [
            krippendorff_alpha_nominal(ratings, bootstrap),
            gwet_ac1(ratings, bootstrap),
            cohen_kappa(first, second, roots=roots, bootstrap=bootstrap, n_labels=n_labels),
        ]
    return [_figure(one) for one in found]


def _bootstrap(compared: Pairs) -> Any:
    from evaluation.stats import Bootstrap

    return Bootstrap(seed=SEED, n_resamples=RESAMPLES) if len(compared.pairs) <= MAX_RESAMPLED else None


def _figure(coefficient: Any) -> dict[str, Any]:
    from evaluation.reports.figures import Row, from_coefficient

    return from_coefficient(
        "agreement", Row("cross_check", "people", "Authors and cross-checkers"), coefficient
    ).to_json()


def _columns(compared: Pairs, pairs: Sequence[Pair]) -> tuple[Any, Any, Any]:
    import numpy as np

    codes = {label: code for code, label in enumerate(compared.labels)}
    first = np.array([codes[pair.first] for pair in pairs], dtype=np.int64)
    second = np.array([codes[pair.second] for pair in pairs], dtype=np.int64)
    return first, second, np.array([pair.root for pair in pairs], dtype=np.int64)


def _beside(first: Any, second: Any) -> Any:
    import numpy as np

    return np.stack([first, second], axis=1)


def _declared(spec: FieldSpec) -> list[str]:
    from evaluation.matrices import declared_keys

    return declared_keys(spec)
