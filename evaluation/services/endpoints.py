"""Where models answer: made and changed by admins, without ever holding a key."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from annotate import events
from annotate.exceptions import WorkNotPossible
from annotate.models import Person, Project
from annotate.services.names import naming
from annotate.wording import _
from evaluation.models import Endpoint

# A chunk of a run ends within eight minutes, and no call is begun that would not fit.
MAX_TIMEOUT_SECONDS = 300
MAX_IN_FLIGHT = 200
# name -> what it does. A test compares the names with the baselines there are.
BASELINES = {
    "majority_label": _("the most frequent label, whatever is asked"),
    "seeded_random": _("a label, or a value of the item's tables, by chance and seed"),
    "lexical_overlap": _("the candidate that shares most words with the question"),
    "chatty_random": _("chance with a chat model's manners: for demonstrations"),
}
# What tells one model from another: runs point here, so it never changes under them.
IDENTITY = ("provider", "model", "protocol")


class EndpointInUse(WorkNotPossible):
    """A report that names a model must go on meaning the one that answered."""

    message = _(
        "Runs have begun with this endpoint, so its provider and model stay. Make a new endpoint for another one."
    )


@transaction.atomic
def create_endpoint(*, project: Project, by: Person, **values: Any) -> Endpoint:
    """Raises AddressNotAllowed for a URL outside the rule on outgoing requests, NameTaken for another's name."""
    endpoint = Endpoint(project=project, **values)
    _check(endpoint)
    with naming(f"The name {endpoint.name}"):
        endpoint.save()
    _record(endpoint, by, "endpoint.created")
    return endpoint


@transaction.atomic
def change_endpoint(*, endpoint: Endpoint, by: Person, **values: Any) -> Endpoint:
    """Change name, address, key variable or limits; the model itself only before the first run has begun."""
    endpoint = Endpoint.objects.select_for_update().get(pk=endpoint.pk)
    changes_identity = any(values.get(name, getattr(endpoint, name)) != getattr(endpoint, name) for name in IDENTITY)
    if changes_identity and has_begun_runs(endpoint):
        raise EndpointInUse
    for name, value in values.items():
        setattr(endpoint, name, value)
    _check(endpoint)
    with naming(f"The name {endpoint.name}"):
        endpoint.save()
    _record(endpoint, by, "endpoint.changed")
    return endpoint


def has_begun_runs(endpoint: Endpoint) -> bool:
    """Whether provider and model are fixed by now: a run that is frozen points here."""
    return endpoint.runs.exclude(frozen_at=None).exists()


class AddressNotAllowed(WorkNotPossible):
    """The rule on outgoing requests (evaluation/clients/outgoing.py) refuses the address as it is written."""

    http_status = 422


def _check(endpoint: Endpoint) -> None:
    """The form of the address; where it really leads is checked at every call, by whoever calls."""
    from evaluation.clients.outgoing import AddressRefused, checked_url  # aiohttp: only where an endpoint is edited

    if endpoint.provider == Endpoint.Provider.LOG:
        raise WorkNotPossible(
            _("The model of a log comes with its import, and stays as it is: nothing is asked there.")
        )
    if endpoint.provider == Endpoint.Provider.BASELINE:
        endpoint.base_url = endpoint.key_variable = ""
        endpoint.protocol = Endpoint.Protocol.CHAT
        return
    if (endpoint.input_price is None) != (endpoint.output_price is None):
        raise WorkNotPossible(_("Give both prices, or none; what costs nothing has the price 0."))
    try:
        checked_url(endpoint.base_url)
    except AddressRefused as refusal:
        raise AddressNotAllowed(str(refusal)) from refusal


def _record(endpoint: Endpoint, by: Person, verb: str) -> None:
    events.record(
        actor=by,
        verb=verb,
        subject=endpoint,
        project_id=endpoint.project_id,
        model=endpoint.model,
        base_url=endpoint.base_url,
        key_variable=endpoint.key_variable,
        prices=[None if price is None else str(price) for price in (endpoint.input_price, endpoint.output_price)],
    )
