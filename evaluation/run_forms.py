"""The shape of what admins type about models: endpoints, and runs of them."""

from __future__ import annotations

import math
import re
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Q

from annotate.models import ItemSet, Project, Stage, StageVersion
from annotate.project_forms import PlainForm
from annotate.wording import _
from evaluation.clients.logprobs import MAX_ALTERNATIVES
from evaluation.models import Endpoint, Run
from evaluation.models.endpoint import KEY_VARIABLE
from evaluation.services.endpoints import BASELINES, MAX_IN_FLIGHT, MAX_TIMEOUT_SECONDS
from evaluation.services.running import MAX_REPEATS
from evaluation.strategies import STRATEGIES
from evaluation.suggesting import asked_together, has_any_of

# As config/env.py and reports have it: it survives spreadsheets, JavaScript and every server's 32 bits.
MAX_SEED = 2**31 - 1
STRATEGY_WORDS = {name: strategy.about for name, strategy in STRATEGIES.items()}
_STEPS = {name: strategy.steps for name, strategy in STRATEGIES.items() if strategy.steps is not None}


class EndpointForm(PlainForm):
    name = forms.CharField(max_length=120, help_text=_("As runs and reports call it."), label=_("Name"))
    provider = forms.ChoiceField(
        # A log is imported, not asked.
        choices=[choice for choice in Endpoint.Provider.choices if choice[0] != Endpoint.Provider.LOG],
        label=_("What answers"),
    )
    model = forms.CharField(
        max_length=200,
        help_text=_("As the server calls it. For a baseline one of %(baselines)s.", baselines=", ".join(BASELINES)),
        label=_("Model"),
    )
    protocol = forms.ChoiceField(
        choices=Endpoint.Protocol.choices,
        initial=Endpoint.Protocol.CHAT,
        required=False,
        label=_("It takes"),
        help_text=_("Plain text is for base models: the turns of a prompt are joined, and the model goes on writing."),
    )
    base_url = forms.CharField(
        max_length=300,
        required=False,
        label=_("Address"),
        help_text=_(
            "Of a server: up to and without /chat/completions or /completions, such as https://api.example.org/v1. "
            "Private addresses must be listed in the settings (GOLDPANEL_PRIVATE_ENDPOINTS)."
        ),
    )
    key_variable = forms.CharField(
        max_length=80,
        required=False,
        label=_("Variable that holds the key"),
        help_text=_(
            "The NAME of an environment variable of the worker, GOLDPANEL_KEY_…, never the key itself; "
            "…_HOSTS lists where that key may go. Empty: no key is sent."
        ),
    )
    max_in_flight = forms.IntegerField(
        min_value=1,
        max_value=MAX_IN_FLIGHT,
        initial=8,
        label=_("Requests at a time"),
        help_text=_("Over all workers and runs together, as are the limits per minute."),
    )
    requests_per_minute = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=100_000,
        label=_("Requests per minute"),
        help_text=_("Empty: as fast as it answers."),
    )
    tokens_per_minute = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=1_000_000_000,
        label=_("Tokens per minute"),
        help_text=_("In and out together. Empty: no limit."),
    )
    timeout_seconds = forms.IntegerField(
        min_value=1, max_value=MAX_TIMEOUT_SECONDS, initial=60, label=_("Seconds before a request is given up")
    )
    input_price = forms.DecimalField(
        required=False,
        min_value=0,
        max_value=100_000,
        max_digits=12,
        decimal_places=6,
        label=_("Price of a million tokens in"),
        help_text=_("For what runs cost, and for budgets. Both prices, or none."),
    )
    output_price = forms.DecimalField(
        required=False,
        min_value=0,
        max_value=100_000,
        max_digits=12,
        decimal_places=6,
        label=_("Price of a million tokens out"),
    )
    currency = forms.CharField(
        max_length=12, required=False, help_text=_("Of the prices, such as USD."), label=_("Currency")
    )

    def __init__(self, *args: Any, project: Project, endpoint: Endpoint | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.project, self.endpoint = project, endpoint

    def clean_name(self) -> str:
        name = str(self.cleaned_data["name"])
        others = self.project.endpoints.filter(name=name)
        if (others.exclude(pk=self.endpoint.pk) if self.endpoint else others).exists():
            raise ValidationError(_("There is an endpoint of that name already."))
        return name

    def clean_protocol(self) -> str:
        return str(self.cleaned_data["protocol"] or (self.endpoint or Endpoint()).protocol)

    def clean_key_variable(self) -> str:
        name = str(self.cleaned_data["key_variable"])
        # Whatever was typed may be a key: it is neither repeated here nor stored.
        if name and (not re.fullmatch(KEY_VARIABLE, name) or name.endswith("_HOSTS")):
            raise ValidationError(
                _(
                    "Key variables are named GOLDPANEL_KEY_ and then capitals, digits and underscores. If this "
                    "was a key, put it into such a variable where the worker runs; it was not stored."
                )
            )
        return name

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if data.get("provider") == Endpoint.Provider.BASELINE:
            if data.get("model") not in BASELINES:
                self.add_error("model", _("The baselines are %(baselines)s.", baselines=", ".join(BASELINES)))
            for name in ("base_url", "key_variable"):
                if data.get(name):
                    self.add_error(name, _("A baseline has no server: leave this empty."))
        self._check_prices(data)
        if data.get("provider") != Endpoint.Provider.BASELINE and "base_url" in data and not data["base_url"]:
            self.add_error("base_url", _("A server needs an address."))
        return data

    def _check_prices(self, data: dict[str, Any]) -> None:
        prices = {name: data.get(name) for name in ("input_price", "output_price") if name in data}
        given = [name for name, price in prices.items() if price is not None]
        if given and data.get("provider") == Endpoint.Provider.BASELINE:
            self.add_error(given[0], _("A baseline costs nothing: leave this empty."))
        elif len(given) == 1 and len(prices) == 2:
            missing = next(name for name in prices if name not in given)
            self.add_error(missing, _("Give both prices, or none; what costs nothing has the price 0."))
        elif given and not data.get("currency") and "currency" in data:
            self.add_error("currency", _("Say in which currency the prices are."))

    def refuse_key(self) -> None:
        """Before a refused form is shown again: a key that was typed here by mistake must not come back in the page."""
        if "key_variable" in self.errors:
            self.data = {**self.data.dict(), "key_variable": ""}  # type: ignore[attr-defined]  # a QueryDict


def budget_money_field() -> forms.DecimalField:
    return forms.DecimalField(
        required=False,
        min_value=0,
        max_value=10_000_000,
        max_digits=14,
        decimal_places=6,
        label=_("Money it may cost"),
        help_text=_("By the endpoint's prices. Empty: no limit."),
    )


def budget_tokens_field() -> forms.IntegerField:
    return forms.IntegerField(
        required=False,
        min_value=1,
        max_value=10**12,
        label=_("Tokens it may take"),
        help_text=_("In and out together. Empty: no limit."),
    )


class BudgetForm(PlainForm):
    """What a run may cost in all, what it has cost so far included."""

    budget_money = budget_money_field()
    budget_tokens = budget_tokens_field()


class ExtendForm(PlainForm):
    """More of the same: repeats, or the further items of a set that has grown."""

    repeats = forms.IntegerField(
        min_value=1, max_value=MAX_REPEATS, help_text=_("How often each item is asked, in all."), label=_("Repeats")
    )
    item_set = forms.ModelChoiceField(
        ItemSet.objects.none(),
        label=_("Items"),
        empty_label=None,
        help_text=_("The present set, or one that holds all of its items and further ones."),
    )

    def __init__(self, *args: Any, run: Run, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field: Any = self.fields["item_set"]
        larger = Q(n_items__gt=run.item_set.n_items) | Q(pk=run.item_set_id)
        field.queryset = run.project.item_sets.filter(larger).order_by("-pk")
        field.label_from_instance = lambda item_set: f"{item_set.name} ({item_set.n_items:,} items)"
        self.initial = {"repeats": run.repeats, "item_set": run.item_set_id, **self.initial}


class RunForm(PlainForm):
    """Every choice is one of the project's own rows; empty parameters are not sent at all."""

    name = forms.CharField(max_length=120, help_text=_("As reports call it."), label=_("Name"))
    endpoint = forms.ModelChoiceField(Endpoint.objects.none(), label=_("Model"), empty_label=None)
    stage = forms.ModelChoiceField(
        Stage.objects.none(),
        label=_("Question"),
        empty_label=None,
        help_text=_("The stage whose form and shown content people get: the model gets the same."),
    )
    item_set = forms.ModelChoiceField(ItemSet.objects.none(), label=_("Items"), empty_label=None)
    strategy = forms.ChoiceField(choices=list(STRATEGY_WORDS.items()), label=_("Prompt strategy"))
    exemplar_set = forms.ModelChoiceField(
        ItemSet.objects.none(),
        required=False,
        label=_("Exemplars"),
        empty_label=_("none"),
        help_text=_(
            "For few-shot and self-consistency: a set whose gold answers are shown. For majority_label: the set "
            "whose labels are counted. It must share no table and no text with the items."
        ),
    )
    n_steps = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=max(steps.most for steps in _STEPS.values()),
        label=_("Samples or rounds"),
        help_text=_(
            "How many samples vote, or for how many rounds more rows are asked for at most. Empty: as many as usual. "
            "For strategies that say so; others make their own number of calls."
        ),
    )
    temperature = forms.FloatField(required=False, min_value=0, max_value=2, initial=0, label=_("Temperature"))
    top_p = forms.FloatField(required=False, min_value=0, max_value=1, label=_("Top-p"))
    max_tokens = forms.IntegerField(
        required=False, min_value=1, max_value=200_000, initial=512, label=_("Tokens per completion, at most")
    )
    top_logprobs = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=MAX_ALTERNATIVES,
        label=_("Log probabilities: alternatives a token"),
        help_text=_("Empty: not asked for. 0: those of the completion alone. Not every server tells them."),
    )
    sends_seed = forms.BooleanField(
        required=False, label=_("Send the seed to the server"), help_text=_("Not every server takes one.")
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=MAX_SEED,
        initial=0,
        help_text=_("Of baselines that draw, and of repeats."),
        label=_("Seed"),
    )
    repeats = forms.IntegerField(
        min_value=1, max_value=MAX_REPEATS, initial=1, help_text=_("How often each item is asked."), label=_("Repeats")
    )
    reuses_answers = forms.BooleanField(
        required=False,
        label=_("Take answers of earlier runs"),
        help_text=_(
            "Where the very same request was sent to this endpoint at temperature 0. Each such answer says so."
        ),
    )
    budget_money = budget_money_field()
    budget_tokens = budget_tokens_field()

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.project = project
        sets = project.item_sets.order_by("-pk")
        for name, rows in (
            ("endpoint", Endpoint.objects.filter(project=project).askable().order_by("name")),
            ("stage", project.stages.order_by("position", "pk")),
            ("item_set", sets),
            ("exemplar_set", sets),
        ):
            field: Any = self.fields[name]
            field.queryset = rows
        endpoint: Any = self.fields["endpoint"]
        endpoint.label_from_instance = lambda row: f"{row.name} ({row.model})"
        for name in ("item_set", "exemplar_set"):
            labelled: Any = self.fields[name]
            labelled.label_from_instance = lambda item_set: f"{item_set.name} ({item_set.n_items:,} items)"
        if not self.is_bound:
            stage, item_set = asked_together(project, self.initial.get("stage"))
            self.initial = {"item_set": item_set, **self.initial, "stage": stage}

    def clean_name(self) -> str:
        name = str(self.cleaned_data["name"])
        if self.project.runs.filter(name=name).exists():
            raise ValidationError(_("There is a run of that name already."))
        return name

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        for name in ("temperature", "top_p"):
            if data.get(name) is not None and not math.isfinite(data[name]):
                self.add_error(name, _("Write a number."))
        stage, item_set = data.get("stage"), data.get("item_set")
        if stage and item_set:
            keys = StageVersion.objects.get(stage=stage, is_current=True).shown_keys
            # Else every prompt would be a question about nothing, and would be paid for.
            if item_set.n_items and not has_any_of(item_set, keys):
                self.add_error(
                    "item_set",
                    _(
                        "These items have nothing under %(keys)s, which is what this stage shows. Choose the items "
                        "of the stage.",
                        keys=", ".join(keys),
                    ),
                )
        return data

    def run_values(self) -> dict[str, Any]:
        """The arguments of `create_run`; for a valid form only."""
        data = self.cleaned_data
        sent = {name: data[name] for name in ("temperature", "top_p", "max_tokens") if data[name] is not None}
        if data["top_logprobs"] is not None:
            # A 0 is left out, for some servers refuse it.
            sent |= {"logprobs": True, **({"top_logprobs": data["top_logprobs"]} if data["top_logprobs"] else {})}
        if data["sends_seed"]:
            sent["seed"] = data["seed"]
        return {
            "name": data["name"],
            "item_set": data["item_set"],
            "stage_version": StageVersion.objects.get(stage=data["stage"], is_current=True),
            "endpoint": data["endpoint"],
            "strategy": data["strategy"],
            "exemplar_set": data["exemplar_set"],
            "n_steps": data["n_steps"],
            "parameters": sent,
            "seed": data["seed"],
            "repeats": data["repeats"],
            "reuses_answers": data["reuses_answers"],
            "budget_money": data["budget_money"],
            "budget_tokens": data["budget_tokens"],
        }
