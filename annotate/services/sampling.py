"""Item sets drawn from item sets."""

from __future__ import annotations

from django.db import transaction

from annotate import events
from annotate.exceptions import WorkNotPossible
from annotate.models import ItemSet, ItemSetEntry, Person
from annotate.sampling import draw_simple
from annotate.wording import _


@transaction.atomic
def draw_item_set(*, population: ItemSet, by: Person, name: str, n: int, seed: int) -> ItemSet:
    """A new frozen set of n items drawn at random from a frozen set, in its order; the rule and the seed stay with it.

    Raises WorkNotPossible if the set has fewer items, or the name is taken.
    """
    entries = list(population.entries.select_related("revision__item").order_by("position"))
    if not 1 <= n <= len(entries):
        raise WorkNotPossible(_("%(n)s items cannot be drawn from %(n_entries)s.", n=n, n_entries=len(entries)))
    if ItemSet.objects.filter(project=population.project_id, name=name).exists():
        raise WorkNotPossible(_("There is an item set called “%(name)s” already.", name=name))
    drawn = draw_simple([entry.revision.item.external_id for entry in entries], n, seed=seed)
    item_set = ItemSet.objects.create(
        project_id=population.project_id,
        name=name,
        rule={"kind": "draw", "from": population.pk, "from_name": population.name, "method": "simple"},
        seed=seed,
        n_population=len(entries),
        n_items=n,
    )
    # A draw from a draw: what was left to chance before stays so.
    ItemSetEntry.objects.bulk_create(
        ItemSetEntry(
            item_set=item_set,
            position=position,
            revision_id=entries[place].revision_id,
            inclusion_probability=entries[place].inclusion_probability * n / len(entries),
        )
        for position, place in enumerate(drawn)
    )
    events.record(
        actor=by,
        verb="item_set.drawn",
        subject=item_set,
        project_id=item_set.project_id,
        population=population.pk,
        n=n,
        seed=seed,
    )
    return item_set
