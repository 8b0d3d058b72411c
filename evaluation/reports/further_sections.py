"""The sections of a report that are written from sheets alone: accounts of n, audits, judges, further statistics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from annotate.wording import _, ngettext
from evaluation.reports import words
from evaluation.reports.sheets import (
    COEFFICIENT,
    P_VALUE,
    SIGNED,
    WORDS,
    Cell,
    Figures,
    Line,
    Section,
    Sheet,
    adjusted,
    by_column,
    coefficients_sheet,
    counted,
    figures_of,
    grouped,
    methods,
    shown,
)


def further_sections(figures: Figures, manifest: Mapping[str, Any], *, primary_scorer: str) -> list[Section]:
    """The sections that are written from sheets alone, without those that have nothing to tell."""
    found = [
        _account(figures),
        _confusion(figures),
        *_audits(figures, manifest),
        *_judged(figures, manifest),
        _mcnemar(figures),
        _strata_compared(figures),
        _planning(figures),
        _metrics(figures, primary_scorer),
        _spread(figures, primary_scorer),
    ]
    return [section for section in found if section is not None]


# Where each n comes from

STEPS = {
    "in_set": _("items of the set"),
    "units": _("items in the report"),
    "finished": _("answered or skipped"),
    "planned": _("planned to be asked"),
    "counted": _("counted"),
    "asked": _("asked"),
    "given": _("with an answer"),
    "in_pairs": _("beside another answer to the item; the items are the n of agreement"),
    "shared": _("asked of both: items of the difference, “all”"),
    "scored_all": _("with gold: n of “all”"),
    "scored_answered": _("with a score: n of “answered only”"),
    "item_excluded": _("with the item that was left out"),
    "person_excluded": _("of a person left out"),
    "answer_excluded": _("a single answer left out"),
    "excluded": _("left out by a decision lifted since"),
    "without_gold": _("to items without gold"),
    "gold_of_these_votes": _("to items whose gold is what these people’s votes came to"),
    "no_answer": _("without an answer"),
    "unscorable": _("that the score cannot score"),
    "alone": _("the only answer to its item"),
    "asked_neither": _("asked of neither"),
    "asked_model_only": _("asked of the model only"),
    "asked_people_only": _("asked of people only"),
    "unanswered_side": _("without an answer on one side"),
    "shared_answered": _("answered by both: items of the difference, “answered only”"),
    **{name: said for name, said in words.LEFT_OUT.items() if name != "excluded"},
}
_REMAINS = frozenset({"in_set", "units", "finished", "planned", "counted", "asked", "given", "in_pairs", "shared"}) | {
    "scored_all",
    "scored_answered",
    "shared_answered",
}
_SCOPES = {
    "item_excluded": _("item"),
    "person_excluded": _("person"),
    "answer_excluded": _("answer"),
}


def _account(figures: Figures) -> Section | None:
    found = figures_of(figures, "account")
    if not found:
        return None
    sheets = [*_rules(found)]
    for row, steps in by_column(found, "row").items():
        sheets.append(
            Sheet(
                name=f"account-{row}",
                # One text, for a page to find its parts by: the label was stored.
                title=str.__str__(_("From everything to n: %(what)s", what=steps[0]["label"])),
                head=[_("Step"), _("Left out"), _("Remain"), _("Items"), _("People")],
                lines=[_step(step) for step in steps],
            )
        )
    n_rules = len({(f["rule"], f["decided_on"], f["measure"]) for f in found if f["rule"]})
    return Section(
        name="account",
        title=_("Where each n comes from"),
        sheets=sheets,
        in_short=ngettext("%(n)s decision to leave out", "%(n)s decisions to leave out", n_rules, n=n_rules),
        intro=_(
            "What several reasons leave out stands with the first: the item’s, the person’s, then the answer’s own; of "
            "several decisions the oldest. Dates are days in the project’s time zone."
        ),
    )


def _step(step: Mapping[str, Any]) -> Line:
    remains = step["measure"] in _REMAINS
    decided = ", ".join(part for part in (step["rule"], step["decided_on"]) if part)
    return Line(
        label=STEPS.get(step["measure"], step["measure"].replace("_", " ")),
        soft=decided,
        is_strong=remains,
        is_own=True,
        cells=[
            counted(None if remains else step["count"]),
            counted(step["n"] if remains else None),
            counted(step["n_items"] or None),
            counted(step["n_people"] or None),
        ],
    )


def _rules(account: Figures) -> Iterator[Sheet]:
    """What each rule took from the items, the people's answers and each run, in one table; none without a decision."""
    decided = [figure for figure in account if figure["measure"] in _SCOPES and figure["rule"]]
    if not decided:
        return
    rows = {row: steps[0]["label"] for row, steps in by_column(account, "row").items() if row.startswith("run_")}
    lines = []
    for (measure, rule, day), found in grouped(decided, ("measure", "rule", "decided_on")).items():
        of = {figure["row"]: figure for figure in found}
        items, people = of.get("items"), of.get("people")
        lines.append(
            Line(
                label=rule,
                is_own=True,
                cells=[
                    Cell(WORDS, text=_SCOPES[measure]),
                    Cell(WORDS, text=day),
                    counted(items["count"] if items else people["n_items"] if people else 0),
                    counted(people["n_people"] if people else 0),
                    counted(people["count"] if people else 0),
                    *(counted(of[row]["count"] if row in of else 0) for row in rows),
                ],
            )
        )
    yield Sheet(
        name="rules",
        title=_("What each rule left out"),
        head=[
            _("Rule, or reason"),
            _("Leaves out"),
            _("Decided on"),
            _("Items"),
            _("People"),
            _("Answers of people"),
            *rows.values(),
        ],
        lines=lines,
    )


