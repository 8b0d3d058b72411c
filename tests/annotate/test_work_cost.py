"""What an answer costs in statements: the same in a small and in a large project."""

from __future__ import annotations

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotate.models import Assignment, Item, ItemRevision, Stage, StageItem
from annotate.person_token import person_token
from tests.executed import statements
from tests.factories import content_hash, make_member, make_project, make_stage

NOW = timezone.now()

# With real transactions: BEGIN and COMMIT are statements too.
pytestmark = pytest.mark.django_db(transaction=True)

# On PostgreSQL one statement stores the answer and leases the next item; SQLite has no statements within statements.
MOST = 3 if connection.vendor == "postgresql" else 11


def make_large_stage(n_items: int, *, per_root: int = 0, check_every: int = 0, n_checks: int = 0) -> Stage:
    # From the first item on: going round the end costs one statement more, once in a round.
    stage = make_stage(make_project(), overlap=3, order="sequential", check_every=check_every)
    n_roots = n_items // per_root if per_root else 0
    roots = Item.objects.bulk_create(Item(project=stage.project, external_id=f"table-{n}") for n in range(n_roots))
    root = {n: roots[n // per_root] for n in range(n_items)} if per_root else {}
    items = Item.objects.bulk_create(
        Item(project=stage.project, external_id=f"item-{n}", root=root.get(n)) for n in range(n_items)
    )
    contents = [[["question", f"Is {n} an even number? " + "x" * 380]] for n in range(n_items)]
    revisions = ItemRevision.objects.bulk_create(
        ItemRevision(item=item, content=content, content_hash=content_hash(content), language="en")
        for item, content in zip(items, contents, strict=True)
    )
    StageItem.objects.bulk_create(
        StageItem(stage=stage, revision=revision, rank=rank, root=root.get(rank), language="en", wanted=3)
        for rank, revision in enumerate(revisions)
    )
    StageItem.objects.filter(stage=stage, rank__gte=n_items - n_checks).update(
        purpose="check", wanted=StageItem.EVERYBODY
    )
    return stage


def cost_of_work(n_items: int, **kinds: int) -> dict[str, list[str]]:
    """The statements of each step, for somebody who has answered twice."""
    cache.clear()
    stage = make_large_stage(n_items, **kinds)
    person = make_member(stage.project, languages=["en"])
    client = Client()
    client.force_login(person)
    address = reverse("work", args=[stage.project.slug, stage.slug])

    def post(name: str, **data):
        held = Assignment.objects.get(stage=stage, person=person, state="leased")
        form = {"person": person_token(person), "client_key": f"key-{held.pk}", "draft_version": 0} | data
        with CaptureQueriesContext(connection) as queries:
            response = client.post(reverse(name, args=[held.token]), form, headers={"HX-Request": "true"})
        assert response.status_code == 200
        return statements(queries)

    client.get(address)
    for _ in range(2):
        post("work-submit", label="yes")
    costs = {
        "draft": post("work-draft", label="no", draft_version=1),
        "submit": post("work-submit", label="yes"),
        "skip": post("work-skip", reason="broken"),
    }
    cache.clear()
    costs["submit, progress counted anew"] = post("work-submit", label="yes")
    with CaptureQueriesContext(connection) as queries:
        client.get(address)
    costs["page, item in hand"] = statements(queries)
    Assignment.objects.filter(state="leased").update(state="withdrawn", slot=None)
    StageItem.objects.filter(active__gt=0).update(active=0)
    with CaptureQueriesContext(connection) as queries:
        client.get(address)
    costs["page, new item"] = statements(queries)
    return costs


def test_an_answer_costs_the_same_statements_in_any_project():
    small, large = cost_of_work(100), cost_of_work(5_000)
    assert {step: len(sql) for step, sql in small.items()} == {step: len(sql) for step, sql in large.items()}
    assert len(large["submit"]) <= MOST, "\n".join(large["submit"])
    assert len(large["submit, progress counted anew"]) <= MOST + 1
    assert len(large["skip"]) <= 12, "\n".join(large["skip"])
    assert len(large["draft"]) <= 7, "\n".join(large["draft"])
    assert len(large["page, item in hand"]) <= 12, "\n".join(large["page, item in hand"])
    assert len(large["page, new item"]) <= 15, "\n".join(large["page, new item"])
    # One transaction, begun and ended among what was counted, or a statement that is one by itself.
    n_begun = 0 if connection.vendor == "postgresql" else 1
    assert sum(sql.startswith("BEGIN") for sql in large["submit"]) == n_begun
    assert sum(sql.startswith("COMMIT") for sql in large["submit"]) == n_begun
    assert sum(" ".join(sql.split()).startswith("WITH ended AS") for sql in large["submit"]) == 1 - n_begun


def test_questions_about_tables_cost_no_statement_more():
    alone, in_tables, in_one_table = cost_of_work(100), cost_of_work(100, per_root=10), cost_of_work(100, per_root=100)
    for step in ("submit", "skip", "draft"):
        assert len(in_tables[step]) == len(in_one_table[step]) == len(alone[step])
    # Whoever comes back to an item in hand is told which of its table's questions it is.
    assert len(in_tables["page, item in hand"]) == len(alone["page, item in hand"]) + 1


@pytest.mark.parametrize("per_root", [0, 10])
@pytest.mark.parametrize("n_checks", [0, 30])
def test_checks_cost_no_statement_whether_there_is_one_or_not(per_root: int, n_checks: int):
    # Of every two items one is a check: it is looked for before nearly every item.
    alone = cost_of_work(100, per_root=per_root)
    with_checks = cost_of_work(100, per_root=per_root, check_every=2, n_checks=n_checks)
    for step in ("submit", "submit, progress counted anew", "skip", "draft", "page, new item"):
        assert len(with_checks[step]) <= len(alone[step]), step


def test_a_claim_reads_one_row_of_the_index_of_open_places():
    stage = make_large_stage(5_000)
    person = make_member(stage.project, languages=["en"])
    # All but the last hundred are done: a claim that walked over them would show.
    StageItem.objects.filter(stage=stage, rank__lt=4_900).update(done=3)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    from annotate import claim_sql

    statement, parameters = claim_sql.take_place(["en"], where=claim_sql.AFTER_CURSOR, wait=False)
    explain = "EXPLAIN QUERY PLAN" if connection.vendor == "sqlite" else "EXPLAIN"
    with connection.cursor() as cursor:
        cursor.execute(f"{explain} {statement}", {"stage": stage.pk, "person": person.pk} | parameters)
        plan = "\n".join(str(row) for row in cursor.fetchall())
    assert "stage_item_claimable" in plan
    assert "SCAN place" not in plan
    assert "Seq Scan on annotate_stageitem" not in plan


@pytest.mark.services  # SQLite plans without figures
def test_a_claim_does_not_read_what_the_person_has_answered():
    """However little PostgreSQL knows of the table, as in the first minutes of a study."""
    stage = make_large_stage(1_000)
    person = make_member(stage.project, languages=["en"])
    places = StageItem.objects.filter(stage=stage, rank__lt=500)
    Assignment.objects.bulk_create(
        Assignment(stage=stage, stage_item=place, person=person, state="submitted", leased_at=NOW, lease_expires_at=NOW)
        for place in places
    )
    places.update(done=3)
    from annotate import claim_sql

    statement, parameters = claim_sql.take_place(["en"], where=claim_sql.AFTER_CURSOR, wait=False)
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN ANALYZE {statement}", {"stage": stage.pk, "person": person.pk} | parameters)
        plan = [row[0] for row in cursor.fetchall()]
    looked = "\n".join(plan[next(n for n, line in enumerate(plan) if " seen " in line) :][:4])
    assert "assignment_once" in looked, looked
    assert "rows=0" in looked, looked


def test_no_request_of_an_annotator_reads_gold_or_strata():
    sql = " ".join(statement for steps in cost_of_work(5).values() for statement in steps)
    assert "annotate_itemkey" not in sql
    assert "annotate_gold" not in sql
    assert "annotate_itemset" not in sql
