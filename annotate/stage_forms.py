"""The shape of what only some stages have: their options, what follows from their answers, a draw for a cross-check."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from annotate.models import Feed, ItemSet, Stage
from annotate.project_forms import LinesField, PlainForm
from annotate.services import auditing
from annotate.services.auditing import Labels
from annotate.services.cross_checking import MAX_DRAWN
from annotate.stage_kinds import KINDS
from annotate.stage_options import (
    POPULAR_KEYS,
    AdjudicateOptions,
    AuthorOptions,
    ReviewOptions,
    RewriteOptions,
    read_options,
)
from annotate.wording import _

MAX_SEED = 2**53 - 1


class PairsField(LinesField):
    """Pairs, one a line, as one | other."""

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(" | ".join(pair) for pair in value) if isinstance(value, list | tuple) else value

    def clean(self, value: Any) -> list[Any]:
        pairs = []
        for line in super().clean(value):
            first, bar, second = line.partition("|")
            if not bar or not first.strip() or not second.strip():
                raise ValidationError(
                    _("Write %(line)s as what the source says | value of the label.", line=repr(line))
                )
            pairs.append([first.strip(), second.strip()])
        return pairs


class OptionsForm(PlainForm):
    """Of one kind of stage. Field by field as annotate/stage_options.py has them; empty means the default."""

    def options(self) -> dict[str, Any]:
        """As a stage stores them; for a valid form only."""
        return {name: value for name, value in self.cleaned_data.items() if value not in (None, "", [])}


class RewriteOptionsForm(OptionsForm):
    claim_key = forms.CharField(
        required=False,
        max_length=200,
        label=_("The claim stands under"),
        help_text=_("A content key. Empty: the first that is shown. A question that repeats the claim is refused."),
    )
    source_label_key = forms.CharField(
        required=False,
        max_length=200,
        label=_("Show what the source says of it"),
        help_text=_("The content key of the source's own label, such as verdict. Empty: writers do not see it."),
    )
    source_labels = PairsField(
        required=False,
        label=_("In the words of your labels"),
        help_text=_("One a line: what the source says | value of your label, such as SUPPORTS | yes."),
    )


class AuthorOptionsForm(OptionsForm):
    hidden_keys = LinesField(
        required=False,
        label=_("Rows that authors do not see"),
        help_text=_(
            "Keys of tables, one a line: what everybody asks about, such as %(popular_keys)s. Whoever "
            "answers the questions sees the whole table.",
            popular_keys=", ".join(POPULAR_KEYS[:3]),
        ),
    )
    hidden_sections = LinesField(
        required=False,
        label=_("Sections that authors do not see"),
        help_text=_("Headings, one a line, such as Olympics."),
    )
    is_shuffled = forms.BooleanField(
        required=False,
        label=_("Authors see sections and rows in an order of their own, which is stored"),
        help_text=_(
            "Whoever reads from the top asks about the top: another order for each author spreads the questions."
        ),
    )
    domain = forms.CharField(
        required=False,
        max_length=200,
        label=_("Batches mix"),
        help_text=_(
            "A stratum, such as domain: items added from now on stand in the queue in batches that mix "
            "its values. Empty: in the order of their set."
        ),
    )
    n_domains = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=100,
        initial=12,
        label=_("Domains of one batch"),
        help_text=_("From so many different values of the stratum a batch is made, as far as there are so many."),
    )
    per_domain = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=100,
        initial=3,
        label=_("Items of one domain in a batch, at most"),
        help_text=_("So that no author meets one kind of table again and again."),
    )


class AdjudicateOptionsForm(OptionsForm):
    makes_gold = forms.BooleanField(
        required=False,
        label=_("Adjudicators may accept what they decide as the gold label"),
        help_text=_(
            "Unticked, only admins may, on the item's page. Each new gold label is a new version with its origin."
        ),
    )


class ReviewOptionsForm(OptionsForm):
    shows_votes = forms.BooleanField(
        required=False,
        label=_("Reviewers see the answers that people gave"),
        help_text=_("Without names. Unticked, they judge the item and its proposed gold label alone."),
    )


OPTION_FORMS: dict[str, type[OptionsForm]] = {
    RewriteOptions.kind: RewriteOptionsForm,
    AuthorOptions.kind: AuthorOptionsForm,
    AdjudicateOptions.kind: AdjudicateOptionsForm,
    ReviewOptions.kind: ReviewOptionsForm,
}


def options_form(stage: Stage, data: Mapping[str, Any] | None = None) -> OptionsForm | None:
    """The form for the options of a stage, as stored or as sent; None for a kind without any."""
    form = OPTION_FORMS.get(stage.kind)
    if form is None:
        return None
    options = read_options(stage.kind, stage.options)
    stored = {name: getattr(options, name) for name in form.base_fields}
    return form(
        data, initial={name: list(value) if isinstance(value, tuple) else value for name, value in stored.items()}
    )


class FeedForm(PlainForm):
    """Where the answers of a stage go, and what becomes of them there."""

    target = forms.ModelChoiceField(
        queryset=Stage.objects.none(),
        label=_("Go to"),
        empty_label=None,
        help_text=_("The stage in which something becomes of them."),
    )
    rule = forms.ChoiceField(
        choices=Feed.Rule.choices,
        label=_("Which"),
        initial=Feed.Rule.EVERY,
        help_text=_("When something goes on: with each answer, or when the item is complete or decided."),
    )
    makes_items = forms.BooleanField(required=False, label=_("Makes items"))
    kept_keys = LinesField(
        required=False,
        label=_("New items keep"),
        help_text=_(
            "Content keys of the item that was written about, one a line, such as the table. A key that "
            "the next stage does not show is kept unseen."
        ),
    )
    only_field = forms.CharField(
        required=False,
        max_length=50,
        label=_("Only answers whose field"),
        help_text=_("The name of a choice of this stage, such as decision."),
    )
    only_values = LinesField(
        required=False,
        label=_("has one of the values"),
        help_text=_("Values of its options, one a line, such as accept."),
    )

    def __init__(self, *args: Any, stage: Stage, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field: Any = self.fields["target"]
        takes_items = [kind for kind, described in KINDS.items() if not described.is_drawn]
        others = stage.project.stages.filter(kind__in=takes_items).exclude(pk=stage.pk)
        field.queryset = others.order_by("position", "pk")

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if bool(data.get("only_field")) != bool(data.get("only_values")):
            self.add_error("only_values", _("A condition has a field and values. Fill in both, or neither."))
        return data


class CrossCheckForm(PlainForm):
    n = forms.IntegerField(
        min_value=1,
        max_value=MAX_DRAWN,
        initial=200,
        label=_("Items of each group"),
        help_text=_("A group that wrote fewer is taken whole."),
    )
    seed = forms.IntegerField(
        required=False, min_value=0, max_value=MAX_SEED, label=_("Seed"), help_text=_("Empty: the stage's own.")
    )
    written_in = forms.ModelChoiceField(
        queryset=Stage.objects.none(),
        required=False,
        label=_("Written in"),
        empty_label=_("any stage"),
        help_text=_("Only what was written in this stage is drawn."),
    )

    def __init__(self, *args: Any, stage: Stage, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field: Any = self.fields["written_in"]
        writing = [Stage.Kind.REWRITE, Stage.Kind.AUTHOR]
        field.queryset = stage.project.stages.filter(kind__in=writing).order_by("position", "pk")


GOLD, DECIDED = "gold", "decided"


class AuditForm(PlainForm):
    """The draw of an audit. `labels` is gold/FIELD/LABEL_SET or decided/FIELD/STAGE."""

    labels = forms.ChoiceField(label=_("Labels"))
    population = forms.ModelChoiceField(
        queryset=ItemSet.objects.none(), required=False, label=_("Of the items of"), empty_label=_("the whole project")
    )
    keys = forms.MultipleChoiceField(
        required=False, widget=forms.CheckboxSelectMultiple, label=_("Strata: every combination of")
    )
    by_label = forms.BooleanField(required=False, initial=True, label=_("the label itself"))
    k = forms.IntegerField(min_value=1, max_value=auditing.MAX_K, initial=10, label=_("Items of each stratum"))
    seed = forms.IntegerField(
        required=False, min_value=0, max_value=MAX_SEED, label=_("Seed"), help_text=_("Empty: the stage's own.")
    )

    def __init__(self, *args: Any, stage: Stage, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.stage = stage
        fields: Any = self.fields
        golds = [
            (f"{GOLD}/{field}/{label_set}", gold_words(field, label_set))
            for field, label_set in auditing.auditable_fields(stage.project)
        ]
        decided = [
            (f"{DECIDED}/{field}/{labelled.slug}", f"{labelled.title}: {caption}")
            for labelled, field, caption in auditing.decided_fields(stage.project)
        ]
        groups = [(_("Gold labels"), golds), (_("What people decided"), decided)]
        fields["labels"].choices = [group for group in groups if group[1]]
        fields["population"].queryset = stage.project.item_sets.order_by("-pk")
        fields["keys"].choices = [(key, key) for key in auditing.strata_keys(stage.project)]

    def asked(self) -> dict[str, Any]:
        """The arguments of a draw; for a valid form only."""
        sent = self.cleaned_data
        kind, field, which = sent["labels"].split("/", 2)
        stage = self.stage.project.stages.get(slug=which) if kind == DECIDED else None
        labels = Labels(field, "" if stage else which, stage, sent["population"])
        seed = self.stage.seed if sent["seed"] is None else sent["seed"]
        return {"labels": labels, "k": sent["k"], "keys": sent["keys"], "by_label": sent["by_label"], "seed": seed}


def gold_words(field: str, label_set: str) -> str:
    return f"{field.replace('_', ' ')} ({label_set})" if label_set else field.replace("_", " ")


class GroupsForm(PlainForm):
    seed = forms.IntegerField(min_value=0, max_value=MAX_SEED, initial=1, label=_("Seed"))