# Which labels are taken for which


def _confusion(figures: Figures) -> Section | None:
    met, given = figures_of(figures, "confusion"), figures_of(figures, "person_confusion")
    if not met:
        return None
    sheets = [
        _square(
            "confusion",
            _("Labels that met on an item"),
            by_column(met, "label"),
            [_("Of the answers beside one label, in %, weighing each item by its answers. The diagonal is agreement.")],
        )
    ]
    for number, (person, found) in enumerate(by_column(given, "label").items(), start=1):
        sheets.append(
            _square(
                f"confusion-person-{number}",
                str.__str__(_("What %(person)s gave", person=person)),
                by_column(found, "stratum"),
                [
                    _(
                        "By row: of the items whose true label it is as Dawid and Skene’s model estimates, what this "
                        "person gave, in %; answers are the expected number of them. The model can only be right where "
                        "most people are."
                    )
                ],
            )
        )
    return Section("confusion", _("Which labels are taken for which"), sheets, in_short=_("exploratory"))


def _square(name: str, title: str, rows: Mapping[str, Figures], notes: list[str]) -> Sheet:
    labels = [figure["stratum_value"] for figure in next(iter(rows.values()))]
    return Sheet(
        name=name,
        title=title,
        head=[_("Label"), _("Answers"), *labels],
        lines=[
            Line(label, [counted(found[0]["n"]), *(shown(figure) for figure in found)], is_own=True)
            for label, found in rows.items()
        ],
        notes=notes,
    )


# Audits and judges

REPAIRS = {
    "repaired": _("repaired, to a label that a reviewer had put there"),
    "changed": _("changed, to what no reviewer had said"),
    "taken_back": _("the label was taken back"),
    "excluded": _("the item is left out of every figure"),
    "as_it_was_waiting": _("not repaired: waits for an adjudicator"),
    "as_it_was_decided": _("not repaired: adjudicated, and as it was"),
    "as_it_was": _("not repaired: as it was"),
}
MAX_ERRORS_SHOWN = 200


