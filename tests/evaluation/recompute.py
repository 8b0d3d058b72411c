"""A report's figures again, from its answers.csv alone: an independent reading of docs/reports.md.

Standard library only, and nothing of Goldpanel: whoever reads a paper can run this on the published file.
    python recompute.py answers.csv [label,label,... [ordered]]
prints one line a figure: section, row, measure, denominator, value. The labels are the declared options of a choice
field, for macro-F1, kappas and the model of Dawid and Skene; without them, and for text fields, there are none.
`ordered`: they are a scale.
"""

from __future__ import annotations

import csv
import json
import math
import re
import string
import sys
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

Figures = dict[tuple[str, str, str, str], float | None]


class Row(NamedTuple):
    item: str
    root: str
    who: str
    source: str
    repeat: int
    gold: frozenset[str]
    answer: str | None
    key: str | None


def read(path: Path) -> list[Row]:
    """The rows that count, or that were asked and have no answer; what was left out stays out."""
    with path.open(newline="", encoding="utf-8") as lines:
        return [
            Row(
                item=line["item"],
                root=line["root"],
                who=line["who"],
                source=line["source"] if line["who"] == "person" else f"run_{line['run']}",
                repeat=int(line["repeat"] or 0),
                gold=frozenset(json.loads(line["gold"])) if line["gold"] else frozenset(),
                answer=line["answer"] if line["answer_key"] else None,
                key=line["answer_key"] or None,
            )
            for line in csv.DictReader(lines)
            if line["standing"] in ("counted", "no_value")
        ]


# Scores


def words(text: str) -> list[str]:
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    kept = ""
    for character in folded:
        if unicodedata.category(character) == "Nd":
            kept += str(unicodedata.decimal(character))
        elif not unicodedata.category(character).startswith("P") and character not in string.punctuation:
            kept += character
    without_articles = re.sub(r"\b(a|an|the)\b", " ", kept)
    return re.sub("([\u3041-\u30ff\u3400-\u9fff])", r" \1 ", without_articles).split()


def label_accuracy(answer: str, gold: frozenset[str]) -> float:
    return 1.0 if answer in gold else 0.0


def exact_match(answer: str, gold: frozenset[str]) -> float:
    return 1.0 if any(words(answer) == words(label) for label in gold) else 0.0


def token_f1(answer: str, gold: frozenset[str]) -> float:
    best = 0.0
    for label in gold:
        ours, theirs = words(answer), words(label)
        shared = sum((Counter(ours) & Counter(theirs)).values())
        if not ours or not theirs:
            best = max(best, float(ours == theirs))
        elif shared:
            precision, recall = shared / len(ours), shared / len(theirs)
            best = max(best, 2 * precision * recall / (precision + recall))
    return best


SCORERS: dict[str, Callable[[str, frozenset[str]], float]] = {
    "label_accuracy": label_accuracy,
    "exact_match": exact_match,
    "token_f1": token_f1,
}


def mean(values: Iterable[float]) -> float | None:
    found = list(values)
    return sum(found) / len(found) if found else None


def mean_of_means(groups: Iterable[Sequence[float]]) -> float | None:
    return mean(found for group in groups if (found := mean(group)) is not None)


# Figures