def _audits(figures: Figures, manifest: Mapping[str, Any]) -> Iterator[Section]:
    for audit in manifest.get("audits", ()):
        found = figures_of(figures, "audit", stage=audit["stage"])
        parts = figures_of(figures, "audit_stratum", stage=audit["stage"])
        slug = audit["stage"]
        sheets = [
            Sheet(
                name=f"audit-{slug}",
                title=_("Labels that are right"),
                head=[
                    _("Who"),
                    _("Sample, all, %"),
                    _("Population, all, %"),
                    _("Labels"),
                    _("Sample, decided, %"),
                    _("Population, decided, %"),
                    _("Labels"),
                ],
                lines=[_audit_line(rows) for rows in by_column(found, "row").values()],
                notes=[
                    _(
                        "“All” counts unsure as not right, “decided” leaves it out. Population: each stratum weighs as "
                        "its share of the %(n)s labels.",
                        n=f"{audit['n_population']:,}",
                    ),
                    methods(found),
                ],
            ),
            Sheet(
                name=f"audit-strata-{slug}",
                title=_("By stratum: %(strata)s", strata=", ".join(audit["strata"])),
                head=[_("Stratum"), _("Drawn"), _("Of"), _("Mean, %"), _("Consensus, %"), _("Labels")],
                lines=[_stratum_line(value, rows) for value, rows in by_column(parts, "stratum_value").items()],
                notes=[_("Each label weighs the same within its stratum; unsure counts as not right.")],
            ),
            coefficients_sheet(
                f"audit-agreement-{slug}",
                _("Agreement of the reviewers"),
                figures_of(figures, "audit_agreement", stage=slug),
                _("Labels"),
            ),
            Sheet(
                name=f"audit-errors-{slug}",
                title=_("Labels that were called wrong, and what became of them"),
                head=[_("Since then"), _("Labels"), _("Share, %")],
                lines=[
                    Line(REPAIRS.get(figure["measure"], figure["measure"]), [counted(figure["count"]), shown(figure)])
                    for figure in figures_of(figures, "audit_errors", stage=slug)
                    if figure["count"] or figure["measure"] in ("repaired", "as_it_was")
                ],
            ),
            _error_list(audit),
        ]
        yield Section(
            name=f"audit-{slug}",
            title=_("Audit: %(title)s", title=audit["title"]),
            sheets=[sheet for sheet in sheets if sheet is not None and sheet.lines],
            in_short=_(
                "%(n_drawn)s of %(n_population)s labels, %(n_errors)s called wrong, %(n_repaired)s repaired",
                n_drawn=f"{audit['n_drawn']:,}",
                n_population=f"{audit['n_population']:,}",
                n_errors=f"{audit['n_errors']:,}",
                n_repaired=f"{audit['n_repaired']:,}",
            ),
            intro=_audit_intro(audit),
        )


def _audit_intro(audit: Mapping[str, Any]) -> str:
    what = audit["audited"]
    about = (
        _("What people decided in %(stage)s.", stage=what["decisions_of"])
        if "decisions_of" in what
        else _("Gold labels of the field %(field)s.", field=audit["field"])
    )
    return _(
        "%(about)s Up to %(k)s of each stratum, seed %(seed)s, frozen when drawn; reviewers are blind to each other. "
        "%(n_waiting)s wait for a verdict, %(n_gone)s were left out before they had theirs.",
        about=about,
        k=audit["k"],
        seed=audit["seed"],
        n_waiting=f"{audit['n_waiting']:,}",
        n_gone=f"{audit['n_gone']:,}",
    )


def _audit_line(found: Figures) -> Line:
    def one(measure: str, denominator: str) -> Mapping[str, Any] | None:
        return next((f for f in found if f["measure"] == measure and f["denominator"] == denominator), None)

    cells: list[Cell] = []
    for denominator in ("all", "decided"):
        sampled = one("audit_sampled", denominator)
        cells += [shown(sampled), shown(one("audit_population", denominator)), counted(sampled["n"] if sampled else 0)]
    return Line(_label(found[0]), cells, who="people")


def _stratum_line(value: str, found: Figures) -> Line:
    of = {figure["row"]: figure for figure in found}
    drawn, mean = of["drawn"], of.get("mean")
    cells = [counted(drawn["count"]), counted(drawn["n"]), shown(mean), shown(of.get("consensus"))]
    return Line(value, [*cells, counted(mean["n"] if mean else 0)], is_own=True)


def _error_list(audit: Mapping[str, Any]) -> Sheet | None:
    if not audit["errors"]:
        return None
    shown = audit["errors"][:MAX_ERRORS_SHOWN]
    lines = []
    for error in shown:
        wrong = [said for said in error["verdicts"] if said["verdict"] == "wrong"]
        corrections = dict.fromkeys(said["label"] for said in wrong if said["label"])
        lines.append(
            Line(
                label=error["item"],
                is_own=True,
                soft=", ".join(error["stratum"]),
                cells=[
                    Cell(WORDS, text=" / ".join(error["label"])),
                    Cell(WORDS, text=f"{len(wrong)} / {len(error['verdicts'])}"),
                    Cell(WORDS, text=" / ".join(corrections)),
                    Cell(WORDS, text=REPAIRS.get(error["state"], error["state"])),
                ],
            )
        )
    more = len(audit["errors"]) - len(shown)
    return Sheet(
        name=f"audit-list-{audit['stage']}",
        title=_("Each of them"),
        head=[_("Item"), _("Label"), _("Wrong, of verdicts"), _("In its place"), _("Since then")],
        lines=lines,
        notes=[_("%(n)s more in audit-errors.csv.", n=f"{more:,}")] if more else [],
    )