def voices_of(rows: Iterable[Row]) -> dict[str, dict[object, list[Row]]]:
    """Who answers: each person, or each repeat of a run, by the row of the report they belong to."""
    voices: dict[str, dict[object, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row.gold:
            name = "people_mean" if row.who == "person" else row.source
            voices[name][row.source if row.who == "person" else row.repeat].append(row)
    return voices


def accuracies(rows: Sequence[Row], scorer: str) -> Figures:
    score = SCORERS[scorer]
    figures: Figures = {}
    for name, voices in voices_of(rows).items():
        per_voice = voices.values()
        figures["accuracy", name, scorer, "all"] = mean_of_means(
            [0.0 if row.answer is None else score(row.answer, row.gold) for row in voice] for voice in per_voice
        )
        figures["accuracy", name, scorer, "answered"] = mean_of_means(
            [score(row.answer, row.gold) for row in voice if row.answer is not None] for voice in per_voice
        )
    figures["accuracy", "people_pooled", scorer, "answered"] = mean(
        score(row.answer, row.gold) for row in rows if row.who == "person" and row.gold and row.answer is not None
    )
    return figures | vote_accuracies(rows, scorer) | weighted_vote_accuracies(rows, scorer)


def winner(votes: Sequence[str]) -> str | None:
    ranked = Counter(votes).most_common()
    if not ranked or (len(ranked) > 1 and ranked[0][1] == ranked[1][1]):
        return None
    return ranked[0][0]


def vote_accuracies(rows: Sequence[Row], scorer: str) -> Figures:
    by_item = people_by_item(row for row in rows if row.gold)
    everything, resolved = [], []
    for answers in by_item.values():
        won = winner([row.key for row in answers if row.key is not None])
        if won is None:
            everything.append(0.0)
            continue
        score = mean(SCORERS[scorer](row.answer or "", row.gold) for row in answers if row.key == won) or 0.0
        everything.append(score)
        resolved.append(score)
    return {
        ("accuracy", "people_vote", scorer, "all"): mean(everything),
        ("accuracy", "people_vote", scorer, "answered"): mean(resolved),
    }


def weighted_vote_accuracies(rows: Sequence[Row], scorer: str) -> Figures:
    """As of the vote, a person weighing as much as the mean share of the others who say the same; of three or more."""
    answers = [row for row in rows if row.who == "person" and row.key is not None]
    people = {row.source for row in answers}
    if len(people) < 3:
        return {}
    agreeing: dict[str, list[float]] = {person: [] for person in people}
    for item in people_by_item(answers).values():
        for row in item:
            if len(item) > 1:
                agreeing[row.source].append(
                    sum(other.key == row.key for other in item if other is not row) / (len(item) - 1)
                )
    weights = {person: mean(shares) or 0.0 for person, shares in agreeing.items()}
    everything, resolved = [], []
    for asked in people_by_item(row for row in rows if row.gold).values():
        totals: dict[str, float] = defaultdict(float)
        for row in asked:
            if row.key is not None:
                totals[row.key] += weights[row.source]
        ranked = sorted(totals, key=lambda key: -totals[key])
        best, second = (totals[ranked[0]] if ranked else 0.0, totals[ranked[1]] if len(ranked) > 1 else 0.0)
        if best - second <= 1e-9 * sum(totals.values()):
            everything.append(0.0)
            continue
        score = mean(SCORERS[scorer](row.answer or "", row.gold) for row in asked if row.key == ranked[0]) or 0.0
        everything.append(score)
        resolved.append(score)
    return {
        ("accuracy", "people_vote_weighted", scorer, "all"): mean(everything),
        ("accuracy", "people_vote_weighted", scorer, "answered"): mean(resolved),
    }


def people_by_item(rows: Iterable[Row]) -> dict[str, list[Row]]:
    by_item: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row.who == "person":
            by_item[row.item].append(row)
    return by_item


def differences(rows: Sequence[Row], scorer: str) -> Figures:
    """Run minus mean person, each person on the items that the run has a score for as well."""
    score = SCORERS[scorer]
    figures: Figures = {}
    voices = voices_of(rows)
    people = voices.pop("people_mean", {})
    for name, repeats in voices.items():
        for denominator in ("all", "answered"):

            def value(row: Row, denominator: str = denominator) -> float | None:
                if row.answer is None:
                    return 0.0 if denominator == "all" else None
                return score(row.answer, row.gold)

            of_item: dict[str, list[float]] = defaultdict(list)
            for repeat in repeats.values():
                for row in repeat:
                    if (found := value(row)) is not None:
                        of_item[row.item].append(found)
            model = {item: sum(values) / len(values) for item, values in of_item.items()}
            figures["difference", name, scorer, denominator] = mean_of_means(
                [model[row.item] - found for row in person if row.item in model and (found := value(row)) is not None]
                for person in people.values()
            )
    return figures


def macro_f1(rows: Sequence[Row], labels: Sequence[str]) -> Figures:
    """The mean over labels of F1, over all declared and over those in gold; the mean over people or repeats of it."""
    figures: Figures = {}
    single = [row for row in rows if len(row.gold) == 1]
    voices = dict(voices_of(single))
    voices["people_vote"] = {
        "vote": [
            Row(item, answers[0].root, "person", "vote", 0, answers[0].gold, won, won)
            for item, answers in people_by_item(single).items()
            for won in [winner([row.key for row in answers if row.key is not None])]
        ]
    }
    for name, by_voice in voices.items():
        for denominator in ("all", "answered"):
            declared, in_gold = [], []
            for voice in by_voice.values():
                counted = [row for row in voice if denominator == "all" or row.key in labels]
                if not counted:
                    continue
                f1 = {}
                for label in labels:
                    hits = sum(row.key == label and label in row.gold for row in counted)
                    size = sum(row.key == label for row in counted) + sum(label in row.gold for row in counted)
                    f1[label] = 2 * hits / size if size else 0.0
                seen = {label for row in counted for label in row.gold}
                declared.append(sum(f1.values()) / len(labels))
                in_gold.append(sum(f1[label] for label in seen) / len(seen))
            figures["accuracy", name, "macro_f1_all_declared", denominator] = mean(declared)
            figures["accuracy", name, "macro_f1_gold_classes", denominator] = mean(in_gold)
    return figures


def agreement(rows: Sequence[Row], declared: Sequence[str], is_ordered: bool) -> Figures:
    """Coefficients over the items with two answers or more, with or without gold; None where undefined.

    declared: the labels in the order of the scale; none for a text field, which has no AC1 and no kappas of pairs.
    """
    votes = [[row.key for row in answers if row.key is not None] for answers in people_by_item(rows).values()]
    paired = [Counter(item) for item in votes if len(item) >= 2]
    figures: Figures = {}

    def put(measure: str, value: float | None) -> None:
        figures["agreement", "people", measure, ""] = value

    agreeing = [sum(n * (n - 1) for n in item.values()) for item in paired]
    pairs = [item.total() * (item.total() - 1) for item in paired]
    put("percent_agreement", mean(a / p for a, p in zip(agreeing, pairs, strict=True)))
    put("percent_agreement_pooled", sum(agreeing) / sum(pairs) if pairs else None)
    put("majority_agreement", mean(float(2 * max(item.values()) > item.total()) for item in paired))
    put("krippendorff_alpha_nominal", alpha(paired))
    rated = [Counter(item) for item in votes if item]
    put("fleiss_kappa", fleiss(paired, rated))
    if not declared:
        return figures
    put("gwet_ac1", gwet(paired, rated, declared, lost=lambda k: float(k > 0)))
    if is_ordered:
        put("krippendorff_alpha_ordinal", alpha_ordinal(paired, declared))
        put("gwet_ac2_ordinal", gwet(paired, rated, declared, lost=lambda k: k * (k + 1) / 2))
    tables = pair_tables(rows)
    places = {label: place for place, label in enumerate(declared)}
    if len({row.source for row in rows if row.who == "person" and row.key is not None}) > 2:
        put("light_kappa", mean(k for table in tables if (k := kappa(table, unequal)) is not None))
        return figures
    for table in tables:
        put("cohen_kappa", kappa(table, unequal))
        both = Counter(label for pair in table for label in pair)
        observed = sum(first == second for first, second in table) / len(table)
        by_chance = sum((n / both.total()) ** 2 for n in both.values())
        put("scott_pi", (observed - by_chance) / (1 - by_chance) if by_chance < 1 else None)
        if is_ordered:
            put("cohen_kappa_linear", kappa(table, lambda a, b: abs(places[a] - places[b])))
            put("cohen_kappa_quadratic", kappa(table, lambda a, b: (places[a] - places[b]) ** 2))
    return figures


Pairs = list[tuple[str, str]]


def pair_tables(rows: Sequence[Row]) -> list[Pairs]:
    """For every two people the labels of the items that both answered."""
    given: dict[str, dict[str, str]] = defaultdict(dict)
    for row in rows:
        if row.who == "person" and row.key is not None:
            given[row.source][row.item] = row.key
    people = sorted(given)
    tables = [
        [(given[a][item], given[b][item]) for item in given[a] if item in given[b]]
        for place, a in enumerate(people)
        for b in people[place + 1 :]
    ]
    return [table for table in tables if table]


def unequal(a: str, b: str) -> float:
    return float(a != b)


def kappa(table: Pairs, distance: Callable[[str, str], float]) -> float | None:
    """1 - observed / expected distance, each of the two with their own shares of the labels."""
    observed = sum(distance(a, b) for a, b in table) / len(table)
    expected = sum(distance(a, b) for a, _ in table for _, b in table) / len(table) ** 2
    return 1 - observed / expected if expected else None


def alpha(paired: Sequence[Counter[str]]) -> float | None:
    """1 - observed / expected disagreement, from the coincidence matrix."""
    totals: Counter[str] = Counter()
    disagreement = 0.0
    for item in paired:
        totals.update(item)
        m = item.total()
        disagreement += sum(n * (m - n) for n in item.values()) / (m - 1)
    n = totals.total()
    expected = sum(count * (n - count) for count in totals.values())
    return 1 - (n - 1) * disagreement / expected if expected else None


def fleiss(paired: Sequence[Counter[str]], rated: Sequence[Counter[str]]) -> float | None:
    """(observed - by chance) / (1 - by chance); label shares are means over items, those with one answer too."""
    observed = observed_agreement(paired)
    if observed is None:
        return None
    by_chance = sum(share**2 for share in label_shares(rated))
    return (observed - by_chance) / (1 - by_chance) if abs(1 - by_chance) > 1e-12 else None


def gwet(
    paired: Sequence[Counter[str]],
    rated: Sequence[Counter[str]],
    declared: Sequence[str],
    lost: Callable[[int], float],
) -> float | None:
    """(observed - by chance) / (1 - by chance), with a weight for every two labels.

    lost: what is lost by labels so many places apart, as a share of what is lost by the ends of the scale.
    """
    if not paired or len(declared) < 2:
        return None
    weight = {
        (a, b): 1 - lost(abs(i - j)) / lost(len(declared) - 1)
        for i, a in enumerate(declared)
        for j, b in enumerate(declared)
    }
    observed = sum(
        (sum(item[a] * item[b] * w for (a, b), w in weight.items()) - item.total())
        / (item.total() * (item.total() - 1))
        for item in paired
    ) / len(paired)
    spread = sum(share * (1 - share) for share in label_shares(rated))
    by_chance = sum(weight.values()) * spread / (len(declared) * (len(declared) - 1))
    return (observed - by_chance) / (1 - by_chance)


def alpha_ordinal(paired: Sequence[Counter[str]], declared: Sequence[str]) -> float | None:
    """As alpha, two labels being as far apart as there are answers between them, half of their own counted."""
    totals: Counter[str] = Counter()
    for item in paired:
        totals.update(item)
    n, below, rank = totals.total(), 0.0, {}
    for label in declared:
        rank[label] = below + totals[label] / 2
        below += totals[label]

    def spread(counts: Counter[str]) -> float:
        return sum(counts[a] * counts[b] * (rank[a] - rank[b]) ** 2 for a in counts for b in counts)

    expected = spread(totals) / (n - 1) if n > 1 else 0.0
    observed = sum(spread(item) / (item.total() - 1) for item in paired)
    return 1 - observed / expected if expected else None


def observed_agreement(paired: Sequence[Counter[str]]) -> float | None:
    """The mean over items of the share of answer pairs that agree."""
    return mean(sum(n * (n - 1) for n in item.values()) / (item.total() * (item.total() - 1)) for item in paired)


def label_shares(rated: Sequence[Counter[str]]) -> list[float]:
    """The mean over items of each label's share."""
    labels = {label for item in rated for label in item}
    return [sum(item[label] / item.total() for item in rated) / len(rated) for label in labels]


def mcnemar(rows: Sequence[Row], scorer: str) -> Figures:
    """Each run against the people, and each against each later one: who alone is right, and the exact p and mid-p.

    People are their one answer an item, or their vote; a missing answer is not right. Undefined where a run answered
    several times, where a score lies in between, and where items share a root.
    """
    score = SCORERS[scorer]
    root = {row.item: row.root for row in rows}
    sides: dict[str, dict[str, float]] = {"people": {}}
    for item, answers in people_by_item(row for row in rows if row.gold).items():
        won = winner([row.key for row in answers if row.key is not None])
        right = [score(row.answer, row.gold) for row in answers if row.answer is not None and row.key == won]
        sides["people"][item] = sum(right) / len(right) if right else 0.0
    several = set()
    for row in rows:
        if row.who == "model" and row.gold:
            several |= {row.source} if row.repeat else set()
            right_or_not = 0.0 if row.answer is None else score(row.answer, row.gold)
            sides.setdefault(row.source, {}).setdefault(row.item, right_or_not)
    runs = sorted((name for name in sides if name != "people"), key=lambda name: int(name.removeprefix("run_")))
    pairs = [(run, "people", f"{run}_people") for run in runs]
    pairs += [(one, other, f"{one}_{other}") for place, one in enumerate(runs) for other in runs[place + 1 :]]
    figures: Figures = {}
    for first, second, name in pairs:
        shared = [item for item in sides[first] if item in sides[second]]
        values = [(sides[first][item], sides[second][item]) for item in shared]
        is_testable = not several & {first, second} and len({root[item] for item in shared}) == len(shared)
        if not shared or not is_testable or any(value not in (0, 1) for pair in values for value in pair):
            figures["mcnemar", name, "mcnemar_exact", "all"] = None
            continue
        only_first, only_second = values.count((1, 0)), values.count((0, 1))
        n, k = only_first + only_second, min(only_first, only_second)
        chances = [math.comb(n, i) / 2**n for i in range(n + 1)]
        exact = min(1.0, 2 * sum(chances[: k + 1]))
        mid = 1.0 if not n else 1 - chances[k] / 2 if 2 * k == n else 2 * sum(chances[: k + 1]) - chances[k]
        for measure, value in (
            ("mcnemar_exact", (only_first - only_second) / len(shared)),
            ("mcnemar_p", exact),
            ("mcnemar_mid_p", mid),
            ("only_first_right", only_first / len(shared)),
            ("only_second_right", only_second / len(shared)),
        ):
            figures["mcnemar", name, measure, "all"] = value
    return figures


def account(path: Path) -> dict[tuple[str, str, str], int]:
    """{(row, step, rule): how many} of the answers of people and of each run: why they are left out, and what remains.

    What was left out with its item is in no row of the file.
    """
    found: Counter[tuple[str, str, str]] = Counter()
    with path.open(newline="", encoding="utf-8") as lines:
        for line in csv.DictReader(lines):
            row = "people" if line["who"] == "person" else f"run_{line['run']}"
            if line["standing"] not in ("counted", "no_value"):
                is_asked = line["standing"] == "not_asked"
                found[row, line["outcome"] if is_asked else line["standing"], line["rule"]] += 1
                continue
            found[row, "counted" if row == "people" else "asked", ""] += 1
            if not line["gold"]:
                is_own = line["gold_of_these_votes"] == "yes"
                found[row, "gold_of_these_votes" if is_own else "without_gold", ""] += 1
                continue
            found[row, "scored_all", ""] += 1
            found[row, "scored_answered" if line["answer_key"] else "no_answer", ""] += 1
    return dict(found)


def audit(path: Path, *, by_label: bool) -> dict[tuple[str, str, str], float | None]:
    """{(reviewer, "mean" or "consensus"; "audit_sampled" or "audit_population"; denominator): share of right labels}.

    From audit-verdicts-*.csv. by_label: the audited label is one of the strata. "all": unsure is not right. Consensus
    is of labels with all verdicts: right where all say so, decided where all say the same that is not unsure.
    """
    with path.open(newline="", encoding="utf-8") as lines:
        drawn = [line for line in csv.DictReader(lines) if line["left_out"] == "0"]
    names = [name.removeprefix("verdict.") for name in drawn[0] if name.startswith("verdict.")]
    keys = [name for name in drawn[0] if name.startswith("stratum.")] + (["label"] if by_label else [])
    sizes = {tuple(line[key] for key in keys): int(line["in_population"]) for line in drawn}

    def score(line: dict[str, str], row: str, denominator: str) -> float | None:
        said = [line[f"verdict.{name}"] for name in ([row] if row in names else names) if line[f"verdict.{name}"]]
        if row == "consensus":
            if len(said) < len(names) or (denominator == "decided" and (len(set(said)) > 1 or "unsure" in said)):
                return None
            return float(set(said) == {"right"})
        return mean(float(one == "right") for one in said if denominator == "all" or one != "unsure")

    found: dict[tuple[str, str, str], float | None] = {}
    for row in (*names, "mean", "consensus"):
        for denominator in ("all", "decided"):
            strata: dict[tuple[str, ...], list[float]] = {stratum: [] for stratum in sizes}
            for line in drawn:
                if (value := score(line, row, denominator)) is not None:
                    strata[tuple(line[key] for key in keys)].append(value)
            found[row, "audit_sampled", denominator] = mean(value for values in strata.values() for value in values)
            shares = [(sizes[stratum], mean(values)) for stratum, values in strata.items()]
            weighted = [n * share for n, share in shares if share is not None]
            is_whole = len(weighted) == len(shares)
            found[row, "audit_population", denominator] = sum(weighted) / sum(sizes.values()) if is_whole else None
    return found


def judged(path: Path) -> dict[tuple[str, str], float | None]:
    """From judgements-*.csv, {(run, denominator): share judged right}. Where the better of two was asked, {("A against
    B", "win_rate"): A's share, a tie one half}, with runs in the order of their names.
    """
    with path.open(newline="", encoding="utf-8") as lines:
        drawn = list(csv.DictReader(lines))
    found: dict[tuple[str, str], float | None] = {}
    if "run" in drawn[0]:
        for run in {line["run"] for line in drawn}:
            said = [line["judgement"] for line in drawn if line["run"] == run]
            nothing = [line for line in drawn if line["run"] == run and line["status"] == "nothing_to_judge"]
            values = [float(one == "right") for one in said if one in ("right", "wrong")]
            found[run, "answered"] = mean(values)
            found[run, "all"] = mean([*values, *(0.0 for _ in nothing)])
        return found
    for pair in {tuple(sorted((line["first_run"], line["second_run"]))) for line in drawn}:
        values = []
        for line in drawn:
            if tuple(sorted((line["first_run"], line["second_run"]))) == pair and line["judgement"]:
                if line["judgement"] in ("tie", "both_bad"):
                    values.append(0.5)
                elif line["judgement"] in ("first", "second"):
                    values.append(float((line["judgement"] == "first") == (line["first_run"] == pair[0])))
        found[f"{pair[0]} against {pair[1]}", "win_rate"] = mean(values)
    return found


def dawid_skene(rows: Sequence[Row], declared: Sequence[str]) -> dict[str, str | None]:
    """The most probable label of each item: expectation and maximisation from the vote shares."""
    answers = [(row.item, row.source, row.key) for row in rows if row.who == "person" and row.key is not None]
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for item, _, label in answers:
        votes[item][label] += 1
    belief = {item: {k: count[k] / count.total() for k in declared} for item, count in votes.items()}
    for _ in range(300):
        prior = {k: sum(b[k] for b in belief.values()) / len(belief) for k in declared}
        met: dict[tuple[str, str], float] = defaultdict(float)
        said: dict[tuple[str, str, str], float] = defaultdict(float)
        for item, person, label in answers:
            for k in declared:
                met[person, k] += belief[item][k]
                said[person, k, label] += belief[item][k]
        joint = {item: dict(prior) for item in belief}
        for item, person, label in answers:
            for k in declared:
                joint[item][k] *= said[person, k, label] / met[person, k] if met[person, k] else 0.0
        belief = {
            item: {k: p / sum(by_label.values()) for k, p in by_label.items()} for item, by_label in joint.items()
        }
    found: dict[str, str | None] = {}
    for item, by_label in belief.items():
        best, second = sorted(by_label.values(), reverse=True)[:2]
        found[item] = max(declared, key=lambda k: by_label[k]) if best - second > 1e-9 else None
    return found


def dawid_skene_accuracies(rows: Sequence[Row], scorer: str, declared: Sequence[str]) -> Figures:
    """As of the vote: an item that nothing was found for is not right, or left out."""
    labels = dawid_skene(rows, declared)
    everything, decided = [], []
    for item, answers in people_by_item(row for row in rows if row.gold).items():
        label = labels.get(item)
        if label is None:
            everything.append(0.0)
        elif any(row.key == label for row in answers):
            score = SCORERS[scorer](label, answers[0].gold)
            everything.append(score)
            decided.append(score)
    return {
        ("accuracy", "people_dawid_skene", scorer, "all"): mean(everything),
        ("accuracy", "people_dawid_skene", scorer, "answered"): mean(decided),
    }


def recompute(path: Path, *, scorers: Sequence[str], labels: Sequence[str] = (), is_ordered: bool = False) -> Figures:
    rows = read(path)
    figures: Figures = agreement(rows, labels, is_ordered) | mcnemar(rows, scorers[0])
    for scorer in scorers:
        figures |= accuracies(rows, scorer) | differences(rows, scorer)
        figures |= dawid_skene_accuracies(rows, scorer, labels) if labels else {}
    return figures | (macro_f1(rows, labels) if labels else {})


if __name__ == "__main__":
    declared = sys.argv[2].split(",") if len(sys.argv) > 2 else []
    chosen = ["label_accuracy"] if declared else ["exact_match", "token_f1"]
    all_of_it = recompute(Path(sys.argv[1]), scorers=chosen, labels=declared, is_ordered="ordered" in sys.argv[3:])
    for place, found in sorted(all_of_it.items()):
        print(*place, "undefined" if found is None else f"{found:.12g}", sep="\t")