JUDGED = {
    "right": _("right"),
    "wrong": _("wrong"),
    "unsure": _("unsure"),
    "wins": _("wins"),
    "ties": _("ties"),
    "losses": _("losses"),
    "both_bad": _("both bad"),
    **words.NO_ANSWER,
    **words.NOT_JUDGED,
}


def _judged(figures: Figures, manifest: Mapping[str, Any]) -> Iterator[Section]:
    for draw in manifest.get("judged", ()):
        slug = draw["stage"]
        sheets = [
            _judged_right(slug, figures_of(figures, "judged", stage=slug)),
            _judged_pairs(slug, figures_of(figures, "judged_pair", stage=slug)),
            _judged_counts(slug, figures_of(figures, "judged_counts", stage=slug)),
            coefficients_sheet(
                f"judged-agreement-{slug}",
                _("Agreement among judges"),
                figures_of(figures, "judged_agreement", stage=slug),
                _("Candidates"),
            ),
            _correlations(
                f"judged-metrics-{slug}", _("Metrics against judges"), figures_of(figures, "judged_metrics", stage=slug)
            ),
        ]
        yield Section(
            name=f"judged-{slug}",
            title=_("Judged by people: %(title)s", title=draw["title"]),
            sheets=[sheet for sheet in sheets if sheet.lines],
            in_short=_("%(n)s drawn, %(judges)s judges", n=f"{draw['n_drawn']:,}", judges=draw["n_judges"]),
            intro=_(
                "A seeded sample (seed %(seed)s) of what these runs said, judged blind to who said it. Most judges, or "
                "an adjudicator, decide; unsure and undecided are left out. %(n_waiting)s judgements are still asked "
                "for.",
                seed=draw["seed"],
                n_waiting=f"{draw['n_judgements_waiting']:,}",
            ),
        )


def _judged_right(slug: str, found: Figures) -> Sheet:
    lines = []
    for rows in by_column(found, "row").values():
        of = {figure["denominator"]: figure for figure in rows}
        judged, drawn = of["answered"], of["all"]
        cells = [shown(judged), counted(judged["n"]), shown(drawn), counted(drawn["n"])]
        lines.append(Line(rows[0]["label"], cells, who="model"))
    return Sheet(
        name=f"judged-right-{slug}",
        title=_("Judged right"),
        head=[_("Run"), _("Of those judged, %"), _("n"), _("Nothing to judge as not right, %"), _("n")],
        lines=lines,
        notes=[
            _("The second share counts what left nothing to judge as not right; what is left out is in neither."),
            methods(found),
        ],
    )


def _judged_pairs(slug: str, found: Figures) -> Sheet:
    lines = []
    for rows in by_column(found, "row").values():
        of = {figure["measure"]: figure for figure in rows}
        difference = of["wins_minus_losses"]
        lines.append(
            Line(
                difference["label"],
                [
                    shown(of.get("win_rate")),
                    shown(difference, SIGNED),
                    counted(difference["n"]),
                    Cell(P_VALUE, number=difference["p"]),
                    *adjusted(difference),
                ],
                who="model",
            )
        )
    return Sheet(
        name=f"judged-pairs-{slug}",
        title=_("The better of two"),
        head=[_("Runs"), _("Win rate, %"), _("Wins minus losses, points"), _("n"), "p", _("p, adjusted")],
        lines=lines,
        notes=[
            _(
                "A tie counts one half for both, also where both are bad. p: exact sign test, or signs swapped root by "
                "root where items share roots; adjusted by Holm over the pairs of this draw."
            ),
            methods(found),
        ],
    )


def _judged_counts(slug: str, found: Figures) -> Sheet:
    measures = list(dict.fromkeys(figure["measure"] for figure in found))
    lines = []
    for rows in by_column(found, "row").values():
        of = {figure["measure"]: figure["count"] for figure in rows}
        lines.append(
            Line(rows[0]["label"], [counted(rows[0]["n"]), *(counted(of.get(m, 0)) for m in measures)], who="model")
        )
    return Sheet(
        name=f"judged-counts-{slug}",
        title=_("What came of everything drawn"),
        head=[_("Run"), _("Drawn"), *(JUDGED.get(measure, measure.replace("_", " ")) for measure in measures)],
        lines=lines,
    )


# Statistics between runs and measures


def _mcnemar(figures: Figures) -> Section | None:
    found = figures_of(figures, "mcnemar")
    if not found:
        return None
    lines = []
    for rows in by_column(found, "row").values():
        of = {figure["measure"]: figure for figure in rows}
        test = of["mcnemar_exact"]
        first, second, mid = of.get("only_first_right"), of.get("only_second_right"), of.get("mcnemar_mid_p")
        lines.append(
            Line(
                test["label"],
                [
                    counted(test["n"]),
                    counted(first["count"] if first else None),
                    counted(second["count"] if second else None),
                    shown(test, SIGNED),
                    Cell(P_VALUE, number=test["p"]),
                    Cell(P_VALUE, number=mid["value"] if mid else None),
                    *adjusted(test),
                ],
                soft=test["note"],
                who="model",
            )
        )
    n_tested = sum(figure["p"] is not None for figure in found)
    sheet = Sheet(
        name="mcnemar",
        title=_("McNemar’s test of right and wrong"),
        head=[
            _("Pair"),
            _("Items"),
            _("Only the first right"),
            _("Only the second right"),
            _("Points"),
            _("p, exact"),
            _("p, mid"),
            _("p, adjusted"),
        ],
        lines=lines,
        notes=[
            _(
                "Points: only the first right minus only the second. Exact p, two-sided; adjusted by "
                "Benjamini-Hochberg over the tests of this table, which ask again what "
                "the permutation tests ask. Exploratory. A missing answer counts as not right."
            ),
        ],
    )
    return Section(
        "mcnemar", sheet.title, [sheet], in_short=ngettext("%(n)s test", "%(n)s tests", n_tested, n=n_tested)
    )


def _strata_compared(figures: Figures) -> Section | None:
    found = figures_of(figures, "strata_compared")
    if not found:
        return None
    lines = [
        Line(
            figure["label"],
            [
                Cell(WORDS, text=f"{figure['stratum']}: {figure['stratum_value']}"),
                counted(figure["n"]),
                counted(figure["n_items"] - figure["n"]),
                shown(figure, SIGNED),
                Cell(P_VALUE, number=figure["p"]),
                *adjusted(figure),
            ],
            who=figure["who"],
        )
        for figure in found
    ]
    sheet = Sheet(
        name="strata-compared",
        title=_("Strata compared"),
        head=[_("Who"), _("Stratum"), _("Items"), _("Other items"), _("Points"), "p", _("p, adjusted")],
        lines=lines,
        notes=[
            _(
                "Points: right on the stratum’s items minus right on all others; two independent proportions, pooled z "
                "test, adjusted by Benjamini-Hochberg over this table. Exploratory. A missing answer is not right."
            ),
            methods(found),
        ],
    )
    return Section("strata-compared", sheet.title, [sheet], in_short=_("exploratory"))


def _planning(figures: Figures) -> Section | None:
    found = figures_of(figures, "planning")
    needed = {f"{figure['value']:g}": figure for figure in found if figure["measure"] == "items_needed"}
    powers = {figure["stratum_value"]: figure for figure in found if figure["measure"] == "power"}
    if not powers:
        return None
    pilot = found[0]
    sheet = Sheet(
        name="planning",
        title=_("This study as a pilot of the next"),
        head=[_("True difference, points"), _("Power of these items, %"), _("Items for a power of 80 %")],
        lines=[
            Line(f"{float(difference) * 100:g}", [shown(power), counted(needed[difference]["count"])])
            for difference, power in powers.items()
        ],
        notes=[
            _(
                "Mean person against %(run)s: SD of item differences %(sd)s over %(n)s items, design effect %(deff)s. "
                "Two-sided, level 5 %%, normal approximation.",
                run=pilot["label"],
                sd=f"{pilot['sd']:.2f}",
                n=f"{pilot['n']:,}",
                deff=f"{pilot['value']:.2f}",
            )
        ],
    )
    return Section("planning", sheet.title, [sheet])


def _metrics(figures: Figures, primary_scorer: str) -> Section | None:
    found = figures_of(figures, "metrics")
    if not found:
        return None
    sheet = _correlations(
        "metrics", _("Other measures against %(measure)s", measure=words.measure_words(primary_scorer)), found
    )
    return Section(
        "metrics",
        sheet.title,
        [sheet],
        in_short=_("correlations, exploratory"),
        intro=_(
            "Answers: every scored answer of people and runs is a point. Systems: the mean of each person and of each "
            "repeat of a run. The second can be high where the first is not."
        ),
    )


def _spread(figures: Figures, primary_scorer: str) -> Section | None:
    prompts, grid = figures_of(figures, "prompts"), figures_of(figures, "grid")
    sheets = []
    if prompts:
        lines = []
        for rows in by_column(prompts, "row").values():
            of = {figure["measure"]: figure for figure in rows}
            mean, low, high = of["mean_over_runs"], of.get("lowest_run"), of.get("highest_run")
            lines.append(
                Line(
                    mean["label"],
                    [
                        counted(mean["n"]),
                        counted(mean["n_items"]),
                        shown(mean),
                        shown(of.get("sd_over_runs")),
                        shown(low),
                        shown(high),
                    ],
                    soft=mean["note"],
                    who="model",
                )
            )
        sheets.append(
            Sheet(
                name="prompts",
                title=_("Runs of the same model"),
                head=[_("Model"), _("Runs"), _("Items"), _("Mean, %"), _("SD"), _("Lowest"), _("Highest")],
                lines=lines,
                notes=[_("On the items that all of a model’s runs were asked; each run weighs the same.")],
            )
        )
    if grid:
        sheets.append(_grid(grid))
    if not sheets:
        return None
    return Section(
        "spread",
        _("Spread of %(measure)s", measure=words.measure_words(primary_scorer)),
        sheets,
        in_short=_("exploratory"),
    )


def _grid(found: Figures) -> Sheet:
    of = {(figure["stratum_value"], figure["row"]): figure for figure in found}
    rows = {figure["row"]: figure["label"] for figure in found}
    cells = dict.fromkeys(figure["stratum_value"] for figure in found if figure["stratum_value"])
    lines = [
        Line(
            cell,
            is_own=True,
            cells=[counted(max(of[cell, row]["n"] for row in rows)), *(shown(of[cell, row]) for row in rows)],
        )
        for cell in cells
    ]
    spread = {figure["row"]: figure for figure in found if figure["measure"] == "sd_over_cells"}
    lines.append(
        Line(
            _("SD over cells"),
            [counted(len(cells)), *(shown(spread[row]) for row in rows)],
            is_strong=True,
        )
    )
    return Sheet(
        name="grid",
        title=_("Over the grid of %(strata)s", strata=found[0]["stratum"]),
        head=[str(found[0]["stratum"]), _("Items"), *rows.values()],
        lines=lines,
        notes=[
            _("The mean of a cell’s items, in %; each cell weighs the same in the SD, which divides by cells − 1."),
            str(spread[next(iter(rows))]["note"]),
        ],
    )


def _correlations(name: str, title: str, found: Figures) -> Sheet:
    lines = []
    for (row, level), rows in grouped(found, ("row", "denominator")).items():
        of = {figure["measure"]: figure for figure in rows}
        first = rows[0]
        lines.append(
            Line(
                words.measure_words(row),
                [
                    Cell(WORDS, text=_LEVELS.get(level, level)),
                    *(shown(of.get(measure), COEFFICIENT) for measure in ("pearson", "spearman", "kendall_tau_b")),
                    counted(first["n"]),
                    counted(first["n_left_out"]),
                ],
                soft=first["note"],
            )
        )
    return Sheet(
        name=name,
        title=title,
        head=[
            _("Measure"),
            _("Points are"),
            *(words.measure_words(measure) for measure in ("pearson", "spearman", "kendall_tau_b")),
            _("n"),
            _("Left out"),
        ],
        lines=lines,
        notes=[_("Left out: only one of the two has a number. Systems are few and have no interval."), methods(found)],
    )


_LEVELS = {"answers": _("answers"), "items": _("answers"), "systems": _("systems")}


_LABELS = {"mean": _("Mean of the reviewers"), "consensus": _("Consensus of the reviewers")}


def _label(figure: Mapping[str, Any]) -> str:
    return str(_LABELS.get(figure["row"], figure["label"]))
